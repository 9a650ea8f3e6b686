"""The lessons of `explain` are true: each law has its story, and an example that breaks it and no other law."""

import re
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from inprocess import InProcess, InProcessCollator

from turncheck.conformance.automata.n_complete.reference import modelled
from turncheck.conformance.check.judge import check
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.report.lessons import lessons, stories
from turncheck.conformance.verify.kept.replay import asked_collator, asked_projector, asked_runtime

sys.path.insert(0, str(Path(__file__).parents[2] / "static"))

import teaching_examples as examples

RIGHT = "turncheck.adapters.references.collation:ReferenceCollator"


def of(subject):
    return [law.name for law in LAWS.values() if law.subject == subject]


def example(law) -> Any:
    """The example of a law, of whichever kind it is."""
    return lessons()[law].wrong


def findings(lines):
    return [finding.law for finding in check("example", BytesIO("\n".join(lines).encode())).findings]


def test_every_law_has_a_story():
    assert stories().keys() == LAWS.keys()


@pytest.mark.parametrize("law", LAWS)
def test_a_story_has_two_to_four_sentences(law):
    assert len(re.findall(r"[.?!][”\"`]?(?= [A-Z“]|$)", stories()[law])) in {2, 3, 4}


def test_every_law_has_an_example():
    assert list(lessons()) == list(LAWS)


@pytest.mark.parametrize("law", LAWS)
def test_an_example_tells_its_fault_in_a_sentence(law):
    assert re.fullmatch(r"\S.{10,110}[.:]", lessons()[law].fault)


@pytest.mark.parametrize("law", of("projector"))
def test_the_example_of_a_law_on_projectors_breaks_it(law):
    with examples.opened(law) as target:
        asked = (asked_projector(example(law), target) for _ in range(7))  # one fault shows every seventh time
        assert any(found is not None for found in asked)


@pytest.mark.parametrize("law", of("projector"))
def test_the_right_projector_keeps_the_law_on_its_example(law):
    assert asked_projector(example(law), InProcess("projectors.agents:Agents")) is None


@pytest.mark.parametrize("law", of("runtime"))
def test_the_example_of_a_law_on_runtimes_breaks_it(law):
    target = examples.double(law)()
    assert asked_runtime(example(law), target, modelled(target.profile)) is not None


@pytest.mark.parametrize("law", of("runtime"))
def test_the_right_runtime_keeps_the_law_on_its_example(law):
    found = example(law)
    target = examples.conforming(law, found.profile)
    assert asked_runtime(found, target, modelled(target.profile)) is None


@pytest.mark.parametrize("law", of("collator"))
def test_the_example_of_a_law_on_collations_breaks_it(law):
    assert asked_collator(example(law), examples.collator(law)) is not None


@pytest.mark.parametrize("law", of("collator"))
def test_the_right_collation_keeps_the_law_on_its_example(law):
    assert asked_collator(example(law), InProcessCollator(RIGHT)) is None


@pytest.mark.parametrize("law", of("log"))
def test_the_example_of_a_law_on_logs_breaks_it_before_any_other(law):
    assert findings(example(law).lines)[0] == law


@pytest.mark.parametrize("law", of("log"))
def test_the_mended_log_breaks_no_law(law):
    assert findings(example(law).right) == []


# ---- the command ----


@pytest.mark.parametrize("law", LAWS)
def test_a_law_is_explained_with_its_story_and_its_clauses(invoke, tmp_path, law):
    ran = invoke(tmp_path, "explain", law)
    shown = " ".join(ran.out.split())
    assert ran.code == 0
    assert " ".join(stories()[law].split()) in shown
    assert [clause for clause in LAWS[law].clauses if clause not in ran.out] == []


@pytest.mark.parametrize("law", LAWS)
def test_a_picture_names_its_law(invoke, tmp_path, law):
    assert invoke(tmp_path, "explain", law, "--picture", "mermaid").out.startswith(
        f"---\ntitle: {law}\n---\nsequenceDiagram"
    )


def test_a_picture_is_drawn_as_svg(invoke, tmp_path):
    assert invoke(tmp_path, "explain", "run-ends-once", "--picture", "svg").out.startswith("<svg ")


def test_the_picture_marks_the_place_where_the_law_breaks(invoke, tmp_path):
    out = invoke(tmp_path, "explain", "run-ends-once").out
    assert [line.count("✗ ends completed") for line in out.splitlines() if "✗ ends" in line] == [1]


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("restart-remembers", "killed, and started again"),
        ("sessions-independent", "b#58; other say"),
    ],  # #58; is a colon
)
def test_the_picture_shows_what_a_law_applied_instead_of_the_word(invoke, tmp_path, law, said):
    out = invoke(tmp_path, "explain", law, "--picture", "mermaid").out
    assert said in out
    assert re.search(r"▶ .*asks r\d+$", out.rstrip())  # the law breaks at the last row


def test_a_runtime_law_shows_what_would_have_been_right(invoke, tmp_path):
    _, _, right = invoke(tmp_path, "explain", "run-ends-once").out.partition("A runtime that conforms")
    assert right.count("run-stop") == 2  # the word's run, and the probe's


def test_a_law_that_is_mistyped_is_answered_with_its_neighbours(invoke, tmp_path):
    ran = invoke(tmp_path, "explain", "calls-answred")
    assert (ran.code, ran.out) == (2, "")
    assert "perhaps calls-answered" in ran.err


def test_the_examples_of_laws_on_logs_are_the_scripts():
    assert {law: lessons()[law] for law in of("log")} == {law: examples.on_log(law) for law in of("log")}
