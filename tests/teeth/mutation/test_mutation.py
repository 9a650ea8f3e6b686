"""The bench of mutants: it kills what is wrong, spares what is not, and never touches the judge's own model."""

import sys

import pytest

import turncheck.model.core.loop
from mutation.judge import PACKAGE, ROOT, STILLBORN, SURVIVED, Bench
from mutation.mutants import REMOVE, Mutant, RemoveStatement, change, mutants
from mutation.plan import Outcome, Plan
from mutation.report import PAGE, page

FACES = ("Reference", "Alone", "Turns", "Beside", "Joined", "Both")
LOOP = "model/core/loop"
FAULTS = {
    "Reference": ("root = queue.popleft()", "root = queue.pop()"),
    "Alone": ("skips.append(at)", "pass"),
    "Turns": ("places += between(begin, at, skips) if skips else range(begin, at)", "pass"),
    "Beside": ("state.calls.clear()", "pass"),
    "Joined": ("return at - first", "return at - first - 1"),
    "Both": ("steps.append(SteerStep(at))", "pass"),
}
"""Face → a fault that it shows."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    before = sys.dont_write_bytecode, list(sys.path)
    yield Bench(tmp_path_factory.mktemp("bench"), examples=5)
    sys.dont_write_bytecode, sys.path[:] = before


@pytest.mark.parametrize("face", FACES)
def test_the_model_unchanged_breaks_no_law(bench, face):
    assert bench.verdict(face) == SURVIVED


@pytest.mark.parametrize(("face", "fault"), FAULTS.items())
def test_a_fault_is_found_through_the_face_that_shows_it(bench, face, fault):
    source = bench.source(LOOP)
    assert source.count(fault[0]) > 0
    assert bench.fate(LOOP, source.replace(*fault), [face]) not in {SURVIVED, STILLBORN}


def test_a_fault_of_a_loop_that_a_face_does_not_take_is_not_seen_through_it(bench):
    source = bench.source(LOOP)
    assert bench.fate(LOOP, source.replace(*FAULTS["Beside"]), ["Reference"]) == SURVIVED


def test_a_module_that_cannot_be_imported_does_not_start(bench):
    assert bench.fate(LOOP, "import nothing_of_this_name", ["Reference"]) == STILLBORN


def test_a_mutant_that_never_ends_is_noticed(bench, monkeypatch):
    monkeypatch.setattr("mutation.judge.SECONDS", 1)
    source = bench.source(LOOP).replace("if not events:", "while not events: pass\n    if not events:", 1)
    assert bench.fate(LOOP, source, ["Alone"]) == "broke: HangingError"


def test_what_is_mutated_is_put_back(bench):
    bench.fate(LOOP, "", ["Reference"])
    assert bench.source(LOOP) == (ROOT / f"{LOOP}.py").read_text("utf-8")


def test_the_judges_model_is_the_one_of_the_checkout(bench):
    bench.verdict("Reference")
    assert turncheck.model.core.loop.__file__ == str(ROOT / f"{LOOP}.py")
    assert sys.modules[f"{PACKAGE}.{LOOP.replace('/', '.')}"].__file__ == str(bench.package / f"{LOOP}.py")


SOURCE = '''\
def f(x: int | None = None) -> int | None:
    """Says x."""
    assert x
    y: int
    x.clear()
    return x + 1


class A(B, frozen=True):
    pass
'''


def places(operator):
    return [mutant.line for mutant in mutants("m", SOURCE) if mutant.operator.endswith(operator)]


def test_statements_are_removed_where_they_do_something():
    assert places(REMOVE) == [5, 6]


def test_annotations_and_the_heads_of_classes_are_not_mutated():
    assert (places("ReplaceBinaryOperator_BitOr_Add"), places("ReplaceTrueWithFalse")) == ([], [])


def test_a_statement_that_is_removed_leaves_a_pass():
    example = RemoveStatement.examples()[0]
    mutated = Mutant("m", REMOVE, 0, 1, "").code(example.pre_mutation_code)
    assert change(example.pre_mutation_code, mutated) == ("x.clear()", "pass")


PLAN = """
[faces]
"m" = ["Alone"]
"m:f" = ["Turns"]
[unseen]
"m:g" = "nobody asks"
[[survivor]]
where = ["m:f"]
change = ["a → b"]
times = 1
reason = "a is b"
"""


@pytest.mark.parametrize(
    ("definition", "faces"), [("h", ("Alone",)), ("f", ("Turns",)), ("f.g", ("Turns",)), ("g", ())]
)
def test_the_longest_name_that_fits_says_the_faces(definition, faces):
    assert Plan(PLAN).faces(Mutant("m", REMOVE, 0, 1, definition)) == faces


def outcome(fate, before="a", after="b"):
    return Outcome(Mutant("m", REMOVE, 0, 7, "f"), fate, before, after)


def test_a_survivor_with_its_reason_is_no_complaint():
    text, missing = page([outcome(SURVIVED), outcome("total")], Plan(PLAN))
    assert ("a is b" in text, "50.0%" in text, missing) == (True, True, [])


def test_a_survivor_without_a_reason_is_a_complaint():
    _, missing = page([outcome(SURVIVED), outcome(SURVIVED, after="c")], Plan(PLAN))
    assert missing == ["no reason: m:7 f: a → c"]


def test_a_reason_without_a_survivor_is_a_complaint():
    _, missing = page([outcome("total")], Plan(PLAN))
    assert missing == ["0 survivors, not 1: ['a → b']"]


def test_a_survivor_more_than_its_reason_speaks_of_is_a_complaint():
    _, missing = page([outcome(SURVIVED), outcome(SURVIVED)], Plan(PLAN))
    assert missing == ["2 survivors, not 1: ['a → b']"]


def test_the_page_gives_every_reason_of_the_plan():
    text = PAGE.read_text("utf-8")
    assert [known["reason"] for known in Plan().survivors if known["reason"] not in text] == []
