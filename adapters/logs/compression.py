"""Compressed logs, decompressed as they are read: gzip by zlib, zstd by Python 3.14's module or its backport."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, cast

from turncheck.model.extras import needs_extra

from .framing import BLOCK, Stream

MAGIC: Final = 4
"""Bytes of a file's beginning that tell whether it is compressed."""
_MAGIC: Final[Mapping[bytes, str]] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class BrokenCompressionError(ValueError):
    """The compressed data is torn or damaged."""


class _Decompressor(Protocol):
    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def compression(head: bytes | memoryview) -> str | None:
    """Return how a file that begins with *head* is compressed: gzip, zstd or not at all."""
    return next((kind for magic, kind in _MAGIC.items() if bytes(head[: len(magic)]) == magic), None)


class Decompressed:
    """The content of a compressed stream; at most *size* bytes of it are made at a time, however well it is packed."""

    def __init__(self, stream: Stream, kind: str) -> None:
        """Raises MissingExtraError where *kind* is zstd and its module is not installed."""
        self._stream, self._kind = stream, kind
        self._make: Final = _MAKERS[kind]()
        self._part: _Decompressor | None = None
        self._rest = b""

    def read1(self, size: int = -1, /) -> bytes:
        """Read some of the content; b"" at its end. Raises BrokenCompressionError, OSError."""
        most = BLOCK if size < 0 else size
        while True:
            if self._part is None or self._part.needs_input:
                self._rest = self._rest or self._stream.read1(BLOCK)
                if not self._rest and self._part is None:
                    return b""
                if not self._rest:
                    raise BrokenCompressionError(f"the {self._kind} data ends in the middle: the file was cut")
            self._part = self._part or self._make()
            try:
                found = self._part.decompress(self._rest, most)
            except Exception as error:  # zlib.error, ZstdError
                raise BrokenCompressionError(f"the {self._kind} data is damaged: {error}") from error
            self._rest = b""
            if self._part.eof:
                self._rest, self._part = self._part.unused_data.lstrip(b"\0"), None
            if found:
                return found


class _Gzip:
    def __init__(self) -> None:
        self._zlib: Final = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.eof, self.needs_input, self.unused_data = False, True, b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.eof, self.unused_data = self._zlib.eof, self._zlib.unused_data
        self.needs_input = not self._zlib.unconsumed_tail and len(found) < max_length
        return found


def _zstd() -> Callable[[], _Decompressor]:
    module: Any
    try:
        from compression import zstd as module  # type: ignore[import-not-found,no-redef]  # noqa: PLC0415 - since 3.14
    except ImportError:
        needs_extra("zstd", "a log that is compressed with zstd")
        from backports import zstd as module  # noqa: PLC0415 - only for such a log
    zstd = cast("Any", module)
    return lambda: zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})


_WINDOW: Final = 27
"""The largest window of zstd, as a power of two: 128 MiB, what its own program allows."""
_MAKERS: Final[Mapping[str, Callable[[], Callable[[], _Decompressor]]]] = {"gzip": lambda: _Gzip, "zstd": _zstd}
