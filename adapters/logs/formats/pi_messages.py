"""Pi's messages, which its agent events and its session files share."""

from collections.abc import Mapping
from typing import Final

from turncheck.model.core.events import AgentOutput, RunStop, Source, StopReason, ToolResult

from .fields import Object, maybe_flag, maybe_text, records, text

FAILING: Final[Mapping[str | None, StopReason]] = {"aborted": "interrupted", "error": "error"}
"""``stopReason`` of the last assistant message → stop reason; all others (stop, length, …) complete the run."""


def is_header(value: Object) -> bool:
    """Return whether *value* is the header of a session, with which session files and JSON mode begin."""
    return value.get("type") == "session" and ("cwd" in value or "version" in value)


def outputs(message: Object, response: str | None) -> list[AgentOutput | None]:
    """The items of an assistant message, None for a part that is no item: empty, redacted or of another kind."""
    return [output(part, response) for part in records(message, "content")]


def output(part: Object, response: str | None) -> AgentOutput | None:
    """Map one part of an assistant message to an item, None where it is none. Raises MisfitError."""
    match part.get("type"):
        case "text":
            said = text(part, "text")
            return AgentOutput(kind="assistant", text=said, response_id=response) if said else None
        case "thinking":
            thought = "" if maybe_flag(part, "redacted") else text(part, "thinking")
            return AgentOutput(kind="reasoning", text=thought, response_id=response) if thought else None
        case "toolCall":
            call_id, tool = text(part, "id"), text(part, "name")
            return AgentOutput(kind="tool-call", call_id=call_id, tool=tool, response_id=response)
        case _:
            return None


def result(message: Object) -> ToolResult:
    """Map a toolResult message to a result. Raises MisfitError."""
    return ToolResult(call_id=text(message, "toolCallId"), is_error=maybe_flag(message, "isError") or None)


def stop(message: Object, source: Source | None = None) -> RunStop:
    """The end of a run whose last assistant message is *message*. Raises MisfitError."""
    return end(maybe_text(message, "stopReason"), maybe_text(message, "errorMessage"), source)


def end(reason: str | None, detail: str | None, source: Source | None) -> RunStop:
    """The end of a run whose last assistant message has that ``stopReason`` and ``errorMessage``."""
    return RunStop(reason=FAILING.get(reason, "completed"), detail=detail, source=source)
