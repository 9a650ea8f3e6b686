"""Fast loops on hostile logs: long lines, deep nesting, floods, in memory that does not grow with the log."""

import json
import tracemalloc
from collections.abc import Callable
from itertools import cycle

import pytest
from benchmarks import streams
from fuzz.edited_logs import FRAMES, NAMES, assert_same

from turncheck.adapters.logs import reading
from turncheck.adapters.logs.reading import read_log

MEASURED = [name for name in NAMES if name in streams.STREAMS]
FRAMED = ["lines", "events"]
MOST = 2 << 20
"""Bytes that a log of any length may take: some blocks, and what is open."""


class Endless:
    """A stream that repeats lines up to a size."""

    def __init__(self, first: bytes, lines: list[bytes], size: int) -> None:
        self._pieces = cycle([b"".join(lines[at : at + 50]) for at in range(0, len(lines), 50)])
        self._first, self._left = first, size

    def read1(self, _size: int = -1, /) -> bytes:
        if self._left <= 0:
            return b""
        piece, self._first = self._first or next(self._pieces), b""
        self._left -= len(piece)
        return piece


def lines_of(name: str) -> list[bytes]:
    lines: list[bytes] = streams.log(name, 60).splitlines()
    return lines


def framed(frame: str, lines: list[bytes]) -> bytes:
    return b"".join(map(FRAMES[frame], lines))


@pytest.mark.parametrize("frame", FRAMED)
@pytest.mark.parametrize("name", MEASURED)
def test_a_line_over_the_limit_is_one_finding(name: str, frame: str) -> None:
    lines = lines_of(name)
    lines[5:5] = [b"x" * 30_000, b'{"type":"' + b"y" * 30_000 + b'"}']
    assert_same(name, framed(frame, lines), 1 << 12, 10_000)
    assert_same(name, framed(frame, lines)[:-1] + b"z" * 30_000, 1 << 12, 10_000)


@pytest.mark.parametrize("frame", FRAMED)
@pytest.mark.parametrize("name", MEASURED)
def test_deep_nesting_is_read_as_by_the_mapper_alone(name: str, frame: str) -> None:
    lines = lines_of(name)
    deep = b"[" * 5_000
    lines[5:5] = [deep, lines[4][:-1] + b',"later":' + deep + b"]" * 5_000 + b"}", lines[4][:-1] + b',"later":' + deep]
    assert_same(name, framed(frame, lines))


@pytest.mark.parametrize("most", [1 << 20, 100])
def test_comments_before_the_first_event_count_as_positions(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_HEAD", most)
    log = b": ping\n\n" * 40 + framed("events", lines_of("ai-sdk"))
    assert_same("ai-sdk", log)
    assert_same("ai-sdk", log, 64)


@pytest.mark.parametrize("frame", FRAMED)
@pytest.mark.parametrize("name", MEASURED)
def test_a_long_log_takes_no_more_memory(name: str, frame: str) -> None:
    lines = list(map(FRAMES[frame], streams.log(name, 600).splitlines()))
    if name == "ai-sdk":  # one run, which never ends
        del lines[-1]
    assert peak(name, lambda size: Endless(b"", lines, size)) < MOST


@pytest.mark.parametrize("name", ["ag-ui", "ai-sdk", "anthropic"])
def test_an_item_that_never_ends_takes_some_bytes_a_line(name: str) -> None:
    lines = lines_of(name)
    begin = next(at for at, line in enumerate(lines) if b"I will " in line)
    first = b"".join(line + b"\n" for line in lines[:begin])
    flood = [lines[begin] + b"\n", lines[begin + 1] + b"\n"]
    assert peak(name, lambda size: Endless(first, flood * 50, size)) < MOST


def peak(name: str, stream: Callable[[int], Endless]) -> int:
    """The most bytes that reading a log of two megabytes takes at a time."""
    for _ in read_log(stream(1 << 16), format_name=name).chunks:  # what is loaded once is loaded
        pass
    tracemalloc.start()
    try:
        for _ in read_log(stream(2 << 20), format_name=name).chunks:
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_event_that_differs_each_time_is_no_flood_of_texts() -> None:
    """Deltas that no run has are not kept either."""
    run = [{"type": "start"}, {"type": "text-start", "id": "t"}]
    first = b"".join(json.dumps(event).encode() + b"\n" for event in run)
    deltas = [
        json.dumps({"type": "text-delta", "id": "t", "delta": "x" * 500, "at": at}).encode() + b"\n"
        for at in range(1000)
    ]
    assert peak("ai-sdk", lambda size: Endless(first, deltas, size)) < MOST
