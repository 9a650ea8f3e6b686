"""Entries of pi's session files, and their reading: what they mean is known behind the last one alone."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from sys import intern
from typing import Any, Final

from msgspec import Raw, Struct, json

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import AgentOutput, ToolResult, UserMessage

from ...beginning import read_value
from ...chunks import TOO_LONG, Chunk
from ...formats import pi_messages
from ...formats.pi_session import PiSessionMapper
from ...formats.transcript import COMPLETED, ROOT
from ...framing import Block
from ..cutting import JsonLines
from ..fast_loop import LineDecoding
from ..spans import PlacedSpan, Span
from .chunk import LineChunk


class _Part(Struct, gc=False, tag_field="type"):
    pass


class _Text(_Part, gc=False, tag="text"):
    text: str


class _Thinking(_Part, gc=False, tag="thinking"):
    thinking: str
    redacted: None = None


class _Call(_Part, gc=False, tag="toolCall"):
    id: str
    name: str


class _User(Struct, gc=False, tag_field="role", tag="user"):
    content: str | list[Raw]
    id: str | None = None


class _Assistant(Struct, gc=False, tag_field="role", tag="assistant"):
    content: list[_Text | _Thinking | _Call]
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
_TOLD: Final = ("message", "context_edit")
_TOGETHER: Final = 512
"""Entries a chunk. Of 40,000 entries one takes 2.07 µs with 512 and with 2,048 a chunk, 2.15 with 128 and 2.26 with 32;
with 8,192 it takes 2.10 µs, and 19 bytes more than the 270 at the peak, with all in one chunk 2.14 and 110."""
_PARTS: Final = Raw(b"{}")
"""Stands for a part of a user's message: the part itself would keep its line."""


def read(found: Iterable[Block], line: int, mapper: PiSessionMapper) -> Iterator[Chunk]:
    """Yield the events of the blocks, the first of which begins with line *line*, as *mapper* alone would give them.

    Memory: what each entry means, and its place; of a text, that there is one.
    """
    cutter = JsonLines(line, _ENTRIES)
    lines, offsets = array("q"), array("q")
    for span, entries in (one for block in found for one in cutter.cut(block)):
        _take(entries, span, mapper)
        cutter.first += len(entries)
        lines.extend(span.lines)
        offsets.extend(span.offsets())
        mapper.pack()
    mapper.settle()
    begin = 0
    for first in range(0, len(lines), _TOGETHER):
        places = range(first, min(first + _TOGETHER, len(lines)))
        counts = mapper.counts[first : places.stop]
        ats = [*chain.from_iterable(map(repeat, places, counts))]
        events = tuple(mapper.events[begin : begin + len(ats)])
        begin += len(ats)
        span = PlacedSpan(first, lines[first : places.stop], offsets[first : places.stop])
        yield LineChunk((span,), places, Batch(events, ats), len(ats) - (len(places) - counts.count(0)))


def _take(entries: Iterable[_Entry | None], span: Span, mapper: PiSessionMapper) -> None:
    """Take entries, and let the mapper take those that are unusual."""
    events = mapper.events
    hear, count, name = events.append, mapper.counts.append, mapper.ids.append
    call = ""  # the latest one: its id and that of its result are one object
    for at, entry in enumerate(entries, span.first):
        message: Any = None if entry is None else entry.message
        if entry is None or message is None or entry.type != "message":
            if entry is not None and entry.type not in _TOLD:
                mapper.keep(None, entry.id, entry.parentId)
            elif (given := span.text(at)) is None:
                mapper.keep(TOO_LONG, None, None)
            else:
                mapper.told(read_value(given))
            continue
        own, parent = entry.id, entry.parentId
        if parent is None or parent != mapper.last:
            mapper.link(own, parent)
        mapper.last = own
        name(own)
        kind = message.__class__
        if kind is _Assistant:
            before = len(events)
            mapper.retried = mapper.retried or mapper.failed
            if not mapper.running:
                hear(ROOT)
            goes_on = False
            for part in message.content:
                what = part.__class__
                if what is _Call:
                    goes_on = True
                    call = part.id
                    hear(AgentOutput("tool-call", None, call, intern(part.name), own))
                elif what is _Text:
                    if part.text:
                        hear(AgentOutput("assistant", "…", None, None, own))
                elif part.thinking:
                    hear(AgentOutput("reasoning", "…", None, None, own))
            reason, detail = message.stopReason, message.errorMessage
            failing = reason in pi_messages.FAILING
            mapper.failed = reason == "error"
            mapper.running = goes_on and not failing
            if not mapper.running:
                hear(COMPLETED if detail is None and not failing else pi_messages.end(reason, detail, "adapter"))
            count(len(events) - before)
        else:
            mapper.failed = False
            if kind is _Result:
                known = message.toolCallId
                hear(ToolResult(call if call == known else known, message.isError or None))
            else:
                said = message.content
                text, parts = (said, None) if isinstance(said, str) else (None, [_PARTS] * len(said))
                hear(UserMessage(text, parts, message.id, "steer" if mapper.running else None))
                mapper.running = True
            count(1)
