"""The parts of a message that providers' lists and session files share, as far as they decide.

Events are made of arguments by position, here and beside: with keywords an event takes 114 ns instead of 42.
"""

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
        if kind == "tool_use":
            if part.id is None or part.name is None:
                return None
            made.append(AgentOutput("tool-call", None, part.id, part.name, response))
        elif kind == "text" or kind == "output_text":  # noqa: PLR1714 - twice as fast as a look into a tuple
            if part.text:
                made.append(AgentOutput("assistant", part.text, None, None, response))
        elif kind == "thinking":
            if part.thinking:
                made.append(AgentOutput("reasoning", part.thinking, None, None, response))
        else:
            return None
    return made


def results(parts: Iterable[Part]) -> list[ToolResult] | None:
    """Return the results that a message brings, None where it is no message of results alone."""
    found: list[ToolResult] = []
    for part in parts:
        if part.type != "tool_result" or part.tool_use_id is None:
            return None
        found.append(ToolResult(part.tool_use_id, part.is_error or None))
    return found or None
