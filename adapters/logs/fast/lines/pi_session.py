"""Entries of pi's session files, and their reading: what they mean is known behind the last one alone."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Raw, Struct, json

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import AgentOutput, Event, ToolResult, UserMessage

from ...beginning import read_value
from ...chunks import TOO_LONG, Chunk
from ...formats import pi_messages
from ...formats.pi_session import Meaning, PiSessionMapper, response
from ...framing import Block
from ..cutting import JsonLines
from ..fast_loop import LineDecoding
from ..spans import Span
from .chunk import LineChunk


class _Part(Struct, gc=False):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    redacted: None = None


class _User(Struct, gc=False, tag_field="role", tag="user"):
    content: str | list[Raw]
    id: str | None = None


class _Assistant(Struct, gc=False, tag_field="role", tag="assistant"):
    content: list[_Part]
    stopReason: str | None = None  # noqa: N815
    errorMessage: str | None = None  # noqa: N815


class _Result(Struct, gc=False, tag_field="role", tag="toolResult"):
    toolCallId: str  # noqa: N815
    isError: bool | None = None  # noqa: N815


class _Entry(Struct, gc=False):
    type: str
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    message: _User | _Assistant | _Result | None = None


_ENTRIES: Final = LineDecoding(json.Decoder(_Entry).decode)


def read(found: Iterable[Block], line: int, mapper: PiSessionMapper) -> Iterator[Chunk]:
    """Yield the events of the blocks, the first of which begins with line *line*, as *mapper* alone would give them.

    Memory: what each entry means, and its place; of a text, that there is one.
    """
    cutter = JsonLines(line, _ENTRIES)
    spans: list[Span] = []
    for span, entries in (one for block in found for one in cutter.cut(block)):
        at = span.first
        for entry in entries:
            if entry is None or not _taken(entry, mapper):
                text = span.text(at)
                if text is None:
                    mapper.keep(TOO_LONG, None, None)
                else:
                    mapper.told(read_value(text))
            at += 1
        cutter.first = at
        span.drop_text()
        spans.append(span)
    events = mapper.events()
    for span in spans:
        heard: list[Event] = []
        ats: list[int] = []
        more = 0
        places = range(span.first, span.first + len(span.lines))
        for place in places:
            told = next(events)
            if len(told) == 1:
                heard.append(told[0])
                ats.append(place)
            elif told:
                heard += told
                ats += [place] * len(told)
                more += len(told) - 1
        yield LineChunk((span,), places, Batch(tuple(heard), ats), more)


def _taken(entry: _Entry, mapper: PiSessionMapper) -> bool:
    """Take an entry, unless it is unusual."""
    message = entry.message
    meaning: Meaning = None
    if entry.type == "message":
        if isinstance(message, _Assistant):
            items = _items(message.content, entry.id)
            if items is None:
                return False
            stop = pi_messages.end(message.stopReason, message.errorMessage, "adapter")
            meaning = response(items, stop)
        elif isinstance(message, _Result):
            meaning = ToolResult(message.toolCallId, message.isError or None)
        elif isinstance(message, _User):
            said = message.content
            if isinstance(said, str):
                meaning = UserMessage(text=said, id=message.id)
            else:
                meaning = UserMessage(content=said, id=message.id)
        else:
            return False
    elif entry.type == "context_edit":
        return False
    mapper.keep(meaning, entry.id, entry.parentId)
    return True


def _items(parts: list[_Part], entry: str | None) -> list[AgentOutput] | None:
    items: list[AgentOutput] = []
    for part in parts:
        kind = part.type
        if kind == "text":
            if part.text is None:
                return None
            if part.text:
                items.append(AgentOutput("assistant", "…", None, None, entry))
        elif kind == "thinking":
            if part.thinking is None:
                return None
            if part.thinking:
                items.append(AgentOutput("reasoning", "…", None, None, entry))
        elif kind == "toolCall":
            if part.id is None or part.name is None:
                return None
            items.append(AgentOutput("tool-call", None, part.id, part.name, entry))
    return items
