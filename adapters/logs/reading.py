"""From the bytes of a recorded log to events with their positions and origins.

A log in turncheck's own format is decoded block by block; every other one frame by frame through its format's mapper.
Memory: one block, and what a mapper holds back. Arrays and pretty-printed logs are read whole.
"""

import re
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Any, Final, NamedTuple

from turncheck.model.core.decode import Batch, decode_lines, is_blank, lines_of, parse
from turncheck.model.core.events import Event, Malformed

from .formats.mapping import Format, Mapper
from .formats.registry import FORMATS, UnsupportedFormatError, detect, named
from .framing import (
    BLOCK,
    Block,
    Frame,
    Origin,
    Stream,
    blocks,
    lines,
    looks_server_sent,
    looks_unfinished,
    physical,
    server_sent,
    values,
)

MAX_LINE: Final = 8 << 20
"""Default limit in bytes; a longer line is malformed (PROTOCOL)."""

_TEXT: Final = re.compile(rb"[^ \t\r\n]")
_DETECT: Final = 8
"""Number of first objects from which the format is recognised."""
_MAPPED: Final = 512
"""Events per batch of a mapped log: about as many as a block of our own format holds."""
_TOO_LONG: Final = Malformed("line over the limit (--max-line)")


class Chunk(NamedTuple):
    """A batch of events, the origin of each by its index in the batch, and their physical lines.

    ``lines`` is a range wherever the numbers form one: a log without blank lines is one range from end to end.
    """

    batch: Batch
    origin: Callable[[int], Origin]
    lines: Callable[[], Sequence[int]]


@dataclass(frozen=True)
class Log:
    """A recorded log: its format, and its events in order. The chunks can be iterated once."""

    format: Format
    chunks: Iterator[Chunk]


def read_log(stream: Stream, *, format_name: str | None = None, max_line: int = MAX_LINE, live: bool = False) -> Log:
    """Read a recorded log in the named format, or in the one detected from its beginning.

    A *live* log is still being written: its format is detected from the first block, and its events come as soon as
    they are read. It cannot be an array or pretty-printed, since these are read whole.

    Raises KeyError for an unknown name, UnsupportedFormatError for a format that is known but not supported, OSError.
    """
    source = _Rewound(stream)
    first, whole = source.first_line(max_line)
    enough, together = (1, 1) if live else (_DETECT, _MAPPED)
    if looks_unfinished(first, whole=whole):
        if live:
            raise UnsupportedFormatError("an array, or a pretty-printed log, is read whole: it cannot be followed")
        found = values(source.rest(), max_line, source.start)
        if found is not None:
            return _framed(found, format_name)
    cut = blocks(source, max_line, source.start)
    if looks_server_sent(first):
        return _framed(server_sent(cut, max_line), format_name, enough, together)
    head: list[Block] = []
    seen: list[Any] = []
    begin = 1  # the line that the head begins with: blank blocks before it are not kept
    for block in cut:
        seen += (_value(frame) for frame in islice(lines([block]), _DETECT))
        if seen:
            head.append(block)
        else:
            begin += sum(1 for _ in physical([block]))
        if len(seen) >= enough:
            break
    form = _format(seen[:_DETECT], format_name)
    if form is FORMATS["turncheck"]:
        return Log(form, _decoded(chain(head, cut), begin))
    return Log(form, _mapped(lines(chain(head, cut), begin), form.mapper(), together))


def read_values(stream: Stream, *, max_line: int = MAX_LINE) -> tuple[Format, Iterator[Any]]:
    """Return the format of a recorded log, and the JSON value at each position, None where it is unreadable.

    Raises UnsupportedFormatError, OSError.
    """
    source = _Rewound(stream)
    first, whole = source.first_line(max_line)
    found = values(source.rest(), max_line, source.start) if looks_unfinished(first, whole=whole) else None
    if found is None:
        cut = blocks(source, max_line, source.start)
        found = server_sent(cut, max_line) if looks_server_sent(first) else lines(cut)
    shown = map(_value, found)
    head = list(islice(shown, _DETECT))
    return _format(head, None), chain(head, shown)


def _format(seen: Iterable[Any], name: str | None) -> Format:
    found: list[dict[str, Any]] = [value for value in seen if isinstance(value, dict)]
    if name is not None:
        return named(name, found)
    return detect(found) if found else FORMATS["turncheck"]


def _framed(frames: Iterator[Frame], name: str | None, enough: int = _DETECT, together: int = _MAPPED) -> Log:
    head = list(islice(frames, enough))
    form = _format(map(_value, head), name)
    return Log(form, _mapped(chain(head, frames), form.mapper(), together))


def _decoded(found: Iterable[Block], line: int) -> Iterator[Chunk]:
    at = 0
    for block in found:
        events, number = ((_TOO_LONG,), 1) if block.whole is None else decode_lines(block.whole)
        places = _Places(block, line, len(events), number)
        yield Chunk(Batch(events, range(at, at + len(events))), places.origin, places.lines)
        at += len(events)
        line += number


class _Places:
    """The origins of a block's events, computed on demand; *first* is the number of its first line."""

    def __init__(self, block: Block, first: int, events: int, lines: int) -> None:
        self._block = block
        self._lines: Sequence[int] | None = range(first, first + lines) if events == lines else None
        self._first = first
        self._offsets: list[int] = []

    def _texts(self) -> list[bytes]:
        return [] if self._block.whole is None else lines_of(self._block.whole)

    def lines(self) -> Sequence[int]:
        if self._lines is None:
            self._lines = [line for line, text in enumerate(self._texts(), self._first) if not is_blank(text)]
        return self._lines

    def origin(self, index: int) -> Origin:
        if not self._offsets:
            self._offsets = list(accumulate((len(text) + 1 for text in self._texts()), initial=self._block.offset))
        line = self.lines()[index]
        return Origin(line, self._offsets[line - self._first])


def _mapped(frames: Iterable[Frame], mapper: Mapper, together: int) -> Iterator[Chunk]:
    """Yield batches of *together* mapped events or a few more; the last one may be smaller.

    An event's origin is its frame's; the origins of earlier frames are dropped.
    """
    seen: deque[tuple[int, Origin]] = deque()
    ready: list[tuple[int, Event, Origin]] = []
    too_long: set[int] = set()

    def take(events: Iterable[tuple[int, Event]]) -> None:
        for at, event in events:
            while seen[0][0] < at:
                seen.popleft()
            known = _TOO_LONG if at in too_long and isinstance(event, Malformed) else event
            ready.append((at, known, seen[0][1]))

    for frame in frames:
        seen.append((frame.at, frame.origin))
        if frame.data is None:
            too_long.add(frame.at)
        take(mapper.value(frame.at, _value(frame)))
        if len(ready) >= together:
            yield _chunk(ready)
            ready.clear()
    take(mapper.end())
    if ready:
        yield _chunk(ready)


def _chunk(ready: list[tuple[int, Event, Origin]]) -> Chunk:
    origins = [origin for _, _, origin in ready]
    batch = Batch(tuple(event for _, event, _ in ready), tuple(at for at, _, _ in ready))
    return Chunk(batch, origins.__getitem__, lambda: [origin.line for origin in origins])


def _value(frame: Frame) -> Any:
    """The frame's JSON value, None for an unreadable one; the end mark of an SSE stream, which is no JSON, is kept."""
    if frame.data is None:
        return None
    if frame.data == b"[DONE]":
        return "[DONE]"
    try:
        return parse(frame.data)
    except (ValueError, RecursionError):
        return None


class _Rewound:
    """A stream whose beginning can be looked at before it is read; a byte order mark is dropped.

    ``start`` is the offset at which it then begins.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._ended = False
        self._held = bytearray()
        while len(self._held) < len(BOM_UTF8) and self._more():
            pass
        self.start: Final = len(BOM_UTF8) if self._held.startswith(BOM_UTF8) else 0
        self._next = self.start

    def _more(self) -> bool:
        piece = b"" if self._ended else self._stream.read1(BLOCK)
        self._ended = not piece
        self._held += piece
        return bool(piece)

    def first_line(self, max_line: int) -> tuple[bytes, bool]:
        """The first non-blank line, cut at the limit (which counts blanks too), and whether it is whole."""
        seen = begin = self._next
        while True:
            if begin == seen:
                text = _TEXT.search(self._held, seen)
                begin = len(self._held) if text is None else text.start()
            end = self._held.find(b"\n", max(begin, seen))
            seen = len(self._held)
            if end >= 0 or seen - (self._next if begin == seen else begin) > max_line or not self._more():
                stop = end if end >= 0 else seen
                return bytes(self._held[begin : min(stop, begin + max_line)]), stop - begin <= max_line

    def rest(self) -> bytes:
        """Return everything that is left, without consuming it."""
        while self._more():
            pass
        return bytes(memoryview(self._held)[self._next :])

    def read1(self, size: int = -1, /) -> bytes:
        if self._next == len(self._held):
            return b"" if self._ended else self._stream.read1(size)
        piece = bytes(memoryview(self._held)[self._next : self._next + size])
        self._next += len(piece)
        if self._next == len(self._held):
            self._held, self._next = bytearray(), 0
        return piece
