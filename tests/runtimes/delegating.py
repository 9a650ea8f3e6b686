"""A runtime that conforms and starts sub-agents, and wrong ones with one fault each, which names them.

A sub-agent has a history of its own, which begins with its task. To the agent that calls it, it is a tool that runs.
"""

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import (
    Abort,
    ResetOptions,
    User,
)

from .inner import Inner, Outer
from .right import Right


class Child(Inner):
    """A sub-agent: its history is its own; its log and its counts are the session's."""

    def __init__(self, parent, name, call):
        super().__init__(parent)
        self.agent, self.call_of_it, self.said_last = name, call, ""

    def awaiting(self):
        yield from (replace(one, agent_id=self.agent) for one in super().awaiting())

    def log(self, kind, /, **fields):
        if kind == "agent-output":
            self.said_last = fields.get("text") or self.said_last
        self.session.record(kind, self, **fields)

    def stop(self, reason, detail=None):
        super().stop(reason, detail)
        self.session.child_ended(self, reason)


class Delegating(Outer, subAgents="awaited"):
    """Calls of a tool that needs an agent start a sub-agent each; its last words are the result."""

    def __init_subclass__(cls, **policies):
        super().__init_subclass__(**{"subAgents": "awaited"} | policies)

    def __init__(self, **given):
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "sub-agents"))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.spawned, self.halting = 0, False
        return super().reset(options)

    def inner_of(self, stimulus):
        if isinstance(stimulus, Abort):
            return next((one for one in self.inner if one.agent == stimulus.agent_id), None)
        return super().inner_of(stimulus)

    def execute(self):
        while self.pending and (
            self.policies["tools"] == "parallel" or not (self.running or self.waits_for_children())
        ):
            self.begin(self.pending.popleft())
        if not self.open:
            self.ask()

    def waits_for_children(self):
        return bool(self.inner) and self.policies["subAgents"] == "awaited"

    def begin(self, call):
        if self.options.spawns(call.tool) and isinstance(call.arguments, dict):
            self.spawn(call)
        else:
            super().begin(call)

    def spawn(self, call):
        self.spawned += 1
        child = self.made(f"agent{self.spawned}", call)
        self.inner.append(child)
        child.user(User(id=f"task{self.spawned}", text=str(call.arguments.get("task"))))
        if self.policies["subAgents"] == "detached":
            self.result(call.call_id, f"{child.agent} has begun")

    def made(self, name, call):
        return Child(self, name, call)

    def child_ended(self, child, reason):
        """A sub-agent ended: that is the result of its call, unless the run is being stopped."""
        self.inner.remove(child)
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
        for one in [*self.inner]:
            one.abort()
        self.halting = False

    def record(self, kind, child, /, **fields):
        super().log(kind, **fields, agentId=child.agent, parentCallId=child.call_of_it.call_id)


class Detached(Delegating, subAgents="detached"):
    """A call is answered when its sub-agent has begun, which goes on by itself, whatever becomes of the run."""

    def halt_children(self):
        pass


class DetachedAndStopped(Delegating, subAgents="detached"):
    """A call is answered when its sub-agent has begun; stopping the run stops the sub-agents that it started."""


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


@breaks("children-answered-once", "L-S2")
class AnswersWhenAChildBegins(Delegating):
    """It declares that a call awaits its sub-agent, and answers it when that has begun."""

    def spawn(self, call):
        super().spawn(call)
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
        for one in self.inner[:1]:
            one.abort()
        self.halting = False


@breaks("stop-reaches-children", "L-S3")
class StartsTheNextChildAfterAStop(Delegating):
    """A stop ends the sub-agent at work, which makes way for the next one."""

    def halt_children(self):
        for one in [*self.inner]:
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
