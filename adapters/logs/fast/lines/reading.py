"""From blocks of lines to chunks of events: a format's own reading of usual lines, and its mapper for all others.

Both work on one state, the mapper's. What decides nothing of a line is not decoded.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import Event, Native

from ...beginning import read_value
from ...chunks import TOO_LONG, Chunk
from ...formats.items import NATIVE
from ...formats.lines import LineMapper
from ...framing import Block
from ..cutting import JsonLines
from ..fast_loop import LineDecoding
from ..spans import REFUSALS, Span, is_text
from .chunk import LineChunk


class Heard:
    """The ``events`` of lines in a row, and ``ats``, their positions; ``more`` have that of the event before.

    A line that means nothing has none. ``text`` gives the line at a position, None for one over the limit.
    """

    def __init__(self, reader: "LineReader", text: Callable[[int], bytes | None]) -> None:
        self.events: Final[list[Event]] = []
        self.ats: Final[list[int]] = []
        self.more = 0
        self._reader, self._text = reader, text
        self._again = reader.loop.again

    def add(self, at: int, events: Sequence[Event]) -> None:
        """Add what the line at position *at* tells, or more of it."""
        if events:
            self.more += len(events) - (self.ats[-1:] != [at])
            self.events.extend(events)
            self.ats.extend([at] * len(events))

    def leave(self, at: int) -> None:
        """Leave the line at position *at* to the mapper, or to ``again`` where it was refused."""
        text = self._text(at)
        if text is None:
            self.add(at, (TOO_LONG,))
            return
        again, self._again = self._again, None
        if again is not None and is_text(text):
            try:
                line = again(text)
            except REFUSALS:
                pass
            else:
                self._reader.feed((line,), at, self)
                self._again = again
                return
        self.add(at, self._reader.mapper.told(read_value(text)))
        self._again = again

    def batch(self, positions: range) -> Batch:
        """Return the events of lines at these positions; of one a line, an event is cut to cycles in 93 ns, not 113."""
        dense = len(self.ats) == len(positions) and not self.more
        return Batch(tuple(self.events), positions if dense else self.ats)

    def waiting(self, last: int) -> Event | None:
        """Take out what the line at *last*, the last position, tells where it says nothing: it waits for the next."""
        ats = self.ats
        if not ats or ats[-1] != last:
            return NATIVE
        if ats[-2:-1] == [last] or not isinstance(self.events[-1], Native):
            return None
        ats.pop()
        return self.events.pop()


Feed: TypeAlias = Callable[[Iterable[Any], int, Heard], None]
"""Takes the structures of lines, the position of the first, and what is told of them, to which it adds.

A line that is None or unusual it leaves to the mapper, and has changed nothing then.
"""
Take: TypeAlias = Callable[[Any], Sequence[Event] | None]
"""From a line's structure to its events, none where it means nothing; None leaves the line to the mapper.

It changes nothing before it is sure.
"""


class LineLoop(NamedTuple):
    """A reader of most lines of a format.

    ``decode`` takes a line, and raises for one whose fields are of other types; ``again`` takes lines that it refuses,
    where they may be of another kind. ``feeds`` is given the mapper.
    """

    decode: Callable[[bytes], Any]
    feeds: Callable[[Any], Feed]
    again: Callable[[bytes], Any] | None = None


class LineReader:
    """Reads lines of one log on the state of its *mapper*: a loop that is made once is called at its full speed.

    ``read`` makes one a log, ``Lines.fed`` one a block: what a loop keeps beside the mapper (up to 4 MB of the latest
    inputs, for OTLP) would be kept for each session of a monitor.
    """

    def __init__(self, loop: LineLoop, mapper: LineMapper) -> None:
        self.loop, self.mapper = loop, mapper
        self.feed: Final = loop.feeds(mapper)

    def heard(
        self, lines: Iterable[Any], first: int, text: Callable[[int], bytes | None], held: Event | None = None
    ) -> Heard:
        """Return what lines tell, given their structures, None for one that was refused; the first is at *first*.

        The event *held* is that of the position before.
        """
        heard = Heard(self, text)
        if held is not None:
            heard.add(first - 1, (held,))
        self.feed(lines, first, heard)
        return heard


def one_by_one(takes: Callable[[Any], Take]) -> Callable[[Any], Feed]:
    """Return what takes lines one by one, each by a function that *takes* makes for the mapper."""

    def feeds(mapper: Any) -> Feed:
        take = takes(mapper)

        def feed(lines: Iterable[Any], first: int, heard: Heard) -> None:
            hear, place = heard.events.append, heard.ats.append
            for at, line in enumerate(lines, first):
                events = None if line is None else take(line)
                if events is None:
                    heard.leave(at)
                elif len(events) == 1:
                    hear(events[0])
                    place(at)
                elif events:
                    heard.add(at, events)

        return feed

    return feeds


def read(loop: LineLoop, found: Iterable[Block], line: int, mapper: LineMapper) -> Iterator[Chunk]:
    """Yield the events of the blocks, the first of which begins with line *line*: a chunk a block.

    The events are those that *mapper* alone would give. A last line that says nothing waits for the next one, as in
    the mapper. Memory: a block, and that of the line that waits.
    """
    reader = LineReader(loop, mapper)
    cutter = JsonLines(line, LineDecoding(loop.decode))
    last: Span | None = None  # that of the last position
    waits: Event | None = None  # what is told there, where that waits
    for span, structs in (one for block in found for one in cutter.cut(block)):
        if not structs:
            continue  # all lines are blank
        heard = reader.heard(structs, span.first, span.text, waits)
        spans = (span,) if last is None or waits is None else (last, span)
        first, behind = span.first - len(spans) + 1, span.first + len(structs)
        last, waits = span, heard.waiting(behind - 1)
        cutter.first = behind
        places = range(first, behind if waits is None else behind - 1)
        if places:
            yield LineChunk(spans, places, heard.batch(places), heard.more)
    ends = tuple(mapper.ending()) or (() if waits is None else (waits,))
    if ends and last is not None:
        at = cutter.first - 1
        yield LineChunk((last,), range(at, at + 1), Batch(ends, [at] * len(ends)), len(ends) - 1)
