"""From bytes to events: the fast path never says anything else than the judge, on whatever bytes."""

import json
import sys
from codecs import BOM_UTF8
from typing import Final
from unittest.mock import patch

import pytest
from fuzz.logs import seen
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turncheck.conformance.generation.logs import Case, cases
from turncheck.model.core import decode
from turncheck.model.core.decode import batches, decode_line, decode_lines, is_blank, judge, judge_line
from turncheck.model.core.events import (
    Event,
    Malformed,
    Native,
    RunStop,
    UnknownType,
    UserMessage,
    symbol_of,
)

SETTINGS = settings(max_examples=80, deadline=None, database=None, derandomize=True)

STOP: Final = b'{"type":"run-stop","reason":"completed"}'
MESSAGE: Final = b'{"type":"user-message","text":"red"}'

NAMES: Final = ("type", "kind", "text", "content", "callId", "tool", "responseId", "reason", "detail", "delivery")
NAMES_TOO: Final = (
    *NAMES,
    "id",
    "isError",
    "synthetic",
    "sessionId",
    "source",
    "seq",
    "timestamp",
    "output",
    "extra",
    "",
)
WORDS: Final = (
    *("user-message", "agent-output", "tool-result", "run-stop", "model-request", "fault", "native"),
    *("run-pause", "run-resume"),
    *("assistant", "reasoning", "tool-call", "completed", "interrupted", "error", "steer", "followUp", "observed"),
    *("adapter", "red", "", "heartbeat"),
)

# JSON text, valid or nearly

STRINGS = st.sampled_from(
    (
        *(json.dumps(word).encode() for word in WORDS),
        rb'"\u0075ser-message"',
        rb'"run\u002dstop"',
        '"\N{SNOWMAN}"'.encode(),
        rb'"\ud83d\ude00"',
        rb'"\ud83d"',
        rb'"\ude00\ud83d"',
        rb'"\u0000"',
        b'"\x7f"',
        b'"\x01"',
        b'"\t"',
        b'"\xff"',
        b'"\xc3"',
        b'"\xed\xa0\x80"',
        b'"\xc0\x80"',
        b'"\xf4\x90\x80\x80"',
        rb'"\x"',
        rb'"\u12G4"',
        rb'"\u12',
        b'"',
        b"'red'",
    )
)
NUMBERS = st.sampled_from(
    (
        b"0",
        b"-0",
        b"5",
        b"1.5",
        b"-1e5",
        b"1e999",
        b"-1E+999",
        b"18446744073709551616",
        b"-99999999999999999999.5",
        b"1" * 5000,
        b"-" + b"7" * 5000,
        b"1" * 5000 + b".5",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"-",
        b"1e",
        b"0x10",
    )
)
CONSTANTS = st.sampled_from(
    (b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity", b"tru", b"None", b"{}", b"[]")
)
SPACES = st.sampled_from((b"", b"", b"", b"", b" ", b"\t", b"\r", b"  ", b"\x0b", b"\xc2\xa0", b"\x00"))


def joined(pieces: list[bytes], space: bytes) -> bytes:
    return space.join(pieces)


VALUES: st.SearchStrategy[bytes] = st.recursive(
    STRINGS | NUMBERS | CONSTANTS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: b"[" + b",".join(items) + b"]")
        | st.lists(st.tuples(STRINGS, inner), max_size=2).map(
            lambda pairs: b"{" + b",".join(name + b":" + value for name, value in pairs) + b"}"
        )
    ),
    max_leaves=4,
)
KEYS = st.sampled_from([json.dumps(name).encode() for name in NAMES_TOO]) | st.just(rb'"\u0074ype"') | STRINGS
PAIRS = st.tuples(KEYS, SPACES, VALUES).map(lambda parts: parts[0] + parts[1] + b":" + parts[1] + parts[2])
OBJECTS = st.builds(
    lambda pairs, space, comma: b"{" + space + (space + b",").join(pairs) + comma + b"}" + space,
    st.lists(PAIRS, max_size=5),
    SPACES,
    st.sampled_from((b"", b"", b"", b"", b",")),
)


@st.composite
def events(draw: st.DrawFn) -> bytes:
    """A generated event, well-formed or a misfit, as JSON, with now and then a member more (or a second time)."""
    case: Case = draw(CASES)
    value = draw(st.sampled_from(case.log or [None]))
    line = json.dumps(value, ensure_ascii=draw(st.booleans())).encode()
    if isinstance(value, dict) and value and draw(st.booleans()):
        more = draw(PAIRS)
        return line[:-1] + b"," + more + b"}" if draw(st.booleans()) else b"{" + more + b"," + line[1:]
    return line


CASES = cases()
DEEP = st.sampled_from((150, 199, 5000, 100_000)).map(
    lambda depth: b'{"type":"native","x":' + b"[" * depth + b"]" * depth + b"}"
)
ODD = st.sampled_from(
    (
        b"",
        b" ",
        b"\r",
        b"\t \r",
        b"{}",
        b"{},{}",
        b"{} {}",
        b"{}{}",
        b"null",
        b"[]",
        b"5",
        b'"red"',
        b"[{}]",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"],[",
        b"},{",
        MESSAGE + b",",
        b"," + MESSAGE,
        MESSAGE + STOP,
        STOP + b"," + STOP,
        b"[" + STOP,
        STOP + b"]",
        STOP + b"],[" + STOP,
        b"\xef\xbb\xbf" + STOP,
        STOP[:-10],
        STOP[-10:],
        STOP + b"\r",
        b"\x0c" + STOP,
        STOP + b"\x00",
        b"// " + STOP,
        b'{"type":"native"',
        b'"x":1}',
        b'{"type":"native","x":[1',
        b'{"type":"native","x":[{}',
        b"{}]}",
        b"2]}",
        b'{"type":"native","x":{"y":1',
    )
)
LINES = st.one_of(
    events(), OBJECTS, VALUES, ODD, DEEP, st.binary(max_size=12).map(lambda line: line.replace(b"\n", b""))
)


@SETTINGS
@given(LINES)
@example(b'{"type":"run-stop","reason":"completed","type":"native"}')
@example(b'{"type":"native","type":"run-stop","reason":"completed"}')
@example(b'{"type":"user-message","text":"red","text":null}')
@example(b'{"sessionId":"a","type":"native","sessionId":5}')
@example(b'{"type":"run-stop","reason":"error","via":"exception"}')
@example(b'{"type":"run-pause","calls":["a"]}')
def test_the_fast_path_says_what_the_judge_says(line: bytes) -> None:
    assert seen(decode_line(line)) == seen(judge_line(line))


@SETTINGS
@given(st.lists(LINES, max_size=6))
def test_a_block_is_its_lines(found: list[bytes]) -> None:
    events, number, _ = decode_lines(b"\n".join(found))
    assert list(map(seen, events)) == [seen(decode_line(line)) for line in found if not is_blank(line)]
    assert number == len(found) - (found[-1:] == [b""])


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b'{"type":"heartbeat"}',
        b'{"type":"native","agentId":"a"}',
        b'{"type":"run-pause","calls":["a"]}',
        b'{"type":"run-resume"}',
        b'{"type":"run-stop","reason":"error","via":"exception"}',
    ],
)
def test_a_block_that_a_reader_has_to_look_into_is_unusual(line: bytes) -> None:
    assert not decode_lines(MESSAGE + b"\n" + line + b"\n" + MESSAGE).usual


def test_a_block_without_pauses_and_ends_told_twice_is_usual() -> None:
    stop = b'{"type":"run-stop","reason":"error","detail":"via","via":null}'
    assert decode_lines(MESSAGE + b"\n" + stop + b"\n").usual


@SETTINGS
@given(
    st.lists(LINES | st.just(MESSAGE), max_size=30),
    st.sampled_from([b"", b"\n"]),
    st.integers(1, 5),
    st.integers(0, 200),
    st.sampled_from([0, 1000]),
)
def test_a_log_in_memory_is_its_lines(found: list[bytes], end: bytes, least: int, size: int, few: int) -> None:
    """However many lines are taken together, and looked at one by one or not."""
    log = b"\n".join(found) + end
    with patch.multiple(decode, _LEAST=least, _SIZE=size, _FEW=few):
        taken = list(batches(log))
    own = [found[0].removeprefix(BOM_UTF8), *found[1:]] if found else []  # a log may begin with a byte order mark
    expected = [decode_line(line) for line in own if not is_blank(line)]
    assert [seen(event) for batch in taken for event in batch.events] == list(map(seen, expected))
    assert [at for batch in taken for at in batch.ats] == list(range(len(expected)))


@pytest.mark.parametrize("filler", [0, 2000])
def test_a_log_in_memory_comes_some_hundred_lines_at_a_time(filler: int) -> None:
    line = b'{"type":"user-message","text":"' + b"x" * filler + b'"}\n'
    *full, _ = (len(batch.events) for batch in batches(line * 9000))
    assert set(full) == {192, 192 + 65536 // len(line)}


@pytest.mark.parametrize("filler", [0, 2000])
@pytest.mark.parametrize(("payload", "symbol"), [(b"\xc3\xa9", "tool-result"), (b"\xff", "malformed")])
def test_what_is_skipped_amid_a_log_in_memory_is_looked_into(payload: bytes, symbol: str, filler: int) -> None:
    odd = b'{"type":"tool-result","callId":"a","output":"' + payload + b"x" * filler + b'"}\n'
    plain = odd.replace(payload, b"")
    symbols = [symbol_of(event) for batch in batches(plain * 1000 + odd + plain * 1000) for event in batch.events]
    assert symbols == ["tool-result"] * 1000 + [symbol] + ["tool-result"] * 1000


@pytest.mark.parametrize("filler", [0, 2000])
def test_a_log_in_memory_that_is_not_ascii_is_decoded_once(filler: int) -> None:
    line = '{"type":"user-message","text":"é'.encode() + b"x" * filler + b'"}\n'
    with patch.object(decode, "decode_lines", side_effect=AssertionError("a second time")):
        assert sum(len(batch.events) for batch in batches(line * 1000)) == 1000


def test_a_line_that_is_refused_cuts_no_batch_short() -> None:
    """Or a log with a blank line after each would come an event at a time."""
    first, *_ = batches((MESSAGE + b"\n\n") * 1000)
    assert len(first.events) == 96


def test_a_byte_order_mark_before_a_log_in_memory_is_dropped() -> None:
    assert [symbol_of(event) for batch in batches(BOM_UTF8 + MESSAGE) for event in batch.events] == ["user-message"]


@SETTINGS
@given(cases())
def test_a_log_in_bytes_is_the_log_in_values(case: Case) -> None:
    block = b"\n".join(json.dumps(value).encode() for value in case.log)
    assert list(map(seen, decode_lines(block)[0])) == [seen(judge(value)) for value in case.log]


@pytest.mark.parametrize(
    "block",
    [
        b'{"type":"native"},{"type":"native"}\n{"type":"native"\n"x":1}',
        b'{"type":"native"},{"type":"native"}\n{"type":"native","x":[{}\n{}]}',
    ],
)
def test_two_values_on_one_line_do_not_make_up_for_a_value_over_two(block: bytes) -> None:
    assert [symbol_of(event) for event in decode_lines(block)[0]] == ["malformed"] * 3


# RC-D5 and the log format, one fact each


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"type":"run-stop","reason":"completed","type":"native"}', Native()),
        (b'{"type":"native","type":"run-stop","reason":"completed"}', RunStop(reason="completed")),
        (b'{"type":5,"type":"native"}', Native()),
        (b'{"type":"native","type":"heartbeat"}', UnknownType("heartbeat")),
        (b'{"type":"run-stop","reason":5,"reason":"error"}', RunStop(reason="error")),
        (rb'{"type":"user-message","text":"\ud83d"}', UserMessage(text="\ufffd")),
        (rb'{"type":"user-message","text":"\ud83dx"}', UserMessage(text="\ufffdx")),
        (rb'{"type":"user-message","text":"\ude00\ud83d"}', UserMessage(text="\ufffd\ufffd")),
        (rb'{"type":"user-message","text":"\ud83d\ude00"}', UserMessage(text="\N{GRINNING FACE}")),
        (rb'{"type":"native","sessionId":"\ud800"}', Native(session_id="\ufffd")),
        (rb'{"type":"native","extra":"\ud800"}', Native()),
        (b'{"type":"native","sessionId":5}', Native()),
        (b'{"type":"native","sessionId":null,"source":"adapter"}', Native(source="adapter")),
        (b'{"type":"native","source":"guessed"}', Native()),
        (b'{"type":"native","seq":' + b"9" * 5000 + b"}", Native()),
        (b'{"type":"native","source":5,"seq":' + b"9" * 5000 + b"}", Native()),
        (b'{"type":"native","x":' + b"[" * 200 + b"]" * 200 + b"}", Native()),
        (b' \t{"type":"native"}\r', Native()),
    ],
)
def test_a_line_is_read(line: bytes, expected: Event) -> None:
    assert decode_line(line) == judge_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"native","x":NaN}',
        b'{"type":"native","x":-Infinity}',
        b'{"type":"native","x":"\x01"}',
        b'{"type":"native","x":"\xff"}',
        b'{"type":"native","x":"\xed\xa0\x80"}',
        b'{"type":"native","\xff":1}',
        b'{"type":"user-message","text":"\xc3"}',
        b'{"type":"native"}{"type":"native"}',
        b'{"type":"native"},{"type":"native"}',
        b'{"type":"native"},',
        b'{"type":"native",}',
        b'\xef\xbb\xbf{"type":"native"}',
        b"null",
        b"[]",
        b'[{"type":"native"}]',
        b'"native"',
        b'{"type":null}',
        b"{}",
    ],
)
def test_a_line_is_malformed(line: bytes) -> None:
    for event in (decode_line(line), judge_line(line)):
        assert isinstance(event, Malformed)
        assert event.session_id is None


def test_a_misfit_keeps_its_session() -> None:
    assert decode_line(b'{"type":"run-stop","sessionId":"a"}').session_id == "a"


@pytest.mark.parametrize("line", [b'{"type":"native","x":', b'{"type":"user-message","source":5,"content":'])
@pytest.mark.parametrize("depth", [*range(900, 1010, 3), 100_000])
def test_no_depth_is_too_much(line: bytes, depth: int) -> None:
    """Nesting beyond 200 levels may be unreadable, and nothing else."""
    deep = line + b"[" * depth + b"]" * depth + b"}"
    assert symbol_of(decode_line(deep)) in ("observation", "user-message", "malformed")
    assert len(decode_lines(deep + b"\n" + deep)[0]) == 2


def test_a_value_that_no_json_holds_is_judged_all_the_same() -> None:
    assert symbol_of(judge({"type": "user-message", "content": [{1, 2}, b"red", object()]})) == "user-message"


def test_the_limit_on_digits_that_a_user_sets_changes_nothing() -> None:
    line = b'{"type":"native","source":5,"seq":' + b"9" * 1000 + b"}"
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert decode_line(line) == Native()
    finally:
        sys.set_int_max_str_digits(before)
