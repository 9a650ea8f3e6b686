"""A runtime that conforms and asks about calls, and wrong ones with one fault each, which names them.

It takes decisions in any order, and what is approved runs at once, beside other tools where they run in parallel.
"""

from collections import deque
from itertools import groupby

from breaking import breaks
from msgspec.structs import replace

from turncheck.conformance.laws.runtime.responses import malformed
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Approve,
    ClientResult,
    ClientToolAwaited,
    Deny,
    ResetOptions,
    ToolCall,
)

from ..right import Right


class Deciding(Right):
    """Calls that a person has to approve, or the client executes, wait until the others of their response ended."""

    def __init__(self, **given):
        super().__init__(**given)
        without = given.get("without", ())
        more = tuple(one for one in ("approval", "client-tools") if one not in without)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, *more))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.gated, self.undecided, self.asked_about = deque[ToolCall](), {}, []
        self.pauses, self.put_off = 0, {}
        return super().reset(options)

    def take(self, stimulus):
        match stimulus:
            case Approve() | Deny() | ClientResult():
                self.decide(stimulus)
            case _:
                super().take(stimulus)

    def awaiting(self):
        yield from super().awaiting()
        yield from (self.question(call) for call in self.undecided.values())

    def question(self, call):
        kind = ClientToolAwaited if self.options.decider(call.tool) == "client" else ApprovalAwaited
        return kind(call_id=call.call_id)

    def execute(self):
        for call in [one for one in self.pending if self.options.decider(one.tool)]:
            self.pending.remove(call)
            self.gated.append(call)
        super().execute()
        if self.active and self.gated and not self.running and not self.pending:
            self.pause()

    def pause(self):
        while self.gated:
            call = self.gated.popleft()
            self.undecided[call.call_id] = call
        self.pauses += 1
        self.log("run-pause", calls=[*self.undecided])

    def result(self, name, output, **flags):
        self.put_off[name] = self.pauses
        super().result(name, output, **flags)

    def shown(self):
        """What the model is shown: results that a pause put off stand behind those that it did not."""
        entries = super().shown()
        if self.policies.get("resultOrder") != "as-called":
            return entries

        def pauses(one):
            return self.put_off.get(one.call_id, 0) if one.role == "tool" else 0

        runs = [[*run] for _, run in groupby(entries, lambda one: one.role == "tool")]
        return [one for run in runs for one in sorted(run, key=pauses)]

    def decide(self, stimulus):
        call = self.undecided.get(stimulus.call_id)
        if call is None or isinstance(stimulus, ClientResult) != isinstance(self.question(call), ClientToolAwaited):
            self.late_decision(stimulus)
            return
        del self.undecided[call.call_id]
        if not self.undecided:
            self.log("run-resume")
        match stimulus:
            case Approve():
                self.approve(call)
            case Deny():
                self.deny(call, stimulus.message)
            case ClientResult():
                self.client_result(call, stimulus.output)

    def late_decision(self, stimulus):
        self.refuse("not-awaited", f"nobody asked about {stimulus.call_id}")

    def approve(self, call):
        self.pending.append(replace(call, tool=f"approved {call.tool}"))
        super().execute()

    def begin(self, call):
        super().begin(replace(call, tool=call.tool.removeprefix("approved ")))

    def deny(self, call, message):
        self.result(call.call_id, f"denied: {message}", isError=True)
        super().execute()

    def client_result(self, call, output):
        self.result(call.call_id, output)
        super().execute()

    def stop(self, reason, detail=None):
        self.forget()
        super().stop(reason, detail)

    def forget(self):
        self.gated.clear()
        self.undecided.clear()

    def abort(self):
        if self.active and not self.aborting:
            self.forget()
        super().abort()


class GoesOnInstead(Deciding, busy="steer", steerWhilePaused="instead"):
    """A steer takes the place of the decisions: what waits for one gives way to it."""

    def keep_steer(self, message):
        super().keep_steer(message)
        if self.undecided and not self.running:
            for name in [*self.undecided]:
                self.skip(name, "a steer came instead")
            self.forget()
            Right.execute(self)


class AsksBeforeAnythingRuns(Deciding, tools="parallel"):
    """It conforms: while a response's calls wait for decisions, its other calls wait too, until one is decided."""

    def execute(self):
        calls = [one for one in self.pending if self.options.decider(one.tool)]
        for call in calls:
            self.pending.remove(call)
            self.gated.append(call)
        if calls:
            self.pause()
        else:
            super().execute()


class AnswersMalformedCallsUnasked(Deciding):
    """It conforms: a call whose arguments are no JSON object fails at once, and nobody is asked about it."""

    def execute(self):
        for call in [one for one in self.pending if self.options.decider(one.tool) and malformed(one.arguments)]:
            self.pending.remove(call)
            self.result(call.call_id, "these arguments are no JSON object", isError=True)
        super().execute()


# ---- wrong ones ----


class Forgiving(Deciding):
    """A second result of a call is dropped: what a fault executes too often ends without noise."""

    def result(self, name, output, **flags):
        if name in self.open:
            super().result(name, output, **flags)


@breaks("approved-before-executed", "L-A1")
class ExecutesWhileItAsks(Forgiving):
    """The call runs while the question is still shown."""

    def pause(self):
        calls = [call for call in self.gated if self.options.decider(call.tool) == "approval"]
        super().pause()
        for call in calls:
            self.begin(call)


@breaks("approved-before-executed", "L-A1")
class AutoApprovesTheSecond(Deciding):
    """Once a call was approved, every later one runs without a question."""

    trusted = False

    def reset(self, *options):
        self.trusted = False
        return super().reset(*options)

    def approve(self, call):
        self.trusted = True
        super().approve(call)

    def execute(self):
        for call in [one for one in self.pending if self.trusted and self.options.decider(one.tool) == "approval"]:
            self.pending[self.pending.index(call)] = replace(call, tool=f"approved {call.tool}")
        super().execute()


@breaks("asked-about-once", "L-A2")
class ForgetsTheFirstDenial(Deciding):
    """A denied call is asked about once more."""

    def reset(self, *options):
        self.denied = False
        return super().reset(*options)

    def deny(self, call, message):
        if self.denied:
            super().deny(call, message)
        self.denied = True
        if call.call_id in self.open:
            self.undecided[call.call_id] = call


@breaks("asked-about-once", "L-A2")
class RefusesUnasked(Deciding):
    """Calls that need approval are refused at once: nobody is asked."""

    def pause(self):
        for call in [one for one in self.gated if self.options.decider(one.tool) == "approval"]:
            self.gated.remove(call)
            self.result(call.call_id, "not allowed here", isError=True)
        if self.gated:
            super().pause()
        else:
            Right.execute(self)


@breaks("decisions-honoured", "L-A3")
class ExecutesWhatIsDenied(Deciding):
    """A denial is taken for an answer like any other, and the call runs."""

    def deny(self, call, message):
        self.approve(call)


@breaks("decisions-honoured", "L-A3")
class ExecutesTheApprovedTwice(Deciding):
    """What was approved runs once when it is approved, and once more when the run goes on."""

    def approve(self, call):
        self.twice = call
        super().approve(call)

    def result(self, name, output, **flags):
        again, self.twice = getattr(self, "twice", None), None
        if again is not None and again.call_id == name and self.active and not self.aborting:
            self.begin(again)
        else:
            super().result(name, output, **flags)


@breaks("decisions-honoured", "L-A3")
class HidesTheDenial(Deciding):
    """The model is not shown that its call was denied."""

    def deny(self, call, message):
        del self.open[call.call_id]
        self.log("tool-result", callId=call.call_id, output=f"denied: {message}", isError=True)
        Right.execute(self)


@breaks("decision-is-its-calls-alone", "L-A4")
class ApprovesAllAtOnce(Deciding):
    """One approval lets every call run that waits for one."""

    def approve(self, call):
        for other in [one for one in self.undecided.values() if self.options.decider(one.tool) == "approval"]:
            del self.undecided[other.call_id]
            self.pending.append(other)
        super().approve(call)


@breaks("decision-is-its-calls-alone", "L-A4")
class DeniesAllAtOnce(Deciding):
    """One denial answers every call that waits for a decision."""

    def deny(self, call, message):
        for name in [*self.undecided]:
            del self.undecided[name]
            self.result(name, f"denied with {call.call_id}", isError=True)
        super().deny(call, message)


@breaks("undecided-calls-settled", "L-A5")
class LeavesTheUndecidedOpen(Deciding):
    """A run that is stopped while it waits for a decision leaves the call without a result."""

    def forget(self):
        for name in self.undecided:
            del self.open[name]
        super().forget()


@breaks("undecided-calls-settled", "L-A5")
class AsksTheModelAmidThePause(Deciding):
    """A message that comes while a call waits for a decision goes to the model at once."""

    def enqueue(self, message):
        if self.undecided and self.request is None and not self.running:
            self.steers.append(message)
            self.ask()
        else:
            super().enqueue(message)


@breaks("late-decision-changes-nothing", "L-A6")
class TheLastAnswerWins(Forgiving):
    """An approval of a call that was denied lets it run after all."""

    def late_decision(self, stimulus):
        call = next((one for one in self.asked_about if one.call_id == stimulus.call_id), None)
        if isinstance(stimulus, Approve) and call is not None and self.active and self.request is not None:
            self.begin(call)
        else:
            super().late_decision(stimulus)

    def deny(self, call, message):
        self.asked_about.append(call)
        super().deny(call, message)


@breaks("client-result-once", "L-A8")
class ExecutesTheClientsCall(Forgiving):
    """The runtime executes the client's tool itself, beside the client."""

    def pause(self):
        calls = [call for call in self.gated if self.options.decider(call.tool) == "client"]
        super().pause()
        for call in calls:
            self.begin(call)


@breaks("client-result-once", "L-A8")
class LosesTheClientsResult(Deciding):
    """A note stands where the client's result should."""

    def client_result(self, call, output):
        super().client_result(call, "the client has answered")


@breaks("client-result-once", "L-A8")
class StopsAtTheClientsResult(Deciding):
    """The client's result is logged, and the run does not go on."""

    def client_result(self, call, output):
        self.result(call.call_id, output)
