"""Runtimes with one fault each, which names them; the docstring is the symptom. Real runtimes have had most."""

import random
from collections import deque
from hashlib import md5

from breaking import breaks
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import DiedError
from turncheck.model.core.stimuli import Abort, Reasoning, Shown, Text, Together, ToolCall, ToolReturn, User

from .right import Right, arranged

# ---- how runs end ----


@breaks("run-ends-once", "X-3", "RC-5.3", "TM-3.1", "RS-6")
class EndsTwice(Right):
    """A run reports its end twice."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind == "run-stop":
            super().log(kind, **fields)


@breaks("run-ends-once", "X-3", "TM-3.1")
class CompletesAndThenRaises(Right):
    """A run that fails is reported as completed, and its exception reaches the consumer all the same."""

    def log(self, kind, /, **fields):
        failed = kind == "run-stop" and fields["reason"] == "error"
        super().log(kind, **fields | ({"reason": "completed"} if failed else {}))
        if failed:
            super().log(kind, **fields, via="exception")


@breaks("ends-told", "RS-6")
class EndsSilentlyAfterAnEmptyResponse(Right):
    """A response without a reply ends the run, and no event says so: the stream just closes."""

    spoke = False

    def ask(self):
        self.spoke = False
        super().ask()

    def output(self, item):
        self.spoke = True
        super().output(item)

    def log(self, kind, /, **fields):
        silent = kind == "run-stop" and fields["reason"] == "completed" and not self.spoke
        super().log(kind, **fields | ({"via": "close", "source": "adapter"} if silent else {}))


@breaks("run-ends-once", "X-3", "RS-6")
class EndsAtEveryRound(Right):
    """Each answered batch of tools is reported as the run's end, and the run goes on."""

    def execute(self):
        super().execute()
        if self.active and not self.open:
            self.log("run-stop", reason="completed")


@breaks("run-ends-once", "X-3")
class LateResultIsLogged(Right):
    """The result of a tool that ignored the abort is logged after the run's end."""

    def tool(self, stimulus, output, **flags):
        late = any(one.call_id == stimulus.call_id for one in self.cancelled)
        super().tool(stimulus, output, **flags)
        if late:
            self.log("tool-result", callId=stimulus.call_id, output=output)


@breaks("run-never-stuck", "X-5")
class NeverEndsAfterAbortAmidATool(Right):
    """An abort cancels the tool, and nobody ends the run."""

    def interrupt(self):
        if not self.open:
            super().interrupt()


@breaks("run-never-stuck", "X-5", "BED-004c")
class ForgetsToAskAfterTools(Right):
    """All results are there, and the model is not asked."""

    def execute(self):
        if self.pending or self.open:
            super().execute()


@breaks("run-never-stuck", "X-5", "BED-003a")
class AsksForEver(Right):
    """A text does not end the run: the model is asked again and again."""

    def respond(self):
        if self.open:
            super().respond()
        else:
            self.ask()


@breaks("run-never-stuck", "X-5")
class ForgetsToPromote(Right):
    """After a completed run, waiting messages go on waiting."""

    def fate(self, reason):
        return "hold" if reason == "completed" else super().fate(reason)


@breaks("next-message-served", "BED-006h", "BED-006i")
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


@breaks("next-message-served", "BED-002a")
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


@breaks("next-message-served", "BED-002a")
class RefusesEveryMessage(Right):
    """Every message is refused, as if the runtime had no such thing."""

    def user(self, message):
        self.refuse("unsupported", "no messages")


@breaks("next-message-served", "BED-002a", "X-5")
class AcceptsAndNeverAsks(Right):
    """The second message is accepted, and its run ends nowhere: the model is not asked."""

    def ask(self):
        if self.asked == 1 and self.rounds == 0:
            self.read_steers()
        else:
            super().ask()


# ---- aborts ----


@breaks("runs-ask-the-model", "BED-002a")
class NeverAsks(Right):
    """Each run ends as error, and the model is never asked."""

    def ask(self):
        self.stop("error", "not configured")


@breaks("runs-ask-the-model", "BED-002a")
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


@breaks("answered-runs-complete", "RS-D1")
class NeverCompletes(Right):
    """Each answer of the model ends the run as error."""

    def stop(self, reason, detail=None):
        super().stop("error" if reason == "completed" else reason, detail)


@breaks("answered-runs-complete", "RS-D0")
class LimitIsReachedEarly(Right):
    """The bound of rounds is one less than declared, and the run ends as error."""

    def bound(self):
        bound = super().bound()
        return None if bound is None else bound - 1


@breaks("answered-runs-complete", "RS-D0")
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


@breaks("answered-runs-complete", "RS-D0")
class ReasoningFirstIsAnError(Right):
    """A response that begins with reasoning ends the run as error: there is no item before it to compare it with."""

    spoke = False

    def ask(self):
        self.spoke = False
        super().ask()

    def output(self, item):
        if isinstance(item, Reasoning) and not self.spoke:
            self.request = None
            self.stop("error", "no item before it")
        else:
            self.spoke = True
            super().output(item)


@breaks("idle-abort-ignored", "BED-D3")
class IdleAbortInterruptsTheNextRun(Right):
    """An abort while idle leaves its signal behind: the next run asks its model, and ends as interrupted."""

    left = False

    def reset(self, *options):
        self.left = False
        return super().reset(*options)

    def abort(self):
        self.left = not self.active
        super().abort()

    def ask(self):
        super().ask()
        if self.left:
            self.left = False
            self.stop("interrupted")


@breaks("idle-abort-ignored", "BED-D3")
class IdleAbortCutsTheNextAnswer(IdleAbortInterruptsTheNextRun):
    """The signal of an idle abort is seen when the next run's model has answered."""

    def ask(self):
        Right.ask(self)

    def respond(self):
        if self.left:
            self.left = False
            self.stop("interrupted")
        else:
            super().respond()


@breaks("requests-bring-news", "BED-003a")
class AsksOnceMore(Right):
    """After its last answer a run asks the model once more, with nothing new, and then ends."""

    more = False

    def respond(self):
        self.more = not (self.open or self.steers or self.more)
        if self.more:
            self.request = None
            self.ask()
        else:
            super().respond()


@breaks("abort-interrupts", "BED-005j")
class AbortCompletes(Right):
    """An aborted run is reported as completed."""

    def interrupt(self):
        self.stop("completed")


@breaks("abort-interrupts")
class AbortIsAnError(Right):
    """An aborted run is reported as failed, since the request to the model was cancelled."""

    def interrupt(self):
        self.stop("error", "the request was aborted")


@breaks("abort-interrupts", "BED-005d", "BED-005h")
class AbortAmidAToolIsIgnored(Right):
    """While tools run, an abort does nothing."""

    def abort(self):
        if not self.running:
            super().abort()


@breaks("abort-ends-as-declared", "BED-005d", "BED-005i")
class WaitsForDeafTools(Right):
    """It declares that an abort ends the run at once, and waits for the tools that ignore it."""

    def interrupt(self):
        if not self.cancelled:
            super().interrupt()


@breaks("abort-ends-as-declared", "BED-005h")
class ReleasedAndStillOpen(Right, abortEnds="when-released"):
    """It declares that an abort ends the run when its tools are released, and then forgets to end it."""

    def release(self):
        pass


@breaks("nothing-starts-after-abort", "BED-005g")
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


@breaks("nothing-starts-after-abort", "BED-005h")
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


@breaks("aborted-text-dropped", "BED-005c", "BED-D4")
class KeepsAbortedText(Right, machine="conversation"):
    """The items of an aborted response are kept."""

    def abort(self):
        for item in self.said if self.active else ():
            self.say(item)
        super().abort()


# ---- failures of the model ----


@breaks("model-failure-survived", "BED-006f", "RS-5.1")
class CompletesAfterAModelFailure(Right):
    """A model's failure ends the run as completed."""

    def fail(self, failure):
        self.stop("completed")


@breaks("model-failure-survived", "BED-006f", "RS-5.1")
class FailureIsSwallowed(Right):
    """The exception is lost: the run neither ends nor asks again."""

    def stop(self, reason, detail=None):
        if reason != "error":
            super().stop(reason, detail)


@breaks("model-failure-survived", "BED-006a")
class RetriesOnceMore(Right, retries=2):
    """It confuses attempts and retries, and retries once more than declared."""

    def retries(self):
        return super().retries() + 1


@breaks("model-failure-survived", "BED-006a")
class GivesUpEarly(Right, retries=2):
    """It declares two retries, and makes one."""

    def retries(self):
        return 1


@breaks("model-failure-survived", "BED-006a", "BED-006d")
class RetriesForEver(Right):
    """A failed request is always repeated."""

    def retries(self):
        return 1_000_000


@breaks("model-failure-survived", "BED-006f")
class RetriesFatalFailures(Right, retries=2):
    """A permanent failure is retried too."""

    def fail(self, failure):
        super().fail("retryable")


# ---- calls and results ----


@breaks("calls-answered", "X-6")
class LeavesTheSecondCallUnanswered(Right):
    """Serial tools: an abort answers the call that runs, and leaves the others."""

    def answer_open(self, why):
        for name in list(self.open)[:1]:
            self.skip(name, why)


@breaks("calls-answered", "X-6")
class LosesTheSecondResult(Right):
    """Of several results of a batch the second is lost."""

    def result(self, name, output, **flags):
        if len(self.open) == 1 and len(self.called) > 1:
            del self.open[name]
        else:
            super().result(name, output, **flags)


@breaks("calls-answered", "X-6")
class AnswersTwice(Right):
    """A result is logged when the tool returns, and again before the model is asked."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.log("tool-result", callId=name, output=output, **flags)


@breaks("calls-answered", "X-6")
class SteerLeavesCallsUnanswered(Right, steerLands="after-call"):
    """A steer that lands after a call drops the calls behind it."""

    def land_steers(self):
        while self.steers and self.pending:
            del self.open[self.pending.popleft().call_id]


@breaks("cut-calls-answered", "X-6")
class CutCallIsNeverAnswered(Right):
    """A call of a response that was aborted or failed is shown, and has no result."""

    def answer_open(self, why):
        if not (self.running or self.pending):
            self.open.clear()
        super().answer_open(why)


@breaks("results-survive", "X-7", "BED-005k")
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


@breaks("results-not-invented", "BED-005f", "BED-005g")
class InventsASuccess(Right):
    """A call that was skipped has a result like any other."""

    def skip(self, name, why):
        self.result(name, "ok")


@breaks("tool-failure-survived", "BED-004f", "RS-5.3")
class ToolFailureKillsTheRun(Right):
    """A failing tool ends the run."""

    def tool(self, stimulus, output, **flags):
        if flags and self.running and stimulus.call_id in self.open:
            self.running.clear()
            self.result(stimulus.call_id, output, isError=True)
            self.stop("error", output)
        else:
            super().tool(stimulus, output, **flags)


@breaks("tool-failure-survived", "BED-004e")
class ToolFailureHasNoResult(Right):
    """A tool's failure is shown to the model, and not logged."""

    def log(self, kind, /, **fields):
        if kind != "tool-result" or not fields.get("isError") or fields.get("synthetic"):
            super().log(kind, **fields)


@breaks("tool-failure-survived", "RS-5.3")
class TellsFailureAsSuccess(Right):
    """A tool's failure is logged as a successful result."""

    def tool(self, stimulus, output, **flags):
        super().tool(stimulus, "done" if flags else output)


@breaks("malformed-never-executes", "TM-4.1")
class ExecutesMalformedArguments(Right):
    """Arguments that are not JSON count as absent."""

    def begin(self, call):
        malformed = isinstance(call.arguments, str)
        super().begin(replace(call, arguments={}) if malformed else call)


@breaks("executed-as-called", "BED-003c")
class ExecutesAnotherTool(Right):
    """Whatever tool the model calls, the first one is executed."""

    def begin(self, call):
        super().begin(replace(call, tool="read"))


@breaks("executed-as-called", "BED-003c")
class ExecutesWithoutArguments(Right):
    """A call is executed with no arguments."""

    def begin(self, call):
        super().begin(call if isinstance(call.arguments, str) else replace(call, arguments={}))


@breaks("executed-as-called", "BED-003c")
class ExecutesWithNothing(Right):
    """A call is executed, and its execution has no arguments at all."""

    def begin(self, call):
        before = len(self.running)
        super().begin(call)
        self.running[before:] = [replace(one, arguments=None) for one in self.running[before:]]


@breaks("executed-as-called", "X-7")
class ExecutesTwice(Right):
    """A tool that returns is executed once more, and the second result counts."""

    def start(self, root):
        self.done = set()
        super().start(root)

    def tool(self, stimulus, output, **flags):
        run = next((one for one in self.running if one.call_id == stimulus.call_id), None)
        if run is None or run.call_id in self.done:
            super().tool(stimulus, output, **flags)
        else:
            self.done.add(run.call_id)
            self.running.remove(run)
            self.begin(ToolCall(call_id=run.call_id, tool=run.tool, arguments=run.arguments))


@breaks("executed-as-called", "BED-003c")
class ExecutesOnItsOwn(Right):
    """After the calls of a response, a tool runs that the model never called."""

    def respond(self):
        if self.open:
            extra = ToolCall(call_id="own", tool="read", arguments={"path": "own"})
            self.open["own"] = extra
        super().respond()


@breaks("results-survive", "X-7")
class ResultsUnderEachOther(Right, tools="parallel"):
    """The result that comes first is logged under the call that was made first."""

    def result(self, name, output, **flags):
        super().result(next(iter(self.open)), output, **flags)


@breaks("ids-never-mixed", "X-6")
class TwoResultsUnderOneId(Right):
    """A call id that comes twice has two results that cannot be matched to the calls."""

    def log(self, kind, /, **fields):
        if "callId" in fields:
            fields["callId"] = fields["callId"].partition("~")[0]
        super().log(kind, **fields)


@breaks("tools-as-declared", "BED-004a", "BED-004b")
class SerialRunsSideBySide(Right):
    """It declares serial tools, and starts all."""

    def execute(self):
        while len(self.pending) > 1:
            self.begin(self.pending.popleft())
            self.begin(self.pending.popleft())
        super().execute()


@breaks("tools-as-declared", "BED-003d", "BED-004a")
class RunsTheLastCallFirst(Right):
    """Serial tools: of several calls, the one that was asked for last runs first."""

    def execute(self):
        if not self.running:
            self.pending.reverse()
            self.open = dict(reversed(self.open.items()))
        super().execute()


@breaks("tools-as-declared")
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


@breaks("messages-consumed", "RC-D8", "X-7", "BED-002b")
class SecondRootIsNotShown(Right):
    """The message of the second run is accepted, and not given to the model."""

    def start(self, root):
        self.silent = self.asked == 1
        super().start(root)

    def read(self, message):
        if self.steers or not self.silent:
            super().read(message)
        self.silent = False


@breaks("steers-in-their-run", "RC-4.2", "TM-5.2")
class LosesTheSteerThatComesWithTheLastText(Right):
    """A steer during the model's last response is never read."""

    def respond(self):
        if not self.open:
            self.steers.clear()
        super().respond()


@breaks("steers-in-their-run", "RC-4.2", "TM-5.2")
class SteerWaitsForTheNextRun(Right):
    """A steer during the model's last response is shown in the next run."""

    def respond(self):
        if self.open:
            super().respond()
        else:
            self.stop("completed")


@breaks("steers-in-their-run", "TM-5.2")
class ForgetsSteers(Right):
    """A steer is accepted, and never shown to the model."""

    def keep_steer(self, message):
        pass


@breaks("follow-ups-in-turn", "RC-4.1", "TM-5.1")
class FollowUpLeaksIntoTheRun(Right):
    """A message that waits for the next run is also shown to the model at once."""

    def enqueue(self, message):
        super().enqueue(message)
        self.read(message)


@breaks("follow-ups-in-turn", "TM-5.1")
class BusyMessagesSteer(Right):
    """It declares that a message while busy waits, and lets it steer."""

    def enqueue(self, message):
        if message.delivery is None:
            self.keep_steer(message)
        else:
            super().enqueue(message)


@breaks("follow-ups-in-turn", "RC-7.5")
class LastInFirstOut(Right):
    """The youngest waiting message is served first."""

    def next_waiting(self):
        return self.queue.pop()


@breaks("follow-ups-in-turn", "RC-7.5", "RC-D7")
class TwoFollowUpsInOneRun(Right):
    """All waiting messages are served at once."""

    def next_waiting(self):
        while len(self.queue) > 1:
            self.read(self.queue.popleft())
        return self.queue.popleft()


@breaks("messages-in-order", "X-7")
@breaks("equals-model", "X-7")
class SteersLastInFirstOut(Right):
    """The youngest of several steers is shown first."""

    def read_steers(self):
        self.steers.reverse()
        super().read_steers()


@breaks("messages-in-order", "X-7")
class ReplaysTheRoot(Right):
    """A promoted message is shown twice."""

    def next_waiting(self):
        message = super().next_waiting()
        self.read(message)
        return message


@breaks("handed-over-as-declared", "X-D1")
class AllSteersWhereOneIsDeclared(Right, steerHandover="one"):
    """It declares that it hands over one steer at a time, and shows all that wait in one request."""

    def handover(self, policy):
        return "all" if policy == "steerHandover" else super().handover(policy)


@breaks("handed-over-as-declared", "X-D1")
class OneSteerWhereAllAreDeclared(Right):
    """It declares that it hands over all steers at once, and shows one a request."""

    def handover(self, policy):
        return "one" if policy == "steerHandover" else super().handover(policy)


@breaks("handed-over-as-declared", "X-D1")
class TwoSteersAtMost(Right):
    """It declares that it hands over all steers at once, and shows no more than two in a request."""

    def hand_over_steers(self):
        for _ in range(min(2, len(self.steers))):
            self.read(self.steers.popleft())


@breaks("handed-over-as-declared", "X-D1")
class AllFollowUpsWhereOneIsDeclared(Right):
    """It declares that each run serves one message that waited, and the first run shows all of them."""

    def handover(self, policy):
        return "all" if policy == "followUpHandover" else super().handover(policy)


@breaks("handed-over-as-declared", "X-D1")
class OneFollowUpWhereAllAreDeclared(Right, followUpHandover="all"):
    """It declares that one run serves all messages that wait, and begins a run for each."""

    def handover(self, policy):
        return "one" if policy == "followUpHandover" else super().handover(policy)


@breaks("queue-as-declared", "RC-D6")
class LosesTheQueueAtAnAbort(Right):
    """An abort silently discards waiting messages."""

    def fate(self, reason):
        return "drop" if reason == "interrupted" else super().fate(reason)


@breaks("queue-as-declared", "RC-D6")
class HoldsAfterAFailure(Right):
    """It declares that waiting messages are served after a failure, and holds them."""

    def fate(self, reason):
        return "hold" if reason == "error" else super().fate(reason)


@breaks("queue-as-declared", "RC-D6")
class PromotesWhatItShouldHold(Right, queueAfterInterrupted="hold"):
    """It declares that waiting messages are held after an abort, and serves them."""

    def fate(self, reason):
        return "promote"


@breaks("queue-as-declared", "RC-D6")
class ServesWhatItDropped(Right, queueAfterInterrupted="drop"):
    """It declares that waiting messages are dropped after an abort, and serves them later."""

    def fate(self, reason):
        return "hold" if reason == "interrupted" else super().fate(reason)


@breaks("queue-as-declared", "RC-D6")
class HoldsWhatShouldJoin(Right, queueAfterInterrupted="join"):
    """It declares that waiting messages join the next one after an abort, and serves them after it."""

    def fate(self, reason):
        return "hold" if reason == "interrupted" else super().fate(reason)


@breaks("queue-as-declared", "RC-D6")
class JoinsTheLastOnly(Right, queueAfterError="join"):
    """Of the messages that waited at a failure only the last one is shown with the next message."""

    def start(self, root):
        self.joined = self.joined[-1:]
        super().start(root)


@breaks("follow-ups-in-turn", "RC-D7")
class JoinsUndeclared(Right, queueAfterInterrupted="hold"):
    """It declares that waiting messages are held after an abort, and shows them with the next message."""

    def fate(self, reason):
        return "join" if reason == "interrupted" else super().fate(reason)


@breaks("busy-as-declared", "BED-002c")
class AcceptsWhileBusy(Right, busy="reject"):
    """It declares that it rejects while busy, and queues."""

    def user(self, message):
        super().user(message if message.delivery or not self.active else replace(message, delivery="followUp"))


@breaks("busy-as-declared", "RC-3.2")
class RejectsWhileBusy(Right):
    """It declares that a message while busy waits, and rejects it."""

    def user(self, message):
        if self.active and message.delivery is None:
            self.refuse("rejected", "busy")
        else:
            super().user(message)


@breaks("busy-as-declared", "RC-3.2")
class SwallowsWhileBusy(Right):
    """A message while busy is neither accepted nor refused."""

    def user(self, message):
        if not self.active or message.delivery:
            super().user(message)


@breaks("busy-as-declared", "RC-3.2")
class SwallowsSteersAmidTools(Right):
    """A steer that comes while a tool runs is neither accepted nor refused."""

    def user(self, message):
        if message.delivery != "steer" or not (self.active and self.running):
            super().user(message)


@breaks("busy-as-declared", "RC-3.2")
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


@breaks("sent-together-none-lost", "X-7")
class LosesTheSecondOfTwoAtOnce(Right):
    """The second of two messages at once is silently lost."""

    def take(self, stimulus):
        if isinstance(stimulus, Together):
            super().take(stimulus.stimuli[0])
        else:
            super().take(stimulus)


@breaks("sent-together-none-lost", "X-7")
class LosesAMessageThatComesWithAnAbort(Right):
    """A message that is sent at the moment of an abort is silently lost."""

    def take(self, stimulus):
        several = getattr(stimulus, "stimuli", ())
        if any(isinstance(one, Abort) for one in several):
            for one in several:
                if not isinstance(one, User):
                    super().take(one)
        else:
            super().take(stimulus)


@breaks("results-survive", "X-7")
class TwoResultsAtOnceAreOne(Right, tools="parallel"):
    """Of two tools that return at the same moment, both calls get the last one's output."""

    def take(self, stimulus):
        several = getattr(stimulus, "stimuli", ())
        if several and all(isinstance(one, ToolReturn) for one in several):
            stimulus = Together(stimuli=tuple(replace(one, output=several[-1].output) for one in several))
        super().take(stimulus)


@breaks("abort-interrupts", "BED-005b")
class RetryForgetsTheAbort(Right, retries=2):
    """An abort while a retry waits is ignored: the timer fires all the same."""

    def abort(self):
        if self.timer is None:
            super().abort()


@breaks("executed-as-called", "X-8")
class CallIdsWithoutCase(Right, tools="parallel"):
    """Calls are kept by their id in lower case, without spaces around it."""

    def begin(self, call):
        alike = [one for name, one in self.open.items() if name.strip().lower() == call.call_id.strip().lower()]
        super().begin(replace(call, arguments=alike[-1].arguments))


# ---- what the model is shown ----


@breaks("input-well-formed", "X-6")
class ShowsAnOrphanCall(Right):
    """A call that was skipped has its result in the log, and none in the history."""

    def skip(self, name, why):
        super().skip(name, why)
        self.history.pop()


@breaks("input-well-formed", "X-6")
class ShowsResultsAtTheTail(Right):
    """After a run, the results of its calls stand behind all texts of the model."""

    def start(self, root):
        self.history.sort(key=lambda one: one.role == "tool")
        super().start(root)


@breaks("input-well-formed", "X-6")
class ShowsAResultTwice(Right):
    """The history contains a result twice."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.history.append(self.history[-1])


@breaks("system-shown", "X-D1")
class NoSystemPromptAfterAnAbort(Right, system="Be brief."):
    """The system prompt is shown up to the first abort."""

    def reset(self, *options):
        self.forgot = False
        return super().reset(*options)

    def abort(self):
        self.forgot = True
        super().abort()

    def prompt(self):
        return [] if self.forgot else super().prompt()


@breaks("system-shown", "X-D1")
class SecondTextIsNeverShown(Right, system=["Be brief.", "Ask before you pay."]):
    """It declares two texts of its own, and shows the first."""

    def prompt(self):
        return super().prompt()[:1]


@breaks("system-shown", "X-D1")
class SystemPromptIsTheUsers(Right, system="Be brief."):
    """The prompt that it declares is shown as a part of the user's message."""

    def prompt(self):
        return []

    def shown(self):
        first, *rest = super().shown()
        return [replace(first, text=f"Be brief. {first.text}"), *rest]


@breaks("history-whole", "X-7")
class InventsAUserMessage(Right):
    """After tools, a made-up user message tells the model to go on."""

    def execute(self):
        if not (self.open or self.pending):
            self.history.append(Shown(role="user", text="Continue."))
        super().execute()


@breaks("history-whole", "X-7")
class InventsAnAnswer(Right):
    """A failed run leaves an apology in the history, which is not the model's."""

    def stop(self, reason, detail=None):
        super().stop(reason, detail)
        if reason == "error" and not self.active:
            self.history.append(Shown(role="assistant", text="Sorry, something went wrong."))


@breaks("history-whole", "X-7")
class ForgetsResultsAfterAFailure(Right):
    """After a failure the calls of the run and their results are gone from the history."""

    def fail(self, failure):
        super().answer_open(failure)
        self.history = [entry for entry in self.history if entry.call_id is None]
        super().fail(failure)


@breaks("history-whole", "BED-005k")
class ForgetsTheRunAfterAnAbort(Right):
    """An aborted run is missing from the history."""

    def interrupt(self):
        super().interrupt()
        if not self.active:
            self.history.clear()


@breaks("history-whole", "X-7")
class NeverShowsACall(Right):
    """The model is shown neither its calls nor their results: what it did, it does not know."""

    def shown(self):
        return [entry for entry in super().shown() if entry.call_id is None]


@breaks("history-whole", "BED-004d")
class NeverShowsAResult(Right):
    """The model is shown its calls, and no result."""

    def shown(self):
        return [entry for entry in super().shown() if entry.role != "tool"]


@breaks("history-whole", "X-7")
class ForgetsTheFinalAnswer(Right):
    """What ends a run is not shown in the next one."""

    def stop(self, reason, detail=None):
        if reason == "completed" and self.history[-1].role == "assistant":
            self.history.pop()
        super().stop(reason, detail)


@breaks("history-whole", "X-7", "BED-004d")
class ForgetsFailedCalls(Right):
    """A call whose tool failed is not shown, and neither is its failure."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        if flags.get("isError") and not flags.get("synthetic"):
            self.history = [entry for entry in self.history if entry.call_id != name]


@breaks("history-whole", "BED-004d")
class ShowsAnotherResult(Right):
    """The model is told that the tool is done, whatever it returned."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.history[-1] = replace(self.history[-1], text="done")


@breaks("history-whole", "X-7")
class DropsArguments(Right):
    """A call is shown without its arguments."""

    def shown(self):
        return [replace(one, arguments={}) if one.tool else one for one in super().shown()]


@breaks("history-whole", "BED-004d")
class SwapsTwoResults(Right):
    """The second result of a batch is shown under the first call, and the first under the second."""

    def execute(self):
        ends = self.history[-2:]
        if not (self.open or self.pending) and [one.role for one in ends] == ["tool", "tool"]:
            first, second = ends
            self.history[-2:] = [replace(first, text=second.text), replace(second, text=first.text)]
        super().execute()


@breaks("history-whole", "X-7")
class LosesTheErrorMark(Right):
    """When a run is over, a tool's failure is shown like a result."""

    def start(self, root):
        self.history = [replace(one, is_error=None) for one in self.history]
        super().start(root)


@breaks("history-whole", "X-7")
class ShowsAMessageTwice(Right):
    """The message of a run that is retried is shown once more."""

    def fail(self, failure):
        root = next(entry for entry in reversed(self.history) if entry.role == "user")
        super().fail(failure)
        if not self.active:
            self.history.append(replace(root, ids=()))


@breaks("history-whole", "X-7")
class ShowsTextsLast(Right):
    """After an abort, what the model said stands behind what was called and returned."""

    def interrupt(self):
        super().interrupt()
        if not self.active:
            self.history.sort(key=lambda one: one.role == "assistant" and one.call_id is None)


@breaks("history-whole", "BED-004d")
class TruncatesSilently(Right):
    """A long result is shown as far as a buffer goes, and nobody says so."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        self.history[-1] = replace(self.history[-1], text=self.history[-1].text[:6])


@breaks("history-whole", "BED-005k")
class ForgetsCutCallsUndeclared(Right, abortedResponse="drop"):
    """It declares that a response that was cut is forgotten, and forgets one whose tools were cut too."""

    def leave_steers(self):
        if self.aborting and self.cut:
            del self.history[self.begun :]
        super().leave_steers()


@breaks("history-whole")
class KeepsCutCalls(Right, abortedResponse="drop-with-calls"):
    """It declares that a response whose tools were cut is forgotten, and shows it."""

    def interrupt(self):
        self.cut = False
        super().interrupt()


@breaks("history-whole", "BED-004d")
class WordsEachResultItself(Right, failures="own-words"):
    """It declares that it words failures itself, and words what tools return too."""

    def shown(self):
        return [replace(one, text="done") if one.role == "tool" else one for one in super().shown()]


@breaks("history-whole", "X-7")
class HidesFailuresBehindOwnWords(Right, failures="own-words"):
    """It declares that it words failures itself, and shows them unmarked, as if the tool had worked."""

    def shown(self):
        return [replace(one, is_error=None) if one.role == "tool" else one for one in super().shown()]


@breaks("history-whole", "BED-004d")
class CutsMoreThanItDeclares(Right, maxResultCharacters=3000):
    """It declares that 3,000 characters of a long result are shown, and shows 2,000."""

    def shown(self):
        return arranged(self.history, self.policies | {"maxResultCharacters": 2000})


@breaks("history-whole")
class CutsLessThanItDeclares(Right, maxResultCharacters=3000):
    """It declares that 3,000 characters of a long result are shown, and shows it whole."""

    def shown(self):
        return arranged(self.history, self.policies | {"maxResultCharacters": None})


@breaks("history-whole", "BED-004d")
class CutsUndeclared(Right, maxResultCharacters=None):
    """It declares that results are shown whole, and cuts long ones."""

    def shown(self):
        return arranged(self.history, self.policies | {"maxResultCharacters": 30_000})


@breaks("items-conserved", "X-7")
class LogsOtherArguments(Right):
    """The log holds a call without its arguments."""

    def log_output(self, **fields):
        super().log_output(**fields | ({"arguments": {}} if "arguments" in fields else {}))


@breaks("history-whole", "X-7", "BED-003b")
class ForgetsWhatItSaid(Right):
    """A text beside calls is not shown to the model again."""

    def call(self, call):
        if self.history[-1].role == "assistant" and self.history[-1].text:
            self.history.pop()
        super().call(call)


# ---- items and rounds ----


@breaks("items-conserved", "X-7")
class LogsAnItemTwice(Right):
    """A text is logged while it streams, and again when it is whole."""

    def log_output(self, **fields):
        super().log_output(**fields)
        if fields["kind"] == "assistant":
            super().log_output(**fields)


@breaks("items-conserved", "X-7")
class LosesReasoning(Right):
    """It declares reasoning, and does not log it."""

    def say(self, item):
        if not isinstance(item, Reasoning):
            super().say(item)


@breaks("items-conserved", "X-7")
class CutsTexts(Right):
    """A text is cut at a buffer's end."""

    def log_output(self, **fields):
        super().log_output(**fields | ({"text": fields["text"][:10]} if "text" in fields else {}))


@breaks("items-conserved", "X-7")
class CallsBeforeTexts(Right, machine="conversation"):
    """The items of a response are logged by kind: calls first."""

    def respond(self):
        self.said.sort(key=lambda item: isinstance(item, Text))
        super().respond()


@breaks("response-is-one-round", "RC-D3", "EF-5")
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


@breaks("response-is-one-round", "RC-D3", "EF-5")
class TwoResponsesAreOneRound(Right):
    """All responses of a run have one response id."""

    def log_output(self, **fields):
        self.log("agent-output", responseId="response", **fields)


@breaks("response-is-one-round", "RC-D3")
class LabelsWithTheRequestBefore(Right):
    """An item has the id of the request before the one that it answers."""

    def log_output(self, **fields):
        self.log("agent-output", responseId=f"r{max(self.asked - 1, 1)}", **fields)


@breaks("rounds-bounded", "EF-1", "RS-4.1", "RS-D0")
class BoundIsOffByOne(Right):
    """A run makes one request more than its limit."""

    def bound(self):
        bound = super().bound()
        return None if bound is None else bound + 1


@breaks("log-well-formed", "X-1", "RC-1")
class LogsUnknownEvents(Right):
    """Its own events are mixed with the log's."""

    def retry(self):
        self.log("heartbeat")
        super().retry()

    def start(self, root):
        self.log("agent-start")
        super().start(root)


@breaks("log-well-formed", "X-1", "RC-D5")
class LogsPlainText(Right):
    """Its printed text is taken for events."""

    def start(self, root):
        self.events.append("run started")
        super().start(root)


@breaks("log-well-formed", "X-1", "RC-D5")
class StopsForNoReason(Right):
    """The reason of a stop is none of the three."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields | ({"reason": "done"} if fields.get("reason") == "completed" else {}))


@breaks("capabilities-honest", "X-D1")
class DeclaresAbort(Right):
    """It declares that runs can be aborted, and cannot abort them."""

    def abort(self):
        self.refuse("unsupported", "abort")


@breaks("capabilities-honest", "X-D1")
class DeclaresModelInput(Right):
    """It declares that requests show their input, and shows none."""

    def log(self, kind, /, **fields):
        fields.pop("input", None)
        super().log(kind, **fields)


# ---- again, elsewhere, otherwise ----


@breaks("run-deterministic", "X-2", "BED-001b")
class CountsAcrossResets(Right):
    """Request ids continue those before the reset."""

    ever = 0

    def reset(self, *options):
        self.ever = max(self.ever, getattr(self, "asked", 0))
        step = super().reset(*options)
        self.asked = self.ever
        return step


@breaks("run-deterministic", "X-2", "BED-001b")
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


@breaks("run-hash-seed", "X-2")
class HashOrder(Right):
    """Tools start in the order of a set. In one process all strings have one hash: the declared seed stands for it."""

    def respond(self):
        self.open = dict(sorted(self.open.items(), key=lambda one: md5(f"{self.hash_seed} {one[0]}".encode()).digest()))
        super().respond()


@breaks("run-boundary-equivalence", "X-4", "RC-2")
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


@breaks("observer-isolated", "X-2")
class ObserverKillsTheRun(Right):
    """A listener's exception ends the run."""

    def say(self, item):
        super().say(item)
        if self.options.observer == "throws":
            self.stop("error", "the listener raised")


@breaks("slow-consumer-same", "X-2", "X-7", "BED-011a")
class SlowObserverLosesEvents(Right):
    """A slow listener misses the events after a text, and so does the log."""

    def log(self, kind, /, **fields):
        if self.options.observer != "slow" or kind != "tool-result":
            super().log(kind, **fields)


@breaks("equals-machine", "X-D1")
class RetriesLessOften(Right, machine="interaction", retries=2):
    """It declares the machine and two retries, and retries once."""

    def retries(self):
        return 1


@breaks("run-opaque", "X-8")
class StopInATextEndsTheRun(Right):
    """A text of the model that says stop is taken for a stop."""

    def say(self, item):
        super().say(item)
        if isinstance(item, Text) and "stop" in item.text:
            self.stop("completed")


@breaks("run-opaque", "X-8")
class StopFromTheUserAborts(Right):
    """A user's text that says stop aborts the run."""

    def user(self, message):
        super().user(message)
        if self.active and message.text in {"stop", "/abort"}:
            self.abort()


@breaks("run-opaque", "X-8")
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


@breaks("follow-ups-in-turn", "RC-7.5")
class LastInFirstOutAfterThreeRuns(Late):
    """From the fourth run on, the youngest waiting message is served first."""

    def next_waiting(self):
        return self.queue.pop() if self.runs >= 3 else self.queue.popleft()


@breaks("steers-in-their-run", "TM-5.2")
class FourthSteerIsLost(Late):
    """Only three steers are kept."""

    def keep_steer(self, message):
        self.steered += 1
        if self.steered != 4:
            super().keep_steer(message)


@breaks("run-never-stuck", "X-5")
class FourthWaitingIsLost(Late):
    """The queue holds only three messages."""

    def enqueue(self, message):
        if len(self.queue) < 3:
            super().enqueue(message)


@breaks("abort-interrupts", "BED-005a", "BED-005b")
class SecondAbortIsIgnored(Late):
    """Only the first abort sets the signal."""

    def abort(self):
        self.aborts += self.active
        if self.aborts != 2:
            super().abort()


@breaks("queue-as-declared", "RC-D6")
class SecondAbortLosesTheQueue(Late):
    """The second abort discards waiting messages."""

    def interrupt(self):
        self.aborts += 1
        if self.aborts == 2:
            self.queue.clear()
        super().interrupt()


@breaks("model-failure-survived", "RS-5.1")
class ThirdFailureCompletes(Late):
    """The third failure is not noticed."""

    def fail(self, failure):
        self.failures += 1
        if self.failures == 3:
            self.stop("completed")
        else:
            super().fail(failure)


@breaks("items-conserved", "X-7", "BED-003b")
class EighthItemIsLost(Late):
    """The eighth text is not logged."""

    def log_output(self, **fields):
        self.items += 1
        if self.items != 8 or fields["kind"] == "tool-call":
            super().log_output(**fields)


@breaks("calls-answered", "X-6")
class FourthResultIsLost(Late):
    """The fourth result is not logged."""

    def log(self, kind, /, **fields):
        self.results += kind == "tool-result"
        if self.results != 4 or kind != "tool-result":
            super().log(kind, **fields)


@breaks("history-whole", "X-7")
@breaks("input-well-formed", "RS-3.2")
class HistoryHasTenPlaces(Late):
    """Old messages are no longer shown, in the middle of a run."""

    def shown(self):
        return super().shown()[-10:]


@breaks("run-ends-once", "X-3", "TM-3.1")
class FifthRunEndsTwice(Late):
    """The fifth run reports its end twice."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind == "run-stop" and self.runs == 5:
            super().log(kind, **fields)


@breaks("calls-answered", "X-6")
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
