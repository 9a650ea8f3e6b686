"""A range of a log's bytes: the lines that begin in it."""

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from turncheck.model.core.decode import is_blank

from .formats.mapping import Format, Rest
from .formats.resting import border
from .framing import BLOCK, Stream, blocks, physical
from .places import identity, is_url, opened_at

_LOOKED: Final = 4 << 20
"""Bytes behind the place of a cut in which the end of a run is looked for."""


class ReplacedError(OSError):
    """A log is another file than the one that was cut into ranges."""


class Range(NamedTuple):
    """The lines of the log at ``path`` that begin at an offset from ``begin`` to before ``end`` (None: its end).

    ``number`` counts the ranges of a log, from 0, ``state`` tells whether it is still the log that was cut. ``form`` is
    the log's format where it was cut between runs, None where it was cut anywhere.
    """

    path: str
    number: int
    begin: int
    end: int | None
    state: str
    form: str | None = None


def size_and_state(path: str) -> tuple[int, str] | None:
    """Return the size in bytes of the log at *path*, and what tells it from another one that takes its place.

    A file may grow meanwhile; an object of a store does not. None where its bytes cannot be read from any offset.

    >>> size_and_state("nowhere.jsonl") is None
    True
    """
    if path == "-" or path.startswith(("http://", "https://")):
        return None
    if is_url(path):
        return identity(path)
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (status.st_size, _state(status)) if stat.S_ISREG(status.st_mode) else None


def _state(status: os.stat_result) -> str:
    return f"{status.st_dev} {status.st_ino}"


def cut(path: str, size: int, state: str, start: int, step: int) -> list[Range]:
    """Cut the log at *path* into ranges of *step* bytes, from offset *start* on; the last one goes to its end.

    >>> [(one.begin, one.end) for one in cut("a.jsonl", 25, "", 3, 10)]
    [(3, 13), (13, None)]
    """
    begins = range(start, max(start + 1, size - step // 2), step)
    ends = [*begins[1:], None]
    return [Range(path, number, *both, state) for number, both in enumerate(zip(begins, ends, strict=True))]


def cut_between_runs(parts: Sequence[Range], form: Format, max_line: int, *, sent: bool) -> list[Range]:
    """Move the borders between *parts* behind the end of the run that each is in; a border without one is left out.

    Memory: ``_LOOKED`` bytes. Raises OSError.
    """
    assert form.rest is not None
    first = parts[0]
    begins = [first.begin]
    for part in parts[1:]:
        begin = None if part.begin < begins[-1] else _behind_run(part, form.rest, max_line, sent=sent)
        if begin is not None:
            begins.append(begin)
    ends = [*begins[1:], None]
    return [
        Range(first.path, number, begin, end, first.state, form.name)
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True))
    ]


def _behind_run(part: Range, rest: Rest, max_line: int, *, sent: bool) -> int | None:
    """Return the offset of the first line behind a run that ends near a range's beginning; None for none."""
    text = b""
    with opened_at(part.path, part.begin) as (stream, _):
        for size in (_LOOKED // 64, _LOOKED // 8, _LOOKED):
            while len(text) < size and (piece := stream.read1(BLOCK)):
                text += piece
            found = border(text, rest, max_line, sent=sent)
            if found is not None:
                return part.begin + found
    return None


def places_from(part: Range, offset: int, max_line: int) -> tuple[int, int]:
    """Return the numbers of positions and of lines that a range has from an *offset* on, where a line begins.

    Raises what ``opened_range`` raises.
    """
    positions = lines = 0
    with opened_range(part._replace(number=0, begin=offset), max_line) as (stream, _):
        for _, text in physical(blocks(stream, max_line)):
            positions += text is None or not is_blank(text)
            lines += 1
    return positions, lines


@contextmanager
def opened_range(part: Range, max_line: int) -> Generator[tuple[Stream, int]]:
    """Open a range as a stream of whole lines, with the offset of the first one.

    Raises ReplacedError, and what ``places.opened`` raises.
    """
    inside = part.number > 0 and part.begin > 0
    before = part.begin - inside
    with opened_at(part.path, before) as (stream, status):
        now = identity(part.path) if status is None else (0, _state(status))
        if now is None or now[1] != part.state:
            raise ReplacedError("it was replaced by another file while it was judged: judge it again")
        lines = _Lines(stream, before, part.end, max_line)
        if inside:
            lines.skip()
        yield lines, lines.at


class _Lines:
    """The lines that begin before *end*, of a stream that stands *at* an offset; the last one is cut at *max_line*."""

    def __init__(self, stream: Stream, at: int, end: int | None, max_line: int) -> None:
        self._stream, self._end, self._most = stream, end, max_line
        self._held = b""
        self._last = b"\n"  # the last byte that was given out
        self._over = 0  # bytes that were given out behind the end
        self.at = at

    def skip(self) -> None:
        """Leave out the rest of a line that begins before the range."""
        while self._end is None or self.at < self._end:
            piece = self._piece(BLOCK)
            found = piece.find(b"\n") + 1
            self.at += found or len(piece)
            if found or not piece:
                self._held = piece[found:]
                return
        self._end, self._held = 0, b""

    def _piece(self, size: int) -> bytes:
        piece, self._held = self._held[:size], self._held[size:]
        return piece or self._stream.read1(size)

    def read1(self, size: int = -1, /) -> bytes:
        """Read once."""
        size = size if size > 0 else BLOCK
        if self._end is None or self.at < self._end:
            piece = self._piece(size if self._end is None else min(size, self._end - self.at))
        elif self._last == b"\n" or self._over > self._most:
            return b""
        else:
            piece = self._piece(size)
            piece = piece[: piece.find(b"\n") + 1 or len(piece)]
            self._over += len(piece)
        self.at += len(piece)
        self._last = piece[-1:]
        return piece
