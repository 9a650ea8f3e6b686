"""The inputs of a chat's backend, and the core's log of its outputs: ``engine`` and ``event_flow`` share them."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..declaration.contexts import Output


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """An event's payload; fields that do not belong to the event stay absent.

    ``messages`` counts the messages of the loaded session; ``begins`` is 1 where a delta begins a text item. ``text``
    is also the user's message, or the summary; ``message`` describes a failure. ``data`` is any value for the wire.
    ``finish_reason`` and ``usage`` are the model's, with the end of a whole response.
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
    finish_reason: str | None = None
    usage: Any = None
    message: str | None = None


def response_id(asked: int) -> str:
    """The id of a request, of its response and of its block."""
    return f"r{asked}"


def refine(outputs: Sequence[Output]) -> list[dict[str, Any]]:
    """The core's log of *outputs*: each output alone decides its events (RS-D0, RS-D1, EF-D3).

    Text is logged when its item is whole; an error is an observation, never the terminal (RS-D2). How a response ended
    is told once: by the terminal where it ends the run, else by an observation.
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
        case "finish", (asked, finish_reason, usage):
            if said := _given(finishReason=finish_reason, usage=usage):
                yield {"type": "native", "name": "done", "responseId": response_id(asked), **said}
        case (("done" | "end"), (reason, detail, finish_reason, usage)):
            said = _given(detail=detail, finishReason=finish_reason, usage=usage)
            yield {"type": "run-stop", "reason": reason, **said}
        case _:
            return


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _output(asked: int) -> dict[str, Any]:
    return {"type": "agent-output", "responseId": response_id(asked)}
