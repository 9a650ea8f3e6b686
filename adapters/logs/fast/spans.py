"""Stretches of a log: the values that they hold, and the places where these stand."""

import re
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate, chain, filterfalse, repeat, zip_longest
from operator import length_hint
from typing import Any, Final

from msgspec import MsgspecError

from turncheck.model.core.decode import is_blank, lines_of

from ..framing import Block, Frame, Origin
from .fast_loop import Decoding, FastLoop, LineDecoding
from .runs import LINE, SENT, style_of

REFUSALS: Final = (MsgspecError, UnicodeDecodeError, RecursionError)
"""The exceptions that a decoder raises."""


class Span:
    """Values in a row, the first of which is number *first* of the log.

    ``lines`` has the physical line of each value, ``ats`` its position; they are ``in_step`` where that is its number.
    """

    lines: Sequence[int]
    ats: Sequence[int]

    def __init__(self, first: int, *, in_step: bool = False) -> None:
        self.first, self.in_step = first, in_step

    def decoded(self, loop: Decoding) -> list[Any]:
        """Return what the values are decoded to (``FastLoop.feed``)."""
        raise NotImplementedError

    def text(self, number: int) -> bytes | None:
        """Return the JSON of a value, None where it is over the limit; while the bytes are kept."""
        raise NotImplementedError

    def origin(self, number: int) -> Origin:
        """Return where a value stands in the log."""
        raise NotImplementedError

    def offsets(self) -> Sequence[int]:
        """Return the offset of each value in the log."""
        raise NotImplementedError

    def drop_text(self) -> None:
        """Forget the bytes."""


class PlacedSpan(Span):
    """Values whose bytes are forgotten: the physical line of each, and its offset in the log."""

    def __init__(self, first: int, lines: Sequence[int], offsets: Sequence[int]) -> None:
        super().__init__(first, in_step=True)
        in_row = lines[-1] - lines[0] == len(lines) - 1
        self.lines = range(lines[0], lines[-1] + 1) if in_row else lines
        self._offsets = offsets

    def origin(self, number: int) -> Origin:
        """Return where a value stands in the log."""
        index = number - self.first
        return Origin(self.lines[index], self._offsets[index])


class FrameSpan(Span):
    """Values that were cut out of the log one by one."""

    def __init__(self, first: int, frames: Sequence[Frame]) -> None:
        super().__init__(first)
        self.lines = [frame.origin.line for frame in frames]
        self.ats = [frame.at for frame in frames]
        self.in_step = self.ats == [*range(first, first + len(frames))]
        self._offsets = array("q", (frame.origin.offset for frame in frames))
        self._texts: Sequence[bytes | None] = [frame.data for frame in frames]

    def decoded(self, loop: Decoding) -> list[Any]:
        """Return what the values are decoded to, one by one."""
        return [_one(text, loop) for text in self._texts]

    def text(self, number: int) -> bytes | None:
        """Return the JSON of a value, None where it is over the limit; while the bytes are kept."""
        return self._texts[number - self.first]

    def origin(self, number: int) -> Origin:
        """Return where a value stands in the log."""
        index = number - self.first
        return Origin(self.lines[index], self._offsets[index])

    def offsets(self) -> Sequence[int]:
        """Return the offset of each value in the log."""
        return self._offsets

    def drop_text(self) -> None:
        """Forget the bytes."""
        self._texts = ()


def _one(text: bytes | None, loop: Decoding) -> Any:
    try:
        return loop.decode(text) if text is not None and is_text(text) else None
    except REFUSALS:
        return None


class LineSpan(Span):
    """The values of a block: one in each line of *texts*.

    These are the block's own lines, a blank one of which holds no value; the first is line *line* of the log. Or else
    they were *made* of the block's, whose values have these lines and positions. ``between`` bytes, and so many line
    ``feeds``, are between one value and the next.
    """

    between = 1
    feeds = 1

    def __init__(
        self, first: int, block: Block, line: int, texts: bytes, made: tuple[Sequence[int], Sequence[int]] | None = None
    ) -> None:
        super().__init__(first, in_step=made is None)
        self._made = made is not None
        self.lines, self.ats = made or (range(line, line + len(texts)), ())  # at most, before they are counted
        self.count = self.blank = 0
        self._block: Block | None = block
        self._line = line
        self._whole = texts
        self._texts: list[bytes] | None = None
        self._offsets: Sequence[int] | None = None

    def decoded(self, loop: Decoding) -> list[Any]:
        """Return what the values are decoded to (``FastLoop.feed``), and count the values."""
        texts = self._whole
        if isinstance(loop, LineDecoding):
            events = self._lines(texts, loop)
        elif is_text(texts):
            events = self._found(texts, loop, loop.pattern(LINE, style_of(texts)))
        else:
            events = self._sound(texts, loop)
        if self.blank:
            self.lines = [line for line, text in enumerate(lines_of(texts), self._line) if not is_blank(text)]
        if not self._made:
            self.lines = self.lines[: self.count]
            self.ats = range(self.first, self.first + self.count)
        return events

    def _lines(self, texts: bytes, loop: LineDecoding) -> list[Any]:
        """Decode lines that are long: most are ASCII, even where the block is not."""
        lines = BytesIO(texts).readlines()
        rest = iter(lines)
        events = self._each(rest, lambda: lines[-1 - length_hint(rest)], loop)
        if not texts.isascii():
            try:
                deque(map(bytes.decode, filterfalse(bytes.isascii, lines)), maxlen=0)
            except UnicodeDecodeError:
                self.blank = 0
                return self._sound(texts, loop)
        self.count = len(events)
        return events

    def _sound(self, texts: bytes, loop: Decoding) -> list[Any]:
        """Decode lines of which some are not UTF-8."""
        events: list[Any] = []
        for text in lines_of(texts):
            if is_text(text):
                events += self._decode(text + b"\n", loop)  # a blank one is a line all the same
            else:
                events.append(None)
        self.count = len(events)
        return events

    def _found(self, texts: bytes, loop: FastLoop, pattern: re.Pattern[bytes]) -> list[Any]:
        """Find what is many lines, decode all that is between, and count the values."""
        gaps: list[bytes] = []
        many: list[Any] = []
        begin = more = 0
        between, feeds = self.between, self.feeds
        for found in pattern.finditer(texts):
            item = found.lastgroup
            start, stop = found.span(0 if item else found.lastindex or 0)
            gaps.append(texts[begin : start + between])
            number = texts.count(b"\n", start, stop) // feeds
            many.append((found, number) if item else number)
            more += number - 1
            begin = stop + between
        gaps.append(self._rest(texts, begin))
        events = self._woven(gaps, many, loop) if many else self._between(gaps[0], loop)
        self.count = len(events) + more
        return events

    def _woven(self, gaps: list[bytes], many: list[Any], loop: FastLoop) -> list[Any]:
        """Decode the values of the *gaps* at once: each gap by itself took 0.1 of the yardstick more."""
        values = self._between(b"".join(gaps), loop)
        counts: Iterable[int] = map(bytes.count, gaps, repeat(b"\n"))
        if self.blank:
            self.blank = 0
            apart = [self._between(gap, loop) for gap in gaps]
            values, counts = [*chain.from_iterable(apart)], map(len, apart)
        feeds = self.feeds
        events: list[Any] = []
        begin = 0
        for count, run in zip_longest(counts, many):
            end = begin + (count // feeds)
            events += values[begin:end]
            events.append(run)
            begin = end
        events.pop()
        return events

    def _rest(self, texts: bytes, begin: int) -> bytes:
        """Return the lines from *begin* on, each with its line feed."""
        rest = texts[begin:]
        return rest if not rest or rest.endswith(b"\n") else rest + b"\n"

    def _between(self, texts: bytes, loop: FastLoop) -> list[Any]:
        """Decode values, each with what is between it and the next one."""
        return self._decode(texts, loop)

    def _decode(self, text: bytes, loop: Decoding) -> list[Any]:
        """Decode lines one by one, which is exact; a blank one is counted."""
        lines = BytesIO(text)

        def latest() -> bytes:
            end = lines.tell()
            return text[text.rfind(b"\n", 0, end - 1) + 1 : end]

        return self._each(lines, latest, loop)

    def _each(self, lines: Iterator[bytes], latest: Callable[[], bytes], loop: Decoding) -> list[Any]:
        events: list[Any] = []
        more = True
        while more:
            try:
                events.extend(map(loop.decode, lines))
                more = False
            except REFUSALS:
                if is_blank(latest().rstrip(b"\n")) and not self._made:
                    self.blank += 1
                else:
                    events.append(None)
        return events

    def text(self, number: int) -> bytes | None:
        """Return the JSON of a value, while the bytes are kept."""
        if self._texts is None:
            self._texts = self._values()
        index = number - self.first
        return self._texts[index if self._made else self.lines[index] - self._line]

    def _values(self) -> list[bytes]:
        return lines_of(self._whole)

    def origin(self, number: int) -> Origin:
        """Return where a value stands in the log."""
        line = self.lines[number - self.first]
        return Origin(line, self._places()[line - self._line])

    def offsets(self) -> Sequence[int]:
        """Return the offset of each value in the log."""
        places = self._places()
        return [places[line - self._line] for line in self.lines] if self.blank else places[: self.count]

    def _places(self) -> Sequence[int]:
        if self._offsets is None:
            assert self._block is not None
            assert self._block.whole is not None
            self._offsets = array("q", accumulate(map(len, BytesIO(self._block.whole)), initial=self._block.offset))
        return self._offsets

    def drop_text(self) -> None:
        """Forget the block's bytes, and remember the offsets alone."""
        self._places()
        self._block = self._texts = None
        self._whole = b""


class SentSpan(LineSpan):
    """Server-sent events that have data alone: *texts* begins with the first event's data, and ends with the last's.

    *between* stands between one event's data and the next one's: a blank line, and the name of the field.
    """

    feeds = 2

    def __init__(self, first: int, block: Block, line: int, texts: bytes, between: bytes = SENT) -> None:
        super().__init__(first, block, line, texts, ((), ()))
        self._sample = between
        self.between = len(between)
        self._alike = True

    def decoded(self, loop: Decoding) -> list[Any]:
        """Return what the values are decoded to (``FastLoop.feed``), and count them: 0 where not all events are so."""
        texts = self._whole
        events: list[Any] = []
        self._alike = isinstance(loop, FastLoop) and is_text(texts)
        if isinstance(loop, FastLoop) and self._alike:
            pattern = loop.pattern(re.escape(self._sample.decode()), style_of(texts))
            events = self._found(texts, loop, pattern)
        if not self._alike:
            self.count = 0
        return events

    def _rest(self, texts: bytes, begin: int) -> bytes:
        return texts[begin:] + self._sample if begin <= len(texts) else b""

    def _between(self, texts: bytes, loop: FastLoop) -> list[Any]:
        lines = texts.replace(self._sample, b"\n")
        events = (len(texts) - len(lines)) // (self.between - 1)
        self._alike = self._alike and texts.count(b"\n") == events * self.feeds
        return self._decode(lines, loop)

    def _values(self) -> list[bytes]:
        return self._whole.split(self._sample)


def is_text(data: bytes) -> bool:
    """Return whether *data* is UTF-8: the decoder does not look at what it skips."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return True
