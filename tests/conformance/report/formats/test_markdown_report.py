"""The job summary: a table of verdicts, folded failures, coverage."""

import msgspec
import pytest

from turncheck.conformance.report.formats.markdown import render
from turncheck.conformance.verify.outcome.results import Evidence


@pytest.fixture
def row(law, result):
    """The table's row of one law: ``row(verdict, ...)``."""
    return lambda *arguments, **options: next(
        line
        for line in render(result(law(*arguments, **options)), {}).splitlines()
        if line.startswith("|") and "one-root" in line
    )


@pytest.mark.parametrize(
    ("verdict", "mark"), [("pass", "✓"), ("fail", "✗"), ("inconclusive", "?"), ("skipped", "-"), ("error", "!")]
)
def test_each_law_is_a_row_with_its_verdict(row, verdict, mark):
    assert row(verdict).startswith(f"| {mark} | one-root | {verdict} | RC-3.1, ")


def test_evidence_that_the_adapter_inferred_in_part_is_told_apart(law, result):
    part = msgspec.structs.replace(law("pass"), evidence=Evidence(2091, 384))
    assert "| 2,091 times, and 384 more inferred by the adapter |" in render(result(part), {})


def test_a_failure_that_the_baseline_excuses_is_known(row):
    assert "| known |" in row("fail", state="known")


def test_the_table_has_every_law(broken):
    rows = [line.split(" | ")[1] for line in render(*broken).splitlines() if line.startswith(("| ✓", "| ✗"))]
    assert rows == ["total", "follow-up-fifo"]


def test_a_failure_is_folded(broken):
    assert "<summary>✗ follow-up-fifo: the next root is not the follow-up that waited longest</summary>" in render(
        *broken
    )


def test_a_failure_shows_its_counterexample(broken):
    assert "  ▶   2  user-message  text=&quot;" in render(*broken)


def test_what_is_not_broken_is_not_folded(law, result):
    assert "<details>" not in render(result(law("inconclusive")), {})


def test_coverage_is_told(broken):
    assert "covered by the projector: states 2/2\n" in render(*broken)


def test_a_cut_run_says_so(result):
    assert "**The run was cut short**: out of time\n" in render(result(cut="out of time"), {})


def test_markup_in_a_text_is_no_markup(row):
    assert row("fail", why="<b> | `x` @all").endswith("| &#60;b&#62; &#124; &#96;x&#96; &#64;all |")


def test_a_crash_stands_before_the_table_and_once(crashed):
    text = render(*crashed)
    assert text.index("✗ **target-breaks**: it died\n") < text.index("| | law |")
    assert text.count("it died") == 1


def test_a_crash_shows_its_word_and_how_to_replay_it(crashed):
    text = render(*crashed)
    assert "<pre>  → user          id=&quot;u1&quot;  text=&quot;hello&quot;\n  sent: a message\n" in text
    assert "turncheck replay --run found/x.target-breaks.json</pre>" in text
