"""Runtimes with one fault each, which names them; the docstring is the symptom. Real runtimes have had most."""

import random
from collections import deque
from hashlib import md5

from msgspec.structs import replace

from turncheck.adapters.protocol.errors import DiedError
from turncheck.model.core.stimuli import Reasoning, Shown, Text, Together

from .right import Right

# ---- how runs end ----


class EndsTwice(Right):
    """A run reports its end twice."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind == "run-stop":
            super().log(kind, **fields)


class EndsAtEveryRound(Right):
    """Each answered batch of tools is reported as the run's end, and the run goes on."""

    def execute(self):
        super().execute()
        if self.active and not self.open:
            self.log("run-stop", reason="completed")


class LateResultIsLogged(Right):
    """The result of a tool that ignored the abort is logged after the run's end."""

    def tool(self, stimulus, output, **flags):
        late = any(one.call_id == stimulus.call_id for one in self.cancelled)
        super().tool(stimulus, output, **flags)
        if late:
            self.log("tool-result", callId=stimulus.call_id, output=output)


class NeverEndsAfterAbortAmidATool(Right):
    """An abort cancels the tool, and nobody ends the run."""

    def interrupt(self):
        if not self.open:
            super().interrupt()


class ForgetsToAskAfterTools(Right):
    """All results are there, and the model is not asked."""

    def execute(self):
        if self.pending or self.open:
            super().execute()


class AsksForEver(Right):
    """A text does not end the run: the model is asked again and again."""

    def respond(self):
        if self.open:
            super().respond()
        else:
            self.ask()


class ForgetsToPromote(Right):
    """After a completed run, waiting messages go on waiting."""

    def fate(self, reason):
        return "hold" if reason == "completed" else super().fate(reason)


class DeadAfterAFailure(Right):
    """After a failure every message is refused."""

    dead = False

    def reset(self, *options):
        self.dead = False
        return super().reset(*options)

    def stop(self, reason, detail=None):
        self.dead = reason == "error"
        super().stop(reason, detail)

    def user(self, message):
        if self.dead and not self.active:
            self.refuse("rejected", "the session has failed")
        else:
            super().user(message)


class SwallowsTheMessageAfterAnAbort(Right):
    """The message after an abort is neither accepted nor refused."""

    swallows = False

    def user(self, message):
        if self.active or not self.swallows:
            super().user(message)
        self.swallows = False

    def reset(self, *options):
        self.swallows = False
        return super().reset(*options)

    def abort(self):
        self.swallows = self.active
        super().abort()


class RefusesEveryMessage(Right):
    """Every message is refused, as if the runtime had no such thing."""

    def user(self, message):
        self.refuse("unsupported", "no messages")


class AcceptsAndNeverAsks(Right):
    """The second message is accepted, and its run ends nowhere: the model is not asked."""

    def ask(self):
        if self.asked == 1 and self.rounds == 0:
            self.read_steers()
        else:
            super().ask()


# ---- aborts ----


class NeverAsks(Right):
    """Each run ends as error, and the model is never asked."""

    def ask(self):
        self.stop("error", "not configured")


class ThirdRunDiesUnasked(Right):
    """The third run of a session ends without a request."""

    def reset(self, *options):
        self.runs = 0
        return super().reset(*options)

    def start(self, root):
        self.runs += 1
        super().start(root)

    def ask(self):
        if self.runs == 3:
            self.stop("error", "too many runs")
        else:
            super().ask()


class NeverCompletes(Right):
    """Each answer of the model ends the run as error."""

    def stop(self, reason, detail=None):
        super().stop("error" if reason == "completed" else reason, detail)


class LimitIsReachedEarly(Right):
    """The bound of rounds is one less than declared, and the run ends as error."""

    def bound(self):
        bound = super().bound()
        return None if bound is None else bound - 1


class CountSurvivesAnAbort(Right):
    """The rounds of an aborted run count for the next one."""

    def reset(self, *options):
        self.kept = 0
        return super().reset(*options)

    def interrupt(self):
        self.kept = self.rounds
        super().interrupt()

    def bound(self):
        bound = super().bound()
        return None if bound is None else bound - self.kept


class AbortCompletes(Right):
    """An aborted run is reported as completed."""

    def interrupt(self):
        self.stop("completed")


class AbortIsAnError(Right):
    """An aborted run is reported as failed, since the request to the model was cancelled."""

    def interrupt(self):
        self.stop("error", "the request was aborted")


class AbortAmidAToolIsIgnored(Right):
    """While tools run, an abort does nothing."""

    def abort(self):
        if not self.running:
            super().abort()


class WaitsForDeafTools(Right):
    """It declares that an abort ends the run at once, and waits for the tools that ignore it."""

    def interrupt(self):
        if not self.cancelled:
            super().interrupt()


class ReleasedAndStillOpen(Right, abortEnds="when-released"):
    """It declares that an abort ends the run when its tools are released, and then forgets to end it."""

    def release(self):
        pass


class StartsTheNextToolAfterAnAbort(Right):
    """Serial tools: an abort in the first starts the second."""

    def abort(self):
        if not (self.active and self.pending):
            super().abort()
            return
        self.result(self.running.pop().call_id, "aborted", isError=True)
        self.aborting = True
        self.begin(self.pending.popleft())

    def execute(self):
        if self.aborting and not self.running:
            self.stop("interrupted")
        else:
            super().execute()


class AsksTheModelAfterAnAbort(Right):
    """An abort amid a tool answers its call, and then asks the model."""

    def abort(self):
        if not self.running:
            super().abort()
            return
        self.running.clear()
        self.answer_open("aborted")
        self.ask()
        self.aborting = True

    def respond(self):
        if self.aborting:
            self.stop("interrupted")
        else:
            super().respond()


class KeepsAbortedText(Right, machine="conversation"):
    """The items of an aborted response are kept."""

    def abort(self):
        for item in self.said if self.active else ():
            self.say(item)
        super().abort()


# ---- failures of the model ----


class CompletesAfterAModelFailure(Right):
    """A model's failure ends the run as completed."""

    def fail(self, failure):
        self.stop("completed")


class FailureIsSwallowed(Right):
    """The exception is lost: the run neither ends nor asks again."""

    def stop(self, reason, detail=None):
        if reason != "error":
            super().stop(reason, detail)


class RetriesOnceMore(Right, retries=2):
    """It confuses attempts and retries, and retries once more than declared."""

    def retries(self):
        return super().retries() + 1


class RetriesForEver(Right):
    """A failed request is always repeated."""

    def retries(self):
        return 1_000_000


class RetriesFatalFailures(Right, retries=2):
    """A permanent failure is retried too."""

    def fail(self, failure):
        super().fail("retryable")


# ---- calls and results ----


class LeavesTheSecondCallUnanswered(Right):
    """Serial tools: an abort answers the call that runs, and leaves the others."""

    def answer_open(self, why):
        for name in list(self.open)[:1]:
            self.skip(name, why)


class LosesTheSecondResult(Right):
    """Of several results of a batch the second is lost."""

    def result(self, name, output, **flags):
        if len(self.open) == 1 and len(self.called) > 1:
            del self.open[name]
        else:
            super().result(name, output, **flags)


class AnswersTwice(Right):
    """A result is logged when the tool returns, and again before the model is asked."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.log("tool-result", callId=name, output=output, **flags)


class SteerLeavesCallsUnanswered(Right, steerLands="after-call"):
    """A steer that lands after a call drops the calls behind it."""

    def land_steers(self):
        while self.steers and self.pending:
            del self.open[self.pending.popleft().call_id]


class CutCallIsNeverAnswered(Right):
    """A call of a response that was aborted or failed is shown, and has no result."""

    def answer_open(self, why):
        if not (self.running or self.pending):
            self.open.clear()
        super().answer_open(why)


class ResultsWaitForTheBatch(Right, tools="parallel"):
    """Results are logged when all are there; an abort before that discards them."""

    def start(self, root):
        self.held = []
        super().start(root)

    def tool(self, stimulus, output, **flags):
        ended = [one for one in self.running if one.call_id == stimulus.call_id]
        if not ended:
            super().tool(stimulus, output, **flags)
            return
        self.running.remove(ended[0])
        self.held.append((ended[0].call_id, output, flags))
        if not self.running:
            for name, text, held in self.held:
                self.result(name, text, **held)
            self.held = []
            self.execute()


class InventsASuccess(Right):
    """A call that was skipped has a result like any other."""

    def skip(self, name, why):
        self.result(name, "ok")


class ToolFailureKillsTheRun(Right):
    """A failing tool ends the run."""

    def tool(self, stimulus, output, **flags):
        if flags and self.running:
            self.running.clear()
            self.result(stimulus.call_id, output, isError=True)
            self.stop("error", output)
        else:
            super().tool(stimulus, output, **flags)


class ToolFailureHasNoResult(Right):
    """A tool's failure is shown to the model, and not logged."""

    def log(self, kind, /, **fields):
        if kind != "tool-result" or not fields.get("isError") or fields.get("synthetic"):
            super().log(kind, **fields)


class TellsFailureAsSuccess(Right):
    """A tool's failure is logged as a successful result."""

    def tool(self, stimulus, output, **flags):
        super().tool(stimulus, "done" if flags else output)


class ExecutesMalformedArguments(Right):
    """Arguments that are not JSON count as absent."""

    def begin(self, call):
        malformed = isinstance(call.arguments, str)
        super().begin(replace(call, arguments={}) if malformed else call)


class TwoResultsUnderOneId(Right):
    """A call id that comes twice has two results that cannot be matched to the calls."""

    def log(self, kind, /, **fields):
        if "callId" in fields:
            fields["callId"] = fields["callId"].partition("~")[0]
        super().log(kind, **fields)


class SerialRunsSideBySide(Right):
    """It declares serial tools, and starts all."""

    def execute(self):
        while len(self.pending) > 1:
            self.begin(self.pending.popleft())
            self.begin(self.pending.popleft())
        super().execute()


class ParallelRunsOneByOne(Right, tools="parallel"):
    """It declares parallel tools, and starts one after the other."""

    def execute(self):
        waiting, self.pending = self.pending, deque()
        if waiting and not self.running:
            self.begin(waiting.popleft())
        self.pending = waiting
        if not self.open:
            self.ask()


# ---- messages ----


class SecondRootIsNotShown(Right):
    """The message of the second run is accepted, and not given to the model."""

    def start(self, root):
        self.silent = self.asked == 1
        super().start(root)

    def read(self, message):
        if self.steers or not self.silent:
            super().read(message)
        self.silent = False


class LosesTheSteerThatComesWithTheLastText(Right):
    """A steer during the model's last response is never read."""

    def respond(self):
        if not self.open:
            self.steers.clear()
        super().respond()


class SteerWaitsForTheNextRun(Right):
    """A steer during the model's last response is shown in the next run."""

    def respond(self):
        if self.open:
            super().respond()
        else:
            self.stop("completed")


class ForgetsSteers(Right):
    """A steer is accepted, and never shown to the model."""

    def keep_steer(self, message):
        pass


class FollowUpLeaksIntoTheRun(Right):
    """A message that waits for the next run is also shown to the model at once."""

    def enqueue(self, message):
        super().enqueue(message)
        self.read(message)


class BusyMessagesSteer(Right):
    """It declares that a message while busy waits, and lets it steer."""

    def enqueue(self, message):
        if message.delivery is None:
            self.keep_steer(message)
        else:
            super().enqueue(message)


class LastInFirstOut(Right):
    """The youngest waiting message is served first."""

    def next_waiting(self):
        return self.queue.pop()


class TwoFollowUpsInOneRun(Right):
    """All waiting messages are served at once."""

    def next_waiting(self):
        while len(self.queue) > 1:
            self.read(self.queue.popleft())
        return self.queue.popleft()


class SteersLastInFirstOut(Right):
    """The youngest of several steers is shown first."""

    def read_steers(self):
        self.steers.reverse()
        super().read_steers()


class ReplaysTheRoot(Right):
    """A promoted message is shown twice."""

    def next_waiting(self):
        message = super().next_waiting()
        self.read(message)
        return message


class LosesTheQueueAtAnAbort(Right):
    """An abort silently discards waiting messages."""

    def fate(self, reason):
        return "drop" if reason == "interrupted" else super().fate(reason)


class HoldsAfterAFailure(Right):
    """It declares that waiting messages are served after a failure, and holds them."""

    def fate(self, reason):
        return "hold" if reason == "error" else super().fate(reason)


class PromotesWhatItShouldHold(Right, queueAfterInterrupted="hold"):
    """It declares that waiting messages are held after an abort, and serves them."""

    def fate(self, reason):
        return "promote"


class ServesWhatItDropped(Right, queueAfterInterrupted="drop"):
    """It declares that waiting messages are dropped after an abort, and serves them later."""

    def fate(self, reason):
        return "hold" if reason == "interrupted" else super().fate(reason)


class AcceptsWhileBusy(Right, busy="reject"):
    """It declares that it rejects while busy, and queues."""

    def user(self, message):
        super().user(message if message.delivery or not self.active else replace(message, delivery="followUp"))


class RejectsWhileBusy(Right):
    """It declares that a message while busy waits, and rejects it."""

    def user(self, message):
        if self.active and message.delivery is None:
            self.refuse("rejected", "busy")
        else:
            super().user(message)


class SwallowsWhileBusy(Right):
    """A message while busy is neither accepted nor refused."""

    def user(self, message):
        if not self.active or message.delivery:
            super().user(message)


class SwallowsSteersAmidTools(Right):
    """A steer that comes while a tool runs is neither accepted nor refused."""

    def user(self, message):
        if message.delivery != "steer" or not (self.active and self.running):
            super().user(message)


class LogsWhatWaitsWhenItIsServed(Right):
    """A waiting message is not in the log until its run begins."""

    def user(self, message):
        if self.active and message.delivery != "steer":
            self.enqueue(message)
        else:
            super().user(message)

    def next_waiting(self):
        message = super().next_waiting()
        self.log("user-message", id=message.id, text=message.text, delivery=message.delivery)
        return message


class LosesTheSecondOfTwoAtOnce(Right):
    """The second of two messages at once is silently lost."""

    def take(self, stimulus):
        if isinstance(stimulus, Together):
            super().take(stimulus.stimuli[0])
        else:
            super().take(stimulus)


# ---- what the model is shown ----


class ShowsAnOrphanCall(Right):
    """A call that was skipped has its result in the log, and none in the history."""

    def skip(self, name, why):
        super().skip(name, why)
        self.history.pop()


class ShowsResultsAtTheTail(Right):
    """After a run, the results of its calls stand behind all texts of the model."""

    def start(self, root):
        self.history.sort(key=lambda one: one.role == "tool")
        super().start(root)


class ShowsAResultTwice(Right):
    """The history contains a result twice."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.history.append(self.history[-1])


class InventsAUserMessage(Right):
    """After tools, a made-up user message tells the model to go on."""

    def execute(self):
        if not (self.open or self.pending):
            self.history.append(Shown(role="user", text="Continue."))
        super().execute()


class InventsAnAnswer(Right):
    """A failed run leaves an apology in the history, which is not the model's."""

    def stop(self, reason, detail=None):
        super().stop(reason, detail)
        if reason == "error" and not self.active:
            self.history.append(Shown(role="assistant", text="Sorry, something went wrong."))


class ForgetsResultsAfterAFailure(Right):
    """After a failure the calls of the run and their results are gone from the history."""

    def fail(self, failure):
        super().answer_open(failure)
        self.history = [entry for entry in self.history if entry.call_id is None]
        super().fail(failure)


class ForgetsTheRunAfterAnAbort(Right):
    """An aborted run is missing from the history."""

    def interrupt(self):
        super().interrupt()
        if not self.active:
            self.history.clear()


class NeverShowsACall(Right):
    """The model is shown neither its calls nor their results: what it did, it does not know."""

    def shown(self):
        return [entry for entry in super().shown() if entry.call_id is None]


class NeverShowsAResult(Right):
    """The model is shown its calls, and no result."""

    def shown(self):
        return [entry for entry in super().shown() if entry.role != "tool"]


class ForgetsTheFinalAnswer(Right):
    """What ends a run is not shown in the next one."""

    def stop(self, reason, detail=None):
        if reason == "completed" and self.history[-1].role == "assistant":
            self.history.pop()
        super().stop(reason, detail)


class ForgetsFailedCalls(Right):
    """A call whose tool failed is not shown, and neither is its failure."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        if flags.get("isError") and not flags.get("synthetic"):
            self.history = [entry for entry in self.history if entry.call_id != name]


class ShowsAnotherResult(Right):
    """The model is told that the tool is done, whatever it returned."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.history[-1] = replace(self.history[-1], text="done")


class DropsArguments(Right):
    """A call is shown without its arguments."""

    def shown(self):
        return [replace(one, arguments={}) if one.tool else one for one in super().shown()]


class SwapsTwoResults(Right):
    """The second result of a batch is shown under the first call, and the first under the second."""

    def execute(self):
        ends = self.history[-2:]
        if not (self.open or self.pending) and [one.role for one in ends] == ["tool", "tool"]:
            first, second = ends
            self.history[-2:] = [replace(first, text=second.text), replace(second, text=first.text)]
        super().execute()


class LosesTheErrorMark(Right):
    """When a run is over, a tool's failure is shown like a result."""

    def start(self, root):
        self.history = [replace(one, is_error=None) for one in self.history]
        super().start(root)


class ShowsAMessageTwice(Right):
    """The message of a run that is retried is shown once more."""

    def fail(self, failure):
        root = next(entry for entry in reversed(self.history) if entry.role == "user")
        super().fail(failure)
        if not self.active:
            self.history.append(replace(root, ids=()))


class ShowsTextsLast(Right):
    """After an abort, what the model said stands behind what was called and returned."""

    def interrupt(self):
        super().interrupt()
        if not self.active:
            self.history.sort(key=lambda one: one.role == "assistant" and one.call_id is None)


class TruncatesSilently(Right):
    """A long result is shown as far as a buffer goes, and nobody says so."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.history[-1] = replace(self.history[-1], text=self.history[-1].text[:6])


class LogsOtherArguments(Right):
    """The log holds a call without its arguments."""

    def log_output(self, **fields):
        super().log_output(**fields | ({"arguments": {}} if "arguments" in fields else {}))


class ForgetsWhatItSaid(Right):
    """A text beside calls is not shown to the model again."""

    def call(self, call):
        if self.history[-1].role == "assistant" and self.history[-1].text:
            self.history.pop()
        super().call(call)


# ---- items and rounds ----


class LogsAnItemTwice(Right):
    """A text is logged while it streams, and again when it is whole."""

    def log_output(self, **fields):
        super().log_output(**fields)
        if fields["kind"] == "assistant":
            super().log_output(**fields)


class LosesReasoning(Right):
    """It declares reasoning, and does not log it."""

    def say(self, item):
        if not isinstance(item, Reasoning):
            super().say(item)


class CutsTexts(Right):
    """A text is cut at a buffer's end."""

    def log_output(self, **fields):
        super().log_output(**fields | ({"text": fields["text"][:10]} if "text" in fields else {}))


class CallsBeforeTexts(Right, machine="conversation"):
    """The items of a response are logged by kind: calls first."""

    def respond(self):
        self.said.sort(key=lambda item: isinstance(item, Text))
        super().respond()


class RoundPerItem(Right):
    """Each item of a response has a response id of its own."""

    def log(self, kind, /, **fields):
        if kind == "agent-output":
            self.items = getattr(self, "items", 0) + 1
            fields["responseId"] += f".{self.items}"
        super().log(kind, **fields)

    def reset(self, *options):
        self.items = 0
        return super().reset(*options)


class TwoResponsesAreOneRound(Right):
    """All responses of a run have one response id."""

    def log_output(self, **fields):
        self.log("agent-output", responseId="response", **fields)


class BoundIsOffByOne(Right):
    """A run makes one request more than its limit."""

    def bound(self):
        bound = super().bound()
        return None if bound is None else bound + 1


class LogsUnknownEvents(Right):
    """Its own events are mixed with the log's."""

    def retry(self):
        self.log("heartbeat")
        super().retry()

    def start(self, root):
        self.log("agent-start")
        super().start(root)


class LogsPlainText(Right):
    """Its printed text is taken for events."""

    def start(self, root):
        self.events.append("run started")
        super().start(root)


class StopsForNoReason(Right):
    """The reason of a stop is none of the three."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields | ({"reason": "done"} if fields.get("reason") == "completed" else {}))


class DeclaresAbort(Right):
    """It declares that runs can be aborted, and cannot abort them."""

    def abort(self):
        self.refuse("unsupported", "abort")


class DeclaresModelInput(Right):
    """It declares that requests show their input, and shows none."""

    def log(self, kind, /, **fields):
        fields.pop("input", None)
        super().log(kind, **fields)


# ---- again, elsewhere, otherwise ----


class CountsAcrossResets(Right):
    """Request ids continue those before the reset."""

    ever = 0

    def reset(self, *options):
        self.ever = max(self.ever, getattr(self, "asked", 0))
        step = super().reset(*options)
        self.asked = self.ever
        return step


class RunsToolsInAnyOrder(Right):
    """Tools start in random order."""

    def __init__(self, **given):
        self.dice = random.Random(0)
        super().__init__(**given)

    def respond(self):
        called = list(self.open.items())
        self.dice.shuffle(called)
        self.open = dict(called)
        super().respond()


class HashOrder(Right):
    """Tools start in the order of a set. In one process all strings have one hash: the declared seed stands for it."""

    def respond(self):
        self.open = dict(sorted(self.open.items(), key=lambda one: md5(f"{self.hash_seed} {one[0]}".encode()).digest()))
        super().respond()


class AsksTwiceAfterAnAbort(Right):
    """The run after an interrupted one asks the model twice: once for the remains, once for the message."""

    left = False

    def reset(self, *options):
        self.left = False
        return super().reset(*options)

    def interrupt(self):
        super().interrupt()
        self.left = not self.active

    def ask(self):
        if self.left:
            self.left = False
            self.ask()
        super().ask()


class ObserverKillsTheRun(Right):
    """A listener's exception ends the run."""

    def say(self, item):
        super().say(item)
        if self.options.observer == "throws":
            self.stop("error", "the listener raised")


class SlowObserverLosesEvents(Right):
    """A slow listener misses the events after a text, and so does the log."""

    def log(self, kind, /, **fields):
        if self.options.observer != "slow" or kind != "tool-result":
            super().log(kind, **fields)


class RetriesLessOften(Right, machine="interaction", retries=2):
    """It declares the machine and two retries, and retries once."""

    def retries(self):
        return 1


class StopInATextEndsTheRun(Right):
    """A text of the model that says stop is taken for a stop."""

    def say(self, item):
        super().say(item)
        if isinstance(item, Text) and "stop" in item.text:
            self.stop("completed")


class StopFromTheUserAborts(Right):
    """A user's text that says stop aborts the run."""

    def user(self, message):
        super().user(message)
        if self.active and message.text in {"stop", "/abort"}:
            self.abort()


class IdsDecide(Right):
    """A call whose id lacks the provider's prefix is not executed."""

    def begin(self, call):
        if call.call_id.startswith("c"):
            super().begin(call)
        else:
            self.result(call.call_id, "no call of ours", isError=True)


# ---- what shows only after a while ----


class Late(Right):
    """A runtime that counts events since the reset."""

    def reset(self, *options):
        self.runs = self.aborts = self.failures = self.steered = self.items = self.results = 0
        return super().reset(*options)

    def start(self, root):
        self.runs += 1
        super().start(root)


class LastInFirstOutAfterThreeRuns(Late):
    """From the fourth run on, the youngest waiting message is served first."""

    def next_waiting(self):
        return self.queue.pop() if self.runs >= 3 else self.queue.popleft()


class FourthSteerIsLost(Late):
    """Only three steers are kept."""

    def keep_steer(self, message):
        self.steered += 1
        if self.steered != 4:
            super().keep_steer(message)


class FourthWaitingIsLost(Late):
    """The queue holds only three messages."""

    def enqueue(self, message):
        if len(self.queue) < 3:
            super().enqueue(message)


class SecondAbortIsIgnored(Late):
    """Only the first abort sets the signal."""

    def abort(self):
        self.aborts += self.active
        if self.aborts != 2:
            super().abort()


class SecondAbortLosesTheQueue(Late):
    """The second abort discards waiting messages."""

    def interrupt(self):
        self.aborts += 1
        if self.aborts == 2:
            self.queue.clear()
        super().interrupt()


class ThirdFailureCompletes(Late):
    """The third failure is not noticed."""

    def fail(self, failure):
        self.failures += 1
        if self.failures == 3:
            self.stop("completed")
        else:
            super().fail(failure)


class EighthItemIsLost(Late):
    """The eighth text is not logged."""

    def log_output(self, **fields):
        self.items += 1
        if self.items != 8 or fields["kind"] == "tool-call":
            super().log_output(**fields)


class FourthResultIsLost(Late):
    """The fourth result is not logged."""

    def log(self, kind, /, **fields):
        self.results += kind == "tool-result"
        if self.results != 4 or kind != "tool-result":
            super().log(kind, **fields)


class HistoryHasTenPlaces(Late):
    """Old messages are no longer shown, in the middle of a run."""

    def shown(self):
        return super().shown()[-10:]


class FifthRunEndsTwice(Late):
    """The fifth run reports its end twice."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind == "run-stop" and self.runs == 5:
            super().log(kind, **fields)


class ThirdCallOfAResponseIsForgotten(Late):
    """Only two calls of a response are executed."""

    def respond(self):
        for name in list(self.open)[2:]:
            del self.open[name]
        super().respond()


# ---- no law's verdict ----


class Unsettled(Right):
    """It is never quiet after a tool's end, whatever the patience."""

    def step(self):
        return replace(super().step(), unsettled=any(one["type"] == "tool-result" for one in self.events))


class Dies(Right):
    """It dies at the first call of a tool."""

    def call(self, call):
        raise DiedError("the process ended")


class EverySeventhRunEndsTwice(Right):
    """Every seventh run reports its end twice, counted across resets."""

    runs = 0

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        self.runs += kind == "run-stop"
        if kind == "run-stop" and self.runs % 7 == 0:
            super().log(kind, **fields)
