"""The outcomes of a turn, and the core's log of the machine's outputs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..declaration.contexts import Output


class Outcome(NamedTuple):
    """A terminal (TM-2.6): its status, its failure class (TM-6), and for people the reason and the next action."""

    status: str
    failure: str | None = None
    reason: str | None = None
    next_action: str | None = None


OUTCOMES: Final[Mapping[str, Outcome]] = {
    "completed": Outcome("completed"),
    "invalid input": Outcome(
        "failed", "invalid_input", "a required field is missing or unfit", "correct the event and send it again"
    ),
    "denied": Outcome("denied", "policy_denied", "the policy denies this turn", "ask who keeps the policy"),
    "provider failed": Outcome("failed", "provider_error", "the model failed", "send the message again later"),
    "no reply": Outcome("failed", "report_missing", "the model ended without a reply", "ask for the result again"),
    "too many calls": Outcome(
        "failed", "tool_runtime_error", "maxToolCallsPerTurn is reached", "go on in a new turn, in smaller steps"
    ),
    "too many rounds": Outcome(
        "failed", "tool_runtime_error", "maxRounds is reached", "go on in a new turn, in smaller steps"
    ),
    "too many tokens": Outcome(
        "failed", "provider_error", "maxTokensPerTurn is reached", "go on in a new turn, with less context"
    ),
    "too much time": Outcome("failed", "timeout", "{bound} is reached", "go on in a new turn, or allow more"),
    "recovered": Outcome("failed", None, "the process ended during the turn", "see what was done, and send it again"),
}
"""Outcome → its terminal (TM-D1, TM-D3, TM-D5). The shell knows which of its bounds on time was reached: ``bound``."""


def refine(outputs: Sequence[Output], told: Mapping[int, Any]) -> list[dict[str, Any]]:
    """Map *outputs* to the core's log events, as JSON values (X-1, TM-D1, TM-D2).

    *told* holds the event at each position: a message's ``id``, ``text`` and ``delivery``; an item's ``text``, or
    ``call_id``, ``tool`` and ``arguments``; a tool's ``output``, or its failure's ``failure`` and ``message``.
    """
    return [event for output in outputs for event in _refined(output.name, output.arguments, told)]


def _refined(name: str, given: tuple[Any, ...], told: Mapping[int, Any]) -> list[dict[str, Any]]:
    def of(place: int, field: str) -> Any:
        return getattr(told.get(given[place]), field, None)

    match name:
        case "message" | "late-message":  # a late message cannot steer: it waits, and the log says so
            delivery = "followUp" if name == "late-message" else of(0, "delivery")
            text = of(0, "text") if isinstance(of(0, "text"), str) else ""
            return [_event("user-message", id=of(0, "id"), text=text, delivery=delivery)]
        case "request":
            return [_event("model-request", requestId=f"r{given[0]}")]
        case "text" | "reasoning":
            kind = "assistant" if name == "text" else name
            return [_event("agent-output", responseId=f"r{given[1]}", kind=kind, text=of(0, "text"))]
        case "call":
            call = {"callId": of(0, "call_id"), "tool": of(0, "tool"), "arguments": of(0, "arguments")}
            return [_event("agent-output", responseId=f"r{given[1]}", kind="tool-call", **call)]
        case "result":
            return [_event("tool-result", callId=of(0, "call_id"), output=of(1, "output"))]
        case "failure" | "refusal":
            output = {"failure": of(1, "failure"), "message": of(1, "message")}
            return [_event("tool-result", callId=of(0, "call_id"), output=output, isError=True)]
        case "skip":
            calls = [getattr(told.get(at), "call_id", None) for at in (given[0], *given[1]) if at >= 0]
            why = "not executed: the turn ended"
            return [_event("tool-result", callId=call, output=why, isError=True, synthetic=True) for call in calls]
        case "finish":
            end = OUTCOMES[given[0]]
            return [
                _event("run-stop", reason="completed" if end.status == "completed" else "error", detail=end.failure)
            ]
        case _:
            return []


def _event(kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": kind} | {name: value for name, value in fields.items() if value is not None}
