"""The frames of a recorded log, one per position: lines, server-sent events, elements of an array, values in a row."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, Protocol

from turncheck.model.core.decode import is_blank, lines_of

BLOCK: Final = 131072
"""Bytes read at a time: with half as many a format that has a fast loop takes 2 to 15 % more, our own as much."""

_SSE_FIELDS: Final = (b"data", b"event", b"id", b"retry", b"")


class Stream(Protocol):
    """A binary stream whose ``read1`` returns at most *size* bytes, b"" at its end: io.BufferedReader is one."""

    def read1(self, size: int = -1, /) -> bytes:
        """Read once."""
        ...


class Origin(NamedTuple):
    """The place of an event in its file: physical line (1-based) and byte offset."""

    line: int
    offset: int


class Block(NamedTuple):
    """Whole lines with their line feeds, and the offset of the first; None stands for a single line over the limit."""

    whole: bytes | None
    offset: int


class Frame(NamedTuple):
    """The content of one position: its raw value, None where it is over the limit."""

    at: int
    origin: Origin
    data: bytes | None


def blocks(stream: Stream, max_line: int, start: int = 0) -> Iterator[Block]:
    """Cut *stream*, which begins at offset *start* of its file, into blocks of whole lines.

    Linear in the stream's length; a line over *max_line* bytes is never buffered. A last line may lack its line feed.
    """
    held: list[bytes] = []  # the pieces of an unfinished line, forgotten once they are too long
    length = 0
    offset = start
    while piece := stream.read1(min(BLOCK, max_line)):
        end = piece.rfind(b"\n") + 1
        if end and length:
            first = piece.find(b"\n")
            if length + first > max_line:
                yield Block(None, offset)
                offset += length + first + 1
                piece, end = piece[first + 1 :], end - first - 1
                held, length = [], 0
        if end:
            whole = b"".join((*held, memoryview(piece)[:end])) if held else piece[:end]
            yield Block(whole, offset)
            offset += len(whole)
            piece, held, length = piece[end:], [], 0
        length += len(piece)
        if length > max_line:
            held = []
        elif piece:
            held.append(piece)
    if length:
        yield Block(None if length > max_line else b"".join(held), offset)


def physical(found: Iterable[Block], number: int = 1) -> Iterator[tuple[Origin, bytes | None]]:
    """All lines with their origins, without their line feeds; None stands for one over the limit.

    The first is line *number* of its file.
    """
    for block in found:
        offset = block.offset
        for text in [None] if block.whole is None else lines_of(block.whole):
            yield Origin(number, offset), text
            number += 1
            offset += 0 if text is None else len(text) + 1


def lines(found: Iterable[Block], number: int = 1) -> Iterator[Frame]:
    """One frame per non-blank line; the first line of all is line *number* of its file."""
    shown = ((origin, text) for origin, text in physical(found, number) if text is None or not is_blank(text))
    return (Frame(at, origin, text) for at, (origin, text) in enumerate(shown))


def server_sent(found: Iterable[Block], max_line: int) -> Iterator[Frame]:
    """One frame per event: its ``data:`` lines joined, at the position of the first among all non-blank lines.

    A last event without its closing blank line is kept: it was sent, though perhaps not whole. An event with a line
    over the limit, or with more data than that, is over the limit.
    """
    framer = ServerSent(max_line)
    for origin, text in physical(found):
        frame = framer.take(origin, text)
        if frame is not None:
            yield frame
    frame = framer.end()
    if frame is not None:
        yield frame


class ServerSent:
    """Cuts server-sent events line by line.

    ``at`` is the position of the next non-blank line, ``idle`` whether none came since the last blank one.
    """

    def __init__(self, max_line: int) -> None:
        self.at = 0
        self.idle = True
        self._max = max_line
        self._first: tuple[int, Origin] | None = None
        self._data: list[bytes] = []
        self._length = 0

    @property
    def pending(self) -> bool:
        """True while there is data whose event has not ended."""
        return self._first is not None

    def take(self, origin: Origin, text: bytes | None) -> Frame | None:
        """Take a line, None for one over the limit; return the event that it ends."""
        self.idle = text is not None and is_blank(text)
        if self.idle:
            return self.end()
        name, _, value = (b"data", b"", None) if text is None else text.rstrip(b"\r").partition(b":")
        if name == b"data":
            self._first = self._first or (self.at, origin)
            self._length += self._max + 1 if value is None else len(value)
            if value is None or self._length > self._max:
                self._data = []
            else:
                self._data.append(value.removeprefix(b" "))
        self.at += 1
        return None

    def end(self) -> Frame | None:
        """Return the event that ends here, if one has begun."""
        if self._first is None:
            return None
        frame = Frame(*self._first, b"\n".join(self._data) if self._length <= self._max else None)
        self._first, self._data, self._length = None, [], 0
        return frame


_DECODER: Final = json.JSONDecoder(parse_int=float)  # accepts integers of any length; the values are not used
_scan: Final[Callable[[str, int], tuple[object, int]]] = _DECODER.raw_decode


def values(text: bytes | memoryview, max_line: int, start: int = 0) -> Iterator[Frame] | None:
    """Split *text* into the elements of one array, or into the values in a row; return None where it is neither.

    An array counts only if its first element is an object; values count only if the first takes more than one line.
    The rest after the last readable value is one frame. *text* begins at offset *start* of its file.
    """
    decoded = str(text, "utf-8", "surrogateescape")
    if not _hold_values(decoded, whole=True):
        return None
    begin = _skip(decoded, 0)
    in_array = decoded.startswith("[", begin)
    return _scanned(decoded, _skip(decoded, begin + 1) if in_array else begin, start, max_line, in_array=in_array)


def may_be_values(head: bytes | memoryview) -> bool:
    """Return whether a log that begins with *head* may be what ``values`` takes: nothing in *head* is at odds with it.

    A first line that was torn is told from one that goes on by this, and not by reading the whole log.
    """
    return _hold_values(str(head, "utf-8", "surrogateescape"), whole=False)


_CUT: Final = 9
"""Characters at the end of a text within which an error may come of its cut: the longest token is ``-Infinity``."""


def _hold_values(text: str, *, whole: bool) -> bool:
    """Return whether *text*, or a text that it begins, is an array of objects or pretty-printed values.

    Each value is forgotten at once: as objects, those of a log take ten times the memory of its text.
    """
    begin = _skip(text, 0)
    try:
        if not text.startswith("[", begin):
            return "\n" in text[begin : _scan(text, begin)[1]]
        begin = _skip(text, begin + 1)
        first, end = _scan(text, begin)
        if not isinstance(first, dict):
            return False
        while text.startswith(",", end := _skip(text, end)):
            end = _scan(text, _skip(text, end + 1))[1]
    except json.JSONDecodeError as error:
        return not whole and (error.pos >= len(text) - _CUT or error.msg.startswith("Unterminated string"))
    except RecursionError:
        return False
    if end == len(text):
        return not whole
    return text[end] == "]" and _skip(text, end + 1) == len(text)


def _scanned(text: str, begin: int, offset: int, max_line: int, *, in_array: bool) -> Iterator[Frame]:
    at, line, seen = 0, 1, 0
    while begin < len(text) and not (in_array and text[begin] == "]"):
        before = text[seen:begin]
        line, offset, seen = line + before.count("\n"), offset + len(_bytes(before)), begin
        try:
            end = _scan(text, begin)[1]
        except (ValueError, RecursionError):
            end = len(text)
        data = _bytes(text[begin:end])
        yield Frame(at, Origin(line, offset), data if len(data) <= max_line else None)
        at += 1
        begin = _skip(text, end)
        if in_array and text.startswith(",", begin):
            begin = _skip(text, begin + 1)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _skip(text: str, start: int) -> int:
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    return start


def looks_server_sent(line: bytes) -> bool:
    """Return whether a log's first non-blank line is one of server-sent events: a field, or a comment."""
    name, colon, _ = line.strip().partition(b":")
    return bool(colon) and name in _SSE_FIELDS


def looks_unfinished(line: bytes, *, whole: bool = True) -> bool:
    """Return whether a log's first non-blank line, *whole* or cut, begins a value that later lines continue.

    That is an array that begins with an object, or a pretty-printed object.
    """
    text = line.strip()
    if text.startswith(b"["):
        return text[1:].lstrip()[:1] in (b"", b"{")
    return whole and text.startswith(b"{") and text[-1:] in b"{[,:"
