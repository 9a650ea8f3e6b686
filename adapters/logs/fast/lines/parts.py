"""The parts of a message that providers' lists and session files share, as far as they decide."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from turncheck.model.core.events import AgentOutput, Event, ToolResult

from ...formats.transcript import Conversation, Output

_TEXTS: Final = frozenset(("text", "output_text"))


class Part(Struct, gc=False):
    """A text, a thought, a call or a result."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None


def made(parts: Sequence[Part], conversation: Conversation) -> Sequence[Event] | None:
    """Take what a model made, None where a part is of a kind that is rare. Most messages have one part."""
    response = conversation.response() if conversation.given else conversation.response_id
    if len(parts) == 1 and conversation.running:
        part, calls = parts[0], conversation.calls
        kind, own = part.type, part.id
        if kind == "tool_use" and own is not None and part.name is not None:
            calls[own] = None
            conversation.answered = False
            return (AgentOutput("tool-call", None, own, part.name, response),)
        if kind in _TEXTS and part.text:
            conversation.answered = not calls
            return (AgentOutput("assistant", part.text, None, None, response),)
        if kind == "thinking" and part.thinking:
            conversation.answered = not calls
            return (AgentOutput("reasoning", part.thinking, None, None, response),)
    found = outputs(parts, response)
    return None if found is None else conversation.output(found)


def received(parts: Sequence[Part], conversation: Conversation) -> Sequence[Event] | None:
    """Take the results that a message brings, None where it is no message of results alone."""
    if len(parts) == 1:
        part = parts[0]
        if part.type != "tool_result" or part.tool_use_id is None:
            return None
        return conversation.result(ToolResult(part.tool_use_id, part.is_error or None))
    found = results(parts)
    return None if found is None else conversation.results(found)


def outputs(parts: Iterable[Part], response: str) -> list[Output] | None:
    """Return what a model made, None where a part is of a kind that is rare."""
    made: list[Output] = []
    for part in parts:
        kind = part.type
        if kind == "tool_use":
            if part.id is None or part.name is None:
                return None
            made.append(AgentOutput("tool-call", None, part.id, part.name, response))
        elif kind in _TEXTS:
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
