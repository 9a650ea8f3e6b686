"""The frames of a recorded log, one per position: lines, server-sent events, elements of an array, values in a row."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, Protocol

from turncheck.model.core.decode import is_blank, lines_of

BLOCK: Final = 98304
"""Bytes read at a time: with 192 KiB interleaved sessions take 5 % more, and events of 1 to 4 kB up to 5 % less."""

_SSE_FIELDS: Final = (b"data", b"event", b"id", b"retry", b"")


class Stream(Protocol):
    """A binary stream whose ``read1`` returns at most *size* bytes, b"" at its end: io.BufferedReader is one."""

    def read1(self, size: int = -1, /) -> bytes:
        """Read once."""
        ...


class Origin(NamedTuple):
    """Where an event stands in its file: physical line (1-based) and byte offset."""

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
    at = 0
    first: tuple[int, Origin] | None = None
    data: list[bytes] = []
    length = 0
    for origin, text in physical(found):
        if text is not None and is_blank(text):
            if first is not None:
                yield Frame(*first, b"\n".join(data) if length <= max_line else None)
                first, data, length = None, [], 0
            continue
        name, _, value = (b"data", b"", None) if text is None else text.rstrip(b"\r").partition(b":")
        if name == b"data":
            first = first or (at, origin)
            length += max_line + 1 if value is None else len(value)
            if value is None or length > max_line:
                data = []
            else:
                data.append(value.removeprefix(b" "))
        at += 1
    if first is not None:
        yield Frame(*first, b"\n".join(data) if length <= max_line else None)


_DECODER: Final = json.JSONDecoder(parse_int=float)  # accepts integers of any length; the values are not used
_scan: Final[Callable[[str, int], tuple[object, int]]] = _DECODER.raw_decode


def values(text: bytes, max_line: int, start: int = 0) -> Iterator[Frame] | None:
    """Split *text* into the elements of one array, or into the values in a row; return None where it is neither.

    An array counts only if its first element is an object; values count only if the first takes more than one line.
    The rest after the last readable value is one frame. *text* begins at offset *start* of its file.
    """
    decoded = text.decode("utf-8", "surrogateescape")
    begin = _skip(decoded, 0)
    in_array = decoded.startswith("[", begin)
    try:
        if in_array:
            match _DECODER.decode(decoded):
                case [{}, *_]:
                    begin = _skip(decoded, begin + 1)
                case _:
                    return None
        elif "\n" not in decoded[begin : _scan(decoded, begin)[1]]:
            return None
    except (ValueError, RecursionError):
        return None
    return _scanned(decoded, begin, start, max_line, in_array=in_array)


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
