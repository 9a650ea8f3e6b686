"""The client's events: one server-sent event per output, named as in RS-7."""

import json
from typing import Any, Final, NamedTuple

from turncheck.model.declaration.vocabulary import Output

EVENTS: Final = ("text", "tool_status", "data", "error", "done")
"""All event names."""


class Data(NamedTuple):
    """A tool's data for the client, beside its output: ``payload`` is any JSON."""

    type: str
    payload: Any


class ServerEvent(NamedTuple):
    """An event's name and its data: the raw string for ``text``, a JSON object for all others."""

    event: str
    data: str


def server_event(output: Output, session_id: str) -> ServerEvent | None:
    """Return the client's event for *output*, None where the client gets none."""
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
