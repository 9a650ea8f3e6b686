"""The results of a run: verdicts, evidence, small counterexamples, and the same bytes for the same seed."""

import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest
from inprocess import InProcess

from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets.registry import open_projector
from turncheck.conformance.laws.law import Finding, Witness
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.verify.exploring import logs as exploring_logs
from turncheck.conformance.verify.exploring.logs import classics
from turncheck.conformance.verify.outcome.counterexample_files import read, write
from turncheck.conformance.verify.outcome.results import Evidence
from turncheck.conformance.verify.subjects.projector import ProjectorSubject
from turncheck.conformance.verify.verification import verify_projector

ALL = selected(["projector"])
SHORT = 0.3
FULL = Profile(("projector",), ("policies", "feed", "repeats", "steps", "rounds"))


def run(name, laws=ALL, profile=None, **options):
    return verify_projector(InProcess(f"projectors.{name}", profile), laws, **options)


def failing(result):
    return {law.law for law in result.laws if law.verdict == "fail"}


def verdict(result, name):
    return next(law for law in result.laws if law.law == name)


def encoded(name, seed=0):
    result, counterexamples = run(name, seed=seed, examples=12)
    return msgspec.json.encode([result, counterexamples])


@cache
def first(name):
    """What this process wrote of it when it was asked first."""
    return encoded(name)


# ---- counterexamples ----


@pytest.fixture(scope="module")
def last_in_first_out():
    return run("wrong:LastInFirstOut", examples=20)


def test_a_counterexample_is_small(last_in_first_out):
    _, counterexamples = last_in_first_out
    assert {law: len(found.input.events) for law, found in counterexamples.items() if len(found.input.events) > 6} == {}


def test_a_counterexample_says_what_was_expected_and_what_came(last_in_first_out):
    found = last_in_first_out[1]["follow-up-fifo"]
    assert (found.position, found.expected, found.observed) == (2, 1, 2)


def test_every_law_that_breaks_has_its_own_counterexample(last_in_first_out):
    result, counterexamples = last_in_first_out
    assert set(counterexamples) == failing(result) == {"follow-up-fifo", "anomalies-exact", "equals-reference"}


def test_several_laws_fail_apart_in_one_run():
    _, counterexamples = run("wrong:ErrorIsNotABoundary", examples=10)
    inputs = [msgspec.json.encode(found.input) for found in counterexamples.values()]
    assert len(set(inputs)) > 1


def test_what_a_classic_log_alone_breaks_is_reduced_too():
    _, counterexamples = run("wrong:LastInFirstOut", [LAWS["follow-up-fifo"]], examples=0)
    assert len(counterexamples["follow-up-fifo"].input.events) == 4


def test_a_counterexample_is_read_as_it_was_written(last_in_first_out, tmp_path):
    found = last_in_first_out[1]["follow-up-fifo"]
    assert read(write(found, tmp_path)) == found


# ---- the same seed, the same bytes ----


@pytest.mark.parametrize("name", ["plain:Plain", "wrong:AcceptsAfterStop"])
def test_the_same_seed_gives_the_same_bytes(name):
    assert encoded(name) == first(name)


def test_the_same_seed_gives_the_same_bytes_in_another_process():
    here = Path(__file__).parent
    code = (
        f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}, {str(here.parents[1])!r}]\n"
        "import test_verifying; sys.stdout.buffer.write(test_verifying.encoded('wrong:AcceptsAfterStop'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, env={"PYTHONHASHSEED": "77"}
    )
    assert done.stdout == first("wrong:AcceptsAfterStop")


def test_another_seed_generates_other_logs():
    assert encoded("plain:Plain", seed=1) != first("plain:Plain")


# ---- verdicts ----


def test_a_law_without_evidence_is_inconclusive(monkeypatch):
    monkeypatch.setattr(exploring_logs, "CLASSICS", ())
    result, _ = run("plain:Plain", [LAWS["groups-maximal"]], examples=0)
    assert (verdict(result, "groups-maximal").verdict, verdict(result, "groups-maximal").why) == (
        "inconclusive",
        "no evidence: it needs a block with two calls",
    )


def test_evidence_that_the_adapter_inferred_is_not_enough():
    law = replace(LAWS["one-root"], judge=lambda _: iter([Witness(inferred="an abort")]))
    result, _ = run("plain:Plain", [law], examples=0)
    found = verdict(result, "one-root")
    assert (found.verdict, found.evidence.observed, found.why) == (
        "inconclusive",
        0,
        "all evidence was inferred by the adapter",
    )


def test_a_law_whose_capability_is_not_declared_is_skipped_with_the_reason():
    result, _ = run("plain:steps_only", examples=0)
    skipped = {law.law: law.why for law in result.laws if law.verdict == "skipped"}
    assert skipped == {
        "agents-kept-apart": "not declared: sub-agents",
        "rounds": "not declared: rounds",
        "views-agree": "not declared: rounds",
        "chunking": "not declared: feed",
        "redelivery-changes-nothing": "not declared: feed, repeats",
    }


def test_a_law_that_needs_either_view_is_skipped_where_neither_is_declared():
    result, _ = run("plain:no_views", [LAWS["conservation"]], examples=0)
    assert verdict(result, "conservation").why == "not declared: steps or rounds"


@pytest.mark.parametrize("name", ["steps_only", "rounds_only"])
def test_a_law_that_needs_either_view_is_judged_by_one(name):
    result, _ = run(f"plain:{name}", [LAWS["conservation"]], examples=0)
    assert verdict(result, "conservation").verdict == "pass"


def test_a_skipped_law_has_no_evidence():
    result, _ = run("plain:steps_only", examples=0)
    assert verdict(result, "chunking").evidence == Evidence()


def test_a_projector_that_raises_fails_total_and_nothing_else():
    result, counterexamples = run("wrong:UnknownTypeRaises", examples=10)
    assert failing(result) == {"total"}
    assert "KeyError: '" in counterexamples["total"].message


def test_a_declared_feed_that_is_not_there_fails():
    result, _ = run("plain:steps_only", profile=Profile(("projector",), ("policies", "steps", "feed")), examples=0)
    assert failing(result) == {"chunking"}
    assert verdict(result, "chunking").why == "a declared capability is not there: feed"


def test_declared_policies_that_are_not_there_fail():
    result, _ = run("plain:own_policies", profile=FULL, examples=0)
    assert verdict(result, "total").why == "a declared capability is not there: policies"


def test_an_unknown_law_is_never_passed():
    law = replace(LAWS["one-root"], needs=("telepathy",))
    result, _ = run("plain:Plain", [law], examples=0)
    assert verdict(result, "one-root").verdict == "skipped"


# ---- a target that breaks ----


@pytest.mark.parametrize(
    ("name", "why"), [("hangs", "no answer within 0.3 s"), ("dies", "exit"), ("rubbish", "projection")]
)
def test_a_target_that_breaks_is_an_error_of_every_law(name, why):
    with open_projector(f"python:projectors.wrong:{name}", timeout=SHORT) as target:
        result, counterexamples = verify_projector(target, [LAWS["total"], LAWS["rounds"]])
    assert [law.verdict for law in result.laws] == ["error", "error"]
    assert result.crash is not None
    assert why in result.crash.message
    assert ((result.cut or "").partition(":")[0], counterexamples, result.exit_code) == ("the target broke", {}, 2)


def test_a_hanging_target_costs_its_timeout_once():
    with open_projector("python:projectors.wrong:hangs", timeout=SHORT) as target:
        began = time.monotonic()
        with target.again(1):
            starting = time.monotonic() - began
        began = time.monotonic()
        verify_projector(target, ALL)
        assert time.monotonic() - began < starting + 2 * SHORT + 1


# ---- what is generated ----


@pytest.fixture
def logs(monkeypatch):
    """Return the generated logs on which a law that *breaks*, or does not, judges a projector."""
    monkeypatch.setattr(exploring_logs, "CLASSICS", ())

    def logs(breaks):
        seen = []

        def law(trace):
            seen.append((trace.events, trace.policies))
            yield Finding(None, "broken") if breaks(len(seen)) else Witness()

        run("plain:Plain", [replace(LAWS["one-root"], judge=law)], examples=40, shrink=False)
        return seen

    return logs


@pytest.mark.parametrize("first", [1, 5, 20])
def test_a_broken_law_hides_no_log_from_the_others(logs, first):
    whole, broken = logs(lambda _: False), logs(lambda number: number >= first)
    assert [log for log in whole if log not in broken] == []


def test_no_generated_case_is_judged_twice(monkeypatch):
    cases = []
    observe = ProjectorSubject.observe

    def watched(self, case):
        cases.append(msgspec.json.encode(case))
        return observe(self, case)

    monkeypatch.setattr(exploring_logs, "CLASSICS", ())
    monkeypatch.setattr(ProjectorSubject, "observe", watched)
    run("wrong:LastInFirstOut", examples=60, shrink=False)
    assert len(cases) == len(set(cases)) > 40


# ---- how a run ends ----


def test_a_run_within_its_budget_is_not_cut():
    assert run("plain:Plain", examples=0, budget=600)[0].cut is None


def test_a_run_that_its_budget_cuts_says_so():
    result, _ = run("plain:Plain", budget=1e-9)
    assert (result.cut, result.coverage["logs"]) == (
        "the time budget was used up",
        len(classics(None)),
    )


def test_fail_fast_generates_nothing_after_a_failure():
    slow = run("wrong:ForgetsTruncated", [LAWS["anomalies-exact"]], examples=40)[0]
    fast = run("wrong:ForgetsTruncated", [LAWS["anomalies-exact"]], examples=40, fail_fast=True)[0]
    assert fast.coverage["logs"] < slow.coverage["logs"]


def test_all_passed_exits_0():
    assert run("plain:Plain", examples=0)[0].exit_code == 0


def test_a_broken_law_exits_1():
    assert run("wrong:LastInFirstOut", examples=0)[0].exit_code == 1


def test_nothing_passed_exits_2():
    assert run("plain:steps_only", [LAWS["chunking"]], examples=0)[0].exit_code == 2


def test_the_summary_counts_every_law_once():
    result, _ = run("plain:steps_only", examples=0)
    assert sum(result.summary.values()) == len(result.laws) == len(ALL)


def test_a_target_without_policies_is_judged_under_its_own():
    result, _ = run("plain:own_policies", examples=20)
    assert (failing(result), result.coverage["policies"]) == (set(), "1/18")


def test_a_target_that_keeps_other_policies_than_it_declares_fails():
    result, _ = run("plain:own_policies", profile=Profile(("projector",), ("steps", "rounds")), examples=0)
    assert "queue-fate" in failing(result)
