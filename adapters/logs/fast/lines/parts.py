"""The parts of a message that providers' lists and session files share, as far as they decide."""

from collections.abc import Iterable

from msgspec import Struct

from turncheck.model.core.events import AgentOutput, ToolResult

from ...formats.transcript import Output


class Part(Struct, gc=False):
    """A text, a thought, a call or a result."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None


def outputs(parts: Iterable[Part], response: str) -> list[Output] | None:
    """Return what a model made, None where a part is of a kind that is rare."""
    made: list[Output] = []
    for part in parts:
        kind = part.type
        if kind in ("text", "output_text"):
            if part.text:
                made.append(AgentOutput(kind="assistant", text=part.text, response_id=response))
        elif kind == "thinking":
            if part.thinking:
                made.append(AgentOutput(kind="reasoning", text=part.thinking, response_id=response))
        elif kind == "tool_use" and part.id is not None and part.name is not None:
            made.append(AgentOutput(kind="tool-call", call_id=part.id, tool=part.name, response_id=response))
        else:
            return None
    return made


def results(parts: Iterable[Part]) -> list[ToolResult] | None:
    """Return the results that a message brings, None where it is no message of results alone."""
    found: list[ToolResult] = []
    for part in parts:
        if part.type != "tool_result" or part.tool_use_id is None:
            return None
        found.append(ToolResult(call_id=part.tool_use_id, is_error=part.is_error or None))
    return found or None
