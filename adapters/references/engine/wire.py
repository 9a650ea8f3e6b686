"""What the client sees: one server-sent event an output, named as RS-7 names it."""

import json
from typing import Any, Final, NamedTuple

from turncheck.model.declaration.vocabulary import Output

EVENTS: Final = ("text", "tool_status", "data", "error", "done")
"""Every event there is."""


class Data(NamedTuple):
    """What a tool shows the client beside its output: ``payload`` is any JSON."""

    type: str
    payload: Any


class ServerEvent(NamedTuple):
    """An event's name and its data: of ``text`` the raw string, of all others a JSON object."""

    event: str
    data: str


def server_event(output: Output, session_id: str) -> ServerEvent | None:
    """The event that *output* is to the client, None where it is none of the client's business."""
    match output.name, output.arguments:
        case "text", (delta,):
            return ServerEvent("text", delta)
        case "tool-status", (tool, status):
            return _event("tool_status", tool=tool, status=status)
        case "data", (Data(type=kind, payload=payload),):
            return _event("data", type=kind, payload=payload)
        case "error", (code, message):
            return _event("error", code=code, message=message)
        case "done", _:
            return _event("done", session_id=session_id)
        case _:
            return None


def _event(name: str, **fields: Any) -> ServerEvent:
    return ServerEvent(name, json.dumps(fields, ensure_ascii=False))
