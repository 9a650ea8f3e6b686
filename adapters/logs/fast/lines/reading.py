"""From blocks of lines to chunks of events: a format's own reading of usual lines, and its mapper for all others.

Both work on one state, the mapper's. What decides nothing of a line is not decoded.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import Event

from ...beginning import read_value
from ...chunks import TOO_LONG, Chunk
from ...formats.items import NATIVE
from ...formats.lines import LineMapper, is_silent
from ...framing import Block
from ..cutting import JsonLines
from ..fast_loop import LineDecoding
from ..spans import REFUSALS, Span, is_text
from .chunk import LineChunk

Take: TypeAlias = Callable[[Any], Sequence[Event] | None]
"""From a line's structure to its events, none where it means nothing; None leaves the line to the mapper.

It changes nothing before it is sure.
"""


class LineLoop(NamedTuple):
    """What reads most lines of a format.

    ``decode`` takes a line, and raises for one whose fields are of other types; ``again`` takes lines that it refuses,
    where they may be of another kind. ``takes`` is given the mapper.
    """

    decode: Callable[[bytes], Any]
    takes: Callable[[Any], Take]
    again: Callable[[bytes], Any] | None = None


def read(loop: LineLoop, found: Iterable[Block], line: int, mapper: LineMapper) -> Iterator[Chunk]:
    """Yield the events of the blocks, the first of which begins with line *line*: a chunk a block.

    The events are those that *mapper* alone would give. A last line that says nothing waits for the next one, as in
    the mapper. Memory: a block, and that of the line that waits.
    """
    take = loop.takes(mapper)
    cutter = JsonLines(line, LineDecoding(loop.decode))
    last: Span | None = None  # that of the last position
    waits: Event | None = None  # what is told there, where that waits
    for span, structs in (one for block in found for one in cutter.cut(block)):
        heard: list[Event] = []
        ats: list[int] = []
        first = at = span.first
        more = 0
        told: Sequence[Event] | None = ()
        for struct in structs:
            told = None if struct is None else take(struct)
            if told is None:
                told = told_by_mapper(span.text(at), loop.again if struct is None else None, take, mapper)
            if len(told) == 1:
                heard.append(told[0])
                ats.append(at)
            elif told:
                heard += told
                ats += [at] * len(told)
                more += len(told) - 1
            at += 1
        if at == first:
            continue  # all lines are blank
        cutter.first = at
        spans = (span,) if last is None or waits is None else (last, span)
        if waits is not None:
            first -= 1
            heard.insert(0, waits)
            ats.insert(0, first)
        last, waits = span, None if told else NATIVE
        if told and is_silent(told):
            waits = heard.pop()
            ats.pop()
        behind = at if waits is None else at - 1
        if behind > first:
            yield LineChunk(spans, range(first, behind), Batch(tuple(heard), ats), more)
    ends = tuple(mapper.ending()) or (() if waits is None else (waits,))
    if ends and last is not None:
        at = cutter.first - 1
        yield LineChunk((last,), range(at, at + 1), Batch(ends, [at] * len(ends)), len(ends) - 1)


def told_by_mapper(
    text: bytes | None, again: Callable[[bytes], Any] | None, take: Take, mapper: LineMapper
) -> Sequence[Event]:
    """Return the events of a line that ``decode`` refused, or that its structure left to the mapper."""
    if text is None:
        return (TOO_LONG,)
    if again is not None and is_text(text):
        try:
            told = take(again(text))
        except REFUSALS:
            told = None
        if told is not None:
            return told
    return mapper.told(read_value(text))
