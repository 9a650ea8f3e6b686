"""From a recorded log's bytes to events with positions and origins, in whichever format, however the bytes come."""

import json
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.adapters.logs.formats.registry import FORMATS, UnsupportedFormatError
from turncheck.adapters.logs.framing import Origin
from turncheck.adapters.logs.reading import MAX_LINE, Log, read_log
from turncheck.model.core.events import Event, Malformed, symbol_of

SETTINGS = settings(max_examples=50, deadline=None, database=None, derandomize=True)

USER: Final = b'{"type":"user-message","text":"red"}'
STOP: Final = b'{"type":"run-stop","reason":"completed"}'
BOM: Final = b"\xef\xbb\xbf"
PI: Final = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01","cwd":"/"}\n{"type":"agent_start"}\n'
AG_UI: Final = (
    b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n{"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n'
)

Read = list[tuple[int, str, Origin]]


class Pieces:
    """A stream that gives its bytes in pieces of given sizes, over and over."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._stream, self._sizes, self._reads = BytesIO(data), sizes, 0

    def read1(self, size: int = -1, /) -> bytes:
        self._reads += 1
        return self._stream.read(min(size, self._sizes[self._reads % len(self._sizes)]))


def events(data: bytes, **options: Any) -> list[tuple[int, Event, Origin]]:
    return listed(read_log(BytesIO(data), **options))


def tried(stream: Any, max_line: int) -> list[tuple[int, Event, Origin]] | str:
    """The events, or why there are none."""
    try:
        return listed(read_log(stream, max_line=max_line))
    except UnrecognisedError as error:
        return str(error)


def listed(log: Log) -> list[tuple[int, Event, Origin]]:
    return [
        (at, event, chunk.origin(index))
        for chunk in log.chunks
        for index, (event, at) in enumerate(zip(chunk.batch.events, chunk.batch.ats, strict=True))
    ]


def read(data: bytes, **options: Any) -> Read:
    return [(at, symbol_of(event), origin) for at, event, origin in events(data, **options)]


def format_of(data: bytes) -> str:
    return read_log(BytesIO(data)).format.name


def symbols(data: bytes, **options: Any) -> list[str]:
    return [symbol for _, symbol, _ in read(data, **options)]


# JSON lines


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\r\n\n", BOM, BOM + b"\n", b"\r"])
def test_nothing_holds_no_event(data: bytes) -> None:
    assert read(data) == []


def test_each_line_is_an_event_where_it_stands() -> None:
    assert read(USER + b"\n" + STOP + b"\n") == [
        (0, "user-message", Origin(1, 0)),
        (1, "run-stop", Origin(2, len(USER) + 1)),
    ]


def test_blank_lines_hold_no_position_and_count_as_lines() -> None:
    assert read(b"\n \r\n" + USER + b"\r\n\t\n\nrubbish\n\n" + STOP) == [
        (0, "user-message", Origin(3, 4)),
        (1, "malformed", Origin(6, 4 + len(USER) + 5)),
        (2, "run-stop", Origin(8, 4 + len(USER) + 14)),
    ]


def test_a_torn_last_line_is_malformed() -> None:
    assert read(USER + b"\n" + STOP[:-5])[1] == (1, "malformed", Origin(2, len(USER) + 1))


def test_a_line_that_is_not_utf8_is_malformed_and_the_others_are_not() -> None:
    assert symbols(USER + b'\n{"type":"native","x":"\xff"}\n' + STOP) == ["user-message", "malformed", "run-stop"]


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"[5]",
        b"[[{}]]",
        b"5",
        b"null",
        b'"x"',
        b"{}",
        USER + b",",
        b"[" + USER,
        STOP[:-1],
        b'{"a":[',
        b"[",
        b"]",
    ],
)
def test_an_odd_first_line_spoils_no_other(line: bytes) -> None:
    assert symbols(line + b"\n" + USER + b"\n" + STOP) == ["malformed", "user-message", "run-stop"]


# The byte order mark


@pytest.mark.parametrize(
    "data",
    [
        USER + b"\n" + STOP,
        b"\n" + USER,
        b"[" + USER + b"," + STOP + b"]",
        json.dumps(json.loads(USER), indent=1).encode() + b"\n" + STOP,
        b"data: " + USER + b"\n\ndata: " + STOP + b"\n\n",
        PI,
        b'{"a":1,\n' + USER,
    ],
)
def test_a_byte_order_mark_is_ignored_and_counts_in_offsets(data: bytes) -> None:
    assert read(BOM + data) == [(at, symbol, Origin(line, offset + 3)) for at, symbol, (line, offset) in read(data)]


def test_a_second_mark_is_no_json() -> None:
    assert symbols(BOM + BOM + USER, format_name="turncheck") == ["malformed"]


# Arrays and pretty-printed logs


def test_positions_in_an_array_are_indices() -> None:
    assert read(b"[" + USER + b",5,\n" + STOP + b"]\n") == [
        (0, "user-message", Origin(1, 1)),
        (1, "malformed", Origin(1, len(USER) + 2)),
        (2, "run-stop", Origin(2, len(USER) + 5)),
    ]


@pytest.mark.parametrize(
    "data", [b"[]", b"[5," + USER + b"]", b"[null," + USER + b"]", b"[" + USER + b"] x", b"[" + USER]
)
def test_what_is_no_array_of_objects_is_one_malformed_line(data: bytes) -> None:
    assert read(data, format_name="turncheck") == [(0, "malformed", Origin(1, 0))]


def test_a_long_number_does_not_unmake_an_array() -> None:
    assert symbols(b"[" + USER + b"," + b"9" * 5000 + b"," + STOP + b"]") == ["user-message", "malformed", "run-stop"]


def test_positions_in_a_pretty_printed_log_count_values() -> None:
    data = b'{\n "type": "user-message",\n "text": "red"\n}\n{\n "type": "run-stop",\n "reason": "error"\n}\n'
    assert read(data) == [(0, "user-message", Origin(1, 0)), (1, "run-stop", Origin(5, data.index(b"}\n{") + 2))]


def test_a_torn_last_value_is_malformed_where_it_begins() -> None:
    data = b'{\n "type": "user-message",\n "text": "red"\n}\n{\n "type":'
    assert read(data) == [(0, "user-message", Origin(1, 0)), (1, "malformed", Origin(5, data.rindex(b"{")))]


# Server-sent events


def test_events_stand_at_their_first_data_line() -> None:
    data = b": hello\nevent: x\ndata: " + USER[:10] + b"\ndata: " + USER[10:] + b"\n\ndata: " + STOP
    assert [(at, line) for at, _, (line, _) in read(data)] == [(2, 3), (4, 6)]


def test_data_over_two_lines_is_joined_by_a_line_feed() -> None:
    data = b'data: {"type":"user-message",\ndata: "text":"red"}\n\n'
    assert read(data) == [(0, "user-message", Origin(1, 0))]


def test_crlf_and_a_missing_last_blank_line_change_nothing() -> None:
    data = b"data: " + USER + b"\n\ndata: " + STOP + b"\n\n"
    assert [item[:2] for item in read(data.replace(b"\n", b"\r\n").removesuffix(b"\r\n"))] == [
        item[:2] for item in read(data)
    ]


def test_the_mark_of_the_streams_end_is_no_event() -> None:
    stream = b'data: {"type":"start"}\n\ndata: {"type":"finish"}\n\n'
    assert format_of(stream) == "ai-sdk"
    assert read(stream + b"data: [DONE]\n\n") == read(stream)


# Formats


@pytest.mark.parametrize("data", [b"rubbish\n", b"5\n", b'{"type":"x"}\n', b"data: x\n\n", b'[{"type":"x"}]'])
def test_a_log_that_no_format_fits_is_an_error(data: bytes) -> None:
    with pytest.raises(UnrecognisedError):
        read_log(BytesIO(data))


def test_a_log_that_is_read_by_a_name_that_does_not_fit_is_doubted() -> None:
    assert read_log(BytesIO(USER), format_name="turncheck").doubt is None
    assert "it looks like turncheck" in str(read_log(BytesIO(USER), format_name="ag-ui").doubt)


def test_what_fits_may_come_after_eight_lines_that_do_not() -> None:
    assert format_of(b'{"type":"x"}\n' * 60 + USER) == "turncheck"


@pytest.mark.parametrize("name", ["ag-ui", "ai-sdk", "pi", "turncheck"])
def test_a_format_can_be_named(name: str) -> None:
    assert read_log(BytesIO(USER), format_name=name).format is FORMATS[name]


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        read_log(BytesIO(USER), format_name="nonsense")


def test_what_is_known_and_not_read_is_an_error() -> None:
    with pytest.raises(UnsupportedFormatError):
        read_log(BytesIO(b'{"kind":"header","v":4,"storageVersion":1}'))


@pytest.mark.parametrize("sizes", [[1], [7], [100], [1 << 20]])
def test_the_format_does_not_depend_on_how_much_is_read_at_first(sizes: list[int]) -> None:
    assert read_log(Pieces(PI, sizes)).format.name == "pi"


def test_blank_and_unreadable_lines_hide_no_format() -> None:
    assert format_of(b"\n" * 100_000 + b"rubbish\n" + AG_UI) == "ag-ui"


# Long lines


LONG: Final = 200


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (USER + b"\n" + b"x" * 300 + b"\n" + STOP, ["user-message", "malformed", "run-stop"]),
        (b"x" * 300 + b"\n" + USER + b"\n" + STOP, ["malformed", "user-message", "run-stop"]),
        (b"[" + USER + b',{"a":"' + b"x" * 300 + b'"},' + STOP + b"]", ["user-message", "malformed", "run-stop"]),
        (b'{\n"a":"' + b"x" * 300 + b'"}' + USER + STOP, ["malformed", "user-message", "run-stop"]),
        (
            b"data: " + USER + b"\n\ndata: " + b"x" * 300 + b"\n\ndata: " + STOP,
            ["user-message", "malformed", "run-stop"],
        ),
        (
            b"data: " + b"x" * 300 + b"\n\ndata: " + USER + b"\n\ndata: " + STOP,
            ["malformed", "user-message", "run-stop"],
        ),
    ],
)
def test_what_is_over_the_limit_is_malformed(data: bytes, expected: list[str]) -> None:
    found = events(data, max_line=LONG)
    assert [symbol_of(event) for _, event, _ in found] == expected
    assert [event.why for _, event, _ in found if isinstance(event, Malformed)] == ["line over the limit (--max-line)"]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_long_line_is_malformed_in_a_mapped_log(at: int) -> None:
    mapped = AG_UI.splitlines()
    mapped.insert(at, b'{"type":"CUSTOM","name":"' + b"x" * 300 + b'"}')
    found = events(b"\n".join(mapped), max_line=LONG)
    assert [(place, origin.line) for place, event, origin in found if isinstance(event, Malformed)] == [(at, at + 1)]


@pytest.mark.parametrize("begin", [b"", b'{"a":"', b"data: ", b"[5,", b'{"a":[{', b" " * 1000])
def test_fifty_megabytes_without_a_line_feed_are_malformed_and_never_held(begin: bytes) -> None:
    class Endless:
        left = 50_000_000
        given = 0

        def read1(self, size: int = -1, /) -> bytes:
            piece = begin if not self.given else b"{" * min(size, self.left)
            self.given += len(piece)
            self.left -= len(piece)
            return piece or b""

    stream = Endless()
    if not begin:
        stream.given = 1
    tracemalloc.start()
    try:
        (chunk,) = read_log(stream, max_line=1 << 20, format_name="turncheck").chunks
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [symbol_of(event) for event in chunk.batch.events] == ["malformed"]
    assert peak < 6 << 20


def test_the_default_limit_is_eight_mebibytes() -> None:
    assert MAX_LINE == 8 * 1024 * 1024


# However the bytes come

LINES = st.lists(
    st.sampled_from(
        [USER, STOP, b"", b" \r", b"rubbish", b"\xff", '{"type":"native","x":"é"}'.encode(), STOP + b"\r", b"x" * 90]
    )
)
LOGS = st.one_of(
    LINES.map(b"\n".join),
    LINES.map(lambda found: b"\n".join(b"data: " + line + b"\n" for line in found)),
    st.lists(st.sampled_from([USER, STOP, b"5", b'{"a":"' + b"x" * 90 + b'"}'])).map(
        lambda found: b"[" + b",\n".join(found) + b"]"
    ),
    st.lists(st.sampled_from([b'{\n"a":1}', USER, b"x"])).map(b"\n".join),
    st.just(PI),
    st.just(AG_UI),
)


@SETTINGS
@given(
    LOGS,
    st.sampled_from([b"", BOM]),
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sampled_from([60, MAX_LINE]),
)
def test_nothing_depends_on_how_the_bytes_come(data: bytes, mark: bytes, sizes: list[int], max_line: int) -> None:
    data = mark + data
    assert tried(Pieces(data, sizes), max_line) == tried(BytesIO(data), max_line)


@SETTINGS
@given(LINES)
def test_an_origin_leads_back_to_the_line(found: list[bytes]) -> None:
    data = b"\n".join(found)
    for at, (place, _, (line, offset)) in enumerate(read(data, format_name="turncheck")):
        assert place == at
        assert data[offset:].split(b"\n")[0] == found[line - 1]
        assert data[:offset].count(b"\n") == line - 1


def test_several_events_of_one_line_share_its_origin() -> None:
    logs = (Path(__file__).parents[2] / "recordings" / "logs").glob("*/*")
    found = [[(at, origin) for at, _, origin in events(log.read_bytes())] for log in logs]
    assert all(len(dict.fromkeys(pairs)) == len({at for at, _ in pairs}) for pairs in found)
    assert any(len(dict.fromkeys(pairs)) < len(pairs) for pairs in found)
