"""The rules of pi's agent events that no recording shows, or not alone."""

import json
from typing import Any
from unittest.mock import patch

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop, ToolResult, UserMessage
from turncheck.model.core.projection import ViewProjector

START = {"type": "agent_start"}
TURN = {"type": "turn_start"}
ANSWERED = {"type": "turn_end", "toolResults": []}
EXECUTED = {"type": "turn_end", "toolResults": [{}]}
END: dict[str, Any] = {"type": "agent_end", "messages": []}
RETRY = {"type": "auto_retry_start"}
BOUNDARY = RunStop(reason="completed", source="adapter")


def run(*values: Any) -> list[tuple[int, Event]]:
    """What the values map to, without the lines that mean nothing."""
    mapper = FORMATS["pi"].mapper()
    events = [event for at, value in enumerate(values) for event in mapper.value(at, value)]
    return [(at, event) for at, event in [*events, *mapper.end()] if not isinstance(event, Native)]


def anomalies(*values: Any) -> list[str]:
    events, ledger = run(*values), ViewProjector()
    ledger.feed([event for _, event in events], [at for at, _ in events])
    return [f"{anomaly.kind} {anomaly.at}" for anomaly in ledger.projection().anomalies]


def kinds(*values: Any) -> list[str]:
    """Positions and kinds alone, user messages with their delivery."""
    return [f"{at} {getattr(event, 'delivery', None) or type(event).__name__}" for at, event in run(*values)]


def user(said: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "user", "content": said}}


def result(call_id: str = "c", *, failed: bool = False) -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "toolResult", "toolCallId": call_id, "isError": failed}}


def begin() -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "assistant", "content": []}}


def answer(*content: Any, stop: str = "stop") -> dict[str, Any]:
    return {"type": "message_end", "message": {"role": "assistant", "content": [*content], "stopReason": stop}}


def update(kind: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, "contentIndex": index, **more}}


def queues(steering: list[str], follow_up: list[str]) -> dict[str, Any]:
    return {"type": "queue_update", "steering": steering, "followUp": follow_up}


TEXT = {"type": "text", "text": "hello"}
CALL = {"type": "toolCall", "id": "c", "name": "read", "arguments": {}}


def said(words: str, response: int = 1, kind: Any = "assistant") -> AgentOutput:
    return AgentOutput(kind=kind, text=words, response_id=f"response-{response}")


def called(response: int = 1) -> AgentOutput:
    return AgentOutput(kind="tool-call", call_id="c", tool="read", response_id=f"response-{response}")


# User messages


def test_the_first_message_of_an_agent_run_is_its_root() -> None:
    assert run(START, TURN, user("hi")) == [(2, UserMessage(text="hi"))]


def test_a_message_in_the_turn_of_its_root_is_a_steer() -> None:
    assert kinds(START, TURN, user("hi"), user("left"), begin()) == ["2 UserMessage", "3 steer"]


def test_a_message_after_tool_results_is_a_steer() -> None:
    lines = [START, user("hi"), begin(), answer(CALL), result(), EXECUTED, TURN, user("left")]
    assert kinds(*lines)[-1] == "7 steer"


def test_a_message_after_an_answer_is_a_follow_up_behind_a_boundary() -> None:
    lines = [START, user("hi"), begin(), answer(TEXT), ANSWERED, TURN, user("bye")]
    assert run(*lines)[-2:] == [(6, BOUNDARY), (6, UserMessage(text="bye", delivery="followUp"))]


def test_the_queue_that_a_message_left_outranks_the_turn_before() -> None:
    waiting = [START, user("hi"), queues(["left"], []), begin(), answer(TEXT), ANSWERED, TURN, queues([], [])]
    assert kinds(*waiting, user("left"))[-1] == "8 steer"


def test_a_follow_up_after_a_terminating_tool_is_one_by_its_queue() -> None:
    lines = [START, user("hi"), queues([], ["bye"]), begin(), answer(CALL), result(), EXECUTED, queues([], [])]
    assert kinds(*lines, user([{"type": "text", "text": "bye"}]))[-2:] == ["8 RunStop", "8 followUp"]


def test_of_equal_texts_in_both_queues_the_one_that_left_counts() -> None:
    lines = [START, user("hi"), queues(["x"], ["x"]), begin(), answer(CALL), result(), EXECUTED, queues(["x"], [])]
    assert kinds(*lines, user("x"))[-1] == "8 followUp"


def test_a_queue_that_changes_before_another_text_decides_nothing() -> None:
    lines = [START, user("hi"), queues([], ["bye"]), begin(), answer(CALL), result(), EXECUTED, queues([], [])]
    assert kinds(*lines, user("other"))[-1] == "8 steer"


def test_several_follow_ups_taken_at_once_get_a_boundary_each() -> None:
    lines = [START, user("hi"), queues([], ["a", "b"]), begin(), answer(TEXT), ANSWERED]
    taken = [queues([], ["b"]), user("a"), queues([], []), user("b")]
    assert kinds(*lines, *taken)[-4:] == ["7 RunStop", "7 followUp", "9 RunStop", "9 followUp"]


def test_messages_of_other_roles_mean_nothing() -> None:
    assert run(START, {"type": "message_start", "message": {"role": "custom", "content": "x"}}) == []


# The end of a run


def test_the_reason_is_that_of_the_last_assistant_message() -> None:
    last = {"role": "assistant", "stopReason": "aborted", "errorMessage": "stopped"}
    stop = RunStop(reason="interrupted", detail="stopped")
    assert run(START, user("hi"), {**END, "messages": [last]})[-1] == (2, stop)


def test_the_reason_may_stand_in_the_stream_alone() -> None:
    assert run(START, user("hi"), begin(), answer(stop="error"), {"type": "agent_end"})[-1] == (
        4,
        RunStop(reason="error"),
    )


def test_an_end_that_is_retried_is_no_stop() -> None:
    lines = [START, user("hi"), begin(), answer(stop="error"), END, RETRY, START, begin(), answer(TEXT), END]
    assert kinds(*lines) == ["1 UserMessage", "8 AgentOutput", "9 RunStop"]


def test_an_end_that_says_it_will_be_retried_is_no_stop() -> None:
    lines = [START, user("hi"), begin(), answer(stop="error"), {**END, "willRetry": True}, {"type": "entry_appended"}]
    assert anomalies(*lines, START, begin(), answer(TEXT), END) == []


def test_an_end_before_a_compaction_that_retries_is_no_stop() -> None:
    lines = [START, user("hi"), begin(), answer(stop="error"), END, {"type": "compaction_start"}]
    again = [{"type": "compaction_end", "willRetry": True}, START, begin(), answer(TEXT), END]
    assert kinds(*lines, *again) == ["1 UserMessage", "9 AgentOutput", "10 RunStop"]


def test_an_end_before_a_compaction_that_only_tidies_up_is_a_stop() -> None:
    lines = [START, user("hi"), END, {"type": "compaction_start"}, {"type": "compaction_end", "willRetry": False}]
    assert kinds(*lines, START, user("more"), END) == ["1 UserMessage", "2 RunStop", "6 UserMessage", "7 RunStop"]


def test_a_held_back_stop_is_released_by_the_next_line() -> None:
    mapper = FORMATS["pi"].mapper()
    for at, value in enumerate([START, user("hi")]):
        list(mapper.value(at, value))
    assert list(mapper.value(2, END)) == []
    assert list(mapper.value(3, {"type": "agent_settled"})) == [(2, RunStop(reason="completed")), (3, Native())]


def test_a_held_back_stop_is_released_by_the_end_of_the_log() -> None:
    assert run(START, user("hi"), END)[-1] == (2, RunStop(reason="completed"))


def test_a_retry_that_is_given_up_while_it_waits_ends_the_run() -> None:
    lines = [START, user("hi"), begin(), answer(stop="error"), END, RETRY, {"type": "auto_retry_end", "success": False}]
    assert run(*lines)[-1] == (6, RunStop(reason="error", source="adapter"))


def test_a_retry_that_failed_in_the_end_has_one_stop() -> None:
    lines = [START, user("hi"), begin(), answer(stop="error"), END, RETRY, START, begin(), answer(stop="error"), END]
    assert anomalies(*lines, {"type": "auto_retry_end", "success": False}) == []


def test_an_agent_run_without_a_user_message_has_its_start_as_root() -> None:
    lines = [START, user("hi"), END, START, begin(), answer(TEXT), END]
    assert run(*lines)[2] == (3, UserMessage(text="", source="adapter"))


def test_an_agent_run_that_ends_at_once_has_its_start_as_root() -> None:
    assert anomalies(START, TURN, END) == []


def test_a_second_start_while_a_run_is_open_is_an_anomaly() -> None:
    assert anomalies(START, user("hi"), START, user("more"), END) == ["malformed 2"]


def test_a_second_end_is_an_anomaly() -> None:
    assert anomalies(START, user("hi"), END, END) == ["outside-run 3"]


def test_what_comes_after_the_end_is_an_anomaly() -> None:
    assert anomalies(START, user("hi"), END, begin(), answer(TEXT), result()) == ["outside-run 4", "outside-run 5"]


def test_a_log_without_an_end_is_truncated() -> None:
    assert anomalies(START, user("hi"), begin()) == ["truncated 1"]


# Items


def test_an_item_has_the_position_of_its_first_update() -> None:
    deltas = [update("text_start"), update("text_delta", delta="hel"), update("toolcall_start", 1)]
    assert run(START, user("hi"), begin(), *deltas, answer(TEXT, CALL))[1:] == [(3, said("hello")), (5, called())]


def test_an_item_without_updates_has_the_position_of_the_messages_end() -> None:
    assert run(START, user("hi"), begin(), answer(TEXT))[1:] == [(3, said("hello"))]


def test_the_messages_end_outranks_the_updates() -> None:
    assert run(START, user("hi"), begin(), update("text_delta", delta="x"), answer())[1:] == []


def test_empty_and_redacted_parts_are_no_items() -> None:
    parts = [{"type": "text", "text": ""}, {"type": "thinking", "thinking": "[hidden]", "redacted": True}]
    assert run(START, user("hi"), begin(), update("thinking_start", 1), answer(*parts))[1:] == []


def test_thinking_is_reasoning() -> None:
    assert run(START, user("hi"), begin(), answer({"type": "thinking", "thinking": "hm"}))[1:] == [
        (3, said("hm", 1, "reasoning"))
    ]


def test_responses_are_counted() -> None:
    lines = [START, user("hi"), begin(), answer(CALL), result(), EXECUTED, begin(), answer(TEXT)]
    assert run(*lines)[1:] == [(3, called(1)), (4, ToolResult(call_id="c")), (7, said("hello", 2))]


def test_a_message_that_was_cut_keeps_what_its_updates_said() -> None:
    deltas = [update("text_start"), update("text_delta", delta="hel"), update("toolcall_start", 1)]
    assert run(START, user("hi"), begin(), *deltas)[1:] == [(3, said("hel"))]


def test_a_call_whose_updates_ended_is_whole_although_its_message_was_cut() -> None:
    assert run(START, user("hi"), begin(), update("toolcall_start"), update("toolcall_end", toolCall=CALL))[1:] == [
        (3, called())
    ]


def test_a_failed_result_is_an_error() -> None:
    assert run(START, user("hi"), result(failed=True))[-1] == (2, ToolResult(call_id="c", is_error=True))


def test_the_execution_of_a_tool_is_no_second_result() -> None:
    execution = {"type": "tool_execution_end", "toolCallId": "c", "toolName": "read", "result": {}, "isError": False}
    lines = [START, user("hi"), begin(), answer(CALL), execution, result(), EXECUTED, END]
    assert anomalies(*lines) == []


def test_two_results_are_an_anomaly() -> None:
    assert anomalies(START, user("hi"), begin(), answer(CALL), result(), result(), END) == ["duplicate-result 5"]


# Malformed


def test_a_missing_field_is_malformed_and_named() -> None:
    assert run({"type": "message_start"}) == [(0, Malformed("message_start: message is missing"))]


def test_a_malformed_part_makes_its_message_malformed() -> None:
    end = answer({"type": "toolCall", "id": "c"})
    assert run(START, user("hi"), begin(), end)[1:] == [(3, Malformed("message_end: name is missing"))]


def test_an_unknown_type_means_nothing() -> None:
    assert run(START, {"type": "extension_ui_request"}) == []


def test_content_that_can_be_read_and_not_be_written_is_malformed() -> None:
    with patch.object(json, "dumps", side_effect=RecursionError):
        (found,) = [event for _, event in run(START, user([[]])) if isinstance(event, Malformed)]
    assert found.why == "message_start: content is nested too deeply"
