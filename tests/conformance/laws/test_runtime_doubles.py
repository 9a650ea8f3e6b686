"""Every law on a runtime can fail: wrong runtimes, each with the law that names its fault. No right one fails."""

# mypy: disable-error-code="misc, has-type"

import inspect

import pytest
from msgspec.structs import replace
from runtimes import hosting, wrong
from runtimes.right import Right
from runtimes.target import CAPABILITIES

from turncheck.adapters.protocol.messages import HISTORY_POLICIES
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime

ALL = selected(["runtime"])
WORDS = 300  # the command's own number of generated words
FEW = 20  # enough for the right ones: each law that can has found its evidence after 5
HASH_SEED = 4321

DOUBLES = {
    # how runs end
    "EndsTwice": "run-ends-once",
    "EndsAtEveryRound": "run-ends-once",
    "LateResultIsLogged": "run-ends-once",
    "NeverEndsAfterAbortAmidATool": "run-never-stuck",
    "ForgetsToAskAfterTools": "run-never-stuck",
    "AsksForEver": "run-never-stuck",
    "ForgetsToPromote": "run-never-stuck",
    "DeadAfterAFailure": "next-message-served",
    "SwallowsTheMessageAfterAnAbort": "next-message-served",
    "AcceptsAndNeverAsks": "next-message-served",
    "RefusesEveryMessage": "next-message-served",
    # what a run is for
    "NeverAsks": "runs-ask-the-model",
    "ThirdRunDiesUnasked": "runs-ask-the-model",
    "NeverCompletes": "answered-runs-complete",
    "LimitIsReachedEarly": "answered-runs-complete",
    "CountSurvivesAnAbort": "answered-runs-complete",
    # aborts
    "AbortCompletes": "abort-interrupts",
    "AbortIsAnError": "abort-interrupts",
    "AbortAmidAToolIsIgnored": "abort-interrupts",
    "WaitsForDeafTools": "abort-ends-as-declared",
    "ReleasedAndStillOpen": "abort-ends-as-declared",
    "StartsTheNextToolAfterAnAbort": "nothing-starts-after-abort",
    "AsksTheModelAfterAnAbort": "nothing-starts-after-abort",
    "KeepsAbortedText": "aborted-text-dropped",
    # failures of the model
    "CompletesAfterAModelFailure": "model-failure-survived",
    "FailureIsSwallowed": "model-failure-survived",
    "RetriesOnceMore": "model-failure-survived",
    "RetriesForEver": "model-failure-survived",
    "RetriesFatalFailures": "model-failure-survived",
    # calls and results
    "LeavesTheSecondCallUnanswered": "calls-answered",
    "LosesTheSecondResult": "calls-answered",
    "AnswersTwice": "calls-answered",
    "SteerLeavesCallsUnanswered": "calls-answered",
    "CutCallIsNeverAnswered": "cut-calls-answered",
    "ResultsWaitForTheBatch": "results-survive",
    "InventsASuccess": "results-not-invented",
    "ToolFailureKillsTheRun": "tool-failure-survived",
    "ToolFailureHasNoResult": "tool-failure-survived",
    "TellsFailureAsSuccess": "tool-failure-survived",
    "ExecutesMalformedArguments": "malformed-never-executes",
    "TwoResultsUnderOneId": "ids-never-mixed",
    "SerialRunsSideBySide": "tools-as-declared",
    "ParallelRunsOneByOne": "tools-as-declared",
    # messages
    "SecondRootIsNotShown": "messages-consumed",
    "LosesTheSteerThatComesWithTheLastText": "steers-in-their-run",
    "SteerWaitsForTheNextRun": "steers-in-their-run",
    "ForgetsSteers": "steers-in-their-run",
    "FollowUpLeaksIntoTheRun": "follow-ups-in-turn",
    "BusyMessagesSteer": "follow-ups-in-turn",
    "LastInFirstOut": "follow-ups-in-turn",
    "TwoFollowUpsInOneRun": "follow-ups-in-turn",
    "SteersLastInFirstOut": "messages-in-order",
    "ReplaysTheRoot": "messages-in-order",
    "LosesTheQueueAtAnAbort": "queue-as-declared",
    "HoldsAfterAFailure": "queue-as-declared",
    "PromotesWhatItShouldHold": "queue-as-declared",
    "ServesWhatItDropped": "queue-as-declared",
    "AcceptsWhileBusy": "busy-as-declared",
    "RejectsWhileBusy": "busy-as-declared",
    "SwallowsWhileBusy": "busy-as-declared",
    "SwallowsSteersAmidTools": "busy-as-declared",
    "LogsWhatWaitsWhenItIsServed": "busy-as-declared",
    "LosesTheSecondOfTwoAtOnce": "sent-together-none-lost",
    # what the model is shown
    "ShowsAnOrphanCall": "input-well-formed",
    "ShowsResultsAtTheTail": "input-well-formed",
    "ShowsAResultTwice": "input-well-formed",
    "InventsAUserMessage": "history-whole",
    "InventsAnAnswer": "history-whole",
    "ForgetsResultsAfterAFailure": "history-whole",
    "ForgetsTheRunAfterAnAbort": "history-whole",
    "NeverShowsACall": "history-whole",
    "NeverShowsAResult": "history-whole",
    "ForgetsTheFinalAnswer": "history-whole",
    "ForgetsFailedCalls": "history-whole",
    "ShowsAnotherResult": "history-whole",
    "DropsArguments": "history-whole",
    "SwapsTwoResults": "history-whole",
    "LosesTheErrorMark": "history-whole",
    "ShowsAMessageTwice": "history-whole",
    "ShowsTextsLast": "history-whole",
    "TruncatesSilently": "history-whole",
    "ForgetsWhatItSaid": "history-whole",
    # items and rounds
    "LogsAnItemTwice": "items-conserved",
    "LosesReasoning": "items-conserved",
    "CutsTexts": "items-conserved",
    "CallsBeforeTexts": "items-conserved",
    "LogsOtherArguments": "items-conserved",
    "RoundPerItem": "response-is-one-round",
    "TwoResponsesAreOneRound": "response-is-one-round",
    "BoundIsOffByOne": "rounds-bounded",
    "LogsUnknownEvents": "log-well-formed",
    "LogsPlainText": "log-well-formed",
    "StopsForNoReason": "log-well-formed",
    "DeclaresAbort": "capabilities-honest",
    "DeclaresModelInput": "capabilities-honest",
    # again, elsewhere, otherwise
    "CountsAcrossResets": "run-deterministic",
    "RunsToolsInAnyOrder": "run-deterministic",
    "HashOrder": "run-hash-seed",
    "AsksTwiceAfterAnAbort": "run-boundary-equivalence",
    "ObserverKillsTheRun": "observer-isolated",
    "SlowObserverLosesEvents": "slow-consumer-same",
    "StopInATextEndsTheRun": "run-opaque",
    "StopFromTheUserAborts": "run-opaque",
    "IdsDecide": "run-opaque",
    "RetriesLessOften": "equals-machine",
}
"""Wrong runtime → the law that names its fault."""

HOSTING = {
    "ShowsOneImageOnly": "images-shown",
    "KeepsUsageToItself": "usage-told",
    "SessionsShareAQueue": "sessions-independent",
    "OneAbortForAll": "sessions-independent",
    "ForgetsAtARestart": "restart-remembers",
    "RemembersTheQuestionsOnly": "restart-remembers",
}
"""The same, of runtimes that host sessions."""

LATE = {
    "LastInFirstOutAfterThreeRuns": "follow-ups-in-turn",
    "FourthSteerIsLost": "steers-in-their-run",
    "FourthWaitingIsLost": "run-never-stuck",
    "SecondAbortIsIgnored": "abort-interrupts",
    "SecondAbortLosesTheQueue": "queue-as-declared",
    "ThirdFailureCompletes": "model-failure-survived",
    "EighthItemIsLost": "items-conserved",
    "FourthResultIsLost": "calls-answered",
    "HistoryHasTenPlaces": "history-whole",
    "FifthRunEndsTwice": "run-ends-once",
    "ThirdCallOfAResponseIsForgotten": "calls-answered",
}
"""The same, of faults that show only after a while."""


NO_VERDICT = {"Unsettled", "Dies", "EverySeventhRunEndsTwice"}
"""Not a law's business alone: test_verifying_runs.py has them."""

SHORT = 6
LONG = {"EighthItemIsLost": 10, "HistoryHasTenPlaces": 10}
"""How many stimuli a counterexample may have; a fault at depth needs its depth."""

RIGHT = {
    "serial": {},
    "parallel": {"tools": "parallel"},
    "rejecting": {"busy": "reject"},
    "steering": {"busy": "steer"},
    "after a call": {"steerLands": "after-call"},
    "after a call, parallel": {"steerLands": "after-call", "tools": "parallel"},
    "released": {"abortEnds": "when-released"},
    "released, parallel": {"abortEnds": "when-released", "tools": "parallel"},
    "retrying once": {"retries": 1},
    "retrying three times": {"retries": 3},
    "bounded": {"maxRounds": 3},
    "holding": {"queueAfterInterrupted": "hold", "queueAfterError": "hold"},
    "dropping": {"queueAfterInterrupted": "drop", "queueAfterError": "drop"},
    "dropping and promoting": {"queueAfterError": "drop"},
    "dropping and holding": {"queueAfterInterrupted": "drop", "queueAfterError": "hold", "abortEnds": "when-released"},
    "repeated ids kept": {"repeated": "kept"},
    "repeated ids kept, parallel": {"repeated": "kept", "tools": "parallel"},
    "without model input": {"without": ("model-input",)},
    "without tools": {"without": ("tools", "tool-failure", "raw-arguments", "call-ids", "deaf")},
}
HISTORIES = {
    "aborted, its texts": {"abortedResponse": "texts"},
    "aborted, nothing": {"abortedResponse": "drop"},
    "failed, its texts": {"failedResponse": "texts", "retries": 1},
    "failed, nothing": {"failedResponse": "drop", "retries": 1},
    "unread later": {"unread": "later"},
    "unread nowhere": {"unread": "drop", "abortEnds": "when-released"},
    "texts first": {"itemOrder": "texts-first"},
    "texts last": {"itemOrder": "texts-last"},
    "results as called": {"resultOrder": "as-called", "tools": "parallel"},
    "results paired": {"resultOrder": "paired", "tools": "parallel"},
    "merged": {"adjacent": "merged"},
    "failures told": {"failures": "told"},
    "all": {
        "abortedResponse": "drop",
        "failedResponse": "texts",
        "unread": "later",
        "itemOrder": "texts-first",
        "resultOrder": "as-called",
        "adjacent": "merged",
        "tools": "parallel",
        "steerLands": "after-call",
    },
}
"""What may be shown in more than one way."""
CONVERSATION = {
    "serial": {"machine": "conversation", "busy": "reject", "retries": 3},
    "steering": {"machine": "conversation", "busy": "steer", "queueAfterInterrupted": "hold"},
    "released": {"machine": "conversation", "abortEnds": "when-released", "tools": "parallel"},
}
BARE = {"rounds-bounded", "capabilities-honest", "run-boundary-equivalence"}
"""What a runtime that can do nothing but answer gives no evidence of."""


def verified(runtime, laws=ALL, **options):
    return verify_runtime(runtime, laws, hash_seed=HASH_SEED, **options)


def without_pass(result):
    return {law.law for law in result.laws if law.verdict != "pass"}


@pytest.mark.parametrize(("name", "law"), (DOUBLES | HOSTING | LATE).items())
def test_the_fault_breaks_the_law_that_names_it_in_a_short_word(name, law):
    runtime = getattr(hosting if name in HOSTING else wrong, name)()
    result, counterexamples = verified(runtime, selected(["runtime"], [law]), words=WORDS, fail_fast=True)
    assert [found.verdict for found in result.laws] == ["fail"]
    assert len(counterexamples[law].word.stimuli) <= LONG.get(name, SHORT)


def test_every_law_has_a_double():
    assert {law.name for law in ALL} == {*DOUBLES.values(), *HOSTING.values()}


def test_every_wrong_runtime_is_held_to_its_law():
    own = {name for name, value in vars(wrong).items() if inspect.isclass(value) and value.__module__ == wrong.__name__}
    assert own - {"Late"} == {*DOUBLES, *LATE, *NO_VERDICT}


def test_every_wrong_runtime_says_its_symptom():
    assert [name for name in DOUBLES | LATE if not vars(wrong)[name].__doc__] == []


@pytest.mark.parametrize("policies", (RIGHT | HISTORIES).values(), ids=RIGHT | HISTORIES)
def test_the_right_runtime_breaks_no_law_and_passes_on_evidence(policies):
    result, counterexamples = verified(Right(**policies), words=FEW)
    assert counterexamples == {}
    assert {law.law: law.why for law in result.laws if law.verdict not in {"pass", "skipped"}} == {}
    assert [law.law for law in result.laws if law.verdict == "pass" and not law.evidence.observed] == []


class Silent(Right):
    """It arranges what it shows as it is told, and declares nothing of it."""

    def __init__(self, **given):
        super().__init__(**given)
        self.chosen = {name: given[name] for name in HISTORY_POLICIES if name in given}
        kept = {name: value for name, value in self.profile.policies.items() if name not in HISTORY_POLICIES}
        self.profile = replace(self.profile, policies=kept)
        self.reset()

    def reset(self, *options):
        step = super().reset(*options)
        self.policies |= getattr(self, "chosen", {})
        return step


@pytest.mark.parametrize("policies", HISTORIES.values(), ids=HISTORIES)
def test_what_it_does_not_declare_is_inferred_and_held(policies):
    result, _ = verified(Silent(**policies), selected(["runtime"], ["history-whole"]), words=FEW)
    assert result.inferred == {name: value for name, value in policies.items() if name in HISTORY_POLICIES}
    assert [law.verdict for law in result.laws] == ["pass"]


@pytest.mark.parametrize("policies", HISTORIES.values(), ids=HISTORIES)
def test_what_it_declares_is_not_inferred_and_breaks_the_law_where_it_does_otherwise(policies):
    declared = {name: HISTORY_POLICIES[name][0] for name in policies if name in HISTORY_POLICIES}

    class Claims(Silent):
        def __init__(self, **given):
            super().__init__(**given)
            self.profile = replace(self.profile, policies=self.profile.policies | declared)

    result, _ = verified(Claims(**policies), selected(["runtime"], ["history-whole"]), words=FEW)
    assert result.inferred == {}
    assert [law.verdict for law in result.laws] == ["fail"]


@pytest.mark.parametrize("policies", CONVERSATION.values(), ids=CONVERSATION)
def test_a_right_conversation_passes_every_law(policies):
    result, counterexamples = verified(Right(**policies), words=FEW)
    assert counterexamples == {}
    assert (
        without_pass(result) - {"equals-machine", *HOSTING.values()} == set()
    )  # where it queues, no machine does so: nothing to compare


def test_a_right_host_of_sessions_passes_every_law():
    result, counterexamples = verified(hosting.Hosting(), words=FEW)
    assert counterexamples == {}
    assert without_pass(result) == {"aborted-text-dropped", "equals-machine"}


def test_who_can_do_nothing_but_answer_breaks_no_law():
    result, counterexamples = verified(Right(without=CAPABILITIES), words=FEW)
    assert counterexamples == {}
    assert {law.law for law in result.laws if law.verdict == "inconclusive"} <= BARE
