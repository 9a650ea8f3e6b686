"""A range of a log's bytes: the lines that begin in it."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .framing import BLOCK, Stream
from .places import identity, is_url, opened_at


class ReplacedError(OSError):
    """A log is another file than the one that was cut into ranges."""


class Range(NamedTuple):
    """The lines of the log at ``path`` that begin at an offset from ``begin`` to before ``end`` (None: its end).

    ``number`` counts the ranges of a log, from 0, ``state`` tells whether it is still the log that was cut.
    """

    path: str
    number: int
    begin: int
    end: int | None
    state: str


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
