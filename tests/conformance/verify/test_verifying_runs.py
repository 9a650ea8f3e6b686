"""The results of a runtime's verification: verdicts, evidence, reasons, and the same bytes for the same seed."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest
from runtimes import wrong
from runtimes.right import Right
from runtimes.target import CAPABILITIES, POLICIES

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.observe.driver import repeating
from turncheck.conformance.verify.outcome.counterexample_files import read, write
from turncheck.conformance.verify.outcome.results import UNDECIDED
from turncheck.conformance.verify.subjects.runtime import UNSETTLED
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Stimulus, ToolCall, User

ALL = selected(["runtime"])


def verified(runtime, laws=ALL, *, words=0, **options):
    return verify_runtime(runtime, laws, words=words, hash_seed=4321, **options)


def encoded(name, words=12, seed=0):
    runtime = getattr(wrong, name)() if name else Right()
    return msgspec.json.encode(verified(runtime, words=words, seed=seed))


@cache
def first(name):
    """What this process wrote of it when it was asked first."""
    return encoded(name)


def verdicts(result):
    return {law.law: law.verdict for law in result.laws}


def reasons(result, verdict):
    return {law.law: law.why for law in result.laws if law.verdict == verdict}


class KeepsIds(wrong.ExecutesMalformedArguments):  # type: ignore[misc] # found by pytest's pythonpath
    """An id that recurs stays; the first call of it is executed, whatever its arguments."""

    def call(self, call):
        self.policies["repeated"] = "kept"
        super().call(call)


class InfersItsEnds(Right):  # type: ignore[misc] # found by pytest's pythonpath
    """The adapter says how runs end, since the runtime does not."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields | ({"source": "adapter"} if kind == "run-stop" else {}))


class LosesTheQueueUndeclared(Right):  # type: ignore[misc] # found by pytest's pythonpath
    """It does not say what becomes of what waits, and throws it away."""

    def __init__(self, **given):
        super().__init__(**given)
        said = {name: value for name, value in POLICIES.items() if not name.startswith("queue")}
        self.profile = Profile(("runtime",), CAPABILITIES, policies=said)

    def fate(self, reason):
        return "promote" if reason == "completed" else "drop"


# ---- the same seed, the same bytes ----


@pytest.mark.parametrize("name", [None, "LastInFirstOut", "CountsAcrossResets"])
def test_the_same_seed_gives_the_same_bytes(name):
    assert encoded(name) == first(name)


def test_the_same_seed_gives_the_same_bytes_in_another_process():
    here = Path(__file__).parent
    code = (
        f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}, {str(here.parents[1])!r}]\n"
        "import test_verifying_runs; sys.stdout.buffer.write(test_verifying_runs.encoded('LastInFirstOut'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, env={"PYTHONHASHSEED": "77"}
    )
    assert done.stdout == first("LastInFirstOut")


def test_another_seed_generates_other_words():
    assert encoded(None, seed=1) != first(None)


def test_generation_prints_nothing(capfd):
    verified(wrong.FourthSteerIsLost(), words=60, fail_fast=True)
    assert capfd.readouterr() == ("", "")


# ---- counterexamples ----


def test_a_counterexample_is_read_as_it_was_written(tmp_path):
    _, counterexamples = verified(wrong.EndsTwice())
    found = counterexamples["run-ends-once"]
    assert read(write(found, tmp_path)) == found


def test_a_counterexample_holds_what_was_applied_and_what_came_of_each():
    _, counterexamples = verified(wrong.EndsTwice())
    found = counterexamples["run-ends-once"]
    events = [event["type"] for step in found.steps for event in step.events]
    assert len(found.applied) == len(found.steps)
    assert events[found.position or 0] == "run-stop"
    assert events[found.position or 0 : 0 : -1].count("run-stop") == 2


def test_only_laws_that_failed_have_a_counterexample():
    result, counterexamples = verified(wrong.EndsTwice(), words=20)
    assert set(counterexamples) == set(reasons(result, "fail"))


# ---- verdicts ----


def test_what_is_not_declared_is_skipped_with_the_reason():
    result, _ = verified(Right(without=("observer", "limits", "tools", "together")))
    skipped = reasons(result, "skipped")
    assert skipped["observer-isolated"] == skipped["slow-consumer-same"] == "not declared: observer"
    assert skipped["rounds-bounded"] == "not declared: limits"
    assert skipped["ids-never-mixed"] == "not declared: tools"
    assert skipped["sent-together-none-lost"] == "not declared: together"
    assert skipped["aborted-text-dropped"] == "not declared: machine conversation"


def test_a_law_without_evidence_is_inconclusive():
    result, _ = verified(Right(), [replace(LAWS["run-ends-once"], judge=lambda _: iter(()))])
    assert reasons(result, "inconclusive") == {"run-ends-once": "no evidence: it needs a run that ended"}


@pytest.mark.parametrize(("arguments", "finds"), [(({}, '{"path": '), 0), (('{"path": ', "{"), 1)], ids=["one", "none"])
def test_what_is_executed_under_an_id_that_recurs_may_be_its_call_that_is_json(arguments, finds):
    calls = [ModelOutput(item=ToolCall(call_id="c", tool="read", arguments=given)) for given in arguments]
    word: list[Stimulus] = [User(id="u", text="go"), *calls, ModelStop(reason="tool-use")]
    trace = repeating(KeepsIds())(word, ResetOptions()).trace
    findings = [one for one in LAWS["malformed-never-executes"].judge(trace) if isinstance(one, Finding)]
    assert ([one.call_id for step in trace.steps for one in step.tools()], len(findings)) == (["c"], finds)


def test_evidence_that_is_all_inferred_is_inconclusive():
    result, _ = verified(InfersItsEnds(), words=10)
    assert reasons(result, "inconclusive") == dict.fromkeys(
        (
            *("run-ends-once", "runs-ask-the-model", "answered-runs-complete", "idle-abort-ignored"),
            *("abort-interrupts", "model-failure-survived"),
        ),
        "all evidence was inferred by the adapter",
    )


@pytest.mark.parametrize(
    ("runtime", "why"),
    [
        (wrong.LosesTheQueueAtAnAbort, "the queue is not promoted, as declared"),
        (
            LosesTheQueueUndeclared,
            "the queue is not promoted, as by default (queueAfterInterrupted is not declared)",
        ),
    ],
    ids=["declared", "by default"],
)
def test_a_queue_that_is_lost_is_told_with_what_it_is_judged_by(runtime, why):
    assert reasons(verified(runtime(), [LAWS["queue-as-declared"]])[0], "fail") == {"queue-as-declared": why}


def test_a_run_that_is_stuck_names_the_message_that_waited():
    result, _ = verified(wrong.ForgetsToPromote(), [LAWS["run-never-stuck"]])
    why = reasons(result, "fail")["run-never-stuck"]
    assert re.search(r"nothing is awaited: the run is that of u\d, which waited and is not served$", why)


def test_a_run_that_is_stuck_amid_its_work_names_no_message():
    result, _ = verified(wrong.ForgetsToAskAfterTools(), [LAWS["run-never-stuck"]])
    assert reasons(result, "fail")["run-never-stuck"] == "stuck: quiet in an open run, and nothing is awaited"


def test_a_runtime_that_is_right_exits_0():
    assert verified(Right(), words=20)[0].exit_code == 0


def test_a_broken_law_exits_1():
    assert verified(wrong.EndsTwice())[0].exit_code == 1


def test_the_summary_counts_every_law_once():
    result, _ = verified(Right(without=("tools",)))
    assert sum(result.summary.values()) == len(result.laws) == len(ALL)


# ---- what no law is judged by ----


def test_a_target_that_dies_is_an_error_of_every_law_that_is_declared():
    result, counterexamples = verified(wrong.Dies())
    assert (result.crash.message, set(reasons(result, "error").values())) == ("the process ended", {UNDECIDED})
    assert set(verdicts(result).values()) == {"error", "skipped"}
    assert (str(result.cut).splitlines()[0], counterexamples) == ("the target broke: the process ended", {})
    assert result.exit_code == 2


def test_an_unsettled_word_leaves_open_whether_runs_end():
    result, _ = verified(wrong.Unsettled())
    assert (
        reasons(result, "inconclusive")["run-never-stuck"]
        == f"{UNSETTLED} words did not settle, first after user, model-output, model-output, abort"
    )


def test_no_law_is_judged_on_an_unsettled_word():
    result, _ = verified(wrong.Unsettled(), [LAWS["calls-answered"]])
    assert reasons(result, "inconclusive") == {"calls-answered": "no evidence: it needs a run with a call that ended"}


def test_a_run_that_unsettled_words_end_is_incomplete_and_exits_with_2_though_laws_passed_before():
    result, _ = verified(wrong.Unsettled(), words=300)
    assert (result.summary["fail"], result.summary["pass"] > 0, result.incomplete, result.exit_code) == (
        0,
        True,
        True,
        2,
    )


def test_unsettled_words_end_the_run_soon():
    result, _ = verified(wrong.Unsettled(), words=300)
    assert (result.coverage["unsettled"], result.cut) == (
        UNSETTLED,
        (
            f"{UNSETTLED} words were unsettled: no quiet within the adapter's patience, "
            "first after user, model-output, model-output, abort"
        ),
    )


@pytest.fixture(scope="module")
def flaky():
    return verified(wrong.EverySeventhRunEndsTwice(), words=60)


def test_a_flaky_runtime_is_explored_to_the_last_word(flaky):
    result, _ = flaky
    assert (result.cut, result.coverage["words"] > 60) == (None, True)


def test_a_flaky_runtime_breaks_determinism_alone(flaky):
    result, counterexamples = flaky
    assert "run-deterministic" in counterexamples
    assert {law for law, verdict in verdicts(result).items() if verdict == "fail"} <= {
        "run-deterministic",
        "run-hash-seed",
    }


def test_what_a_flaky_runtime_broke_besides_is_inconclusive(flaky):
    assert reasons(flaky[0], "inconclusive")["run-ends-once"] == (
        "the implementation is flaky: the same word gave something else (X-2)"
    )


# ---- how a run ends ----


def test_a_run_within_its_budget_is_not_cut():
    assert verified(Right(), budget=600)[0].cut is None


def test_a_run_that_its_budget_cuts_says_so():
    result, _ = verified(Right(), words=300, budget=1e-9)
    assert (result.cut, result.coverage["words"]) == ("the time budget was used up", 0)


def test_fail_fast_ends_at_the_word_that_breaks_a_law():
    slow, fast = (verified(wrong.EndsTwice(), words=20, fail_fast=fast)[0] for fast in (False, True))
    assert fast.coverage["words"] < 5 < slow.coverage["words"]


def test_an_interrupt_keeps_what_was_found():
    def interrupt(said):
        if said.startswith("5 words"):
            raise KeyboardInterrupt

    result, _ = verified(wrong.EndsTwice(), words=20, progress=interrupt)
    assert (result.cut, result.exit_code, verdicts(result)["run-ends-once"]) == ("interrupted", 130, "fail")


# ---- coverage ----


@pytest.mark.parametrize(
    "policies",
    [
        {},
        {"busy": "reject"},
        {"busy": "steer"},
        {"tools": "parallel"},
        {"retries": 3},
        {"queueAfterInterrupted": "hold", "queueAfterError": "drop"},
    ],
    ids=str,
)
def test_the_directed_words_alone_take_every_row_that_the_policies_allow(policies):
    assert verified(Right(**policies))[0].coverage["missed"] == []


def test_rows_that_need_what_is_not_declared_are_no_gap():
    full, bare = (verified(Right(without=without))[0].coverage["rows"] for without in ((), ("abort", "tools")))
    assert int(bare.partition("/")[2]) < int(full.partition("/")[2])
