"""From blocks to spans with their events: of JSON lines, and of server-sent events, which mostly look alike."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias

from turncheck.model.core.decode import lines_of

from ..framing import Block, Frame, Origin, ServerSent
from .fast_loop import Decoding, FastLoop
from .spans import FrameSpan, LineSpan, SentSpan, Span

Found: TypeAlias = tuple[Span, list[Any]]
"""A span, and what its values are decoded to."""


class Cutter(Protocol):
    """Cuts blocks into spans. ``first`` is the number of the next span's first value: whoever reads a span sets it."""

    first: int

    def cut(self, block: Block) -> Iterator[Found]:
        """Yield the spans of a block."""
        ...

    def end(self) -> Iterator[Found]:
        """Yield what is left at the log's end."""
        ...


class JsonLines:
    """A value in each line that is not blank; the next line is line *line* of the log."""

    def __init__(self, line: int, loop: Decoding) -> None:
        self.first = 0
        self._line, self._loop = line, loop

    def cut(self, block: Block) -> Iterator[Found]:
        """Yield the span of a block."""
        if block.whole is None:
            yield _framed(self.first, [Frame(self.first, Origin(self._line, block.offset), None)], self._loop)
            self._line += 1
            return
        span = LineSpan(self.first, block, self._line, with_line_feeds(block.whole))
        yield span, span.decoded(self._loop)
        self._line += len(span.lines) + span.blank

    def end(self) -> Iterator[Found]:
        """Yield nothing: a line that lacks its end is whole all the same."""
        yield from ()


class Events:
    """Server-sent events. Those of a block that look alike are cut by one look; others are cut line by line."""

    def __init__(self, loop: FastLoop, max_line: int) -> None:
        self.first = 0
        self._line, self._loop = 1, loop
        self._framer = ServerSent(max_line)
        self._commented = False  # there was a comment

    def cut(self, block: Block) -> Iterator[Found]:
        """Yield the spans of a block."""
        whole = block.whole
        if whole is None:
            yield from self._by_line([None], block.offset)
            return
        eol = _eol(whole)
        blank = b"\n" + eol
        begin = len(eol) if whole.startswith(eol) else 0 if self._framer.idle else whole.find(blank) + len(blank)
        end = whole.rfind(blank) + len(blank)
        while whole.endswith(blank, 0, max(end - len(eol), 0)):  # further blank lines are no part of an event
            end -= len(eol)
        if end <= max(begin, len(eol)):  # no event lies wholly in it
            yield from self._by_line(lines_of(whole), block.offset)
            return
        yield from self._by_line(lines_of(whole[:begin]), block.offset)
        alike = None if self._commented else self._alike(Block(whole[begin:end], block.offset + begin))
        if alike is None:
            yield from self._between_comments(whole, begin, end, block.offset)
        else:
            yield alike
        yield from self._by_line(lines_of(whole[end:]), block.offset + end)

    def end(self) -> Iterator[Found]:
        """Yield the event that no blank line ended."""
        frame = self._framer.end()
        if frame is not None:
            yield _framed(self.first, [frame], self._loop)

    def _between_comments(self, whole: bytes, begin: int, end: int, offset: int) -> Iterator[Found]:
        """Yield the spans of a block in which a server that was silent for a while sent comments."""
        first = _COMMENTS.match(whole, 0, end) if begin == 0 else None
        later = _LATER.finditer(whole, max((first.end() if first else begin) - 1, 0), end)
        for comments in chain([first] if first else [], later):
            start = comments.start("all")
            yield from self._part(whole[begin:start], offset + begin)
            yield from self._by_line(lines_of(comments["all"]), offset + start)
            begin = comments.end()
            self._commented = True
        yield from self._part(whole[begin:end], offset + begin)

    def _part(self, part: bytes, offset: int) -> Iterator[Found]:
        """Yield the spans of lines between comments, which may stand within an event."""
        alike = None
        if not self._framer.pending:
            alike = self._alike(Block(part, offset))
        if alike is None:
            yield from self._by_line(lines_of(part), offset)
        else:
            yield alike

    def _by_line(self, texts: Sequence[bytes | None], offset: int) -> Iterator[Found]:
        frames: list[Frame] = []
        for text in texts:
            frame = self._framer.take(Origin(self._line, offset), text)
            if frame is not None:
                frames.append(frame)
            self._line += 1
            offset += 0 if text is None else len(text) + 1
        if frames:
            yield _framed(self.first, frames, self._loop)

    def _alike(self, block: Block) -> Found | None:
        """The span of whole events that all have their fields in the same order; None where they have not."""
        part = block.whole or b""
        head, eol = _HEAD.match(part), _eol(part)
        if head is None or not part.endswith(eol * 2):
            return None
        space, texts = head["space"], part[head.end() : -2 * len(eol)]
        if not space and b"\ndata: " in part:  # the space is no part of the value
            return None
        before, others = part.count(b"\n", 0, head.end()), None
        if before:
            texts, others = _between(before, eol, space).subn(b"\n", texts)
            made = LineSpan(self.first, block, self._line, texts, ((), ()))
        else:
            made = SentSpan(self.first, block, self._line, texts, eol * 2 + b"data:" + space)
        decoded = made.decoded(self._loop)
        events = made.count
        if events == 0 or (others is not None and events != others + 1):
            return None
        line, at = self._line + before, self._framer.at + before
        made.lines = range(line, line + events * (before + 2), before + 2)
        made.ats = range(at, at + events * (before + 1), before + 1)
        made.in_step = not before and at == self.first
        self._line += events * (before + 2)
        self._framer.at += events * (before + 1)
        self._framer.idle = True
        return made, decoded


_HEAD: Final = re.compile(rb"(?:(?:event|id|retry):[^\r\n]*+\r?+\n){0,3}+data:(?P<space> ?+)")


@cache
def _between(before: int, eol: bytes, space: bytes) -> re.Pattern[bytes]:
    """Return the pattern of the bytes between the data of two events, with so many fields before the data of each."""
    value = rb"[^\n]*+" if eol == b"\n" else rb"[^\r\n]*+"  # a class of two characters takes twice the time
    field = rb"(?:event|id|retry):" + value + eol
    return re.compile(eol * 2 + rb"(?:%b){%d}data:%b" % (field, before, space))


_COMMENTS: Final = re.compile(rb"(?P<all>(?::[^\n]*+\n(?:\r?\n)*+)++)")
"""Comments in a row, with the blank lines behind them."""
_LATER: Final = re.compile(rb"\n" + _COMMENTS.pattern)
"""The same behind another line: to search for it takes 0.17 of the yardstick, and so it is done once there was one."""


def _eol(text: bytes) -> bytes:
    """Return the end of the first line: sse-starlette, for one, puts a carriage return before the line feed."""
    feed = text.find(b"\n")
    return b"\r\n" if text[feed - 1 : feed] == b"\r" else b"\n"


def with_line_feeds(text: bytes) -> bytes:
    r"""Return lines without carriage returns at their ends, where the first has one: so patterns find them.

    >>> with_line_feeds(b'{}\r\n{}\r\n'), with_line_feeds(b'{}\n{}\r\n')
    (b'{}\n{}\n', b'{}\n{}\r\n')
    """
    return text.replace(b"\r\n", b"\n") if _eol(text) == b"\r\n" else text


def _framed(first: int, frames: list[Frame], loop: Decoding) -> Found:
    span = FrameSpan(first, frames)
    return span, span.decoded(loop)
