"""Workflow commands: one line each, escaped as GitHub reads them."""

import pytest

from turncheck.conformance.check.results import LogFinding, LogResult
from turncheck.conformance.report.formats.github import render, render_logs

CLAUSES = "RC-3.1%2C RC-5.1%2C RC-7.1%2C RC-7.2"


@pytest.fixture
def of(law, result):
    """The commands of one law: ``of(verdict, ...)``."""
    return lambda *arguments, **options: render(result(law(*arguments, **options)), {}).splitlines()


def of_log(verdict, *findings, why=None):
    return render_logs([LogResult("a,b:c.jsonl", "pi", 1, 1, findings, verdict, why)])


def test_a_broken_law_is_an_error_at_its_file(of):
    assert of("fail", file="found/x.json") == [
        f"::error file=found/x.json,title=one-root ({CLAUSES})::why%0Aturncheck replay --run found/x.json"
    ]


def test_a_law_without_evidence_is_a_warning(of):
    assert of("inconclusive") == [f"::warning title=one-root ({CLAUSES})::inconclusive: why"]


@pytest.mark.parametrize("verdict", ["pass", "skipped"])
def test_what_is_well_is_not_told(of, verdict):
    assert of(verdict) == []


def test_what_the_baseline_excuses_is_a_notice(of):
    assert of("fail", state="known")[0].startswith("::notice ")


def test_a_stale_entry_is_an_error(of):
    assert of("pass", state="stale")[0].startswith("::error ")


def test_laws_that_were_not_decided_are_one_error(law, result):
    text = render(result(law("error"), law("error", "order")), {})
    assert text == "::error title=the run was not completed::why%0Anot decided: one-root, order\n"


def test_a_cut_run_is_a_warning(result):
    assert render(result(cut="out of time"), {}) == "::warning title=the run was cut short::out of time\n"


def test_a_message_is_escaped(of):
    assert of("inconclusive", why="1% of\n2")[0].endswith("::inconclusive: 1%25 of%0A2")


def test_a_counterexample_is_part_of_the_message(broken):
    assert "%0A  ▶   2  user-message  text=" in render(*broken)


def test_a_finding_is_an_error_at_its_line(of):
    text = of_log("fail", LogFinding("malformed", ("RC-D5",), 0, 3, "not so"))
    assert text == "::error file=a%2Cb%3Ac.jsonl,line=3,title=malformed (RC-D5)::not so\n"


def test_a_log_that_merely_ends_in_a_run_is_a_warning():
    assert of_log("inconclusive", LogFinding("truncated", (), 0, 1, "x")).startswith("::warning ")


@pytest.mark.parametrize("verdict", ["error", "inconclusive"])
def test_a_log_that_cannot_be_judged_is_an_error(verdict):
    assert of_log(verdict, why="empty") == "::error file=a%2Cb%3Ac.jsonl,title=the log cannot be judged::empty\n"


def test_findings_that_are_not_listed_are_an_annotation():
    text = render_logs([LogResult("a.jsonl", "pi", 1, 1, (), "fail", more={"malformed": 3})])
    assert text == "::error file=a.jsonl,title=findings that are not listed::… and 3 more of malformed\n"


def test_a_crash_is_the_first_error_and_the_only_one_of_its_kind(crashed):
    first, *rest = render(*crashed).splitlines()
    assert first.startswith("::error file=found/x.target-breaks.json,title=target-breaks::it died%0A  → user ")
    assert "%0Anot decided: total, rounds%0A" in first
    assert [line.split(" ")[0] for line in rest] == ["::error", "::warning"]
    assert "it died" not in "".join(rest)
