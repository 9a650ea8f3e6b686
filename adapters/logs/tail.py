"""A log that is still being written, as a stream: it ends when the caller stops it, or when the file is replaced."""

import errno
import os
import stat
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from threading import Event
from typing import Final, Self

from .framing import BLOCK

PAUSE: Final = 0.2
"""Seconds between two polls: a person notices no delay; a stat and a read take 10 µs."""


class Tail:
    """The whole lines of a growing file, from its start on; ``read1`` waits for the next ones.

    It ends (b"") when *stop* is set, or when the file was replaced or cut: then ``replaced`` says how, and a new Tail
    begins at the start of what is there. The unfinished last line is held back, *max_line* bytes of it at most: what
    is longer is over the limit anyway. A file that is gone, or is no file any more, is waited for. *say* hears what
    happens to it.
    """

    def __init__(self, path: Path, stop: Event, *, max_line: int, say: Callable[[str], None] = lambda _: None) -> None:
        """Open the file. Raises OSError, for what is no regular file too."""
        self._path, self._stop, self._max, self._say = path, stop, max_line, say
        self._file: Final = _opened(path)
        self._ready = memoryview(b"")
        self._held = bytearray()
        self._away: str | None = None
        self.replaced: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read1(self, size: int = -1, /) -> bytes:
        """Return at most *size* bytes of whole lines, as soon as there are any. Raises OSError."""
        while not self._ready:
            if self._stop.is_set():
                return b""
            piece = self._file.read1(BLOCK)
            if piece:
                self._take(piece)
            elif (changed := self._changed()) is not None:
                self.replaced = changed
                return b""
            else:
                self._stop.wait(PAUSE)
        found = self._ready[: size if size > 0 else None]
        self._ready = self._ready[len(found) :]
        return bytes(found)

    def _take(self, piece: bytes) -> None:
        end = piece.rfind(b"\n") + 1
        if end or len(self._held) + len(piece) > self._max:
            end = end or len(piece)
            self._ready = memoryview(bytes(self._held) + piece[:end])
            self._held = bytearray(piece[end:])
        else:
            self._held += piece

    def _changed(self) -> str | None:
        """Return how the file was replaced or cut since the last read, None where it was not."""
        try:
            there = self._path.stat()
        except FileNotFoundError:
            self._wait("is gone; waiting for a new one")
            return None
        except OSError as error:
            self._wait(f"cannot be read: {error.strerror}; waiting for a file")
            return None
        if not stat.S_ISREG(there.st_mode):
            self._wait(f"is {_kind(there.st_mode)} now; waiting for a file")
            return None
        self._away = None
        own = os.fstat(self._file.fileno())
        if (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino):
            return f"was replaced{self._unjudged()}"
        return f"was cut{self._unjudged()}" if there.st_size < self._file.tell() else None

    def _wait(self, why: str) -> None:
        """There is no file, for now: say why, once."""
        if why != self._away:
            self._away = why
            self._say(f"{self._path} {why}")

    def _unjudged(self) -> str:
        return f", behind {len(self._held)} bytes of a line without an end, which were not judged" if self._held else ""


def _opened(path: Path) -> BufferedReader:
    """Open a regular file: what is none by now, a FIFO say, must not make the opening wait. Raises OSError."""
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: PTH123, SIM115 - a descriptor
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        raise OSError(errno.EINVAL, f"it is {_kind(mode)}, and a file is needed", str(path))
    return file


def _kind(mode: int) -> str:
    for kind, is_one in (("a folder", stat.S_ISDIR), ("a FIFO", stat.S_ISFIFO), ("a socket", stat.S_ISSOCK)):
        if is_one(mode):
            return kind
    return "a device"
