"""A runtime that conforms and starts sub-agents, and wrong ones with one fault each, which names them.

A sub-agent has a history of its own, which begins with its task. To the agent that calls it, it is a tool that runs.
"""

from typing import Any

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import Abort, ResetOptions, User

from ..inner import Inner, Outer
from ..right import Right


class Calls(Right):
    """An agent that calls sub-agents: to it each of them is a tool that runs."""

    depth = 0
    session: Any
    caller: Any

    def execute(self):
        while self.pending and (
            self.policies["tools"] == "parallel" or not (self.running or self.waits_for_children())
        ):
            self.begin(self.pending.popleft())
        if not self.open:
            self.ask()

    def children(self):
        return [one for one in self.session.inner if one.caller is self]

    def waits_for_children(self):
        return bool(self.children()) and self.policies["subAgents"] == "awaited"

    def begin(self, call):
        if not self.options.spawns(call.tool) or not isinstance(call.arguments, dict):
            super().begin(call)
        elif self.depth < self.session.deepest():
            self.session.spawn(call, self)
        else:
            self.result(call.call_id, "there is no such tool here", isError=True)

    def child_ended(self, child, reason):
        """A sub-agent ended: that is the result of its call, unless the run is being stopped."""
        self.session.inner.remove(child)
        if not self.halting and child.call_of_it.call_id in self.open:
            self.answer_for(child, reason)

    def answer_for(self, child, reason):
        self.result_of(child, reason)
        self.land_steers()
        self.execute()

    def result_of(self, child, reason):
        if reason == "completed":
            self.result(child.call_of_it.call_id, child.said_last)
        else:
            self.result(child.call_of_it.call_id, f"the sub-agent ended: {reason}", isError=True)

    def abort(self):
        if self.active and not self.aborting:
            self.halt_children()
        super().abort()

    def halt_children(self):
        self.halting = True
        for one in self.children():
            one.abort()
        self.halting = False


class Child(Calls, Inner):
    """A sub-agent: its history is its own; its log and its counts are the session's."""

    def __init__(self, parent, name, call):
        super().__init__(parent)
        self.agent, self.call_of_it, self.said_last, self.halting = name, call, "", False

    def awaiting(self):
        yield from (replace(one, agent_id=self.agent) for one in super().awaiting())

    def log(self, kind, /, **fields):
        if kind == "agent-output":
            self.said_last = fields.get("text") or self.said_last
        self.session.record(kind, self, **fields)

    def fate(self, reason):
        return "drop" if self.caller.halting else super().fate(reason)

    def after(self, fate):
        super().after(fate)
        if not self.active:
            self.caller.child_ended(self, self.events_of_end)

    def stop(self, reason, detail=None):
        self.events_of_end = reason
        super().stop(reason, detail)


CHOSEN = {"subAgents": "awaited", "subAgentMessages": "taken"}


class Delegating(Calls, Outer, **CHOSEN):
    """Calls of a tool that needs an agent start a sub-agent each; its last words are the result."""

    def __init_subclass__(cls, **policies):
        super().__init_subclass__(**CHOSEN | policies)

    def __init__(self, **given):
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "sub-agents"))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.spawned, self.halting, self.session = 0, False, self
        return super().reset(options)

    def deepest(self):
        return self.policies.get("subAgentDepth", 1)

    def take(self, stimulus):
        if getattr(stimulus, "agent_id", None) is None or not isinstance(stimulus, User | Abort):
            super().take(stimulus)
        elif (child := self.child_named(stimulus.agent_id)) is None:
            self.refuse("not-awaited", "there is no such sub-agent")
        elif isinstance(stimulus, User):
            self.tell(child, stimulus)
        else:
            child.abort()

    def child_named(self, name):
        return next((one for one in self.inner if one.agent == name), None)

    def tell(self, child, message):
        """A message for a sub-agent that runs: what becomes of it is as for any message to who is busy."""
        child.refused = None
        child.user(message)
        self.refused = child.refused

    def spawn(self, call, caller):
        self.spawned += 1
        child = self.made(f"agent{self.spawned}", call)
        child.caller, child.depth = caller, caller.depth + 1
        self.inner.append(child)
        child.user(User(id=f"task{self.spawned}", text=str(call.arguments.get("task"))))
        if self.policies["subAgents"] == "detached":
            caller.result(call.call_id, f"{child.agent} has begun")

    def made(self, name, call):
        return Child(self, name, call)

    def record(self, kind, child, /, **fields):
        super().log(kind, **fields, agentId=child.agent, parentCallId=child.call_of_it.call_id)


class RefusesMessagesToChildren(Delegating, subAgentMessages="refused"):
    """A sub-agent has its task, and hears nothing more."""

    def tell(self, child, message):
        self.refuse("rejected", "a sub-agent takes no messages")


class GoesOnWithChildren(Delegating, busy="steer", subAgentDepth=2):
    """A sub-agent that has ended goes on when it is sent a message: it begins a run on its own history."""

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.past = {}
        return super().reset(options)

    def child_named(self, name):
        return super().child_named(name) or self.past.get(name)

    def tell(self, child, message):
        if child not in self.inner:
            self.inner.append(child)
        super().tell(child, message)

    def spawn(self, call, caller):
        super().spawn(call, caller)
        self.past |= {one.agent: one for one in self.inner}


class Detached(Delegating, subAgents="detached"):
    """A call is answered when its sub-agent has begun, which goes on by itself, whatever becomes of the run."""

    def halt_children(self):
        pass


class DetachedAndStopped(Delegating, subAgents="detached"):
    """A call is answered when its sub-agent has begun; stopping the run stops the sub-agents that it started."""


class TellsFailuresInWords(Delegating, failures="told"):
    """The result of a call whose sub-agent failed says so in its text alone."""

    def result_of(self, child, reason):
        said = child.said_last if reason == "completed" else f"the sub-agent ended: {reason}"
        self.result(child.call_of_it.call_id, said)


class ResultsWithTheBatch(Delegating, tools="parallel"):
    """The results of sub-agents that work side by side come when the last of them has ended."""

    def start(self, root):
        self.ended = []
        super().start(root)

    def answer_for(self, child, reason):
        self.ended.append((child, reason))
        if not self.running and not self.children():
            for one, how in self.ended:
                self.result_of(one, how)
            self.ended = []
            self.execute()


class FailureCancelsTheOthers(Delegating, tools="parallel"):
    """A sub-agent that fails ends the run, and those beside it are cancelled: wrong, but their ends are in order."""

    def answer_for(self, child, reason):
        if reason == "error":
            self.result_of(child, reason)
            self.halt_children()
            self.open.clear()
            self.stop("error", "a sub-agent failed")
        else:
            super().answer_for(child, reason)


# ---- wrong ones ----


@breaks("events-name-their-agent", "L-S1")
class ChildSpeaksAsItsParent(Delegating):
    """What a sub-agent's model says is logged as said by the agent that called it."""

    def record(self, kind, child, /, **fields):
        if kind == "agent-output":
            Right.log(self, kind, **fields)
        else:
            super().record(kind, child, **fields)


@breaks("events-name-their-agent", "L-S1")
class ResultsOfChildrenAreTheParents(Delegating):
    """The result of a sub-agent's tool shows in the block of the agent that called it."""

    def record(self, kind, child, /, **fields):
        if kind == "tool-result":
            Right.log(self, kind, **fields)
        else:
            super().record(kind, child, **fields)


@breaks("events-name-their-agent", "L-S1")
class AwaitsInNobodysName(Delegating):
    """What a sub-agent waits for does not say whose it is."""

    def awaiting(self):
        yield from (replace(one, agent_id=None) for one in super().awaiting())


@breaks("events-name-their-agent", "L-S1")
class ChildrenBeginInSilence(Delegating):
    """What a sub-agent is asked to do is logged nowhere: its run has no begin."""

    def record(self, kind, child, /, **fields):
        if kind != "user-message":
            super().record(kind, child, **fields)


@breaks("children-end-first", "L-S2")
class LeavesItsChildrenBehind(Delegating):
    """A run that is aborted ends, and only then are its sub-agents told."""

    def abort(self):
        Right.abort(self)
        self.halt_children()


class InfersItsEnds(LeavesItsChildrenBehind):
    """Its adapter infers the ends of a stopped run and its sub-agents, in an order of its own: not wrong."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields, source="adapter" if kind == "run-stop" else None)

    def record(self, kind, child, /, **fields):
        super().record(kind, child, **fields, source="adapter" if kind == "run-stop" else None)


@breaks("children-answered-once", "L-S2")
class AnswersWhenAChildBegins(Delegating):
    """It declares that a call awaits its sub-agent, and answers it when that has begun."""

    def spawn(self, call, caller):
        super().spawn(call, caller)
        self.result(call.call_id, "it has begun")


@breaks("children-answered-once", "L-S2")
class AnswersTwice(Delegating):
    """A sub-agent's answer is logged as it ends, and once more as the result of its call."""

    def result_of(self, child, reason):
        self.log("tool-result", callId=child.call_of_it.call_id, output=child.said_last)
        super().result_of(child, reason)


@breaks("stop-reaches-children", "L-S3")
class ChildrenGoOnAfterAStop(Delegating):
    """The user stops the run, and its sub-agents work on."""

    def halt_children(self):
        pass


@breaks("stop-reaches-children", "L-S3")
class StopReachesTheFirstChildAlone(Delegating, tools="parallel"):
    """Of several sub-agents, an abort stops one."""

    def halt_children(self):
        self.halting = True
        for one in self.children()[:1]:
            one.abort()
        self.halting = False


@breaks("stop-reaches-children", "L-S3")
class StartsTheNextChildAfterAStop(Delegating):
    """A stop ends the sub-agent at work, which makes way for the next one."""

    def halt_children(self):
        for one in self.children():
            one.abort()
        super().halt_children()


@breaks("failed-child-is-a-result", "L-S3")
class FailedChildFailsTheRun(Delegating):
    """A sub-agent that fails ends the run that called it."""

    def answer_for(self, child, reason):
        if reason == "error":
            self.result_of(child, reason)
            self.stop("error", "a sub-agent failed")
        else:
            super().answer_for(child, reason)


@breaks("failed-child-is-a-result", "L-S3")
class StoppedChildStopsTheRun(Delegating):
    """Stopping one sub-agent stops the whole run."""

    def answer_for(self, child, reason):
        if reason == "interrupted":
            self.result_of(child, reason)
            self.stop("interrupted")
        else:
            super().answer_for(child, reason)


@breaks("failed-child-is-a-result", "L-S3")
class FailedChildIsAnEmptyAnswer(Delegating):
    """A sub-agent that failed looks as if it had nothing to say."""

    def result_of(self, child, reason):
        super().result_of(child, "completed")


@breaks("failed-child-is-a-result", "L-S3")
class WaitsForAFailedChildForEver(Delegating):
    """A sub-agent that fails never answers its call, and the run waits."""

    def child_ended(self, child, reason):
        if reason == "error":
            self.inner.remove(child)
        else:
            super().child_ended(child, reason)


@breaks("calls-answered", "X-6")
class ChildrenLoseTheirResults(Delegating):
    """The results of a sub-agent's tools never reach the log: its calls look as if they ran for ever."""

    def record(self, kind, child, /, **fields):
        if kind != "tool-result":
            super().record(kind, child, **fields)


@breaks("messages-consumed", "RC-D8")
class ChildrenAreNotToldTheirTask(Delegating):
    """The first request of a sub-agent does not show what it is asked to do."""

    def made(self, name, call):
        return _WithoutTask(self, name, call)


class _WithoutTask(Child):
    def shown(self):
        return [one for one in super().shown() if one.role != "user"]


# ---- sub-agents of sub-agents ----


@breaks("agents-no-deeper", "BED-009b")
class SubAgentsCallOthers(Delegating, subAgentDepth=1):
    """A sub-agent has the tools of the agent that called it, that which starts another among them."""

    def deepest(self):
        return 9


@breaks("stop-reaches-children", "L-S3")
class StopReachesOneLevel(Delegating, subAgentDepth=2):
    """Stopping the run stops the sub-agents that it called, and not those that these called."""

    def made(self, name, call):
        return _StopsAlone(self, name, call)


class _StopsAlone(Child):
    def halt_children(self):
        pass


@breaks("events-name-their-agent", "L-S1")
class DeepAgentsSpeakAsTheirCaller(Delegating, subAgentDepth=2):
    """What a sub-agent's sub-agent says is logged as said by the one that called it."""

    def record(self, kind, child, /, **fields):
        super().record(kind, child if kind != "agent-output" or child.depth == 1 else child.caller, **fields)


@breaks("failed-child-is-a-result", "L-S3")
class FailureGoesUpOneLevel(Delegating, subAgentDepth=2):
    """A sub-agent fails where one fails that it called."""

    def made(self, name, call):
        return _FailsWithItsChild(self, name, call)


class _FailsWithItsChild(Child):
    def answer_for(self, child, reason):
        if reason == "error":
            self.result_of(child, reason)
            self.stop("error", "a sub-agent failed")
        else:
            super().answer_for(child, reason)


# ---- messages to sub-agents ----


@breaks("child-messages-taken-or-refused", "L-S4")
class TakesWhatItDeclaresToRefuse(Delegating, subAgentMessages="refused"):
    """It declares that a sub-agent takes no messages, and takes them."""


@breaks("child-messages-taken-or-refused", "L-S4")
class MessagesToChildrenVanish(Delegating):
    """A message to a sub-agent is accepted, and is nowhere."""

    def tell(self, child, message):
        pass


@breaks("child-messages-taken-or-refused", "L-S4")
class TheCallerTakesItsChildrensMessages(Delegating):
    """A message to a sub-agent goes to the agent that called it."""

    def tell(self, child, message):
        self.user(message)


@breaks("child-messages-taken-or-refused", "L-S4")
class AcceptsMessagesToNobody(Delegating):
    """It accepts a message to a sub-agent that never was."""

    def refuse(self, why, message=""):
        if message != "there is no such sub-agent":
            super().refuse(why, message)


@breaks("child-messages-taken-or-refused", "L-S4")
class SaysNoAndTakesIt(Delegating):
    """It refuses a message to a sub-agent, which gets it all the same."""

    def tell(self, child, message):
        super().tell(child, message)
        self.refuse("rejected", "a sub-agent takes no messages")


@breaks("child-messages-reach", "L-S4")
class ChildrenLeaveTheirMessages(Delegating):
    """A message for a sub-agent is logged as its own, and waits for a run that never comes."""

    def tell(self, child, message):
        child.log("user-message", id=message.id, text=message.text)


@breaks("child-messages-reach", "L-S4")
class MessagesToEndedChildrenAreLost(GoesOnWithChildren, busy="steer"):
    """A message to a sub-agent that has ended is logged, and nobody is there to read it."""

    def tell(self, child, message):
        if child in self.inner:
            super().tell(child, message)
        else:
            child.log("user-message", id=message.id, text=message.text)


@breaks("child-messages-reach", "L-S4")
class AllReadTheMessages(Delegating, busy="steer"):
    """A message to a sub-agent is logged as its own, and shown to the agent that called it too."""

    def tell(self, child, message):
        super().tell(child, message)
        self.keep_steer(message)


@breaks("child-messages-reach", "L-S4")
class ShowsMessagesToChildrenTwice(Delegating, busy="steer"):
    """A message that a sub-agent takes while it runs is handed over twice."""

    def tell(self, child, message):
        super().tell(child, message)
        child.keep_steer(message)


class FailuresGoAllTheWayUp(FailedChildFailsTheRun, subAgentDepth=2):
    """Where a sub-agent fails, all that called it fail: wrong, but nobody aborted them."""

    def made(self, name, call):
        return _FailsWithItsChild(self, name, call)
