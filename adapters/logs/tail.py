"""A log that is still being written, as a stream: it ends when the caller stops it, or when the file is replaced."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Final, Self

from .framing import BLOCK

PAUSE: Final = 0.2
"""Seconds between two polls: a person notices no delay; a stat and a read take 10 µs."""


class Tail:
    """The whole lines of a growing file, from its start on; ``read1`` waits for the next ones.

    It ends (b"") when *stop* is set, or when the file was replaced or cut: then ``replaced`` says how, and a new Tail
    reads the new content from its start. The unfinished last line is held back, at most *max_line* bytes of it: a
    longer one is over the limit anyway. *say* is called with a message about each change of the file.
    """

    def __init__(self, path: Path, stop: Event, *, max_line: int, say: Callable[[str], None] = lambda _: None) -> None:
        """Open the file. Raises OSError."""
        self._path, self._stop, self._max, self._say = path, stop, max_line, say
        self._file: Final = path.open("rb")
        self._ready = memoryview(b"")
        self._held = bytearray()
        self._gone = False
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
            if not self._gone:
                self._gone = True
                self._say(f"{self._path} is gone; waiting for a new one")
            return None
        own = os.fstat(self._file.fileno())
        if (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino):
            return "was replaced"
        return "was cut" if there.st_size < self._file.tell() else None
