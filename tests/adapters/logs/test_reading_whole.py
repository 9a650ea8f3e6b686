"""Logs that are read whole, and those that only seem so: a first line that goes on, or was torn."""

import json
import tracemalloc
from io import BytesIO
from typing import Any, Final

import pytest

from turncheck.adapters.logs.framing import may_be_values
from turncheck.adapters.logs.reading import TooLargeError, read_log
from turncheck.model.core.events import symbol_of

USER: Final = b'{"type":"user-message","text":"red"}'
STOP: Final = b'{"type":"run-stop","reason":"completed"}'
PI: Final = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01","cwd":"/"}\n{"type":"agent_start"}\n'


class Counted:
    """A stream that counts the bytes that were taken of it."""

    def __init__(self, data: bytes) -> None:
        self._stream, self.taken = BytesIO(data), 0

    def read1(self, size: int = -1, /) -> bytes:
        piece = self._stream.read(size)
        self.taken += len(piece)
        return piece


@pytest.mark.parametrize(
    "torn",
    [
        b'{"type":"user-message",',
        b'{"type":"user-message","content":[',
        b'{"type":"user-message","content":{',
        b'{"type":',
        b'[{"type":"user-message"',
        b'[{"type":"user-message"},',
        b"[",
    ],
)
def test_a_torn_first_line_is_malformed_and_the_log_is_not_read_whole(torn: bytes) -> None:
    stream = Counted(torn + b"\n" + (USER + b"\n" + STOP + b"\n") * 100_000)
    chunks = read_log(stream).chunks
    first = next(chunks)
    assert stream.taken < 3 << 20
    assert symbol_of(first.batch.events[0]) == "malformed"
    assert len(first.batch.events) + sum(len(chunk.batch.events) for chunk in chunks) == 200_001


WIDE: Final = '[{"type":"native","text":"\\u00e9 é","n":[-Infinity,NaN,true,null,-1.5e-10]}'.encode()
"""Every token there is."""


@pytest.mark.parametrize("length", range(2, len(WIDE) + 1))
def test_a_value_that_is_cut_at_the_probes_end_is_no_torn_line(length: int) -> None:
    assert may_be_values(WIDE[:length])


@pytest.mark.parametrize(
    "data", [b"[{}}", b"[{} {}", b"[5", b'[{"a"}', b'[{"a":1,\n{"b":2}\n', b'{"a":\n{"b":2}\n{"c"']
)
def test_what_is_at_odds_with_a_value_is_no_value(data: bytes) -> None:
    assert not may_be_values(data + b" " * 20)


@pytest.mark.parametrize("element", [USER, json.dumps(json.loads(USER), indent=2).encode()])
def test_an_array_longer_than_the_probe_is_read_to_its_end(element: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turncheck.adapters.logs.reading._PROBE", 100)
    number = 10_000
    data = b"[" + b",\n".join([element] * number) + b"]"
    assert sum(len(chunk.batch.events) for chunk in read_log(BytesIO(data)).chunks) == number


def test_an_array_over_the_limit_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turncheck.adapters.logs.reading.WHOLE", 1000)
    stream = Counted(b"[" + b",\n".join([USER] * 100_000) + b"]")
    with pytest.raises(TooLargeError, match=r"write it with one event a line, as `jq -c \.\[\]`"):
        read_log(stream)
    assert stream.taken < 3 << 20


def test_an_array_of_the_very_limit_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"[" + b",\n".join([USER] * 10) + b"]"
    monkeypatch.setattr("turncheck.adapters.logs.reading.WHOLE", len(data))
    assert sum(len(chunk.batch.events) for chunk in read_log(BytesIO(data)).chunks) == 10


def test_the_elements_of_an_array_are_not_held_together() -> None:
    data = b"[" + b",".join([b'{"a":{}}'] * 20_000) + b"]"
    tracemalloc.start()
    try:
        assert may_be_values(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(data)


@pytest.mark.parametrize("name", [None, "pi"])
def test_the_values_that_a_format_is_recognised_by_are_parsed_once(
    name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []

    def parse(line: bytes) -> Any:
        parsed.append(line)
        return json.loads(line)

    monkeypatch.setattr("turncheck.adapters.logs.beginning.read_value", parse)
    list(read_log(BytesIO(PI), format_name=name).chunks)
    assert parsed == PI.splitlines()
