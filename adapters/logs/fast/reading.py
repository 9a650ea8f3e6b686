"""From blocks of lines to chunks of events, by a fast loop and the mapper that it falls back on."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from operator import attrgetter, lt
from typing import Final

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import Event

from ..beginning import DONE, read_value
from ..chunks import TOO_LONG, Chunk
from ..formats.items import NATIVE, Slot
from ..framing import Block, Origin
from .cutting import Cutter
from .fast_loop import FastLoop, FastMapper
from .spans import Span

_KEPT: Final = 4
"""Spans whose bytes are kept for what waits; of older ones the offsets of the lines are."""


def read(found: Iterable[Block], cutter: Cutter, loop: FastLoop, mapper: FastMapper) -> Iterator[Chunk]:
    """Yield the events of the blocks: a chunk a span where any is settled.

    The events are those that *mapper* alone would give. Memory: a block, and what the mapper holds back, with eight
    bytes for each line that waits.
    """
    waiting = _Waiting()
    for block in found:
        for span, events in cutter.cut(block):
            waiting.add(span)
            cutter.first = loop.feed(mapper, events, span.first, partial(_hand, mapper, span, waiting))
            yield from waiting.settled(mapper, cutter.first)
    for span, events in cutter.end():
        waiting.add(span)
        cutter.first = loop.feed(mapper, events, span.first, partial(_hand, mapper, span, waiting))
    mapper.close()
    yield from waiting.settled(mapper, cutter.first)


def _hand(mapper: FastMapper, span: Span, waiting: "_Waiting", number: int) -> bool:
    """Let the mapper read a value; return whether it had nothing to complain of."""
    text = span.text(number)
    if text is None:
        mapper.items.put(number, TOO_LONG)
    else:
        value = read_value(text)
        mapper.accept(number, value)
        if value == DONE and mapper.items.last != number:
            waiting.absent.append(number)
    return not mapper.items.complains(number)


_at_of: Final = attrgetter("at")
_event_of: Final = attrgetter("event")


class _Waiting:
    """The spans of which some values may wait yet, and the number of the first that does.

    ``absent`` has the numbers of values that are no event: the end marks of streams.
    """

    def __init__(self) -> None:
        self.absent: list[int] = []
        self._spans: deque[Span] = deque()
        self._first = 0

    def add(self, span: Span) -> None:
        """Take the next span."""
        self._spans.append(span)
        if len(self._spans) > _KEPT:
            self._spans[-_KEPT - 1].drop_text()

    def settled(self, mapper: FastMapper, behind: int) -> Iterator[Chunk]:
        """Yield the events before number *behind* that nothing unsettled precedes, as one chunk.

        A value that has no place in the mapper's order means nothing.
        """
        slots, unsettled = mapper.items.settled()
        end = behind if unsettled is None else unsettled
        if not slots and end <= self._first:
            return
        numbers = self._numbers(slots, end)
        self._first = max(end, numbers[-1] + 1) if numbers else end
        if not numbers:
            return
        spans = tuple(span for span in self._spans if span.first < numbers[-1] + 1)
        ats = _joined(spans, numbers, lambda span: span.ats)
        heard = [slot for slot in slots if slot.event is not NATIVE]
        events: tuple[Event, ...] = tuple(map(_event_of, heard))
        places = _places(spans, list(map(_at_of, heard)))
        lines = partial(_joined, spans, numbers, lambda span: span.lines)
        origin = partial(_origin, spans, numbers)
        yield Chunk(Batch(events, places), origin, lines, (ats, lambda: _events(slots, numbers)))
        while len(self._spans) > 1 and self._spans[1].first <= end:
            self._spans.popleft()

    def _numbers(self, slots: Sequence[Slot], end: int) -> Sequence[int]:
        """The number of each event's value."""
        ats = [self._first - 1, *map(_at_of, slots), end]
        if not self.absent and all(map(lt, ats, ats[1:])):  # no two events share a number
            return range(self._first, end)
        numbers: list[int] = []
        following = self._first
        for slot in slots:
            numbers += range(following, slot.at)
            numbers.append(slot.at)
            following = slot.at + 1
        numbers += range(following, end)
        if self.absent:
            gone = {number for number in self.absent if number < end}
            self.absent = [number for number in self.absent if number >= end]
            return [number for number in numbers if number not in gone]
        return numbers


def _events(slots: Sequence[Slot], numbers: Sequence[int]) -> tuple[Event, ...]:
    given = iter(slots)
    slot = next(given, None)
    events: list[Event] = []
    for number in numbers:
        if slot is not None and slot.at == number:
            assert slot.event is not None
            events.append(slot.event)
            slot = next(given, None)
        else:
            events.append(NATIVE)
    return tuple(events)


def _span_of(spans: Sequence[Span], number: int) -> Span:
    return spans[bisect_right(spans, number, key=lambda span: span.first) - 1]


def _places(spans: Sequence[Span], numbers: list[int]) -> list[int]:
    """The positions of some values."""
    return numbers if all(span.in_step for span in spans) else [*_joined(spans, numbers, lambda span: span.ats)]


def _joined(spans: Sequence[Span], numbers: Sequence[int], places: Callable[[Span], Sequence[int]]) -> Sequence[int]:
    """The *places* of the values, which are in these spans: a range where they ascend evenly."""
    if not isinstance(numbers, range):
        ends = [bisect_left(numbers, span.first) for span in spans[1:]]
        cut = zip(spans, [0, *ends], [*ends, len(numbers)], strict=True)
        return [places(span)[number - span.first] for span, start, end in cut for number in numbers[start:end]]
    parts = [places(span)[max(numbers.start - span.first, 0) : numbers.stop - span.first] for span in spans]
    found = [part for part in parts if part]
    if len(found) == 1:
        return found[0]
    step = (found[-1][-1] - found[0][0]) // (len(numbers) - 1)
    if all(len(part) == 1 or (isinstance(part, range) and part.step == step) for part in found) and all(
        before[-1] + step == part[0] for before, part in pairwise(found)
    ):
        return range(found[0][0], found[-1][-1] + 1, step)
    return [*chain.from_iterable(found)]


def _origin(spans: Sequence[Span], numbers: Sequence[int], index: int) -> Origin:
    """Return the place of an event's value, by the event's index."""
    return _span_of(spans, numbers[index]).origin(numbers[index])
