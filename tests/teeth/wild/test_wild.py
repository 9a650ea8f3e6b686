"""The bench of mutants of real runtimes: what it mutates, what it calls observable, and what it says of the rest."""

import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from turncheck.model.core.stimuli import Abort, Step
from wild import bench as benches
from wild.bench import Bench
from wild.judge import Judge
from wild.mutants import Change, changes, difference
from wild.outcome import SURVIVED, UNSEEN, Measured, Outcome
from wild.page import DATA, PAGE, Reasons, page
from wild.running import red

TESTS = Path(__file__).parents[2]
ADAPTER = """
import sys
from contextlib import closing
from pathlib import Path
sys.path.insert(0, str(Path(sys.executable).parents[1]))
import loop
loop.serve(loop.NullRuntime())
"""
JAVASCRIPT = """
function run(calls) {
  if (calls.length > 0 && !stopped) {
    calls.push("é");
    return { calls: [1] };
  }
}
"""

# ---- what is mutated ----


def javascript(**wanted):
    found = changes("loop.js", JAVASCRIPT, wanted.get("lines", range(100)))
    return {(one.operator, one.make().strip().splitlines()[one.line - 2].strip()) for one in found}


@pytest.mark.parametrize(
    "mutant",
    [
        ("NegateCondition", "if (!(calls.length > 0 && !stopped)) {"),
        ("TrueCondition", "if (true) {"),
        ("SwapOperator", "if (calls.length > 0 || (!stopped)) {"),
        ("SwapOperator", "if (calls.length >= (0) && !stopped) {"),
        ("Literal", "if (calls.length > 1 && !stopped) {"),
        ("RemoveNot", "if (calls.length > 0 && stopped) {"),
        ("RemoveStatement", ";"),
        ("SwapMethod", 'calls.unshift("é");'),
        ("Literal", 'calls.push("éx");'),
        ("ReturnNothing", "return;"),
        ("RemoveProperty", "return { ...{} };"),
        ("EmptyArray", "return { calls: [] };"),
    ],
)
def test_javascript_is_mutated(mutant):
    assert mutant in javascript()


def test_lines_that_the_runtime_does_not_come_by_are_left_alone():
    assert {one.line for one in changes("loop.js", JAVASCRIPT, [4])} == {4}


def test_python_is_mutated_as_the_projector_is():
    found = changes("loop.py", "def run(calls):\n    calls.clear()\n    return 1\n", [2])
    assert [one.make() for one in found] == ["def run(calls):\n    pass\n    return 1\n"]


def test_a_change_is_shown_by_the_lines_that_differ():
    assert difference("a\nb\nc\n", "a\nx\nc\n") == ("b", "x")


def test_a_statement_that_is_gone_is_shown():
    assert difference("a\n  b\n  c\n", "a\n  c\n") == ("b", "")


# ---- what becomes of a mutant ----


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A bench with a runtime of the tests in the place of a known one."""
    folder = tmp_path_factory.mktemp("wild")
    user = folder / "user"
    (user / "bin").mkdir(parents=True)
    (user / "bin" / "python").symlink_to(sys.executable)
    (user / "loop.py").write_text((TESTS / "adapters" / "kit" / "null_runtime.py").read_text("utf-8"), "utf-8")
    (folder / "adapter.py").write_text(ADAPTER, "utf-8")
    environment = SimpleNamespace(make=lambda _: user)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            benches,
            "known",
            lambda: {"null@1": SimpleNamespace(environment=environment, adapter=folder / "adapter.py")},
        )
        patch.setattr(benches, "LOOPS", {"null@1": ["loop.py"]})
        patch.setattr(benches, "GENERATED", 1)
        with closing(Bench("null@1", folder)) as bench:
            yield bench


@pytest.fixture(scope="module")
def words(bench):
    return bench.recorded(0)


@pytest.fixture(scope="module")
def judge(bench, words):
    return Judge(bench, words, 0, whole=1)


def fate(bench, judge, words, old, new):
    source = bench.source("loop.py")
    assert source.count(old) > 0
    change = Change("loop.py", "Test", 0, 1, "", lambda: source.replace(old, new))
    return judge.outcome(change, range(len(words)))


def test_the_words_are_those_that_are_answered_by_the_same_bytes_twice(words):
    assert len(words) > 50


def test_a_change_that_no_answer_shows_is_unseen(bench, judge, words):
    assert (
        fate(bench, judge, words, "from typing import Any, ClassVar", "from typing import Any, ClassVar, Final").fate
        == UNSEEN
    )


def test_a_native_event_and_a_detail_are_no_part_of_what_is_compared():
    stop = {"type": "run-stop", "reason": "error"}
    step = Step(events=({**stop, "detail": "reset"}, {"type": "native", "name": "idle"}))
    assert benches.judged(step) == Step(events=(stop,))


def test_a_change_that_breaks_a_law_is_told_by_it(bench, judge, words):
    found = fate(bench, judge, words, 'self.log("run-stop"', 'self.log("native"')
    assert (found.fate, found.by) == ("law", "quick")


def test_a_module_that_cannot_be_imported_does_not_start(bench, judge, words):
    assert fate(bench, judge, words, "import asyncio", "import nothing_of_this_name").fate == "does not start"


def test_a_runtime_whose_constructor_raises_does_not_start_either(bench, judge, words):
    raising = 'raise ValueError("no session")'
    found = fate(bench, judge, words, "self.sessions[name] = Session(self.env, name)", raising)
    assert (found.fate, "no session" in found.why) == ("does not start", True)


def test_a_runtime_that_breaks_on_some_words_alone_is_an_error(bench, judge, words):
    found = fate(bench, judge, words, "self._session(stimulus).abort()", 'raise ValueError("no abort")')
    assert (found.fate, "no abort" in found.why) == ("error", True)


def test_what_is_mutated_is_put_back_and_the_users_own_file_never_written(bench, judge, words):
    before = bench.source("loop.py")
    fate(bench, judge, words, "import asyncio", "import nothing_of_this_name")
    user = bench.folder.parent / "user" / "loop.py"
    assert bench.source("loop.py") == before == user.read_text("utf-8")


def test_the_lines_that_the_words_come_by_are_known(bench, words, tmp_path):
    (lines,) = bench.lines(words[:1], tmp_path / "lines").values()
    source = bench.source("loop.py").splitlines()
    assert any("def accept" in line for line in source)
    assert 0 < len(lines) < len(source)


def test_each_line_is_known_with_the_words_that_come_by_it(bench, words, tmp_path):
    with_abort = [any(isinstance(one, Abort) for one in word.stimuli) for word in words]
    chosen = [words[with_abort.index(False)], words[with_abort.index(True)]]
    (lines,) = bench.lines(chosen, tmp_path / "lines").values()
    assert {tuple(every) for every in lines.values()} >= {(1,), (0, 1)}


# ---- what is said of it ----


def test_the_laws_that_a_runtime_fails_unchanged_are_its_red_cells():
    assert "ids-never-mixed" in (red("pi@0.87.1") or ())
    assert red("null@1") is None


OUTCOME = Outcome("pi@1", "loop.js", "Literal", 0, 7, "run", "a", "b", SURVIVED)
KNOWN = '[[mutant]]\nruntime = "pi@1"\nfile = "loop.js"\nchange = ["a → b"]\nreason = "Nothing reads it."\n'


def measured(*outcomes):
    return Measured("pi@1", 0, "abc", 9, 5, (), outcomes, {}, unseen=3)


def test_a_mutant_that_no_law_tells_and_has_no_reason_is_missing():
    assert page([measured(OUTCOME)], Reasons("x = 1"))[1] == ["no reason: pi@1 loop.js:7: a → b"]


def test_the_reason_of_a_mutant_stands_beside_it():
    text, missing = page([measured(OUTCOME)], Reasons(KNOWN))
    assert (missing, "loop.js:7, run: `a` → `b`. Nothing reads it." in text) == ([], True)


def test_the_table_counts_fates():
    told = msgspec.structs.replace(OUTCOME, fate="law", law="items-conserved", by="directed")
    assert (
        "| pi@1 | 5 | 0 | 3 | 2 | 1 | 0 | 0 | 0 | 1 | 50% | 50% |" in page([measured(OUTCOME, told)], Reasons(KNOWN))[0]
    )


def test_the_page_is_in_step_with_what_was_measured_and_each_mutant_has_its_reason():
    found = msgspec.json.decode(DATA.read_bytes(), type=list[Measured])
    assert page(found, Reasons()) == (PAGE.read_text("utf-8"), [])
