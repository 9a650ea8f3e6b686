"""Compressed logs are read as what they hold, in bounded memory, and a torn one is never taken for a whole one."""

import gzip
import tracemalloc
from io import BytesIO
from typing import Any, Final

import pytest
from backports import zstd

from turncheck.adapters.logs.compression import BrokenCompressionError, Decompressed, compression
from turncheck.adapters.logs.formats.registry import UnsupportedFormatError
from turncheck.adapters.logs.reading import read_log
from turncheck.model import extras
from turncheck.model.extras import MissingExtraError

LOG: Final = b'{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n' * 50
PACKERS: Final = [gzip.compress, zstd.compress]
packers = pytest.mark.parametrize("pack", PACKERS, ids=["gzip", "zstd"])


class Slow:
    """A stream that gives at most *size* bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._stream, self._size = BytesIO(data), size

    def read1(self, size: int = -1, /) -> bytes:
        return self._stream.read1(min(size, self._size) if size > 0 else self._size)


def number(data: bytes, size: int = 1 << 20) -> int:
    return sum(len(chunk.batch.events) for chunk in read_log(Slow(data, size)).chunks)


@packers
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_compressed_log_holds_the_same_events(pack: Any, size: int) -> None:
    assert number(pack(LOG), size) == number(LOG)


@packers
def test_several_files_in_a_row_are_one_log(pack: Any) -> None:
    assert number(pack(LOG) + pack(LOG)) == 2 * number(LOG)


def test_zeros_behind_a_gzip_file_are_padding() -> None:
    assert number(gzip.compress(LOG) + b"\0" * 512) == number(LOG)


@packers
@pytest.mark.parametrize("cut", [1, 9, 20])
def test_a_file_that_was_cut_is_an_error(pack: Any, cut: int) -> None:
    with pytest.raises(BrokenCompressionError, match="ends in the middle"):
        number(pack(LOG)[:-cut])


@packers
def test_a_damaged_file_is_an_error(pack: Any) -> None:
    data = bytearray(pack(LOG))
    data[len(data) // 2 :] = b"\xff" * 40
    with pytest.raises(BrokenCompressionError):
        number(bytes(data))


@packers
def test_what_is_packed_very_well_is_never_held_whole(pack: Any) -> None:
    bomb = pack(b"\n" * 100_000_000)
    tracemalloc.start()
    try:
        stream, size = Decompressed(BytesIO(bomb), compression(bomb) or ""), 0
        while piece := stream.read1(65536):
            size += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 100_000_000
    assert peak < 4 << 20


@packers
def test_a_compressed_log_cannot_be_followed(pack: Any) -> None:
    with pytest.raises(UnsupportedFormatError, match="cannot be followed"):
        read_log(BytesIO(pack(LOG)), live=True)


def test_without_its_extra_zstd_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.EXTRAS, "zstd", ("no_such_package.zstd",))
    with pytest.raises(MissingExtraError, match=r"turncheck\[zstd\]"):
        extras.needs_extra("zstd", "a log that is compressed with zstd")
