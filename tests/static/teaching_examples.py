"""Make ``conformance/laws/examples.json``: the smallest example of each law, from a double whose fault it names.

With --write the file is made anew; the same sources give the same bytes.
"""

# ruff: noqa: E402 - the doubles are the tests' own, and found by their path

import inspect
import os
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "conformance")]

import msgspec
from event_flow import wrong as collations
from inprocess import InProcess, InProcessCollator
from projectors import agents
from projectors import wrong as projectors
from runtimes import wrong as runtimes
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

from turncheck.adapters.targets.registry import open_collator, open_projector
from turncheck.conformance.automata.learn.abstraction import Bounds, letter_named
from turncheck.conformance.automata.n_complete.reference import model_of, reference_for
from turncheck.conformance.automata.n_complete.run import Plan, verify_suite
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.observe.driver import perform
from turncheck.conformance.report.lessons import EXAMPLES, Lesson, LinesExample
from turncheck.conformance.verify.engine import Options
from turncheck.conformance.verify.verification import verify_collator, verify_projector, verify_runtime

PROJECTORS = {
    "total": "UnknownTypeRaises",
    "deterministic": "CountsItsCalls",
    "hash-seed": "HashOrder",
    "one-terminal": "SecondTerminalOverwrites",
    "one-root": "PromotedIsDirect",
    "steer-stays": "SteerBecomesRoot",
    "follow-up-fifo": "LastInFirstOut",
    "queue-fate": "InterruptedLosesQueue",
    "one-text-per-block": "MergesTwoTexts",
    "groups-maximal": "SplitsGroupAtResult",
    "results-attached": "ResultAttachedByOrder",
    "rounds": "RoundsOnlyAtInputs",
    "views-agree": "ViewsDisagree",
    "order": "GroupsAcrossTexts",
    "conservation": "ForgetsCalls",
    "anomalies-exact": "ForgetsUnanswered",
    "chunking": "ChunkBoundaryClosesCycle",
    "redelivery-changes-nothing": "DoublesWhatComesAgain",
    "agents-kept-apart": "MixesAgents",
    "closed-final": "RewritesClosedCycles",
    "boundary-equivalence": "ErrorIsNotABoundary",
    "opaque-ids": "ResponsesByPrefix",
    "opaque-texts": "CancelledTextIsStop",
    "input-untouched": "ChangesItsInput",
    "equals-reference": "empty",
}
RUNTIMES = {
    "run-never-stuck": "ForgetsToAskAfterTools",
    "run-ends-once": "EndsTwice",
    "next-message-served": "SwallowsTheMessageAfterAnAbort",
    "abort-interrupts": "AbortCompletes",
    "abort-ends-as-declared": "ReleasedAndStillOpen",
    "nothing-starts-after-abort": "StartsTheNextToolAfterAnAbort",
    "aborted-text-dropped": "KeepsAbortedText",
    "model-failure-survived": "CompletesAfterAModelFailure",
    "runs-ask-the-model": "NeverAsks",
    "answered-runs-complete": "CountSurvivesAnAbort",
    "requests-bring-news": "AsksOnceMore",
    "idle-abort-ignored": "IdleAbortInterruptsTheNextRun",
    "calls-answered": "LeavesTheSecondCallUnanswered",
    "cut-calls-answered": "CutCallIsNeverAnswered",
    "results-survive": "ResultsWaitForTheBatch",
    "results-not-invented": "InventsASuccess",
    "tool-failure-survived": "ToolFailureKillsTheRun",
    "malformed-never-executes": "ExecutesMalformedArguments",
    "executed-as-called": "ExecutesTwice",
    "ids-never-mixed": "TwoResultsUnderOneId",
    "tools-as-declared": "SerialRunsSideBySide",
    "messages-consumed": "SecondRootIsNotShown",
    "steers-in-their-run": "LosesTheSteerThatComesWithTheLastText",
    "follow-ups-in-turn": "LastInFirstOut",
    "messages-in-order": "ReplaysTheRoot",
    "handed-over-as-declared": "AllSteersWhereOneIsDeclared",
    "queue-as-declared": "LosesTheQueueAtAnAbort",
    "busy-as-declared": "AcceptsWhileBusy",
    "sent-together-none-lost": "LosesTheSecondOfTwoAtOnce",
    "input-well-formed": "ShowsAnOrphanCall",
    "system-shown": "NoSystemPromptAfterAnAbort",
    "history-whole": "ForgetsTheRunAfterAnAbort",
    "items-conserved": "LosesReasoning",
    "response-is-one-round": "RoundPerItem",
    "rounds-bounded": "BoundIsOffByOne",
    "log-well-formed": "StopsForNoReason",
    "capabilities-honest": "DeclaresAbort",
    "ends-told": "EndsSilentlyAfterAnEmptyResponse",
    "run-deterministic": "CountsAcrossResets",
    "run-hash-seed": "HashOrder",
    "run-boundary-equivalence": "AsksTwiceAfterAnAbort",
    "observer-isolated": "ObserverKillsTheRun",
    "slow-consumer-same": "SlowObserverLosesEvents",
    "run-opaque": "StopInATextEndsTheRun",
    "equals-machine": "RetriesLessOften",
    "equals-model": "SteersLastInFirstOut",
}
HOSTS = {
    "images-shown": "ShowsOneImageOnly",
    "usage-told": "KeepsUsageToItself",
    "sessions-independent": "SessionsShareAQueue",
    "restart-remembers": "ForgetsAtARestart",
    "restart-serves": "OrphanedCallAfterAKill",
    "restart-keeps": "ForgetsTheMessageThatWaited",
    "idle-restart-changes-nothing": "EndsTheLastRunAgain",
    "store-faults": "AcknowledgesWhatItDidNotStore",
}
LIMITED = {
    "retries-back-off": "WaitsTheSameEachTime",
    "context-limit-told": "NeverTellsTheLimit",
}
DECIDERS = {
    "approved-before-executed": "ExecutesWhileItAsks",
    "asked-about-once": "ForgetsTheFirstDenial",
    "decisions-honoured": "ExecutesWhatIsDenied",
    "decision-is-its-calls-alone": "DeniesAllAtOnce",
    "undecided-calls-settled": "LeavesTheUndecidedOpen",
    "late-decision-changes-nothing": "TheLastAnswerWins",
    "client-result-once": "LosesTheClientsResult",
}
PAUSERS = {"pause-outlives-restart": "ForgetsThePause"}
COMPACTIONS = {
    "compacted-well-formed": "KeepsAResultWithoutItsCall",
    "compaction-keeps-the-rest": "CompactsTheMessageJustSent",
    "earlier-summary-kept": "SumsUpTheNewAlone",
    "failed-compaction-harmless": "ForgetsAllWhereItFails",
    "compaction-is-no-run": "LogsItsPrompt",
    "abort-amid-compaction": "AbortLosesWhatWasCompacted",
}
ATTENDANTS = {
    "returning-client-misses-nothing": "TellsAllAgain",
    "joining-client-caught-up": "ShowsWhatIsStoredAlone",
    "clients-see-the-same": "ErrorsReachTheFirstAlone",
    "leaving-changes-nothing": "ErrorsWithoutItsClients",
}
BESIDE = {
    "runs-begin-at-once": "QueuesWhatShouldRunBeside",
    "events-name-their-run": "AnswersInTheOthersName",
    "runs-kept-apart": "SharesItsHistory",
    "no-update-lost": "LastWriterWins",
}
DELEGATORS = {
    "events-name-their-agent": "ChildSpeaksAsItsParent",
    "children-end-first": "LeavesItsChildrenBehind",
    "children-answered-once": "AnswersWhenAChildBegins",
    "stop-reaches-children": "ChildrenGoOnAfterAStop",
    "agents-no-deeper": "SubAgentsCallOthers",
    "child-messages-taken-or-refused": "TheCallerTakesItsChildrensMessages",
    "child-messages-reach": "ChildrenLeaveTheirMessages",
    "failed-child-is-a-result": "FailedChildFailsTheRun",
}
LASTING = {"restart-reaches-children": "ForgetsItsSubAgents"}
COLLATIONS = {
    "blocks-same-again": "AddsUpTheSession",
    "blocks-hash-seed": "HashOrder",
    "one-block-per-call": "DuplicatesBlocks",
    "blocks-described": "LosesProviderFromTheSecondIteration",
    "tools-on-their-response": "HangsToolsOnTheFirstBlock",
    "any-order-same-blocks": "LateDeltasAppend",
    "no-empty-twin": "DuplicatesBlocks",
    "never-poorer": "LosesProviderFromTheSecondIteration",
    "own-record": "TakesTheFirstRecord",
    "text-is-the-responses": "EqualDeltasAreOne",
    "repeats-change-nothing": "RepeatedDeltasAppend",
    "streams-until-its-response": "StreamsForEver",
    "tool-status-told": "ToolsRunForEver",
    "late-joiner-same-blocks": "NeedsTheRequest",
    "dialects-agree": "ReadsTheTopAlone",
}
"""Law → the double whose fault shows it best; where there are several, the one that real implementations have."""

IN_A_WORKER = {"HashOrder", "CountsItsCalls"}
"""Projectors and collators whose fault is that of a process: they need one of their own."""

USER = '{"type":"user-message","id":"u1","text":"red"}'
CALL = '{"type":"agent-output","kind":"tool-call","callId":"c1","tool":"read"}'
RESULT = '{"type":"tool-result","callId":"c1","output":"blue"}'
STOP = '{"type":"run-stop","reason":"completed"}'
LINES = {
    "malformed": ("A stop gives no reason.", (USER, '{"type":"run-stop"}'), (USER, STOP)),
    "unknown-type": (
        "An event has a type that nobody knows.",
        (USER, '{"type":"agent-thought"}', STOP),
        (USER, '{"type":"native","name":"agent-thought"}', STOP),
    ),
    "outside-run": ("A run reports its end twice.", (USER, STOP, STOP), (USER, STOP)),
    "unknown-call": ("A result comes without its call.", (USER, RESULT, STOP), (USER, CALL, RESULT, STOP)),
    "duplicate-result": (
        "A call is answered twice.",
        (USER, CALL, RESULT, RESULT, STOP),
        (USER, CALL, RESULT, STOP),
    ),
    "duplicate-call": (
        "Two calls have one id.",
        (USER, CALL, RESULT, CALL, STOP),
        (USER, CALL, RESULT, CALL.replace("c1", "c2"), RESULT.replace("c1", "c2"), STOP),
    ),
    "unanswered-call": ("A run ends while a call is open.", (USER, CALL, STOP), (USER, CALL, RESULT, STOP)),
    "truncated": ("The log ends, and its run does not.", (USER,), (USER, STOP)),
}
"""Law on a log → its fault, the log that shows it, and the log without it."""


def opened(law):
    """The wrong projector of a law, as a target."""
    text = f"{wrong_projector(law).__module__}:{PROJECTORS[law]}"
    return open_projector(f"python:{text}", timeout=10) if PROJECTORS[law] in IN_A_WORKER else InProcess(text)


def wrong_projector(law):
    """The class of the wrong projector of a law."""
    return getattr(projectors, PROJECTORS[law], None) or getattr(agents, PROJECTORS[law])


def double(law):
    """The wrong runtime of a law."""
    module, names = next((one, names) for one, names, _ in _MODULES if law in names)
    return getattr(module, names[law])


def conforming(law, profile):
    """The right runtime of a law, with the claims of *profile*."""
    right = next(right for _, laws, right in _MODULES if law in laws)
    return right(machine=profile.machine, **profile.policies)


_MODULES = (
    (hosting, HOSTS, hosting.Hosting),
    (limited, LIMITED, limited.Limited),
    (deciding, DECIDERS, deciding.Deciding),
    (pausing, PAUSERS, pausing.Pausing),
    (compacting, COMPACTIONS, compacting.LetsMessagesWait),
    (attended, ATTENDANTS, attended.Attended),
    (concurrent, BESIDE, concurrent.Concurrent),
    (delegating, DELEGATORS, delegating.Delegating),
    (lasting, LASTING, lasting.Lasting),
    (runtimes, RUNTIMES, Right),
)
"""Module of wrong runtimes, law → its wrong runtime, and the right one."""


def collator(law):
    """The wrong collator of a law, as a target."""
    text = f"event_flow.wrong:{COLLATIONS[law]}"
    return open_collator(f"python:{text}", timeout=10) if COLLATIONS[law] in IN_A_WORKER else InProcessCollator(text)


def fault(double):
    return (inspect.getdoc(double) or "").splitlines()[0]


def shortest(law, verified):
    """The counterexample found on the classic cases, else on generated ones."""
    laws = selected([LAWS[law].subject], [law])
    return next(found[law] for _, found in (verified(laws, examples) for examples in (0, 300)) if law in found)


def on_projector(law):
    with opened(law) as target:
        found = shortest(law, lambda laws, examples: verify_projector(target, laws, examples=examples))
    wrong = msgspec.structs.replace(found, target=PROJECTORS[law])
    return Lesson(fault(wrong_projector(law)), wrong)


def by_suite(target):
    """What the suite of the interaction machine finds, where two messages wait."""
    reference = reference_for(target.profile)
    letters = [*map(letter_named, ("user red", "steer red", "steer blue", "model-stop"))]
    plan = Plan(model_of(reference, letters, Bounds(messages=2)), "hsi", 1)
    return verify_suite(target, plan, [LAWS["equals-model"]], Options())[1]


def on_runtime(law):
    with double(law)() as target:
        if LAWS[law].suite:
            wrong = by_suite(target)[law]
        else:
            wrong = shortest(law, lambda laws, words: verify_runtime(target, laws, words=words))
    right = conforming(law, wrong.profile)
    trace = perform(right, wrong.word.stimuli, wrong.word.options).trace()
    return Lesson(fault(double(law)), wrong, tuple(map(dict, trace.log)))


def on_collator(law):
    with collator(law) as target:
        found = shortest(law, lambda laws, examples: verify_collator(target, laws, examples=examples))
    wrong = msgspec.structs.replace(found, target=COLLATIONS[law])
    return Lesson(fault(getattr(collations, COLLATIONS[law])), wrong)


def on_log(law):
    said, lines, right = LINES[law]
    return Lesson(said, LinesExample(lines, right))


MAKERS = {"projector": on_projector, "runtime": on_runtime, "collator": on_collator, "log": on_log}


def text(lessons):
    """One law a line, so that a change shows where it is."""
    lines = ",\n".join(
        f"{msgspec.json.encode(law).decode()}: {msgspec.json.encode(one).decode()}" for law, one in lessons
    )
    return f"{{\n{lines}\n}}\n"


def made():
    """The file's text, from the doubles."""
    os.environ["PYTHONPATH"] = str(TESTS)
    return text([(law.name, MAKERS[law.subject](law.name)) for law in LAWS.values()])


if __name__ == "__main__":
    wanted = made()
    if "--write" in sys.argv[1:]:
        EXAMPLES.write_text(wanted, "utf-8")
    elif EXAMPLES.read_text("utf-8") != wanted:
        sys.exit(f"{EXAMPLES.name} differs from its sources; run: python tests/static/teaching_examples.py --write")
