"""The frames of a recorded log and their origins, for any bytes, in any pieces."""

import tracemalloc
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.framing import (
    BLOCK,
    Frame,
    Origin,
    blocks,
    lines,
    looks_server_sent,
    looks_unfinished,
    server_sent,
    values,
)

SETTINGS = settings(max_examples=200, deadline=None, database=None, derandomize=True)
NO_LIMIT: Final = 1 << 30


class Pieces:
    """A stream that yields its bytes in pieces of given sizes, over and over; it counts its reads."""

    def __init__(self, data: bytes, sizes: list[int] | None = None) -> None:
        self._data = memoryview(data)
        self._sizes = sizes or [NO_LIMIT]
        self.reads = 0

    def read1(self, size: int = -1, /) -> bytes:
        given = self._sizes[self.reads % len(self._sizes)]
        self.reads += 1
        most = given if size < 0 else min(given, size)
        piece, self._data = self._data[:most], self._data[most:]
        return bytes(piece)


class Endless:
    """A stream of *count* bytes without a line feed, made as they are read; it counts the bytes that it gave."""

    def __init__(self, count: int, before: bytes = b"", after: bytes = b"") -> None:
        self._left, self._before, self._after = count, before, after
        self.given = 0

    def read1(self, size: int = -1, /) -> bytes:
        if self._before:
            piece, self._before = self._before[:size], self._before[size:]
        elif self._left:
            piece = b"x" * min(size, self._left)
            self._left -= len(piece)
        else:
            piece, self._after = self._after[:size], self._after[size:]
        self.given += len(piece)
        return piece


def framed(data: bytes, max_line: int = NO_LIMIT, sizes: list[int] | None = None) -> list[Frame]:
    return list(lines(blocks(Pieces(data, sizes), max_line)))


def sent(data: bytes, max_line: int = NO_LIMIT, sizes: list[int] | None = None) -> list[Frame]:
    return list(server_sent(blocks(Pieces(data, sizes), max_line), max_line))


def valued(data: bytes, max_line: int = NO_LIMIT) -> list[Frame] | None:
    found = values(data, max_line)
    return None if found is None else list(found)


# Lines


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"", []),
        (b"\n", []),
        (b"\n \n\t\r\n\r\n", []),
        (b"a", [(0, 1, 0, b"a")]),
        (b"a\n", [(0, 1, 0, b"a")]),
        (b"a\nb", [(0, 1, 0, b"a"), (1, 2, 2, b"b")]),
        (b"a\r\nb\r\n", [(0, 1, 0, b"a\r"), (1, 2, 3, b"b\r")]),
        (b"\n\na\n \nb\n\n", [(0, 3, 2, b"a"), (1, 5, 6, b"b")]),
        (b"a\rb", [(0, 1, 0, b"a\rb")]),
        ("é\nb".encode(), [(0, 1, 0, "é".encode()), (1, 2, 3, b"b")]),
        (b"\xff\nb", [(0, 1, 0, b"\xff"), (1, 2, 2, b"b")]),
        (b"a\x0b\x0c\x85\xe2\x80\xa8b\nc", [(0, 1, 0, b"a\x0b\x0c\x85\xe2\x80\xa8b"), (1, 2, 9, b"c")]),
    ],
)
def test_a_line_that_is_not_blank_is_a_frame(data: bytes, frames: list[tuple[int, int, int, bytes]]) -> None:
    assert framed(data) == [Frame(at, Origin(line, offset), text) for at, line, offset, text in frames]


def test_a_line_of_the_limits_length_is_kept() -> None:
    assert [frame.data for frame in framed(b"abc\nabcd\nabc", 3)] == [b"abc", None, b"abc"]


def test_a_line_over_the_limit_holds_its_position_and_origin() -> None:
    assert framed(b"a\nlonger\nb\nlongest", 3) == [
        Frame(0, Origin(1, 0), b"a"),
        Frame(1, Origin(2, 2), None),
        Frame(2, Origin(3, 9), b"b"),
        Frame(3, Origin(4, 11), None),
    ]


PIECES = st.lists(st.integers(1, 9), min_size=1, max_size=5)
TEXTS = st.lists(st.sampled_from([b"a", b"bc", b"defgh", b"\n", b"\r\n", b"\n\n", b" ", "é".encode(), b"\xff"])).map(
    b"".join
)


@SETTINGS
@given(TEXTS, st.integers(1, 12), PIECES)
def test_lines_do_not_depend_on_how_the_bytes_come(data: bytes, max_line: int, sizes: list[int]) -> None:
    expected: list[Frame] = []
    offset = 0
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip(b" \t\r") or len(text) > max_line:
            expected.append(Frame(len(expected), Origin(number, offset), text if len(text) <= max_line else None))
        offset += len(text) + 1
    assert framed(data, max_line, sizes) == framed(data, max_line) == expected


def test_blocks_begin_where_they_are_said_to() -> None:
    assert [frame.origin for frame in lines(blocks(Pieces(b"a\nb"), NO_LIMIT, 3))] == [Origin(1, 3), Origin(2, 5)]


def test_a_line_of_fifty_megabytes_is_read_once_and_never_held() -> None:
    stream = Endless(50_000_000, before=b"a\n", after=b"\nb\n")
    tracemalloc.start()
    try:
        found = list(lines(blocks(stream, 100_000)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(frame.at, frame.origin, frame.data) for frame in found] == [
        (0, Origin(1, 0), b"a"),
        (1, Origin(2, 2), None),
        (2, Origin(3, 50_000_003), b"b"),
    ]
    assert stream.given == 50_000_005
    assert peak < 1_000_000


def test_a_long_line_is_put_together_once() -> None:
    stream = Pieces(b"x" * 1_000_000, [1000])
    tracemalloc.start()
    try:
        (frame,) = lines(blocks(stream, NO_LIMIT))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert frame.data == b"x" * 1_000_000
    assert stream.reads == 1001
    assert peak < 6_000_000


def test_a_block_is_no_longer_than_what_is_read_at_a_time() -> None:
    found = list(blocks(Pieces(b"abcdefg\n" * 50_000), NO_LIMIT))
    assert max(len(block.whole) for block in found if block.whole) < BLOCK + 8


# Server-sent events


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"data: a\n\ndata: b\n\n", [(0, 1, 0, b"a"), (1, 3, 9, b"b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [(0, 1, 0, b"a"), (1, 3, 11, b"b")]),
        (b"data:a\n\ndata:  b", [(0, 1, 0, b"a"), (1, 3, 8, b" b")]),
        (b"data: a\ndata: b\n\n", [(0, 1, 0, b"a\nb")]),
        (b"data\n\n", [(0, 1, 0, b"")]),
        (b"event: x\ndata: a\nid: 5\n\n", [(1, 2, 9, b"a")]),
        (b": hello\n\n: again\ndata: a\n\n", [(2, 4, 17, b"a")]),
        (b"data: a\n: between\ndata: b\n\ndata: c\n\n", [(0, 1, 0, b"a\nb"), (3, 5, 27, b"c")]),
        (b"event: ping\n\ndata: a\n\n", [(1, 3, 13, b"a")]),
        (b"retry: 5\n\n", []),
        (b"database: a\n data: b\n\n", []),
        (b"data: [DONE]\n\n", [(0, 1, 0, b"[DONE]")]),
        (b"\n\n\ndata: a\n \ndata: b", [(0, 4, 3, b"a"), (1, 6, 13, b"b")]),
        (b"", []),
    ],
)
def test_an_event_stands_where_its_data_begins(data: bytes, frames: list[tuple[int, int, int, bytes]]) -> None:
    assert sent(data) == [Frame(at, Origin(line, offset), text) for at, line, offset, text in frames]


def test_a_line_over_the_limit_spoils_the_event_it_is_in() -> None:
    data = b"data: 1\ndata: much longer\ndata: 2\n\ndata: 3\n\n"
    assert sent(data, 10) == [Frame(0, Origin(1, 0), None), Frame(3, Origin(5, 35), b"3")]


def test_a_line_over_the_limit_between_events_is_one() -> None:
    data = b"data: 1\n\n: much too long a comment\n\ndata: 3\n\n"
    assert [(frame.at, frame.data) for frame in sent(data, 10)] == [(0, b"1"), (1, None), (2, b"3")]


def test_an_event_of_many_lines_is_held_no_further_than_one_line_may_be_long() -> None:
    assert [frame.data for frame in sent(b"data: abcd\n" * 5 + b"\ndata: a\n\n", 12)] == [None, b"a"]


EVENTS = st.lists(
    st.sampled_from(
        [b"data: a\n", b"data: long enough\n", b"event: x\n", b": c\n", b"\n", b"\r\n", b"id\n", b"data:\r\n", b"x"]
    )
).map(b"".join)


@SETTINGS
@given(EVENTS, st.integers(8, 20), PIECES)
def test_events_do_not_depend_on_how_the_bytes_come(data: bytes, max_line: int, sizes: list[int]) -> None:
    found = sent(data, max_line, sizes)
    assert found == sent(data, max_line)
    assert [frame.at for frame in found] == sorted({frame.at for frame in found})


# Arrays, and values over several lines


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b'[{"a":1},{"b":2}]', [(0, 1, 1, b'{"a":1}'), (1, 1, 9, b'{"b":2}')]),
        (b'[\n  {"a":1},\r\n\n  5\n]\n', [(0, 2, 4, b'{"a":1}'), (1, 4, 17, b"5")]),
        (b' \n [{} , null]', [(0, 2, 4, b"{}"), (1, 2, 9, b"null")]),
        ('[{"a":"é\xa0"},{}]'.encode(), [(0, 1, 1, '{"a":"é\xa0"}'.encode()), (1, 1, 14, b"{}")]),
        (b'[{"a":"\xff"},{}]', [(0, 1, 1, b'{"a":"\xff"}'), (1, 1, 11, b"{}")]),
        (b'[{},NaN,' + b"1" * 5000 + b"]", [(0, 1, 1, b"{}"), (1, 1, 4, b"NaN"), (2, 1, 8, b"1" * 5000)]),
        (b'{\n"a":1}\n{"b":2}', [(0, 1, 0, b'{\n"a":1}'), (1, 3, 9, b'{"b":2}')]),
        (b'{\r\n"a":1}\r\n\r\n[\n1]', [(0, 1, 0, b'{\r\n"a":1}'), (1, 4, 13, b"[\n1]")]),
        (b'{\n"a":1}{"b":2} {"c":3}', [(0, 1, 0, b'{\n"a":1}'), (1, 2, 6 + 2, b'{"b":2}'), (2, 2, 16, b'{"c":3}')]),
        (b'{\n"a":1}\n{\n"b":', [(0, 1, 0, b'{\n"a":1}'), (1, 3, 9, b'{\n"b":')]),
        (b'{\n"a":1},\n{\n"b":2}', [(0, 1, 0, b'{\n"a":1}'), (1, 2, 8, b',\n{\n"b":2}')]),
    ],
)  # fmt: skip
def test_a_value_stands_where_it_begins(data: bytes, frames: list[tuple[int, int, int, bytes]]) -> None:
    assert valued(data) == [Frame(at, Origin(line, offset), text) for at, line, offset, text in frames]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"[5]",
        b"[null, {}]",
        b"[[{}]]",
        b"[{}] x",
        b"[{}]\n{}",
        b"[{}",
        b"[{},]",
        b'{"a":1}\n{\n"b":2}',
        b'{"a":1},\n{"b":2}\n',
        b'{"a":\n{"b":2}',
        b'{"a":1',
        b"[" * 100_000,
        b'{"a":\n' + b"[" * 100_000,
    ],
)
def test_what_is_neither_is_lines(data: bytes) -> None:
    assert valued(data) is None


def test_a_value_over_the_limit_holds_its_position() -> None:
    assert [frame.data for frame in valued(b'[{},{"a":"long"},{}]', 5) or []] == [b"{}", None, b"{}"]


def test_values_begin_where_they_are_said_to() -> None:
    found = values(b"[{},{}]", NO_LIMIT, 3)
    assert found is not None
    assert [frame.origin.offset for frame in found] == [4, 7]


# What the first line shows


@pytest.mark.parametrize(
    "line", [b"data: x", b"event: x", b"id: 5", b"retry: 5", b":", b": comment", b"data:x", b"data: x\r"]
)
def test_a_field_or_comment_begins_server_sent_events(line: bytes) -> None:
    assert looks_server_sent(line)


@pytest.mark.parametrize("line", [b"", b'{"type":"native"}', b"dataset: x", b"http://x", b"[", b"data"])
def test_anything_else_does_not(line: bytes) -> None:
    assert not looks_server_sent(line)


@pytest.mark.parametrize("line", [b"[", b"[ \r", b'[{"a":1}]', b"[ {", b"{", b'{"a": [', b'{"a": 1,', b'{"a":', b"{\r"])
def test_a_line_may_begin_what_goes_on(line: bytes) -> None:
    assert looks_unfinished(line)


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"[1,", b"[[", b'["a"', b"x{", b"}", b'{"a":1}'])
def test_any_other_line_ends_with_itself(line: bytes) -> None:
    assert not looks_unfinished(line)


def test_how_the_beginning_of_a_line_ends_tells_nothing() -> None:
    assert not looks_unfinished(b'{"a":[', whole=False)


def test_an_array_in_one_long_line_is_one() -> None:
    assert looks_unfinished(b'[{"a":', whole=False)
