"""From the bytes of a recorded log to events with their positions and origins.

A log in turncheck's own format is decoded block by block, and so are the lines of a format with a fast loop; every
other one is read frame by frame through its format's mapper.
Memory: one block, and what a mapper holds back. Arrays and pretty-printed logs are read whole, up to a limit.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Final, cast

from turncheck.model.core.decode import Batch, decode_lines, is_blank, lines_of
from turncheck.model.core.events import Event, Malformed

from .beginning import Looked, Rewound, value_of
from .chunks import NOT_READ, TOO_LONG, Chunk
from .compression import MAGIC, Decompressed, compression
from .fast import reading as fast
from .fast.cutting import Events, JsonLines
from .fast.fast_loop import FastMapper
from .fast.lines.registry import READS
from .fast.registry import LOOPS, fast_loop
from .formats.mapping import Format, Mapper
from .formats.recognition import detect, doubt, named
from .formats.registry import FORMATS, UnsupportedFormatError
from .formats.told_ends import ToldEnds
from .framing import (
    Block,
    Frame,
    Origin,
    Stream,
    blocks,
    lines,
    looks_server_sent,
    looks_unfinished,
    may_be_values,
    physical,
    server_sent,
    values,
)

MAX_LINE: Final = 8 << 20
"""Default limit in bytes; a longer line is malformed (PROTOCOL)."""

_MAPPED: Final = 512
"""Events per batch of a mapped log: about as many as a block of our own format holds."""
WHOLE: Final = 64 << 20
"""Bytes of an array, or of a pretty-printed log: more is refused, for it is read whole, in twice its size of memory."""
_PROBE: Final = 1 << 20
"""Bytes in which a torn first line is told from a value that goes on."""
_HEAD: Final = 1 << 20
"""Bytes of server-sent events without a value behind which a log is read event by event."""


class TooLargeError(ValueError):
    """The log would have to be read whole, and is too large for that."""


@dataclass(frozen=True)
class Log:
    """A recorded log: its format, and its events in order. The chunks can be iterated once.

    Of a text of the agent it may be known that there is one, and not what it says: no state depends on that (X-8).

    ``doubt`` says why the log is not in the format by whose name it is read; None where at least one value fits.
    ``start`` is the offset of the first line where its bytes are those of the file, and each line, or else each
    server-sent event (``sent``), is a value: so it is no array, and not compressed. ``mapper`` is what reads it, None
    of turncheck's own format.
    """

    format: Format
    chunks: Iterator[Chunk]
    doubt: str | None = None
    start: int | None = None
    sent: bool = False
    mapper: Mapper | None = None


def read_log(
    stream: Stream,
    *,
    format_name: str | None = None,
    max_line: int = MAX_LINE,
    live: bool = False,
    behind: bool = False,
) -> Log:
    """Read a recorded log in the named format, or in the one that its first values are recognised by.

    A log that is compressed with gzip or zstd is decompressed as it is read. A *live* log is still being written: its
    format is recognised as soon as one fits, and its events come as soon as they are read. It can be neither
    compressed, nor an array or pretty-printed, since these are read whole. Where the format has a fast loop
    (``fast.registry``), what the agent said may be cut to its beginning or to "…": no law reads more of it. Where it
    comes *behind* something, it is the part of a log behind a run's end (``mapping.Rest``).

    Raises UnrecognisedError where no format fits, or two do; KeyError for an unknown name, UnsupportedFormatError for a
    reader that cannot be had or what cannot be followed, TooLargeError for an array or a pretty-printed log of more
    than ``WHOLE`` bytes, BrokenCompressionError, MissingExtraError, OSError.
    """
    source = _source(stream, live=live)
    first, whole = source.first_line(max_line)
    together = 1 if live else _MAPPED
    looked = Looked(live=live, settled=is_settled(format_name))
    if looks_unfinished(first, whole=whole):
        if live:
            raise UnsupportedFormatError("an array, or a pretty-printed log, is read whole: it cannot be followed")
        found = _values(source, max_line)
        if found is not None:
            return _framed(found, format_name, looked, together)
    cut = blocks(source, max_line, source.start)
    sent = looks_server_sent(first)
    head = _Head(cut, looked, sent=sent)
    frames = server_sent(head, max_line) if sent else lines(head)
    seen = _look_at(frames, looked)
    form, why = format_of(looked, format_name)
    kept = head.end()
    start = None if source.packed else source.start
    if form is FORMATS["turncheck"] and not sent and kept is not None:
        return Log(form, _decoded(chain(kept, cut), head.begin), why, start)
    mapper = form.rest.mapper() if behind and form.rest is not None else form.mapper()

    def read(chunks: Iterator[Chunk]) -> Log:
        return Log(form, chunks, why, start, sent, mapper)

    if FORMATS.get(form.name) is form and kept is not None:
        every = chain(kept, cut)
        if form.name in LOOPS:
            loop = fast_loop(form.name)
            cutter = Events(loop, max_line) if sent else JsonLines(head.begin, loop)
            return read(fast.read(every, cutter, loop, cast("FastMapper", mapper)))
        if form.name in READS and not sent:
            return read(READS[form.name](every, head.begin, mapper))
    return read(_mapped(chain(seen, frames), looked.values, mapper, together))


class _Head:
    """The blocks of a log as they come; those that were looked at are kept until ``end``.

    Blank ones before the first value are not: of a log with a value a line, ``begin`` is the line behind them. In
    server-sent events they count, and so do comments: where there are more than ``_HEAD`` bytes, none is kept.
    """

    def __init__(self, cut: Iterator[Block], looked: Looked, *, sent: bool) -> None:
        self._cut, self._looked, self._sent = cut, looked, sent
        self._kept: list[Block] | None = []
        self._size = 0
        self.begin = 1

    def __iter__(self) -> Iterator[Block]:
        for block in self._cut:
            if self._kept is not None:
                self._kept.append(block)
            yield block
            if self._kept is not None and not self._looked.any:
                self._forget(block)

    def _forget(self, block: Block) -> None:
        """Keep no block that came before the first value."""
        if self._sent:
            self._size += 0 if block.whole is None else len(block.whole)
            if self._size > _HEAD:
                self._kept = None
        elif self._kept is not None:
            self._kept.clear()
            self.begin += sum(1 for _ in physical([block]))

    def end(self) -> Sequence[Block] | None:
        """Keep no more; return the blocks that were kept, None where there were too many."""
        kept, self._kept = self._kept, None
        return kept


def read_values(
    stream: Stream, *, format_name: str | None = None, max_line: int = MAX_LINE
) -> tuple[Format, Iterator[Any]]:
    """Return the format of a recorded log, and the JSON value at each position, None where it is unreadable.

    Raises what ``read_log`` raises.
    """
    source = _source(stream, live=False)
    first, whole = source.first_line(max_line)
    found = _values(source, max_line) if looks_unfinished(first, whole=whole) else None
    if found is None:
        cut = blocks(source, max_line, source.start)
        found = server_sent(cut, max_line) if looks_server_sent(first) else lines(cut)
    looked = Looked(live=False, settled=is_settled(format_name))
    _look_at(found, looked)
    return format_of(looked, format_name)[0], chain(_taken(looked.values), map(value_of, found))


def _source(stream: Stream, *, live: bool) -> Rewound:
    source = Rewound(stream)
    with source.head(MAGIC) as head:
        kind = compression(head)
    if kind is None:
        return source
    if live:
        raise UnsupportedFormatError(f"a log that is compressed with {kind} cannot be followed")
    return Rewound(Decompressed(source, kind), packed=True)


def is_settled(name: str | None) -> bool:
    """Return whether *name* names one format, and no family of several."""
    return name is not None and sum(form.called == name for form in FORMATS.values()) <= 1


def _values(source: Rewound, max_line: int) -> Iterator[Frame] | None:
    """The values of an array or of a pretty-printed log, None where the log is neither. Raises TooLargeError."""
    if not may_be_values(source.head(_PROBE)):
        return None
    text = source.head(WHOLE + 1)
    if len(text) > WHOLE:
        raise TooLargeError(
            f"an array, or a pretty-printed log, is read whole, and this one has more than {WHOLE >> 20} MiB: write it"
            " with one event a line, as `jq -c .[]` does with an array and `jq -c .` with values"
        )
    found = values(text, max_line, source.start)
    text.release()
    if found is not None:
        source.forget()
    return found


def format_of(looked: Looked, name: str | None) -> tuple[Format, str | None]:
    """Return the format, and why the log is not in it where it was named. Raises what ``read_log`` raises."""
    if name is not None:
        form = named(name, looked.objects)
        return form, doubt(form, looked.objects) if looked.any else None
    return detect(looked.objects) if looked.any else FORMATS["turncheck"], None


def _look_at(frames: Iterator[Frame], looked: Looked) -> list[Frame]:
    """Let *looked* take as many frames as it needs; return them."""
    head: list[Frame] = []
    while not looked.enough and (frame := next(frames, None)) is not None:
        looked.take(frame)
        head.append(frame)
    return head


def _framed(frames: Iterator[Frame], name: str | None, looked: Looked, together: int) -> Log:
    head = _look_at(frames, looked)
    form, why = format_of(looked, name)
    return Log(form, _mapped(chain(head, frames), looked.values, form.mapper(), together), why)


def _taken(values: deque[Any]) -> Iterator[Any]:
    while values:
        yield values.popleft()


def _decoded(found: Iterable[Block], line: int) -> Iterator[Chunk]:
    at, ends = 0, ToldEnds()
    for block in found:
        text = block.whole or b""
        decoded = NOT_READ if block.whole is None else decode_lines(text)
        events, number = ends.block(decoded, text), decoded.lines
        places = _Places(block, line, len(events), number)
        batch = Batch(events, range(at, at + len(events)))
        yield Chunk(batch, places.origin, places.lines, pauses=not decoded.usual)
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


def _mapped(frames: Iterable[Frame], first: deque[Any], mapper: Mapper, together: int) -> Iterator[Chunk]:
    """Yield batches of *together* mapped events or a few more; the last one may be smaller.

    *first* has the values of the first frames, which were looked at: a short log is parsed once, not twice. An event's
    origin is its frame's; the origins of earlier frames are dropped.
    """
    seen: deque[tuple[int, Origin]] = deque()
    ready: list[tuple[int, Event, Origin]] = []
    too_long: set[int] = set()

    def take(events: Iterable[tuple[int, Event]]) -> None:
        for at, event in events:
            while seen[0][0] < at:
                seen.popleft()
            known = TOO_LONG if at in too_long and isinstance(event, Malformed) else event
            ready.append((at, known, seen[0][1]))

    for frame in frames:
        seen.append((frame.at, frame.origin))
        if frame.data is None:
            too_long.add(frame.at)
        take(mapper.value(frame.at, first.popleft() if first else value_of(frame)))
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
