"""Fast reading gives what its format's mapper alone gives: events, positions, lines, offsets and verdicts."""

import gc
import weakref
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from fuzz.edited_logs import FRAMES, MEASURED, NAMES, assert_same, bases, logs, measured, recordings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.fast import generate
from turncheck.adapters.logs.fast.lines.registry import READS
from turncheck.adapters.logs.fast.registry import LOOPS
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import read_log
from turncheck.conformance.check.judge import check

SETTINGS = settings(
    max_examples=100,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
STREAMS = [name for name in MEASURED if name in LOOPS]
OTHERS = ("events without a space", "events with carriage returns")
"""Frames as other servers write them: Spring's, and sse-starlette's."""
RECORDED = [(name, path) for name in NAMES for path in recordings(name)]


def test_the_loops_are_in_step_with_what_the_formats_declare() -> None:
    assert all(path.read_text(encoding="utf-8") == text for path, text in generate.generate().items())


@pytest.mark.parametrize("name", NAMES)
def test_any_log_is_read_as_by_the_mapper_alone(name: str) -> None:
    @settings(SETTINGS, max_examples=100 if name in READS else 300)
    @given(logs(bases(name)), st.sampled_from([1 << 20, 700, 64]), st.sampled_from([1 << 20, 1 << 20, 200]))
    def same(data: bytes, piece: int, max_line: int) -> None:
        assert_same(name, data, piece, max_line)

    same()


@pytest.mark.parametrize(("name", "path"), RECORDED, ids=[path.name for _, path in RECORDED])
def test_recordings_are_read_as_by_the_mapper_alone(name: str, path: Path) -> None:
    assert_same(name, path.read_bytes())
    assert_same(name, path.read_bytes(), 997)


@pytest.mark.parametrize("piece", [997, 1 << 20])
@pytest.mark.parametrize("frame", ["lines", "events", "events with names", "events with ids", *OTHERS])
@pytest.mark.parametrize("name", STREAMS)
def test_a_long_stream_is_read_as_by_the_mapper_alone(name: str, frame: str, piece: int) -> None:
    assert_same(name, _framed(name, frame), piece)


@pytest.mark.parametrize("frame", ["lines", "events", "events with names", *OTHERS])
@pytest.mark.parametrize("name", STREAMS)
def test_a_good_stream_hardly_needs_the_mapper(name: str, frame: str) -> None:
    asked: list[Any] = []
    mapper: Any = FORMATS[name].mapper
    accept = mapper.accept

    def counted(self: Any, at: int, value: Any) -> None:
        asked.append(value)
        accept(self, at, value)

    data = _framed(name, frame)
    with patch.object(mapper, "accept", counted):
        assert check("log", BytesIO(data)).verdict == "pass"
    few = 4 if name == "openai-chat" else 20  # a chunk of chat has no type: the mapper reads the first of each run
    assert len(asked) < data.count(b"\n") / few


@pytest.mark.parametrize("piece", [997, 1 << 20])
@pytest.mark.parametrize("name", READS)
def test_a_long_file_is_read_as_by_the_mapper_alone(name: str, piece: int) -> None:
    assert_same(name, measured(name, 300), piece)


@pytest.mark.parametrize("name", READS)
def test_a_good_file_hardly_needs_the_mapper(name: str) -> None:
    asked: list[Any] = []
    mapper: Any = FORMATS[name].mapper
    told = mapper.told

    def counted(self: Any, value: Any) -> Any:
        asked.append(value)
        return told(self, value)

    data = measured(name, 300)
    with patch.object(mapper, "told", counted):
        assert check("log", BytesIO(data)).verdict == "pass"
    assert len(asked) <= data.count(b"\n") / 20


def _framed(name: str, frame: str) -> bytes:
    return b"".join(map(FRAMES[frame], measured(name, 3000).splitlines()))


@pytest.mark.parametrize("piece", [61, 997, 1 << 20])
@pytest.mark.parametrize(
    "frames", [("events", "events with carriage returns"), ("events with carriage returns", "events")]
)
def test_line_ends_that_change_amid_a_stream_are_read_as_by_the_mapper_alone(
    frames: tuple[str, str], piece: int
) -> None:
    lines = measured("ag-ui", 60).splitlines()
    data = b"".join(FRAMES[frames[at > 20]](line) for at, line in enumerate(lines))
    assert_same("ag-ui", data, piece)
    assert_same("ag-ui", data.replace(b"}\r\n", b"}\r\r\n", 3), piece)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("piece", [61, 997, 1 << 20])
@pytest.mark.parametrize("comment", [b": ping\n\n", b": a\n: b\n\n\n", b": amid\n"])
def test_comments_now_and_then_are_read_as_by_the_mapper_alone(comment: bytes, piece: int, end: bytes) -> None:
    events = [FRAMES["events"](line) for line in measured("ag-ui", 90).splitlines()]
    for first in (0, 7):
        data = b"".join((comment if at % 20 == first else b"") + event for at, event in enumerate(events))
        assert_same("ag-ui", data.replace(b"\n", end), piece)
    ahead = b"".join(event.replace(b"data", comment + b"data", at % 20 == 7) for at, event in enumerate(events))
    assert_same("ag-ui", (comment + ahead + comment).replace(b"\n", end), piece)
    amid = b"".join(
        event.replace(b',"', b",\n" + comment + b'data: "', at % 20 == 7) for at, event in enumerate(events)
    )
    assert_same("ag-ui", amid.replace(b"\n", end), piece)


@pytest.mark.parametrize(
    "mark", [b"data: [DONE]\n\n", b"data:[DONE]\n\n", b"data: [DONE]\r\n\r\n", b"data: [DONE]\n\r\n"]
)
@pytest.mark.parametrize("frame", ["events", *OTHERS, "events with names"])
def test_the_end_mark_may_be_written_in_another_way(frame: str, mark: bytes) -> None:
    """A library writes the events, and a line of the server's own the mark."""
    data = _framed("openai-chat", frame) + mark
    assert check("log", BytesIO(data)).verdict == "pass"
    assert_same("openai-chat", data)


def test_lines_between_blank_ones_are_found_by_their_numbers() -> None:
    user = b'{"type":"message_start","message":{"role":"user","content":"Hi"}}\n'
    for piece in range(20, 120, 5):
        assert_same("pi", b'{"type":"agent_start"}\n\n' + user + b"{\n{\n", piece)


@pytest.mark.parametrize("name", STREAMS)
def test_blank_lines_behind_the_last_event_of_a_block_are_counted(name: str) -> None:
    events = _framed(name, "events")[:5000].rpartition(b"\n\n")[0]
    for blank in (1, 2, 5):
        assert_same(name, events + b"\n\n" + b"\n" * blank + b"data: rubbish\n: ping")
        assert_same(name, b"\n" * blank + events + b"\n\n" + b"\n" * blank)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """The garbage collector stands still."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("name", sorted({*READS, *LOOPS} & {*MEASURED}))
def test_what_was_read_needs_no_garbage_collector(name: str) -> None:
    log = read_log(BytesIO(measured(name, 2000)), format_name=FORMATS[name].called)
    kept = [weakref.ref(chunk) for chunk in log.chunks]
    assert kept
    assert [ref() for ref in kept] == [None] * len(kept)
