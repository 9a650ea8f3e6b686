"""Which formats there are, and how a log's is found."""

from typing import Any

import pytest

from turncheck.adapters.logs.formats.items import NATIVE, Items, said
from turncheck.adapters.logs.formats.recognition import Tally, UnrecognisedError, detect, doubt, named
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.model.core.events import Malformed, RunStop, UnknownType

SESSION = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}


STREAMS = ["ag-ui", "ai-sdk", "anthropic", "openai-chat", "openai-responses"]


def test_only_streams_are_whole() -> None:
    assert [name for name, form in FORMATS.items() if form.whole] == STREAMS


def test_only_streams_have_calls_of_the_client() -> None:
    assert [name for name, form in FORMATS.items() if form.client_calls] == STREAMS


ERROR = {"type": "error", "errorText": "red"}
SAID = {"type": "user-message", "text": "red"}
UPDATE = {"type": "message_update", "message": {"role": "assistant"}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([{"type": "RUN_STARTED"}], "ag-ui"),
        ([{"type": "CUSTOM"}, {"type": "RUN_STARTED"}], "ag-ui"),
        ([{"type": "start"}], "ai-sdk"),
        ([{"type": "start"}, ERROR], "ai-sdk"),
        ([{"type": "data-status", "data": 1}, {"type": "start"}], "ai-sdk"),
        ([ERROR, {"type": "text-start", "id": "0"}], "ai-sdk"),
        ([{"type": "agent_start"}], "pi"),
        ([UPDATE], "pi"),
        ([{"type": "response"}, {"type": "agent_start"}], "pi"),
        ([{"type": "message_start", "message": {"type": "message", "role": "assistant"}}], "anthropic"),
        ([{"id": "1", "object": "chat.completion.chunk", "choices": []}], "openai-chat"),
        ([{"type": "response.created", "response": {}, "sequence_number": 0}], "openai-responses"),
        ([{"type": "user", "uuid": "1", "message": {"role": "user"}}], "claude-code"),
        ([{"type": "summary", "summary": "red", "leafUuid": "1"}], "claude-code"),
        ([{"type": "response_item", "payload": {"type": "message"}}], "codex"),
        ([SAID], "turncheck"),
        ([{"type": "tool-result", "callId": "c"}], "turncheck"),
        ([{"type": "anything"}, SAID], "turncheck"),
        ([ERROR, SAID, SAID], "turncheck"),
    ],
)
def test_a_format_is_recognised_by_what_only_it_has(values: list[dict[str, Any]], expected: str) -> None:
    assert detect(values).name == expected


@pytest.mark.parametrize(
    "value",
    [
        {"type": "anything"},
        {"type": "OTHER_THING"},
        {"type": "start", "of": "something"},
        {"type": "text-delta", "id": "0", "text": "a part of fullStream"},
        {"type": "tool-result", "toolCallId": "c", "output": 1},
        {"type": "message_start", "message": {"type": "other", "role": "assistant"}},
        {"type": "session", "event": "ping"},
        {"type": "assistant.message", "id": "2", "parentId": "1", "data": {}},
        {"type": "user", "message": {"role": "user"}},
        {},
    ],
)
def test_a_word_that_others_use_too_is_no_evidence(value: dict[str, Any]) -> None:
    with pytest.raises(UnrecognisedError, match="no format that is read fits"):
        detect([value])


def test_where_two_fit_equally_well_none_is_guessed() -> None:
    with pytest.raises(UnrecognisedError, match="ai-sdk and turncheck fit this log equally well"):
        detect([ERROR, SAID])


def test_the_error_says_what_was_seen_and_what_is_read() -> None:
    with pytest.raises(UnrecognisedError) as raised:
        detect([{"type": "thing"}, {"type": "thing"}, {"name": 1}])
    said = str(raised.value)
    assert "3 objects were looked at (2 of the type 'thing', 1 without a type, with name)" in said
    assert "read are ag-ui, ai-sdk, pi, " in said
    assert "--format python:MODULE:NAME" in said


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"resourceSpans": []}, "OTLP"),
        ({"id": "1", "run_type": "llm"}, "LangSmith"),
        ({"invocationId": "i"}, "ADK"),
        ({"info": {}, "messages": []}, "opencode"),
    ],
)
def test_the_error_says_what_it_looks_like(value: dict[str, Any], name: str) -> None:
    with pytest.raises(UnrecognisedError, match=f"looks like .*{name}.*, which is not read"):
        detect([value])


def test_a_named_format_that_fits_nothing_is_doubted_with_the_best_guess() -> None:
    said = doubt(FORMATS["ag-ui"], [SAID])
    assert said is not None
    assert "none is of the format ag-ui; it looks like turncheck" in said


def test_one_value_that_fits_is_enough_for_a_named_format() -> None:
    assert doubt(FORMATS["turncheck"], [{"type": "x"}, SAID]) is None


def test_a_header_alone_decides_nothing_yet() -> None:
    tally = Tally()
    tally.take(SESSION)
    assert not tally.decided
    tally.take({"type": "agent_start"})
    assert tally.decided


def test_a_header_before_agent_events_is_pis_json_mode() -> None:
    assert detect([SESSION, {"type": "agent_start"}]).name == "pi"


def test_a_header_before_entries_is_a_session_file() -> None:
    assert detect([SESSION, {"type": "message", "id": "1", "parentId": None}]).name == "pi-session"


def test_a_header_alone_is_a_session_file() -> None:
    assert detect([SESSION]).name == "pi-session"


def test_the_storage_of_pis_harness_is_refused_by_name() -> None:
    header = {"kind": "header", "v": 4, "id": "s", "storageVersion": 1, "createdAt": 0, "cwd": "/"}
    with pytest.raises(UnrecognisedError, match="agent harness"):
        detect([header])


def test_pi_names_both_of_its_formats() -> None:
    assert [named("pi", values).name for values in ([SESSION], [{"type": "agent_start"}], [{"type": "x"}])] == [
        "pi-session",
        "pi",
        "pi",
    ]


def test_a_format_can_be_named_for_a_log_without_an_object() -> None:
    assert [named(name, []).name for name in FORMATS] == list(FORMATS)


def test_an_own_log_maps_to_itself() -> None:
    mapper = FORMATS["turncheck"].mapper()
    values = [{"type": "run-stop", "reason": "error"}, {"type": "x"}, None]
    assert [event for at, value in enumerate(values) for event in mapper.value(at, value)] == [
        (0, RunStop(reason="error")),
        (1, UnknownType("x")),
        (2, Malformed("unreadable line")),
    ]
    assert list(mapper.end()) == []


# The reorder buffer


def test_nothing_leaves_before_what_stands_in_front_of_it() -> None:
    items = Items()
    items.begin("a", said("assistant"), 0)
    items.put(1, NATIVE)
    assert list(items.release()) == []
    items.append("a", 2, "x")
    items.finish("a")
    assert [at for at, _ in items.release()] == [0, 1]


def test_an_item_without_text_takes_no_place() -> None:
    items = Items()
    items.begin("a", said("assistant"))
    items.finish("a")
    assert list(items.drain()) == []


def test_a_place_that_nothing_fills_is_native_in_the_end() -> None:
    items = Items()
    items.hold(0)
    assert list(items.drain()) == [(0, NATIVE)]
