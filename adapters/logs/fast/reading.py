"""From blocks of lines to chunks of events, by a fast loop and the mapper that it falls back on."""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import BytesIO
from itertools import accumulate, chain, takewhile
from typing import Any, Final

from msgspec import MsgspecError

from turncheck.model.core.decode import Batch, is_blank, lines_of
from turncheck.model.core.events import Event

from ..beginning import read_value
from ..chunks import TOO_LONG, Chunk
from ..formats.dispatch import Dispatcher
from ..formats.items import NATIVE, Items, Slot
from ..framing import Block, Origin
from .registry import FastLoop

_REFUSALS: Final = (MsgspecError, UnicodeDecodeError, RecursionError)
_KEPT: Final = 2
"""Blocks whose bytes are kept for what waits; of older ones the offsets of the lines are."""


def read(found: Iterable[Block], line: int, loop: FastLoop, mapper: Dispatcher) -> Iterator[Chunk]:
    """Yield the events of the blocks, the first of which begins with line *line*: a chunk a block where any is settled.

    The events are those that *mapper* alone would give. Memory: a block, and what the mapper holds back, with eight
    bytes for each line that waits.
    """
    waiting: deque[_Span] = deque()
    at = 0
    for block in found:
        span = _Span(block, at, line)
        waiting.append(span)
        if block.whole is None:
            mapper.items.put(at, TOO_LONG)
            at += 1
        else:
            behind = loop.feed(mapper, span.decoded(block.whole, loop), at, partial(_hand, mapper, span))
            span.end(behind - at)
            at = behind
        line += len(span.lines) + span.blank
        yield from _settled(mapper.items, waiting)
        if len(waiting) > _KEPT:
            waiting[-_KEPT - 1].drop_text()
    mapper.close()
    yield from _settled(mapper.items, waiting)


def _hand(mapper: Dispatcher, span: "_Span", at: int) -> None:
    """Let the mapper read the line of a position."""
    mapper.accept(at, read_value(span.text(at)))


class _Span:
    """The positions of a block from *first* on; its first line is line *line* of the log.

    ``lines`` has the line of each position, ``blank`` is the number of lines that hold none.
    """

    def __init__(self, block: Block, first: int, line: int) -> None:
        self.first = first
        self.lines: Sequence[int] = range(line, line + 1)
        self.blank = 0
        self._block: Block | None = block
        self._line = line
        self._texts: list[bytes] | None = None
        self._offsets: Sequence[int] | None = None

    def decoded(self, block: bytes, loop: FastLoop) -> list[Any]:
        """Return structures, matches of several lines, and None for a line that the loop's decoder refuses."""
        events: list[Any] = []
        if _is_text(block):
            begin = 0
            for whole in loop.whole.finditer(block):
                if begin <= whole.start():
                    self._decode(block[begin : whole.start() + 1], loop, events)
                events.append(whole)
                begin = whole.end() + 1
            self._decode(block[begin:], loop, events)
        else:
            for text in lines_of(block):
                if _is_text(text):
                    self._decode(text + b"\n", loop, events)  # a blank one is a line all the same
                else:
                    events.append(None)
        if self.blank:
            self.lines = [line for line, text in enumerate(lines_of(block), self._line) if not is_blank(text)]
        else:
            self.lines = range(self._line, self._line + len(block))  # at most; its end comes with the end
        return events

    def _decode(self, text: bytes, loop: FastLoop, events: list[Any]) -> None:
        """Decode lines one by one, which is exact; a blank one is counted."""
        lines = BytesIO(text)
        more = True
        while more:
            try:
                events.extend(map(loop.decode, lines))
                more = False
            except _REFUSALS:
                end = lines.tell()
                if is_blank(text[text.rfind(b"\n", 0, end - 1) + 1 : end].rstrip(b"\n")):
                    self.blank += 1
                else:
                    events.append(None)

    def end(self, positions: int) -> None:
        """Take the number of positions."""
        self.lines = self.lines[:positions]

    def text(self, at: int) -> bytes:
        """Return the line of a position, while the block's bytes are kept."""
        assert self._block is not None
        assert self._block.whole is not None
        if self._texts is None:
            self._texts = lines_of(self._block.whole)
        return self._texts[self.lines[at - self.first] - self._line]

    def origin(self, at: int) -> Origin:
        """Return where a position stands in the log."""
        line = self.lines[at - self.first]
        return Origin(line, self._places()[line - self._line])

    def _places(self) -> Sequence[int]:
        if self._offsets is None:
            assert self._block is not None
            texts = [b""] if self._block.whole is None else lines_of(self._block.whole)
            self._offsets = array("q", accumulate((len(text) + 1 for text in texts), initial=self._block.offset))
        return self._offsets

    def drop_text(self) -> None:
        """Forget the block's bytes, and remember the offsets alone."""
        self._places()
        self._block = self._texts = None


def _is_text(data: bytes) -> bool:
    """Whether *data* is UTF-8: the decoder does not look at what it skips."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return True


def _settled(items: Items, waiting: "deque[_Span]") -> Iterator[Chunk]:
    """Yield the events that nothing unsettled precedes as one chunk, and forget the spans that are done with."""
    slots = items.settled()
    if not slots:
        return
    first, behind = slots[0].at, slots[0].at
    in_row = True  # the positions ascend by one
    places: list[int] = []
    heard: list[Event] = []
    for slot in slots:
        in_row = in_row and slot.at == behind
        behind = slot.at + slot.many
        if slot.event is not NATIVE:
            assert slot.event is not None
            heard.append(slot.event)
            places.append(slot.at)
    ats = range(first, behind) if in_row else [at for slot in slots for at in range(slot.at, slot.at + slot.many)]
    spans = tuple(takewhile(lambda span: span.first < behind, waiting))
    yield Chunk(Batch(tuple(heard), places), *_origins(spans, ats), (ats, lambda: _events(slots)))
    while len(waiting) > 1 and waiting[1].first < behind:
        waiting.popleft()


def _events(slots: Sequence[Slot]) -> tuple[Event, ...]:
    return tuple(slot.event for slot in slots for _ in range(slot.many) if slot.event is not None)


def _origins(spans: Sequence[_Span], ats: Sequence[int]) -> tuple[Callable[[int], Origin], Callable[[], Sequence[int]]]:
    """Return the origin by an event's index, and the lines of all events."""

    def span_of(at: int) -> _Span:
        return spans[bisect_right(spans, at, key=lambda span: span.first) - 1]

    def origin(index: int) -> Origin:
        return span_of(ats[index]).origin(ats[index])

    def lines() -> Sequence[int]:
        if not isinstance(ats, range):
            return [(span := span_of(at)).lines[at - span.first] for at in ats]
        parts = [span.lines[max(ats.start - span.first, 0) : ats.stop - span.first] for span in spans]
        found = [part for part in parts if part]
        if all(isinstance(part, range) for part in found) and found[-1][-1] - found[0][0] + 1 == len(ats):
            return range(found[0][0], found[-1][-1] + 1)
        return [*chain.from_iterable(found)]

    return origin, lines
