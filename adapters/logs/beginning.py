"""The beginning of a log: looked at before it is read, and the first values from which its format is recognised."""

import re
from codecs import BOM_UTF8
from collections import deque
from itertools import islice
from typing import Any, Final, cast

from msgspec import MsgspecError, json

from turncheck.model.core.decode import parse

from .formats.recognition import Tally
from .framing import BLOCK, Frame, Stream

_decode: Final = json.Decoder().decode
_SHORT: Final = 640
"""Bytes of a line that has no integer of so many digits that ``parse`` takes it as a float."""
DONE: Final = "[DONE]"
"""The value for the end mark of a stream; it is no event."""
_DONE: Final = DONE.encode()
_TEXT: Final = re.compile(rb"[^ \t\r\n]")
_ENOUGH: Final = 8
"""Number of first values from which the format is recognised."""
_MOST: Final = 64
"""Values after which no more are looked at, where the first ones fit no format, or two."""
_BYTES: Final = 1 << 20
"""Bytes of values after which no more are looked at."""


class Looked:
    """The first values of a log: as many as recognition needs. A *live* log waits for as few as decide.

    Where the format is *settled* by its name, the first value is enough.
    """

    def __init__(self, *, live: bool, settled: bool) -> None:
        self.values: Final[deque[Any]] = deque()
        """The values in order, None for an unreadable one."""
        self._bytes = 0
        self._tally: Tally | None = None
        self._tallied = 0
        self._live, self._settled = live, settled

    def take(self, frame: Frame) -> None:
        """Look at one more frame."""
        self.values.append(value_of(frame))
        self._bytes += 0 if frame.data is None else len(frame.data)

    @property
    def any(self) -> bool:
        """True once a value was seen, be it unreadable."""
        return bool(self.values)

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects among the values."""
        return [value for value in self.values if isinstance(value, dict)]

    @property
    def enough(self) -> bool:
        """True once no more values need be looked at."""
        number = len(self.values)
        if number >= _MOST or (number and self._settled):
            return True
        if self._live:
            return number > 0 and self._decided()
        return number >= _ENOUGH and (self._bytes >= _BYTES or self._decided())

    def _decided(self) -> bool:
        """Return whether the format is; values that were counted before are not counted again."""
        self._tally = self._tally or Tally()
        for value in islice(self.values, self._tallied, None):
            if isinstance(value, dict):
                self._tally.take(cast("dict[str, Any]", value))
        self._tallied = len(self.values)
        return self._tally.decided


def value_of(frame: Frame) -> Any:
    """The frame's JSON value, None for an unreadable one; the end mark of an SSE stream, which is no JSON, is kept."""
    return None if frame.data is None else read_value(frame.data)


def read_value(data: bytes) -> Any:
    """Return the JSON value of a line, as ``value_of`` does."""
    if data.startswith(_DONE) and data.rstrip() == _DONE:  # a carriage return may stand behind it
        return DONE
    try:
        return _decode(data) if len(data) < _SHORT else parse(data)
    except (MsgspecError, ValueError, RecursionError):
        return _parsed(data)  # it may be JSON all the same, with half a character


def _parsed(data: bytes) -> Any:
    try:
        return parse(data)
    except (ValueError, RecursionError):
        return None


class Rewound:
    """A stream whose beginning can be looked at before it is read; a byte order mark is dropped.

    ``start`` is the offset at which it then begins, ``packed`` whether that is one of a compressed log's content.
    """

    def __init__(self, stream: Stream, *, packed: bool = False) -> None:
        self._stream = stream
        self.packed: Final = packed
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

    def head(self, size: int) -> memoryview:
        """The first *size* bytes, or all that there are; they can still be read, once this view is released."""
        while len(self._held) - self._next < size and self._more():
            pass
        return memoryview(self._held)[self._next : self._next + size]

    def forget(self) -> None:
        """Hold nothing any more: what was looked at is not read again."""
        self._held, self._next = bytearray(), 0

    def read1(self, size: int = -1, /) -> bytes:
        """Read once, first what is held."""
        if self._next == len(self._held):
            return b"" if self._ended else self._stream.read1(size)
        piece = bytes(memoryview(self._held)[self._next : self._next + size])
        self._next += len(piece)
        if self._next == len(self._held):
            self._held, self._next = bytearray(), 0
        return piece
