"""The rules of pi's session files that no recording shows, or not alone."""

import json
import tracemalloc
from io import BytesIO
from typing import Any

import pytest
from fuzz.edited_logs import assert_same, measured

from turncheck.adapters.logs.formats import pi_session
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import read_log
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop, ToolResult, UserMessage

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}
TEXT = {"type": "text", "text": "hello"}
CALL = {"type": "toolCall", "id": "c", "name": "read", "arguments": {}}
COMPLETED = RunStop(reason="completed", source="adapter")
STEER = UserMessage(text="left", delivery="steer")


def run(*values: Any) -> list[tuple[int, Event]]:
    """What the values map to, without the lines that mean nothing."""
    mapper = FORMATS["pi-session"].mapper()
    for at, value in enumerate(values):
        assert list(mapper.value(at, value)) == []
    return [(at, event) for at, event in mapper.end() if not isinstance(event, Native)]


def entry(name: str, parent: str | None, kind: str = "message", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": name, "parentId": parent, **more}


def user(name: str, parent: str | None, said: str) -> dict[str, Any]:
    return entry(name, parent, message={"role": "user", "content": said})


def answer(name: str, parent: str, *content: Any, stop: str = "stop") -> dict[str, Any]:
    return entry(name, parent, message={"role": "assistant", "content": [*content], "stopReason": stop})


def result(name: str, parent: str) -> dict[str, Any]:
    return entry(name, parent, message={"role": "toolResult", "toolCallId": "c", "isError": False})


def said(response: str | None) -> AgentOutput:
    return AgentOutput(kind="assistant", text="hello", response_id=response)


# Inferred stops


def test_an_answer_without_calls_ends_the_run_on_its_line() -> None:
    assert run(HEADER, user("1", None, "hi"), answer("2", "1", TEXT))[1:] == [(2, said("2")), (2, COMPLETED)]


def test_an_answer_with_calls_goes_on_even_after_a_length_stop() -> None:
    assert len(run(HEADER, user("1", None, "hi"), answer("2", "1", CALL, stop="length"))) == 2


def test_an_aborted_answer_interrupts() -> None:
    stop = RunStop(reason="interrupted", source="adapter")
    assert run(HEADER, user("1", None, "hi"), answer("2", "1", stop="aborted"))[1:] == [(2, stop)]


def test_a_failed_answer_ends_the_run() -> None:
    stop = RunStop(reason="error", source="adapter")
    assert run(HEADER, user("1", None, "hi"), answer("2", "1", stop="error"), user("3", "2", "more"))[1] == (2, stop)


def test_a_failed_answer_before_another_answer_was_retried() -> None:
    lines = [user("1", None, "hi"), answer("2", "1", stop="error"), answer("3", "2", TEXT)]
    assert run(HEADER, *lines)[1:] == [(3, said("3")), (3, COMPLETED)]


def test_a_failed_answer_that_was_taken_out_of_the_context_was_retried() -> None:
    edit = entry("3", "2", "context_edit", targetId="2", replacement=None)
    assert len(run(HEADER, user("1", None, "hi"), answer("2", "1", stop="error"), edit)) == 1


def test_a_failed_answer_that_was_replaced_by_other_text_ended_the_run() -> None:
    edit = entry("3", "2", "context_edit", targetId="2", replacement={"role": "user"})
    assert len(run(HEADER, user("1", None, "hi"), answer("2", "1", stop="error"), edit)) == 2


# User messages


def test_a_message_after_a_tool_result_is_a_steer() -> None:
    lines = [user("1", None, "hi"), answer("2", "1", CALL, stop="toolUse"), result("3", "2"), user("4", "3", "left")]
    assert run(HEADER, *lines)[2:] == [(3, ToolResult(call_id="c")), (4, STEER)]


def test_a_message_right_after_its_root_is_a_steer() -> None:
    assert run(HEADER, user("1", None, "hi"), user("2", "1", "left"))[1:] == [(2, STEER)]


def test_a_message_after_a_stop_is_direct() -> None:
    lines = [user("1", None, "hi"), answer("2", "1", TEXT), user("3", "2", "left")]
    assert run(HEADER, *lines)[-1] == (3, UserMessage(text="left"))


def test_an_answer_that_no_user_asked_for_is_its_own_root() -> None:
    extension = entry("1", None, "custom_message", content="go")
    assert run(HEADER, extension, answer("2", "1", TEXT)) == [
        (2, UserMessage(text="", source="adapter")),
        (2, said("2")),
        (2, COMPLETED),
    ]


# The tree


def test_lines_on_an_abandoned_branch_mean_nothing() -> None:
    lines = [user("1", None, "hi"), answer("2", "1", TEXT), user("3", "2", "old"), user("4", "2", "new")]
    assert run(HEADER, *lines)[-2:] == [(2, COMPLETED), (4, UserMessage(text="new"))]


def test_a_first_message_that_was_edited_abandons_all_before_it() -> None:
    lines = [user("1", None, "hi"), answer("2", "1", TEXT), user("3", None, "again")]
    assert run(HEADER, *lines) == [(3, UserMessage(text="again"))]


def test_an_answer_on_another_branch_is_no_retry() -> None:
    lines = [user("1", None, "hi"), answer("2", "1", stop="error"), answer("3", "1", TEXT), user("4", "2", "more")]
    assert (2, RunStop(reason="error", source="adapter")) in run(HEADER, *lines)


def test_a_file_of_version_1_is_linear() -> None:
    header = {key: value for key, value in HEADER.items() if key != "version"}
    lines = [user("1", None, "hi"), answer("2", "1", TEXT), user("3", "2", "more")]
    bare = [{"type": "message", "message": line["message"]} for line in lines]
    assert run(header, *bare) == [
        (1, UserMessage(text="hi")),
        (2, said(None)),
        (2, COMPLETED),
        (3, UserMessage(text="more")),
    ]


def test_an_unreadable_line_does_not_cut_the_branch() -> None:
    lines = [user("1", None, "hi"), None, answer("3", "2", TEXT)]
    assert run(HEADER, *lines) == [
        (1, UserMessage(text="hi")),
        (2, Malformed("unreadable line")),
        (3, said("3")),
        (3, COMPLETED),
    ]


def test_parents_that_form_a_circle_end_the_walk() -> None:
    assert run(HEADER, user("1", "2", "hi"), user("2", "1", "left")) == [(1, UserMessage(text="hi")), (2, STEER)]


# Malformed


def test_a_missing_field_is_malformed_and_named() -> None:
    assert run(HEADER, entry("1", None)) == [(1, Malformed("message: message is missing"))]


def test_values_that_are_no_entries_are_malformed() -> None:
    assert run("x", {}) == [(0, Malformed("not an object: str")), (1, Malformed("type is no string"))]


def test_other_roles_and_entries_mean_nothing() -> None:
    roles = [entry(str(at), None, message={"role": role}) for at, role in enumerate(("system", "bashExecution"))]
    assert run(HEADER, *roles, entry("9", None, "label"), entry("10", None, "compaction")) == []


# Compaction


def test_a_compaction_amid_a_run_means_nothing_and_the_run_goes_on() -> None:
    tidied = entry("3", "2", "compaction", summary="red", firstKeptEntryId="1", tokensBefore=90)
    lines = [user("1", None, "hi"), answer("2", "1", CALL, stop="toolUse"), tidied, result("4", "3")]
    assert run(HEADER, *lines, answer("5", "4", TEXT))[2:] == [
        (4, ToolResult(call_id="c")),
        (5, said("5")),
        (5, COMPLETED),
    ]


def test_a_compaction_behind_an_answer_begins_no_run() -> None:
    tidied = entry("3", "2", "compaction", summary="red", firstKeptEntryId="1", tokensBefore=90)
    assert run(HEADER, user("1", None, "hi"), answer("2", "1", TEXT), tidied)[-1] == (2, COMPLETED)


# What is kept


@pytest.mark.parametrize("many", [1, 7, 4096])
def test_branches_and_retries_are_found_in_entries_that_were_packed(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pi_session, "_MANY", many)
    run = [json.loads(line) for line in measured("pi-session", 40).splitlines()]
    failed = answer("f", run[17]["id"], stop="error")
    edit = entry("e", "f", "context_edit", targetId="f", replacement=None)
    again = [user("u", "e", "again"), answer("g", "u", stop="error"), answer("h", "g", TEXT)]
    left = [user("l", run[3]["id"], "left"), answer("m", "l", TEXT)]
    for values in (
        [*run[:20], failed, edit, *again],
        [*run[:20], failed, *left],
        [*run, *left, {**run[9]}, *again[:1]],
    ):
        log = b"".join(json.dumps(value).encode() + b"\n" for value in values)
        for piece in (300, 2000, 1 << 20):
            assert_same("pi-session", log, piece)


def test_an_entry_is_kept_in_some_three_hundred_bytes() -> None:
    data = measured("pi-session", 3000)
    entries = data.count(b"\n")
    chunks = read_log(BytesIO(data)).chunks
    tracemalloc.start()
    try:
        next(chunks)  # nothing comes before the end
        assert tracemalloc.get_traced_memory()[0] < 330 * entries
    finally:
        tracemalloc.stop()
