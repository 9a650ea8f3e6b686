"""The badge: how many laws, and which colour."""

import json

import pytest

from turncheck.conformance.report.formats.badge import render


@pytest.fixture
def of(law, result):
    """The badge of laws: ``of((verdict, state), ...)``."""

    def made(*given, cut=None):
        badge = json.loads(render(result(*(law(verdict, state=state) for verdict, state in given), cut=cut), {}))
        return badge["message"], badge["color"]

    return made


PASS, FAIL, SKIPPED = ("pass", None), ("fail", None), ("skipped", None)


def test_all_passed_is_green(of):
    assert of(PASS, PASS) == ("2/2 laws", "brightgreen")


def test_laws_that_do_not_apply_are_not_counted(of):
    assert of(PASS, SKIPPED) == ("1/1 laws", "brightgreen")


def test_a_broken_law_is_red(of):
    assert of(PASS, FAIL) == ("1/2 laws", "red")


def test_a_law_without_evidence_is_no_green(of):
    assert of(PASS, ("inconclusive", None)) == ("1/2 laws", "yellow")


def test_a_failure_that_the_baseline_excuses_is_no_green(of):
    assert of(PASS, ("fail", "known")) == ("1/2 laws", "yellow")


def test_a_stale_entry_is_red(of):
    assert of(PASS, ("pass", "stale")) == ("2/2 laws", "red")


@pytest.mark.parametrize("given", [[PASS, ("error", None)], [SKIPPED], []])
def test_what_could_not_be_judged_has_no_colour(of, given):
    assert of(*given)[1] == "lightgrey"


def test_a_cut_run_is_no_green(of):
    assert of(PASS, cut="out of time") == ("1/1 laws", "yellow")
