"""The bytes of an answer's body, decoded within bounds: a megabyte of gzip can stand for a gigabyte."""

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Final

import httpx

from ....logs.reading import MAX_LINE
from ....protocol.errors import excerpt

BODY_LIMIT: Final = 2 * MAX_LINE
"""Bytes of one decoded answer: its text returns in events and in the model's input, in a line of 64 MB."""
_PIECE: Final = 64 * 1024  # bytes decoded at once, as many as are read at once
_BLANK: Final = re.compile(rb"\n\n|\n\r|\r\r")
_SEE: Final = "(docs/http.md)"


class BrokenStreamError(Exception):
    """The answer is no whole event stream; the text says why."""


class Body(httpx.AsyncByteStream):
    """The decoded body of *response*; httpx itself would decode it without bounds.

    *hidden* returns text of the endpoint in a form that may be shown. The bytes since the last blank line are kept:
    the parser drops an event that does not end with one.
    """

    def __init__(self, response: httpx.Response, hidden: Callable[[bytes], bytes]) -> None:
        self._hidden = hidden
        self._stream: Any = response.stream
        self._encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        self._rest = bytearray()
        self._came = self._decoded = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decode = _decoder(self._encoding)
        async for raw in self._stream:
            self._came += len(raw)
            for piece in decode(raw) if raw else ():
                self._look(piece)
                yield piece
                await asyncio.sleep(0)  # the wait for the end of the patience gets a turn

    def check(self) -> None:
        """Raise BrokenStreamError if the stream ended amid an event."""
        if any(line.startswith(b"data") for line in self._rest.splitlines()):
            raise BrokenStreamError(f"the stream ended amid an event: {excerpt(self._hidden(bytes(self._rest)))}")

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def _look(self, piece: bytes) -> None:
        """Raise BrokenStreamError if *piece* exceeds a bound."""
        self._decoded += len(piece)
        if self._decoded > BODY_LIMIT:
            packed = "" if self._encoding == "identity" else f", from {self._came:,} bytes of {self._encoding}"
            raise BrokenStreamError(f"the answer is longer than {BODY_LIMIT:,} bytes{packed} {_SEE}")
        seen = max(0, len(self._rest) - 1)  # a blank line may be cut in two
        self._rest += piece
        del self._rest[: max((found.end() for found in _BLANK.finditer(self._rest, seen)), default=0)]
        if len(self._rest) > MAX_LINE:
            raise BrokenStreamError(f"an event is longer than {MAX_LINE:,} bytes {_SEE}")


class _Inflater:
    """Decode gzip or deflate; deflate comes with zlib's header or without."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._zlib: Any = None

    def __call__(self, raw: bytes) -> Iterator[bytes]:
        """Yield the decoded pieces of *raw*. Raises BrokenStreamError if it is not in its declared encoding."""
        if self._zlib is None:
            bare = self._encoding == "deflate" and raw[0] & 0x0F != zlib.DEFLATED
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32)
        piece = b"?"
        try:
            while piece and not self._zlib.eof:
                piece = self._zlib.decompress(raw, _PIECE)
                raw = self._zlib.unconsumed_tail
                if piece:
                    yield piece
        except zlib.error as error:
            raise BrokenStreamError(f"the answer is no {self._encoding}: {error} {_SEE}") from error


def _plain(raw: bytes) -> tuple[bytes]:
    return (raw,)


def _decoder(encoding: str) -> Callable[[bytes], Iterable[bytes]]:
    """Return a function from raw bytes to decoded pieces. Raises BrokenStreamError for an unsupported encoding."""
    if encoding in {"identity", ""}:
        return _plain
    if encoding in {"gzip", "x-gzip", "deflate"}:
        return _Inflater(encoding)
    raise BrokenStreamError(
        f"the answer is in Content-Encoding {excerpt(encoding)}; it was asked for as it is, and gzip or deflate, once,"
        f" would be read {_SEE}"
    )
