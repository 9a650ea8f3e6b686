"""JUnit XML: what each verdict becomes."""

from xml.etree import ElementTree as ET

import msgspec
import pytest

from turncheck.conformance.report.formats.junit import render
from turncheck.conformance.verify.outcome.results import Evidence


def suite(given):
    return ET.fromstring(render(*given))


def outcome(case):
    """Return the tag, type and message of a test case's outcome; None for a pass."""
    return next(((item.tag, item.get("type"), item.get("message")) for item in case), None)


@pytest.fixture
def of(law, result):
    """The outcome of one law: ``of(verdict, ...)``."""
    return lambda *arguments, **options: outcome(suite((result(law(*arguments, **options)), {})).find("testcase"))


def test_each_law_is_a_test_case_of_its_name(broken):
    assert [case.get("name") for case in suite(broken).iter("testcase")] == ["total", "follow-up-fifo"]


def test_the_target_is_the_class(broken):
    assert {case.get("classname") for case in suite(broken).iter("testcase")} == {broken.result.target}


def test_a_pass_has_no_outcome(of):
    assert of("pass") is None


def test_a_pass_that_rests_on_the_adapter_in_part_says_so(law, result):
    part = msgspec.structs.replace(law("pass"), evidence=Evidence(3, 1))
    case = suite((result(part), {})).find("testcase")
    assert case.findtext("system-out") == "3 times, and 1 more inferred by the adapter"


def test_a_fail_is_a_failure_with_its_clauses(of):
    assert of("fail") == ("failure", "RC-3.1, RC-5.1, RC-7.1, RC-7.2", "why")


def test_an_error_is_an_error(of):
    assert of("error") == ("error", "error", "why")


def test_a_skipped_law_is_skipped_with_its_reason(of):
    assert of("skipped") == ("skipped", "skipped", "why")


def test_an_inconclusive_law_is_no_pass(of):
    assert of("inconclusive") == ("skipped", "inconclusive", "inconclusive: why")


@pytest.mark.parametrize("state", ["known", "flaky"])
def test_a_failure_that_the_baseline_excuses_is_skipped(of, state):
    assert of("fail", state=state)[:2] == ("skipped", "fail")


def test_why_a_failure_is_excused_is_said(of):
    assert of("fail", state="known")[2] == "fail: why (baseline: it is old, #7)"


def test_an_expired_entry_excuses_nothing(of):
    assert of("fail", state="expired")[0] == "failure"


def test_a_stale_entry_is_a_failure(of):
    assert of("pass", state="stale")[::2] == ("failure", "3 times (baseline: stale, it is old, #7)")


def test_a_failure_shows_its_shrunk_counterexample(broken):
    assert suite(broken).find(".//failure").text.splitlines()[2].startswith("  ▶   2  user-message  text=")


def test_the_suite_counts_what_there_is(law, result):
    laws = [law("pass"), law("fail", "order"), law("error", "total"), law("skipped", "rounds"), law("inconclusive")]
    found = suite((result(*laws), {}))
    assert [found.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["5", "1", "1", "2"]


def test_the_suite_says_what_was_covered(broken):
    properties = {item.get("name"): item.get("value") for item in suite(broken).iter("property")}
    assert properties["projector states"] == "2/2"


def test_a_cut_run_says_so(result):
    properties = {
        item.get("name"): item.get("value") for item in suite((result(cut="out of time"), {})).iter("property")
    }
    assert properties["cut"] == "out of time"


# ---- a target that breaks ----


def test_a_crash_is_the_one_error_and_the_first_case(crashed):
    found = suite(crashed)
    first = next(found.iter("testcase"))
    assert (first.get("name"), outcome(first)) == ("target-breaks", ("error", "error", "it died"))
    assert [found.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "2"]


def test_how_the_target_broke_is_said_once(crashed):
    assert render(*crashed).count("it died") == 1


def test_a_crash_shows_its_word_and_how_to_replay_it(crashed):
    told = next(suite(crashed).iter("error")).text.splitlines()
    assert told == [
        '  → user          id="u1"  text="hello"',
        "  sent: a message",
        "not decided: total, rounds",
        "turncheck replay --run found/x.target-breaks.json",
    ]


def test_a_law_that_a_crash_left_undecided_is_skipped(crashed):
    said = {case.get("name"): outcome(case) for case in suite(crashed).iter("testcase")}
    assert said["total"] == ("skipped", "error", "error: the target broke before this was decided")
