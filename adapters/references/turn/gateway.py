"""The gateway: from a stimulus of the harness to a symbol of a session's machine, with its fields."""

from collections.abc import Mapping
from typing import Any, Final, cast

from turncheck.model.core.stimuli import (
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

from .memory import Told, key_of

MAIN: Final = "main"
"""The session of a message that names none, and the chat of every message that names none."""


def message(stimulus: User) -> Told:
    """Return a normalized chat event; missing fields of its turn's identity come from its id, or are MAIN.

    ``meta`` may hold any of TM-1.1's fields; a field that is null there counts as missing.
    """
    names = {"sessionId": stimulus.session_id or MAIN, "chatId": MAIN}
    own = dict.fromkeys(("turnId", "traceId", "correlationId"), stimulus.id)
    identity: dict[str, Any] = {**names, **own, **_object(stimulus.meta)}
    return Told(
        id=stimulus.id,
        text=stimulus.text,
        delivery=stimulus.delivery,
        key=key_of(identity),
        identity=identity,
        sender=stimulus.sender,
    )


def answer(stimulus: Stimulus) -> tuple[str, Told]:
    """Return the symbol and fields of a model's or a tool's answer; a tool's failure is structured (TM-4.2)."""
    match stimulus:
        case ModelOutput(item=Text(text=text)):
            return "text", Told(text=text)
        case ModelOutput(item=Reasoning(text=text)):
            return "reasoning", Told(text=text)
        case ModelOutput(item=ToolCall() as call):
            return "call", Told(call_id=call.call_id, tool=call.tool, arguments=call.arguments)
        case ModelStop(usage=usage):
            return "model-stop", Told(tokens=_tokens(_object(usage)))
        case ModelFail():
            return "model-failure", Told()
        case ToolReturn(output=output):
            return "tool-return", Told(output=output)
        case ToolFail(message=why):
            return "tool-failure", Told(failure="tool_runtime_error", message=why)
        case _:
            raise AssertionError(stimulus)


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _tokens(usage: Mapping[str, Any]) -> int:
    """The sum of a model's counts, or ``tokens`` where it has added them up."""
    names = ("tokens",) if "tokens" in usage else ("inputTokens", "outputTokens")
    return sum(value for name in names if isinstance(value := usage.get(name), int))
