"""Every law can fail: wrong projectors, each with the law that names its fault. No right projector fails."""

import inspect

import pytest
from inprocess import InProcess
from projectors import wrong
from projectors.plain import Plain

from turncheck.adapters.targets.registry import open_projector
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.projector_subject import ProjectorSubject
from turncheck.conformance.verify.verification import verify_projector

DOUBLES = {
    # the queue
    "LastInFirstOut": "follow-up-fifo",
    "TwoFollowUpsInOneCycle": "follow-up-fifo",
    "FollowUpSteersToo": "follow-up-fifo",
    "PromotedAtTheNextMessage": "follow-up-fifo",
    "ShowsTheQueueNewestFirst": "order",
    "DropsHeldQueue": "queue-fate",
    "HoldsAfterError": "queue-fate",
    "PromotesAfterDrop": "queue-fate",
    "InterruptedLosesQueue": "queue-fate",
    "ForgetsDropped": "queue-fate",
    "KeepsWhatItDropped": "conservation",
    "HeldIsPromotedWithoutMessage": "queue-fate",
    "IgnoresPolicies": "queue-fate",
    # messages and cycles
    "SteerBecomesRoot": "steer-stays",
    "FollowUpsSteer": "steer-stays",
    "IgnoresWhileActive": "steer-stays",
    "SteerLeaksIntoNextCycle": "steer-stays",
    "ForgetsSteers": "steer-stays",
    "DirectKeepsDelivery": "one-root",
    "RejectsIdleSteers": "anomalies-exact",
    "PromotedIsDirect": "one-root",
    "RootTwice": "one-root",
    "ErrorIsNotABoundary": "boundary-equivalence",
    "EveryStopCompletes": "one-terminal",
    "SecondTerminalOverwrites": "one-terminal",
    "AcceptsAfterStop": "one-terminal",
    "RewritesClosedCycles": "closed-final",
    "ReverseCycles": "order",
    "HidesTheOpenCycle": "conservation",
    "ClosesAtTheEnd": "closed-final",
    # steps
    "MergesTwoTexts": "one-text-per-block",
    "ReasoningAndAnswerInOneBlock": "one-text-per-block",
    "BlockPerCall": "one-text-per-block",
    "InventsATextForACall": "one-text-per-block",
    "SteerDoesNotEndTheBlock": "order",
    "SplitsGroupAtResult": "groups-maximal",
    "GroupsAcrossTexts": "order",
    "GroupsNotAdjacent": "order",
    "BashIsOther": "groups-maximal",
    "ResultAttachedByOrder": "results-attached",
    "ResultIsAStep": "one-text-per-block",
    "LeavesResultsOut": "results-attached",
    # rounds
    "RoundPerOutput": "rounds",
    "RoundsOnlyAtInputs": "rounds",
    "RoundsOnlyAtIds": "rounds",
    "FollowUpSplitsRound": "rounds",
    "RejectedSplitsRound": "rounds",
    "ForgetsLeftoverInputs": "rounds",
    "InputsOfTheRoundBefore": "rounds",
    "ViewsDisagree": "views-agree",
    "NewestInputFirst": "order",
    "ForgetsCalls": "conservation",
    # anomalies
    "CallIdsAreGlobal": "anomalies-exact",
    "AcceptsSecondResults": "anomalies-exact",
    "AcceptsUsedCallIds": "anomalies-exact",
    "ForgetsUnanswered": "anomalies-exact",
    "TellsOneUnanswered": "anomalies-exact",
    "ForgetsTruncated": "anomalies-exact",
    "NullIsPresent": "anomalies-exact",
    "RejectsUnknownFields": "anomalies-exact",
    "JudgesForeignFields": "anomalies-exact",
    "UnknownTypeRaises": "total",
    "UnreadableIsSkipped": "anomalies-exact",
    "ObservationsAreUnknown": "anomalies-exact",
    # content
    "CancelledTextIsStop": "opaque-texts",
    "EmptyTextIsNothing": "opaque-texts",
    "IdsDecide": "opaque-ids",
    "LongIdsAreOther": "opaque-ids",
    "UnansweredByName": "opaque-ids",
    "ResponsesByPrefix": "opaque-ids",
    "EmptyIdIsAbsent": "opaque-ids",
    "ArgumentsDecide": "opaque-texts",
    # again, elsewhere, in chunks
    "HashOrder": "hash-seed",
    "CountsItsCalls": "deterministic",
    "ProjectSeesWhatWasFed": "chunking",
    "ResetForgetsTheQueue": "chunking",
    "ChangesItsInput": "input-untouched",
    "ChangesWhatItIsFed": "input-untouched",
    "RemembersWhatWasFed": "chunking",
    "ChunkBoundaryClosesCycle": "chunking",
    "ChunkBoundaryForgetsCalls": "chunking",
    "AskingEndsTheRun": "chunking",
    "EmptyChunkRaises": "chunking",
    # functions
    "empty": "equals-reference",
    "raises": "total",
}
"""Wrong projector → the law that names its fault."""

LATE = {
    "LastInFirstOutAfterThreeCycles": "follow-up-fifo",
    "FourthSteerIsQueued": "steer-stays",
    "FifthWaitingIsLost": "follow-up-fifo",
    "ThirdRoundWithoutIdGoesOn": "rounds",
    "CallIdsOfTheThirdCycleStay": "anomalies-exact",
    "SecondHoldLosesQueue": "queue-fate",
    "SecondDropKeepsQueue": "queue-fate",
    "TenthCallIsOther": "groups-maximal",
    "ThirdOpenCallIsForgotten": "anomalies-exact",
    "ThirdErrorIsNotABoundary": "boundary-equivalence",
    "FifthCycleHasNoTruncation": "anomalies-exact",
    "SixthAnomalyIsForgotten": "anomalies-exact",
    "FifthTextMerges": "one-text-per-block",
    "PositionsEndAtForty": "conservation",
    "ThirdPromotionInARowIsDirect": "one-root",
    "FedTwentyClosesCycle": "chunking",
}
"""The same, of faults that show only after a while."""

BESIDE = {"ChangesWhatItIsFed": ["chunking"]}
"""Laws that must be judged too, for the fault to be seen at all: nothing else feeds."""

IN_A_WORKER = {"HashOrder", "CountsItsCalls"}
"""Faults of a whole process: they need one of their own."""

BROKEN = {"hangs", "dies", "rubbish"}
"""No law's verdict: test_verifying.py has them."""


def opened(name):
    text = f"projectors.wrong:{name}"
    return open_projector(f"python:{text}", timeout=10) if name in IN_A_WORKER else InProcess(text)


@pytest.mark.parametrize(("name", "law"), (DOUBLES | LATE).items())
def test_the_fault_breaks_the_law_that_names_it(name, law, monkeypatch):
    monkeypatch.setattr(ProjectorSubject, "shrink_work", 1_000)  # that it is found is the point
    with opened(name) as target:
        result, counterexamples = verify_projector(
            target, selected(["projector"], [law, *BESIDE.get(name, [])]), fail_fast=True
        )
    assert law in counterexamples
    assert next(found.verdict for found in result.laws if found.law == law) == "fail"


def test_every_law_has_a_double():
    assert {law.name for law in selected(["projector"])} == set(DOUBLES.values())


def test_every_wrong_projector_is_held_to_its_law():
    own = [(name, value) for name, value in vars(wrong).items() if getattr(value, "__module__", "") == wrong.__name__]
    named = {name for name, value in own if inspect.isclass(value) or inspect.isfunction(value)}
    assert named == {*DOUBLES, *LATE, *BROKEN}


def test_every_wrong_projector_says_its_symptom():
    assert all(vars(wrong)[name].__doc__ != Plain.__doc__ for name in DOUBLES | LATE)


def test_the_right_projector_passes_every_law_on_evidence():
    result, counterexamples = verify_projector(InProcess("projectors.plain:Plain"), selected(["projector"]))
    assert counterexamples == {}
    assert [law.law for law in result.laws if law.verdict != "pass" or not law.evidence.observed] == []


@pytest.mark.parametrize("name", ["steps_only", "rounds_only", "no_views", "own_policies"])
def test_who_claims_less_and_keeps_it_breaks_no_law(name):
    result, counterexamples = verify_projector(
        InProcess(f"projectors.plain:{name}"), selected(["projector"]), examples=60
    )
    assert counterexamples == {}
    assert {law.verdict for law in result.laws} <= {"pass", "skipped", "inconclusive"}
