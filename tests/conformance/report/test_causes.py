"""The causes of failures in words, and in every kind of report."""

import json

import pytest
from msgspec.structs import replace

from turncheck.conformance.report.causes import by_cause, cause_line, cause_of, counted_causes
from turncheck.conformance.report.registry import on_result
from turncheck.conformance.verify.outcome.results import CauseFailure, CauseResult


@pytest.fixture
def grouped(law, result):
    """Three laws that fail, by two causes: the second law's is the root of the first one's."""
    laws = (law("fail", "total"), law("pass", "order"), law("fail", "one-root"), law("fail", "rounds"))
    causes = (
        CauseResult(("one-root", "total"), (CauseFailure("one-root", "first"), CauseFailure("total", "then"))),
        CauseResult(("rounds", "total"), (CauseFailure("rounds", "other"), CauseFailure("total", "more", 2))),
    )
    return replace(result(*laws), causes=causes)


def test_causes_and_their_laws_are_counted(grouped):
    assert counted_causes(grouped) == "2 causes, 3 laws"


def test_without_a_failure_there_is_nothing_to_count(result):
    assert counted_causes(result()) == ""


def test_the_root_of_a_cause_is_named_first(grouped):
    assert cause_line(grouped, 0) == "cause 1 of 2: one-root, and so total"


def test_a_law_names_the_cause_of_its_smallest_counterexample_and_its_others(grouped):
    total = grouped.laws[0]
    assert cause_of(grouped, total) == "cause 1 of 2, whose root is one-root; it shows cause 2 too"


def test_laws_that_failed_come_first_by_cause_and_roots_before_the_rest(grouped):
    assert [one.law for one in by_cause(grouped)] == ["one-root", "rounds", "total", "order"]


@pytest.mark.parametrize("kind", ["junit", "markdown", "html"])
def test_a_report_names_each_cause(kind, grouped):
    assert "cause 1 of 2" in on_result(kind)(grouped, {}).replace("&#58;", ":")


def test_the_roots_are_the_first_annotations(grouped):
    lines = on_result("github")(grouped, {}).splitlines()
    assert [line.partition("title=")[2].partition(" ")[0] for line in lines] == ["one-root", "rounds", "total"]


def test_sarif_numbers_the_cause_of_each_result(grouped):
    (run,) = json.loads(on_result("sarif")(grouped, {}))["runs"]
    assert [(one["ruleId"], one["properties"]["cause"]) for one in run["results"]] == [
        ("one-root", 1),
        ("rounds", 2),
        ("total", 1),
    ]
