"""No law alarms at conforming runtimes that compact, ask, delegate, keep sessions, or have several runs or clients."""

import pytest
from runtimes.held import (
    ATTENDED,
    COMPACTED,
    DECIDED,
    DELEGATED,
    FEW,
    LIMITED,
    MORE,
    SIDE_BY_SIDE,
    failing_why,
    laws_that,
    verified,
)
from runtimes.lifecycle import (
    attended,
    compacting,
    concurrent,
    deciding,
    delegating,
    hosting,
    lasting,
    limited,
    pausing,
)
from runtimes.right import Right

from turncheck.conformance.laws.registry import selected

RARELY = {"retrying", "without tools", "snapshots of a run"}
"""Of those with runs side by side or with clients: they seldom take several steers, or reach a limit."""

LIMITS = {
    "backing off": Right(retries=3, backoff={"base": 1, "cap": 3}),
    "below a second": Right(retries=3, backoff={"base": 0.5}, tools="parallel"),
    "jittered": limited.Jittered(),
    "telling the limit": limited.Limited(),
}


@pytest.mark.parametrize("runtime", LIMITS.values(), ids=LIMITS)
def test_a_runtime_that_waits_and_tells_its_limits_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    passed = laws_that(result, "pass")
    assert LIMITED - passed == ({"context-limit-told"} if isinstance(runtime, Right) else set())


BESIDE = {
    "serial": concurrent.Concurrent(),
    "parallel": concurrent.Concurrent(tools="parallel"),
    "what ended beside is seen": concurrent.SeesWhatEndsBeside(),
    "retrying": concurrent.Concurrent(retries=1),
    "without tools": concurrent.Concurrent(without=("tools", "tool-failure", "raw-arguments", "call-ids", "deaf")),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_runtime_with_runs_side_by_side_breaks_no_law_and_passes_on_evidence(name):
    result, counterexamples = verified(BESIDE[name], words=MORE if name in RARELY else FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert laws_that(result, "skipped") & SIDE_BY_SIDE == set()


DELEGATORS = {
    "serial": delegating.Delegating(),
    "parallel": delegating.Delegating(tools="parallel"),
    "steering": delegating.Delegating(busy="steer"),
    "retrying": delegating.Delegating(retries=1),
    "detached": delegating.Detached(),
    "detached, and stopped": delegating.DetachedAndStopped(tools="parallel"),
    "without an abort": delegating.Delegating(without=("abort", "deaf")),
    "sub-agents of sub-agents": delegating.Delegating(tools="parallel", subAgentDepth=2),
    "no sub-agents of sub-agents": delegating.Delegating(busy="reject", subAgentDepth=1, subAgentMessages="refused"),
    "messages refused": delegating.RefusesMessagesToChildren(),
    "messages go on": delegating.GoesOnWithChildren(),
}


@pytest.mark.parametrize("runtime", DELEGATORS.values(), ids=DELEGATORS)
def test_a_runtime_with_sub_agents_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert "children-answered-once" in laws_that(result, "pass")


LASTING = {
    "parallel": lasting.Lasting(tools="parallel", subAgentDepth=2),
    "detached": lasting.Lasting(subAgents="detached"),
    "going on": lasting.GoesOnAfterAKill(tools="parallel"),
    "saying nothing": lasting.SaysNothingAtARestart(queueAfterInterrupted="hold"),
}


@pytest.mark.parametrize("runtime", LASTING.values(), ids=LASTING)
def test_a_runtime_whose_sub_agents_a_kill_cuts_breaks_no_law_and_passes_on_evidence(runtime):
    laws = selected(["runtime"], ["restart-[rs]*", "children-*"])
    result, counterexamples = verified(runtime, laws, words=0)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert "restart-reaches-children" in laws_that(result, "pass")


PARTLY = {
    "failures in words": delegating.TellsFailuresInWords(),
    "results with the batch": delegating.ResultsWithTheBatch(),
    "ends that are inferred": delegating.InfersItsEnds(),
}
"""Right in what they do of sub-agents; of other laws they may break some."""


@pytest.mark.parametrize("runtime", PARTLY.values(), ids=PARTLY)
def test_no_law_on_sub_agents_alarms_at_what_is_the_runtimes_choice(runtime):
    laws = selected(["runtime"], [*DELEGATED, "tools-as-declared"])
    _, counterexamples = verified(runtime, laws, words=FEW)
    assert counterexamples == {}


def test_a_sub_agent_that_ends_with_its_caller_is_cut_and_awaits_nothing():
    laws = selected(["runtime"], ["run-ends-once", "answered-runs-complete", "run-never-stuck"])
    _, counterexamples = verified(delegating.FailureCancelsTheOthers(), laws, words=FEW)
    assert counterexamples == {}


def test_a_sub_agent_that_fails_with_its_caller_was_not_aborted():
    laws = selected(["runtime"], ["abort-interrupts", "abort-ends-as-declared"])
    _, counterexamples = verified(delegating.FailuresGoAllTheWayUp(), laws, words=FEW)
    assert counterexamples == {}


DECIDERS = {
    "serial": deciding.Deciding(),
    "parallel": deciding.Deciding(tools="parallel"),
    "results as called": deciding.Deciding(tools="parallel", resultOrder="as-called"),
    "steering": deciding.Deciding(busy="steer"),
    "a steer instead": deciding.GoesOnInstead(),
    "asks before anything runs": deciding.AsksBeforeAnythingRuns(),
    "malformed calls unasked": deciding.AnswersMalformedCallsUnasked(),
    "a person only": deciding.Deciding(without=("client-tools",)),
}


@pytest.mark.parametrize("runtime", DECIDERS.values(), ids=DECIDERS)
def test_a_runtime_that_asks_about_calls_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert {law.law for law in result.laws if law.law in DECIDED and law.verdict == "skipped"} <= {
        *("client-result-once", "pause-outlives-restart")
    }


PAUSERS = {
    "serial": pausing.Pausing(),
    "parallel": pausing.Pausing(tools="parallel"),
    "steering": pausing.Pausing(busy="steer"),
    "a pause is as open as any run": pausing.EndsPauses(),
}


@pytest.mark.parametrize("runtime", PAUSERS.values(), ids=PAUSERS)
def test_a_runtime_whose_pauses_a_restart_keeps_or_ends_as_declared_breaks_no_law(runtime):
    laws = selected(["runtime"], ["pause-*", "restart-*", "idle-restart-*", "decisions-*"])
    result, counterexamples = verified(runtime, laws, words=FEW)
    assert counterexamples == {}
    kept = runtime.profile.policies["pauseAfterRestart"] == "kept"
    assert failing_why(result) == {}
    assert ("pause-outlives-restart" in laws_that(result, "pass")) == kept


COMPACTORS = {
    "giving way to messages": compacting.Compacting(),
    "dropping": compacting.Compacting(compactionFails="drop-prefix", compactionRetries=2),
    "retrying runs too": compacting.Compacting(retries=2),
    "keeping the last run": compacting.KeepsTheLastRun(tools="parallel", resultOrder="as-called"),
    "keeping so much text": compacting.KeepsSoMuchText(),
    "summing up what is new": compacting.SumsUpWhatIsNew(),
    "summing up summaries": compacting.KeepsSummariesBesideTheNewOne(),
    "one entry": compacting.KeepsTheLastRun(adjacent="merged"),
    "as a message": compacting.SummarisesAsTheUser(adjacent="merged"),
    "messages wait": compacting.LetsMessagesWait(busy="reject"),
    "long histories": compacting.CompactsLongHistories(),
    "long histories, dropping": compacting.CompactsLongHistories(compactionFails="drop-prefix"),
    "sessions that are kept": compacting.CompactingHost(),
}


@pytest.mark.parametrize("runtime", COMPACTORS.values(), ids=COMPACTORS)
def test_a_runtime_that_compacts_breaks_no_law_and_passes_on_evidence(runtime):
    result, counterexamples = verified(runtime, words=FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert {law.law for law in result.laws if law.law in COMPACTED and law.verdict == "skipped"} == set()


ATTENDANTS = {
    "telling events": attended.Attended(),
    "telling events, parallel": attended.Attended(tools="parallel", steerLands="after-call"),
    "aborting": attended.AbortsWhenLeft(),
    "aborting, holding": attended.AbortsWhenLeft(queueAfterInterrupted="hold", busy="steer"),
    "keeping connections alive": attended.KeepsConnectionsAlive(),
    "snapshots of all": attended.Snapshots(),
    "snapshots of a run": attended.ShowsTheLastRun(busy="reject", retries=1),
    "snapshots for ever": attended.ShowsAllAgain(),
}


@pytest.mark.parametrize("name", ATTENDANTS)
def test_a_runtime_that_tells_its_clients_breaks_no_law_and_passes_on_evidence(name):
    result, counterexamples = verified(ATTENDANTS[name], words=MORE if name in RARELY else FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert {law.law for law in result.laws if law.law in ATTENDED and law.verdict == "skipped"} == set()


def test_a_write_that_fails_with_the_next_message_is_no_fault_of_the_session():
    result, counterexamples = verified(
        hosting.WritesMessagesFirst(), selected(["runtime"], ["store-faults"]), words=FEW
    )
    assert counterexamples == {}
    assert [law.verdict for law in result.laws] == ["pass"]
