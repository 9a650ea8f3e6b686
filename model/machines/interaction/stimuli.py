"""From the environment's stimuli to the events of ``interaction``."""

from collections.abc import Callable, Mapping
from typing import Final

from ...core.stimuli import (
    Abort,
    Advance,
    Approve,
    Client,
    ClientResult,
    Compact,
    Decider,
    Deny,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)


def event_of(stimulus: Stimulus, decider: Callable[[str], Decider | None] = lambda _: None) -> str | None:
    """Return a stimulus' event, None where the machine has none; *decider* says who decides about a tool's call."""
    match stimulus:
        case User(content=None, delivery=delivery):
            return {None: "user", "steer": "steer", "followUp": "follow-up"}[delivery]
        case ModelOutput(item=Text()):
            return "text"
        case ModelOutput(item=Reasoning()):
            return "reasoning"
        case ModelOutput(item=ToolCall(tool=tool)):
            return _CALLS_OF[decider(tool)]
        case Client(action=action):
            return action
        case ModelFail(failure=failure):
            return "retryable-failure" if failure == "retryable" else "fatal-failure"
        case _:
            return _PLAIN.get(type(stimulus))


_CALLS_OF: Final[Mapping[Decider | None, str]] = {None: "tool-call", "approval": "gated-call", "client": "client-call"}
_PLAIN: Final[Mapping[type, str]] = {
    ModelStop: "model-stop",
    ToolReturn: "tool-return",
    ToolFail: "tool-failure",
    Approve: "approve",
    Deny: "deny",
    ClientResult: "client-result",
    Abort: "abort",
    Compact: "compact",
    Advance: "advance",
}
