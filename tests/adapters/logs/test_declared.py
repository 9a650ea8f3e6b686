"""A reader as a table of rows: what it reads, what it refuses, and the way back."""

from typing import Any

import pytest

from turncheck.adapters.logs.formats.declared import BadFormatError, Row, declared
from turncheck.adapters.logs.formats.writing import written
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop, ToolResult, UserMessage

ASK = Row({"event": "ask"}, "user-message", {"text": "body", "id": "id"})
SAY = Row({"event": "say"}, "assistant", {"text": "body"})
CALL = Row({"event": "tool"}, "tool-call", {"call_id": "call.id", "tool": "call.name"})
DONE = Row({"event": "tool_done"}, "tool-result", {"call_id": "call.id", "is_error": "failed"})
BYE = Row({"event": "bye", "ok": True}, "run-stop", reason="completed")
CUT = Row({"event": "bye"}, "run-stop", {"detail": "why"}, reason="interrupted")
ROWS = (ASK, SAY, CALL, DONE, BYE, CUT)


def run(rows: Any, *values: Any, **options: Any) -> list[tuple[int, Event]]:
    mapper = declared("acme", "Acme", rows, **options).mapper()
    return [*(event for at, value in enumerate(values) for event in mapper.value(at, value)), *mapper.end()]


def test_each_row_gives_its_event() -> None:
    values = [
        {"event": "ask", "body": "red", "id": 5},
        {"event": "tool", "call": {"id": "c", "name": "read"}},
        {"event": "tool_done", "call": {"id": "c"}, "failed": True},
        {"event": "say", "body": "blue"},
        {"event": "bye", "ok": False, "why": "stop"},
    ]
    assert [event for _, event in run(ROWS, *values)] == [
        UserMessage(text="red", id="5"),
        AgentOutput(kind="tool-call", call_id="c", tool="read"),
        ToolResult(call_id="c", is_error=True),
        AgentOutput(kind="assistant", text="blue"),
        RunStop(reason="interrupted", detail="stop"),
    ]


def test_the_first_row_that_fits_counts() -> None:
    assert run(ROWS, {"event": "bye", "ok": True})[0][1] == RunStop(reason="completed")


def test_a_line_that_no_row_fits_means_nothing_and_keeps_its_position() -> None:
    assert run(ROWS, {"event": "tick"}, {"event": "say", "body": "x"})[0] == (0, Native())


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"event": "say"}, "body is missing"),
        ({"event": "say", "body": 1.5}, "body is no string"),
        ({"event": "tool", "call": 5}, "call.id is missing"),
        ({"event": "tool_done", "call": {"id": "c"}, "failed": "no"}, "is_error is no boolean"),
    ],
)
def test_a_line_that_lacks_a_part_is_malformed_and_says_which(value: dict[str, Any], why: str) -> None:
    ((_, event),) = run(ROWS, value)
    assert isinstance(event, Malformed)
    assert why in event.why


def test_a_message_amid_a_run_is_a_steer() -> None:
    ask = {"event": "ask", "body": "red"}
    deliveries = [event.delivery for _, event in run(ROWS, ask, ask) if isinstance(event, UserMessage)]
    assert deliveries == [None, "steer"]


def test_without_the_user_a_runs_first_output_is_its_root() -> None:
    events = run((SAY, BYE), {"event": "say", "body": "x"}, {"event": "bye", "ok": True})
    assert events[:2] == [(0, UserMessage(text="", source="adapter")), (0, AgentOutput(kind="assistant", text="x"))]


def test_without_ends_the_next_message_ends_a_run() -> None:
    ask = {"event": "ask", "body": "red"}
    events = run((ASK, SAY), ask, {"event": "say", "body": "x"}, ask)
    assert events[2:] == [(2, RunStop(reason="completed", source="adapter")), (2, UserMessage(text="red"))]


def test_sessions_are_told_by_their_path() -> None:
    events = run(
        ROWS, {"event": "ask", "body": "x", "at": {"chat": 7}}, {"event": "tick", "at": {"chat": 8}}, session="at.chat"
    )
    assert [event.session_id for _, event in events] == ["7", "8"]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ((Row({}, "assistant", {"text": "x"}),), "fits every line"),
        ((Row({"a": 1}, "assistant"),), "does not say where its text is"),
        ((Row({"a": 1}, "assistant", {"text": "x", "tool": "y"}),), "has no part tool"),
        ((SAY, Row({"event": "bye"}, "run-stop")), "is for run-stop, which needs one"),
        ((Row({"a": 1}, "assistant", {"text": "x"}, reason="error"),), "is for run-stop, which needs one"),
        ((SAY, Row({"event": "say", "b": 1}, "assistant", {"text": "x"})), "row 2 (assistant) is never reached"),
        ((ASK, BYE), "no row is an output of the agent"),
        ((Row({"a": 1}, "shout", {"text": "x"}),), "a meaning is one of"),  # type: ignore[arg-type]
    ],
)
def test_a_table_that_cannot_be_right_is_refused_with_the_row(rows: Any, why: str) -> None:
    with pytest.raises(BadFormatError) as raised:
        declared("acme", "Acme", rows)
    assert why in str(raised.value)


def test_what_the_table_cannot_say_comes_from_its_rows() -> None:
    assert set(declared("acme", "Acme", ROWS, session="chat").limits) == {"delivery"}
    assert set(declared("acme", "Acme", (SAY,)).limits) == {
        *("messages", "delivery", "calls", "results", "failures", "stops", "sessions")
    }


@pytest.mark.parametrize(
    "event",
    [
        UserMessage(text="red", id="u"),
        AgentOutput(kind="assistant", text="blue"),
        AgentOutput(kind="tool-call", call_id="c", tool="read"),
        ToolResult(call_id="c"),
        ToolResult(call_id="c", is_error=True),
        RunStop(reason="completed"),
        RunStop(reason="interrupted", detail="x"),
    ],
)
def test_what_a_row_writes_it_reads(event: Event) -> None:
    assert run(ROWS, written(ROWS, event)) == [(0, event)]


def test_what_no_row_says_is_not_written() -> None:
    assert written(ROWS, AgentOutput(kind="reasoning", text="x")) is None
    assert written(ROWS, RunStop(reason="error")) is None
