"""The inputs of a chat's backend, and the core's log of its outputs: ``engine`` and ``event_flow`` share them."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..declaration.contexts import Output


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """An event's payload; fields that do not belong to the event stay absent.

    ``messages`` counts the messages of the loaded session; ``begins`` is 1 where a delta begins a text item. ``text``
    is also the user's message, or the summary; ``message`` describes a failure. ``data`` is any value for the wire.
    """

    id: str | None = None
    text: str | None = None
    begins: int = 0
    messages: int = 0
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    output: Any = None
    data: Any = None
    metadata: Any = None
    usage: Any = None
    message: str | None = None


def response_id(asked: int) -> str:
    """The id of a request, of its response and of its block."""
    return f"r{asked}"


def refine(outputs: Sequence[Output]) -> list[dict[str, Any]]:
    """The core's log of *outputs*: each output alone decides its events (RS-D0, RS-D1, EF-D3).

    Text is logged when its item is whole; an error is an observation, never the terminal (RS-D2).
    """
    return [event for output in outputs for event in _events(output)]


def _events(output: Output) -> Iterator[dict[str, Any]]:
    match output.name, output.arguments:
        case "accept", (name, text):
            yield {"type": "user-message", "text": text} | ({} if name is None else {"id": name})
        case "request", (asked,):
            yield {"type": "model-request", "requestId": response_id(asked)}
        case "say", (deltas, asked) if deltas:
            yield _output(asked) | {"kind": "assistant", "text": "".join(deltas)}
        case "call", (call, tool, arguments, asked):
            yield _output(asked) | {"kind": "tool-call", "callId": call, "tool": tool, "arguments": arguments}
        case (("result" | "tool-call-result"), (call, result, how)):
            flags = {"done": {}, "error": {"isError": True}, "skipped": {"isError": True, "synthetic": True}}[how]
            yield {"type": "tool-result", "callId": call, "output": result, **flags}
        case "tool-call-skipped", (call,):
            yield from _events(Output("result", (call, "not finished: the run was cut", "skipped")))
        case "error", (code, message):
            yield {"type": "fault", "code": code, "message": message}
        case (("done" | "end"), (reason, detail)):
            yield {"type": "run-stop", "reason": reason} | ({} if detail is None else {"detail": detail})
        case _:
            return


def _output(asked: int) -> dict[str, Any]:
    return {"type": "agent-output", "responseId": response_id(asked)}
