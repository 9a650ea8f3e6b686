"""A correct projector, plain on purpose: one session, one event at a time, one method a decision.

It shares nothing with the model but the reading of events. The wrong ones override a method or two.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, ClassVar

from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of

DEFAULTS = {"whileActive": "followUp", "queueAfterInterrupted": "promote", "queueAfterError": "promote"}
CLASSES = {
    "read-group": ("ls", "read", "grep", "find"),
    "write-group": ("write", "edit"),
    "bash-group": ("bash",),
}


@dataclass
class Cycle:
    """A cycle while it is built; ``fed`` are the inputs since the last round began."""

    root: int
    kind: str
    stop: int | None = None
    reason: str | None = None
    steps: list[Any] = field(default_factory=list)
    rounds: list[Any] = field(default_factory=list)
    fed: list[int] = field(default_factory=list)
    response: str | None = None
    calls: dict[str, Any] = field(default_factory=dict)  # call id → its call in the steps


class Plain:
    """The projection of what was fed since the reset; ``project`` makes a session of its own."""

    cycle: Any

    def __init__(self, policies=None):
        self.policies = DEFAULTS | (policies or {})
        self.reset()

    # ---- the target's three calls ----

    def project(self, events, policies=None):
        if not events:
            return self.result()
        session = type(self)(policies)
        for event in events:
            session.take(event)
        return session.result()

    def feed(self, events, start=None):
        for event in self.new(events, start):
            self.take(event)

    def new(self, events, start):
        """The events that were not fed before, where the first has the position *start*."""
        return events if start is None else events[self.at + 1 - start :]

    def reset(self):
        self.at = -1
        self.cycle = None
        self.closed = []
        self.queue: deque[int] = deque()
        self.dropped = []
        self.anomalies = []

    # ---- one event ----

    def take(self, value):
        self.at += 1
        event = self.read(value)
        symbol = symbol_of(event)
        if symbol == "observation":
            return
        if (objection := self.objection(symbol, event)) is not None:
            self.anomaly(objection, self.at)
        elif self.cycle is None and symbol != "user-message":
            self.outside_run(symbol, event)
        elif symbol == "user-message":
            self.user_message(event)
        elif symbol == "run-stop":
            self.stop(event.reason)
        elif symbol == "text":
            self.text(event)
        elif symbol == "tool-call":
            self.call(event)
        else:
            self.tool_result(event)

    def read(self, value):
        """What is malformed, what is of no type that there is."""
        return judge(value)

    def objection(self, symbol, event):
        """Why the event is rejected, if it is."""
        if symbol in ("malformed", "unknown-type"):
            return symbol
        if self.cycle is None:
            return None
        if symbol == "tool-call" and self.is_known(event.call_id):
            return "duplicate-call"
        if symbol == "tool-result" and not self.is_known(event.call_id):
            return "unknown-call"
        if symbol == "tool-result" and self.is_answered(event.call_id):
            return "duplicate-result"
        return None

    def is_known(self, call_id):
        return call_id in self.cycle.calls

    def is_answered(self, call_id):
        return self.cycle.calls[call_id]["result"] is not None

    def outside_run(self, symbol, event):
        self.anomaly("outside-run", self.at)

    def anomaly(self, kind, at):
        self.anomalies.append({"kind": kind, "at": at})

    # ---- messages ----

    def user_message(self, event):
        if self.cycle is None:
            self.open("direct", self.at)
        elif self.is_steer(event):
            self.steer()
        else:
            self.enqueue()

    def is_steer(self, event):
        return (event.delivery or self.policies["whileActive"]) == "steer"

    def steer(self):
        self.cycle.steps.append({"type": "steer", "at": self.at})
        self.cycle.fed.append(self.at)

    def enqueue(self):
        self.queue.append(self.at)

    def open(self, kind, root):
        self.cycle = Cycle(root, kind, steps=[{"type": "non-steer", "at": root}], fed=[root])

    # ---- the stop ----

    def stop(self, reason):
        self.remark_unanswered()
        self.close(reason)
        fate = self.fate(reason)
        if fate == "promote" and self.queue:
            self.open("followUp", self.next_waiting())
        if fate == "drop":
            self.drop()

    def remark_unanswered(self):
        for call in self.cycle.calls.values():
            if call["result"] is None:
                self.anomaly("unanswered-call", call["at"])

    def close(self, reason):
        self.cycle.stop, self.cycle.reason = self.at, reason
        self.closed.append(self.cycle)
        self.cycle = None

    def fate(self, reason):
        return "promote" if reason == "completed" else self.policies[f"queueAfter{reason.title()}"]

    def next_waiting(self):
        return self.queue.popleft()

    def drop(self):
        self.dropped += self.queue
        self.queue.clear()

    # ---- the agent's work ----

    def text(self, event):
        self.cycle.steps.append({"type": "ai-block", "text": self.at, "groups": []})
        self.output(event)

    def call(self, event):
        if self.opens_block():
            self.cycle.steps.append({"type": "ai-block", "text": None, "groups": []})
        groups = self.cycle.steps[-1]["groups"]
        kind = self.group(event.tool)
        if self.opens_group(groups, kind):
            groups.append({"type": kind, "calls": []})
        call = {"at": self.at, "result": None}
        groups[-1]["calls"].append(call)
        self.cycle.calls[event.call_id] = call
        self.output(event)

    def opens_block(self):
        """Whether a call stands right after the root or a steer."""
        return self.cycle.steps[-1]["type"] != "ai-block"

    def opens_group(self, groups, kind):
        return not groups or groups[-1]["type"] != kind

    def group(self, tool):
        return next((kind for kind, tools in CLASSES.items() if tool in tools), "other-group")

    def tool_result(self, event):
        self.attach(event)
        self.cycle.fed.append(self.at)

    def attach(self, event):
        self.cycle.calls[event.call_id]["result"] = self.at

    def output(self, event):
        cycle = self.cycle
        if not cycle.rounds or self.opens_round(event.response_id):
            cycle.rounds.append({"inputs": cycle.fed, "outputs": []})
            cycle.fed, cycle.response = [], event.response_id
        cycle.rounds[-1]["outputs"].append(self.at)

    def opens_round(self, response):
        """Another response; without ids, a result or steer since the last output divides."""
        return response != self.cycle.response or (response is None and bool(self.cycle.fed))

    # ---- what is shown ----

    def shown(self, cycle):
        return {
            "root": cycle.root,
            "kind": cycle.kind,
            "stop": cycle.stop,
            "reason": cycle.reason,
            "steps": self.steps(cycle),
            "rounds": self.rounds(cycle),
        }

    def steps(self, cycle):
        return cycle.steps

    def rounds(self, cycle):
        """What was fed and never answered is a last round."""
        return cycle.rounds + ([{"inputs": cycle.fed, "outputs": []}] if cycle.fed else [])

    def ending(self):
        """What the log's end here reveals."""
        return [] if self.cycle is None else [{"kind": "truncated", "at": self.cycle.root}]

    def result(self):
        return {
            "cycles": [self.shown(cycle) for cycle in [*self.closed, self.cycle] if cycle is not None],
            "queued": list(self.queue),
            "dropped": list(self.dropped),
            "anomalies": self.anomalies + self.ending(),
        }


def steps_only(events, policies=None):
    """It yields one view, and cannot be fed."""
    return Plain(policies).project(events, policies)


steps_only.profile = {"capabilities": ["policies", "steps"]}  # type: ignore[attr-defined]


def rounds_only(events, policies=None):
    """The other view."""
    return Plain(policies).project(events, policies)


rounds_only.profile = {"capabilities": ["policies", "rounds"]}  # type: ignore[attr-defined]


def no_views(events, policies=None):
    """Roots and stops are all it claims to yield."""
    return Plain(policies).project(events, policies)


no_views.profile = {"capabilities": ["policies"]}  # type: ignore[attr-defined]

OWN = {"whileActive": "steer", "queueAfterInterrupted": "drop", "queueAfterError": "hold"}


def own_policies(events):
    """It projects under policies of its own."""
    return Plain(OWN).project(events, OWN)


own_policies.profile = {"policies": OWN}  # type: ignore[attr-defined]


class Trusting(Plain):
    """It stands behind a server that lets nothing invalid through, and looks at nothing twice."""

    def read(self, value):
        event = judge(value)
        if symbol_of(event) in ("malformed", "unknown-type"):
            raise TypeError(f"no event: {value}")
        return event

    def objection(self, symbol, event):
        return None

    def outside_run(self, symbol, event):
        raise LookupError("the UI shows no run")

    def remark_unanswered(self):
        pass

    def ending(self):
        return []


class BehindAValidatingServer(Trusting):
    """The same, and it says so."""

    profile: ClassVar = {"input": "valid"}
