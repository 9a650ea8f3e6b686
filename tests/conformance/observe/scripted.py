"""Events and settled steps as an adapter sends them, and a runtime that answers from a list of them."""

from collections import deque

from turncheck.adapters.protocol.messages import Profile
from turncheck.model.core.stimuli import (
    Abort,
    ModelAwaited,
    ModelOutput,
    ModelStop,
    Refusal,
    ResetOptions,
    Shown,
    Step,
    Text,
    ToolAwaited,
    ToolCall,
    User,
)

DONE = {"type": "run-stop", "reason": "completed"}
TEXT = {"type": "agent-output", "kind": "assistant", "text": "answer"}
SAYS, STOPS, ABORTS = ModelOutput(item=Text(text="answer")), ModelStop(reason="end-turn"), Abort()
CALLS = ModelOutput(item=ToolCall(call_id="c1", tool="read"))
REJECTED = Step(refused=Refusal("rejected"))
UNSETTLED = Step(unsettled=True)


def sent(name, delivery=None):
    """The stimulus of a message; ``said`` is its event."""
    return User(id=name, text=f"say {name}", delivery=delivery)


def said(name, delivery=None, **fields):
    delivered = {} if delivery is None else {"delivery": delivery}
    return {"type": "user-message", "id": name, "text": f"say {name}"} | delivered | fields


def request(name="r1", *shown):
    """A request that shows the messages of these names; without names its input is not seen."""
    entries = [{"role": "user", "text": f"say {one}", "ids": [one]} for one in shown]
    return {"type": "model-request", "requestId": name} | ({"input": entries} if shown else {})


def call(name="c1"):
    return {"type": "agent-output", "kind": "tool-call", "callId": name, "tool": "read", "arguments": {}}


def result(name="c1"):
    return {"type": "tool-result", "callId": name, "output": "result"}


def model(name="r1", *shown, **fields):
    entries = tuple(Shown(role="user", text=f"say {one}") for one in shown) or None
    return ModelAwaited(request_id=name, input=entries, **fields)


def tool(name="c1", **fields):
    return ToolAwaited(call_id=name, execution=f"run of {name}", **fields)


def step(*events, awaiting=()):
    return Step(events=events, awaiting=tuple(awaiting))


BEGUN = step(said("u1"), request("r1", "u1"), awaiting=[model()])
"""What the first message leads to."""
ENDED = step(DONE)
"""What the end of its run does."""


class Scripted:
    """A runtime whose next steps are *answers*, and the last of them for ever; ``applied`` is what it was sent."""

    last_words = ()

    def __init__(self, *answers, start=Step(), **policies):  # noqa: B008 - it is frozen
        self.profile = Profile(("runtime",), ("abort",), None, policies)
        self.answers, self.start = answers, start
        self.applied, self.words = [], 0

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.left = deque(self.answers)
        return self.start

    def apply(self, stimulus):
        self.applied.append(stimulus)
        return self.left.popleft() if len(self.left) > 1 else self.left[0]

    def run(self, word):
        self.words += 1
        return tuple(map(self.apply, word))
