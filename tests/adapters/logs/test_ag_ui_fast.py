"""The fast loop of AG-UI gives what the mapper alone gives: events, positions, lines, offsets and verdicts."""

import json
import random
from functools import partial
from typing import Any

import pytest
from ag_ui.streams import broken, valid
from fuzz import edited_logs
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.fast.ag_ui.shapes import item_pattern
from turncheck.adapters.logs.fast.runs import LINE, style_of

SETTINGS = settings(max_examples=300, deadline=None, database=None, derandomize=True)
assert_same = partial(edited_logs.assert_same, "ag-ui")
Line = bytes


def in_lines(events: list[dict[str, Any]], spaces: str = "") -> list[Line]:
    return [json.dumps(event, separators=("," + spaces, ":" + spaces)).encode() for event in events]


IDS = st.sampled_from(["m", "n"])
TEXTS = st.sampled_from(["", "a", 'say "b"\n', "é", "\ud800", "\\"])
MORE = st.sampled_from(
    [
        *[{}] * 12,
        {"timestamp": 1},
        {"timestamp": "now"},
        {"timestamp": None},
        {"metadata": {"a": [1]}},
        {"metadata": 1},
        {"subagentRunId": "s"},
        {"subagentRunId": None},
        {"later": {"type": "RUN_FINISHED"}},
        {"role": "user"},
        {"role": "assistant"},
        {"role": None},
        {"delta": 1},
        {"messageId": 2},
        {"parentMessageId": "m"},
    ]
)
RUN = {"threadId": "t", "runId": "r"}


def event_of(name: str, identity: str, text: str) -> dict[str, Any]:
    """An event of the type *name* with all that it may need."""
    given: dict[str, Any] = {"type": name}
    match name.split("_", maxsplit=1)[0]:
        case "RUN":
            given |= RUN | ({"message": text} if name == "RUN_ERROR" else {})
        case "TOOL":
            given |= {"toolCallId": identity} | ({"toolCallName": "read"} if name.endswith(("START", "CHUNK")) else {})
            given |= {"messageId": f"x{identity}", "content": text} if name.endswith("RESULT") else {}
        case "STEP":
            given |= {"stepName": identity}
        case "SUBAGENT":
            given |= {"subagentRunId": identity, "name": "red", "message": text}
        case _:
            given |= {"messageId": identity}
    if name.endswith(("CONTENT", "ARGS", "CHUNK")):
        given |= {"delta": text}
    return given


NAMES = [
    *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED", "CUSTOM", "LATER"),
    *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK"),
    *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "TOOL_CALL_CHUNK"),
    *("REASONING_START", "REASONING_END", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"),
    *("REASONING_MESSAGE_END", "REASONING_MESSAGE_CHUNK", "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "THINKING_START"),
]
ONE = st.builds(
    lambda name, identity, text, more: [{**event_of(name, identity, text), **more}],
    *(st.sampled_from(NAMES), IDS, TEXTS, MORE),
)


def item(stem: str, piece: str, identity: str, texts: list[str]) -> list[dict[str, Any]]:
    """An undisturbed item."""
    names = [f"{stem}_START", *[f"{stem}_{piece}"] * len(texts), f"{stem}_END"]
    events = [event_of(name, identity, text) for name, text in zip(names, ["", *texts, ""], strict=True)]
    if stem == "REASONING_MESSAGE":
        events[0]["role"] = "reasoning"
    return events


WHOLE = st.builds(
    lambda stem, identity, texts: item(stem[0], stem[1], identity, texts),
    st.sampled_from([("TEXT_MESSAGE", "CONTENT"), ("TOOL_CALL", "ARGS"), ("REASONING_MESSAGE", "CONTENT")]),
    st.sampled_from(["m", "n", "o", "é"]),
    st.lists(TEXTS, max_size=3),
)
BEGUN = st.just([event_of("RUN_STARTED", "", "")])
PARTS = st.lists(st.one_of(ONE, WHOLE, WHOLE, BEGUN), max_size=12)
ODD = st.sampled_from(
    [b"", b" \t\r", b"{", b"nonsense", b"[DONE]", b'{"type":"RAW","event":"\xff"}', b"x" * 300, b"[" * 50]
)


def joined(parts: list[list[dict[str, Any]]], odd: list[tuple[int, bytes]], ascii_only: bool, spaces: str) -> bytes:  # noqa: FBT001
    events = [event_of("RUN_STARTED", "", ""), *(event for part in parts for event in part)]
    lines = [
        json.dumps(event, separators=("," + spaces, ":" + spaces), ensure_ascii=ascii_only).encode("utf-8", "replace")
        for event in events
    ]
    for at, line in odd:
        lines.insert(at % (len(lines) + 1), line)
    return b"\n".join(lines)


LOGS = st.builds(
    joined,
    PARTS,
    st.lists(st.tuples(st.integers(0, 60), ODD), max_size=2),
    st.booleans(),
    st.sampled_from(["", "", " "]),
)


@SETTINGS
@given(
    LOGS, st.sampled_from([1 << 20, 700, 64]), st.sampled_from([1 << 20, 200]), st.sampled_from([b"", b"\n", b"\r\n"])
)
def test_any_log_is_read_as_by_the_mapper_alone(data: bytes, piece: int, max_line: int, end: bytes) -> None:
    assert_same(data + end, piece, max_line)


@SETTINGS
@given(st.randoms(use_true_random=False), st.booleans(), st.sampled_from([1 << 20, 100]))
def test_generated_streams_are_read_as_by_the_mapper_alone(draw: random.Random, whole: bool, piece: int) -> None:  # noqa: FBT001
    assert_same(b"\n".join(in_lines(valid(draw) if whole else broken(draw))) + b"\n", piece)


START, DONE = event_of("RUN_STARTED", "", ""), event_of("RUN_FINISHED", "", "")
FAILED = json.dumps({"pydantic_ai": {"outcome": "failed"}})
ENCRYPTED = {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "xc", "encryptedValue": FAILED}
CALL, TEXT = item("TOOL_CALL", "ARGS", "c", ["{}"]), item("TEXT_MESSAGE", "CONTENT", "m", ["a"])
RESULT = event_of("TOOL_CALL_RESULT", "c", "red")
MORE_TEXT = event_of("TEXT_MESSAGE_CONTENT", "m", "b")
ASKED = [
    {**event, "role": "user"} if at == 0 else event
    for at, event in enumerate(item("TEXT_MESSAGE", "CONTENT", "n", ["c"]))
]
SNAPSHOT = {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "x", "role": "tool", "toolCallId": "c", "content": "red"}]}
CHUNK = event_of("TEXT_MESSAGE_CHUNK", "o", "a")
TAG = {"subagentRunId": "s"}
OTHER = item("TOOL_CALL", "ARGS", "d", ["{}"])
NOTE = {"type": "CUSTOM", "name": "note", "value": 1}
SIGNED = {**ENCRYPTED, "subtype": "tool-call", "entityId": "c", **TAG}
TOGETHER = {
    "a result is settled by a delta": [START, *TEXT[:2], *CALL, RESULT, MORE_TEXT, ENCRYPTED, TEXT[2], DONE],
    "a result is settled by a text": [START, *CALL, RESULT, *TEXT, ENCRYPTED, DONE],
    "a result is settled by a call": [START, *CALL, RESULT, *item("TOOL_CALL", "ARGS", "d", ["{}"]), ENCRYPTED, DONE],
    "a result that failed is the last": [START, *CALL, RESULT, ENCRYPTED, DONE],
    "a text goes on behind a result": [START, *TEXT[:2], *CALL, RESULT, MORE_TEXT, TEXT[2], *ASKED, DONE],
    "a text of the user is the model's in the next run": [
        *(START, {**TEXT[0], "role": "user"}, *TEXT[1:], DONE, START, *TEXT, *ASKED, DONE),
    ],
    "the same, delta by delta": [
        *(START, {**TEXT[0], "role": "user"}, *TEXT[1:], DONE, START, TEXT[0], TEXT[1], {**MORE_TEXT, "timestamp": 1}),
        *(TEXT[2], *ASKED, DONE),
    ],
    "a snapshot repeats a result": [START, *CALL, RESULT, SNAPSHOT, DONE],
    "a snapshot has the result": [START, *CALL, SNAPSHOT, DONE],
    "a text ends chunks": [START, CHUNK, *TEXT, {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}, DONE],
    "a call ends chunks": [START, CHUNK, *CALL, {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}, DONE],
    "a run starts amid chunks": [CHUNK, START, {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}, DONE],
    "a paused run": [START, *CALL, {**DONE, "outcome": {"type": "interrupt", "interrupts": []}}, START, RESULT, DONE],
    "a call of the run before is answered": [START, *CALL, DONE, START, RESULT, *TEXT, DONE],
    "a call of a sub-agent's message": [
        START,
        {**TEXT[0], **TAG},
        {**CALL[0], "parentMessageId": "m"},
        *CALL[1:],
        DONE,
    ],
    "a call of a sub-agent's message, later": [
        *(START, {**TEXT[0], **TAG}, *TEXT[1:], {**CALL[0], "parentMessageId": "m"}, *CALL[1:], RESULT, DONE),
    ],
    "a call of a message": [START, *TEXT, {**CALL[0], "parentMessageId": "m"}, *CALL[1:], {**RESULT, **TAG}, DONE],
    "a sub-agent goes on with a call": [START, *CALL[:2], {**CALL[1], **TAG}, CALL[2], {**RESULT, **TAG}, DONE],
    "a result's message has an owner": [
        *(
            START,
            *CALL,
            RESULT,
            {"type": "TEXT_MESSAGE_END", "messageId": "xc", **TAG},
            *TEXT,
            {**TEXT[2], **TAG},
            DONE,
        ),
    ],
    "a reasoning's owner": [
        *(START, *(events := item("REASONING_MESSAGE", "CONTENT", "m", ["a"])), {**events[2], **TAG}),
        *(event_of("REASONING_START", "k", ""), {**event_of("REASONING_END", "k", ""), **TAG}, DONE),
    ],
    "a call twice": [START, *CALL, *CALL, RESULT, DONE],
    "a text twice": [START, *TEXT, *TEXT, DONE],
    "a reasoning twice": [START, *events, *events, DONE],
    "an open step at the end": [START, event_of("STEP_STARTED", "m", ""), *TEXT, DONE],
    "an item open at the end": [START, *TEXT[:2], *CALL[:2], DONE],
    "a sub-agent's call for a result": [
        START,
        *CALL,
        RESULT,
        {**OTHER[0], "parentMessageId": "xc", **TAG},
        *OTHER[1:],
        DONE,
    ],
    "the user says something behind a call": [START, *CALL, *ASKED, DONE],
    "the same behind a call that was disturbed": [START, CALL[0], NOTE, *CALL[1:], *ASKED, DONE],
    "a call's owner changes": [
        *(START, *TEXT, *({**event, **TAG} for event in CALL), {**CALL[0], "parentMessageId": "m"}, *CALL[1:], DONE),
    ],
    "the same, disturbed": [
        *(
            START,
            *TEXT,
            *({**event, **TAG} for event in CALL),
            {**CALL[0], "parentMessageId": "m"},
            NOTE,
            *CALL[1:],
            DONE,
        ),
    ],
    "a call of a sub-agent's message is signed": [
        *(START, {**TEXT[0], **TAG}, *TEXT[1:], {**CALL[0], "parentMessageId": "m"}, *CALL[1:], SIGNED, DONE),
    ],
    "the same, with a note": [
        *(START, {**TEXT[0], **TAG}, *TEXT[1:], {**CALL[0], "parentMessageId": "m"}, NOTE, *CALL[1:], SIGNED, DONE),
    ],
    "a text that was open before the run": [*TEXT[:2], START, *TEXT, DONE],
    "the same, with a note in it": [*TEXT[:2], START, TEXT[0], NOTE, *TEXT[1:], DONE],
    "a delta behind the end": [START, TEXT[0], NOTE, *TEXT[1:], MORE_TEXT, DONE],
    "two texts at once": [START, *TEXT[:2], *item("TEXT_MESSAGE", "CONTENT", "n", ["a"]), MORE_TEXT, *TEXT[1:], DONE],
}


@pytest.mark.parametrize("stream", TOGETHER.values(), ids=list(TOGETHER))
def test_what_lines_do_together_is_what_the_mapper_alone_makes_of_them(stream: list[dict[str, Any]]) -> None:
    lines = in_lines(stream)
    assert_same(b"\n".join(lines) + b"\n")
    assert_same(b"\n".join(lines), 64)
    assert_same(b"\n".join(in_lines(stamped(stream))), 997)


def stamped(stream: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events, each with its time."""
    return [{"type": event["type"], "timestamp": 17 + at, **event} for at, event in enumerate(stream)]


@pytest.mark.parametrize("spaces", ["", " "])
@pytest.mark.parametrize(
    "stamps",
    [
        [{}] * 4,
        [{"timestamp": 1732450000000 + at} for at in range(4)],
        [{"timestamp": 1732450000.25 + at, "rawEvent": None} for at in range(4)],
        [{"timestamp": None, "rawEvent": None}] * 4,
    ],
)
def test_an_undisturbed_item_is_one_match(spaces: str, stamps: list[dict[str, Any]]) -> None:
    events = item("TOOL_CALL", "ARGS", "c", ['{"a', '": 1}'])
    for stream in (
        [{**event, **stamp} for event, stamp in zip(events, stamps, strict=True)],
        [{"type": event["type"], **stamp, **event} for event, stamp in zip(events, stamps, strict=True)],
    ):
        lines = b"\n".join(in_lines(stream, spaces))
        (found,) = item_pattern(LINE, style_of(lines)).finditer(b"\n" + lines + b"\n")
        assert (found.lastgroup, found["TOOL_CALL_id"], found[0].count(b"\n")) == ("TOOL_CALL", b"c", 4)


def test_a_blank_line_beside_one_that_is_no_text_is_counted() -> None:
    start = b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
    assert_same(b"\n".join([start, b"", b'{"type":"CUSTOM","name":"\xff"}', b"", start]))
