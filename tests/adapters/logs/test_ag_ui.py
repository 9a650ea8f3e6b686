"""The rules of AG-UI streams that no recording shows, or not alone."""

from typing import Any

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.model.core.events import (
    AgentOutput,
    Event,
    Malformed,
    Native,
    RunPause,
    RunResume,
    RunStop,
    ToolResult,
    UserMessage,
)
from turncheck.model.core.projection import ViewProjector

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
DONE = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
ROOT = (0, UserMessage(text="", source="adapter"))
COMPLETED = RunStop(reason="completed")


def run(*values: Any) -> list[tuple[int, Event]]:
    """What the values map to, without the lines that mean nothing."""
    mapper = FORMATS["ag-ui"].mapper()
    events = [event for at, value in enumerate(values) for event in mapper.value(at, value)]
    return [(at, event) for at, event in [*events, *mapper.end()] if not isinstance(event, Native)]


def anomalies(*values: Any) -> list[str]:
    events, ledger = run(*values), ViewProjector()
    ledger.feed([event for _, event in events], [at for at, _ in events])
    return [f"{anomaly.kind} {anomaly.at}" for anomaly in ledger.projection().anomalies]


def text(phase: str, name: str = "m", **more: Any) -> dict[str, Any]:
    return {"type": f"TEXT_MESSAGE_{phase}", "messageId": name, **more}


def call(phase: str, name: str = "c", **more: Any) -> dict[str, Any]:
    tool = {"toolCallName": "read"} if phase in {"START", "CHUNK"} else {}
    return {"type": f"TOOL_CALL_{phase}", "toolCallId": name, **tool, **more}


def result(call_id: str = "c", message_id: str = "x") -> dict[str, Any]:
    return {"type": "TOOL_CALL_RESULT", "messageId": message_id, "toolCallId": call_id, "content": "done"}


def outcome(name: str, message_id: str = "x") -> dict[str, Any]:
    value = '{"pydantic_ai": {"outcome": "' + name + '"}}'
    return {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": message_id, "encryptedValue": value}


def enqueued(*texts: str) -> dict[str, Any]:
    messages = [{"id": said, "role": "user", "content": said} for said in texts]
    return {
        "type": "ACTIVITY_SNAPSHOT",
        "messageId": "a",
        "activityType": "pydantic_ai_enqueued_messages",
        "content": {"messages": messages},
    }


def said(words: str, kind: Any = "assistant") -> AgentOutput:
    return AgentOutput(kind=kind, text=words)


def called(name: str = "c") -> AgentOutput:
    return AgentOutput(kind="tool-call", call_id=name, tool="read")


# Runs


def test_a_runs_start_is_its_root_with_the_last_user_message_of_its_input() -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}, {"role": "assistant"}]
    assert run({**START, "input": {"messages": messages}}) == [(0, UserMessage(text="two", source="adapter"))]


def test_a_cancelled_run_is_interrupted() -> None:
    assert run(START, {**DONE, "outcome": {"type": "cancelled"}})[1] == (
        1,
        RunStop(reason="interrupted", detail="cancelled"),
    )


INTERRUPT = {**DONE, "outcome": {"type": "interrupt", "interrupts": []}}


def test_an_interrupt_pauses_the_run() -> None:
    assert run(START, INTERRUPT) == [ROOT, (1, RunPause())]


def test_the_start_after_an_interrupt_resumes_the_run() -> None:
    assert run(START, INTERRUPT, START, DONE)[2:] == [(2, RunResume()), (3, COMPLETED)]


def test_a_start_whose_input_resumes_says_so() -> None:
    start = {**START, "input": {"messages": [], "resume": [{"interruptId": "i", "status": "resolved"}]}}
    assert run(START, INTERRUPT, start)[2:] == [(2, RunResume())]


def test_a_start_whose_input_resumes_nothing_begins_another_run() -> None:
    start = {**START, "input": {"messages": [{"role": "user", "content": "red"}]}}
    assert run(START, INTERRUPT, start)[2:] == [
        (2, RunStop(reason="completed", source="adapter")),
        (2, UserMessage(text="red", source="adapter")),
    ]


def test_a_terminal_while_the_run_is_paused_is_an_anomaly() -> None:
    assert anomalies(START, INTERRUPT, DONE, {"type": "RUN_ERROR", "message": "no"}, START, DONE) == [
        "malformed 2",
        "malformed 3",
    ]


def test_an_error_may_be_the_very_first_event() -> None:
    assert anomalies({"type": "RUN_ERROR", "message": "no"}) == []


def test_several_runs_follow_one_another() -> None:
    assert anomalies(START, DONE, START, DONE) == []


def test_a_second_start_while_a_run_is_open_is_an_anomaly() -> None:
    assert anomalies(START, START, DONE) == ["malformed 1"]


def test_nested_runs_are_anomalies() -> None:
    assert anomalies(START, START, DONE, DONE) == ["malformed 1", "outside-run 3"]


def test_a_second_terminal_is_an_anomaly() -> None:
    assert anomalies(START, DONE, {"type": "RUN_ERROR", "message": "no"}) == ["outside-run 2"]


def test_a_text_after_the_terminal_is_an_anomaly_on_each_of_its_lines() -> None:
    late = anomalies(START, DONE, text("START"), text("CONTENT", delta="late"), text("END"))
    assert late == ["malformed 2", "outside-run 3", "malformed 4"]


def test_a_result_after_the_terminal_is_an_anomaly() -> None:
    assert anomalies(START, DONE, result()) == ["outside-run 2"]


def test_an_event_that_maps_to_nothing_is_an_anomaly_after_the_terminal() -> None:
    assert anomalies(START, DONE, {"type": "STEP_FINISHED", "stepName": "s"}) == ["malformed 2"]


def test_an_unknown_type_is_none_even_after_the_terminal() -> None:
    assert anomalies(START, DONE, {"type": "VENDOR_EVENT"}) == []


def test_a_stream_without_a_terminal_is_truncated() -> None:
    assert anomalies(START, text("START"), text("CONTENT", delta="a")) == ["truncated 0"]


def test_a_subagents_end_is_no_terminal() -> None:
    begun = {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "red"}
    failed = {"type": "SUBAGENT_ERROR", "subagentRunId": "s", "message": "no"}
    assert run(START, begun, failed, DONE) == [ROOT, (3, COMPLETED)]


# Items


def test_a_text_without_content_is_no_item() -> None:
    assert run(START, text("START"), text("CONTENT", delta=""), text("END"), DONE) == [ROOT, (4, COMPLETED)]


def test_a_text_has_the_position_of_its_first_delta_that_is_not_empty() -> None:
    lines = [text("CONTENT", delta=delta) for delta in ("", "a", "b")]
    assert run(START, text("START"), *lines, text("END"))[1:] == [(3, said("ab"))]


def test_interleaved_items_leave_in_the_order_of_their_starts() -> None:
    lines = [text("START", "1"), text("START", "2"), text("CONTENT", "2", delta="b"), call("START")]
    more = [text("CONTENT", "1", delta="a"), text("END", "1"), call("END"), text("END", "2")]
    assert run(START, *lines, *more)[1:] == [(3, said("b")), (4, called()), (5, said("a"))]


def test_an_errors_terminal_ends_items_that_are_open() -> None:
    failed = run(START, text("START"), text("CONTENT", delta="a"), {"type": "RUN_ERROR", "message": "no"})
    assert failed[1:] == [(2, said("a")), (3, RunStop(reason="error", detail="no"))]


def test_an_item_that_is_open_when_a_run_finishes_is_an_anomaly_and_the_run_ends() -> None:
    assert run(START, text("START"), text("CONTENT", delta="a"), DONE)[1:] == [
        (2, said("a")),
        (3, Malformed("RUN_FINISHED: the text 'm' is open")),
        (3, COMPLETED),
    ]


def test_a_call_that_was_cut_and_never_answered_is_an_anomaly_at_an_error() -> None:
    assert anomalies(START, call("START"), {"type": "RUN_ERROR", "message": "no"}) == ["unanswered-call 1"]


def test_a_repeated_call_id_is_an_anomaly() -> None:
    lines = [call("START"), call("END"), result(), call("START"), call("END")]
    assert anomalies(START, *lines, DONE) == ["duplicate-call 4"]


def test_a_call_id_that_starts_twice_while_open_is_an_anomaly() -> None:
    assert anomalies(START, call("START"), call("START"), call("END"), result(), DONE) == ["duplicate-call 2"]


def test_two_results_and_a_result_without_a_call_are_anomalies() -> None:
    lines = [call("START"), call("END"), result(), result(), result("other")]
    assert anomalies(START, *lines, DONE) == ["duplicate-result 4", "unknown-call 5"]


ASKING = (START, call("START"), call("END"), INTERRUPT)
SAYS = (text("START"), text("CONTENT", delta="red"), text("END"))


def test_the_result_of_an_approved_call_may_come_in_the_resumed_run() -> None:
    assert anomalies(*ASKING, START, result(), *SAYS, DONE) == []


def test_it_may_come_after_other_output_of_the_resumed_run() -> None:
    assert anomalies(*ASKING, START, *SAYS, result(), DONE) == []


def test_a_second_result_of_it_is_an_anomaly() -> None:
    assert anomalies(*ASKING, START, result(), result(), DONE) == ["duplicate-result 6"]


def test_a_result_of_a_call_that_nobody_made_is_an_anomaly_in_a_resumed_run_too() -> None:
    assert anomalies(*ASKING, START, result("d"), DONE) == ["unknown-call 5", "unanswered-call 1"]


def test_a_call_that_an_error_cut_waits_for_nobody() -> None:
    failed = {"type": "RUN_ERROR", "message": "red"}
    assert anomalies(*ASKING[:3], failed, START, result(), DONE) == ["unanswered-call 1", "unknown-call 5"]


def test_a_log_may_begin_with_a_resumed_run() -> None:
    assert anomalies(START, result(), result("d"), *SAYS, DONE) == []


def test_in_such_a_log_a_result_behind_an_output_or_twice_is_an_anomaly() -> None:
    assert anomalies(START, *SAYS, result(), DONE) == ["unknown-call 4"]
    assert anomalies(START, result(), result(), DONE) == ["unknown-call 2"]


def test_a_delta_without_an_open_item_is_malformed() -> None:
    assert run(START, text("CONTENT", delta="a"))[1:] == [(1, Malformed("TEXT_MESSAGE_CONTENT: its item is not open"))]


def test_messages_of_the_system_are_no_items() -> None:
    assert run(START, text("START", role="system"), text("CONTENT", delta="a"), text("END")) == [ROOT]


def test_thinking_without_ids_is_one_reasoning_item_from_start_to_end() -> None:
    lines = [{"type": "THINKING_START"}]
    for words in ("a", "b"):
        lines += [{"type": "THINKING_TEXT_MESSAGE_START"}, {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": words}]
        lines += [{"type": "THINKING_TEXT_MESSAGE_END"}]
    assert run(START, *lines, {"type": "THINKING_END"})[1:] == [(3, said("ab", "reasoning"))]


def test_thinking_texts_outside_a_span_are_items_each() -> None:
    lines = []
    for words in ("a", "b"):
        lines += [{"type": "THINKING_TEXT_MESSAGE_START"}, {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": words}]
        lines += [{"type": "THINKING_TEXT_MESSAGE_END"}]
    assert run(START, *lines)[1:] == [(2, said("a", "reasoning")), (5, said("b", "reasoning"))]


def test_thinking_that_a_terminal_cut_does_not_reach_into_the_next_run() -> None:
    words = [{"type": "THINKING_TEXT_MESSAGE_START"}, {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "a"}]
    assert anomalies(START, {"type": "THINKING_START"}, *words, DONE, START, *words, DONE) == []


# Chunks


def test_a_chunk_without_an_id_continues_the_open_item() -> None:
    rest = {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}
    assert run(START, text("CHUNK", delta="a"), rest, DONE)[1:] == [(1, said("ab")), (3, COMPLETED)]


def test_a_chunk_with_another_id_is_another_item() -> None:
    chunks = [text("CHUNK", "1", delta="a"), text("CHUNK", "2", delta="b")]
    assert run(START, *chunks)[1:] == [(1, said("a")), (2, said("b"))]


def test_a_chunked_item_stays_open_across_raw_events() -> None:
    chunks = [text("CHUNK", delta="a"), {"type": "RAW", "event": 1}, {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}]
    assert run(START, *chunks)[1:] == [(1, said("ab"))]


def test_another_event_closes_a_chunked_item() -> None:
    chunks = [
        text("CHUNK", delta="a"),
        {"type": "STEP_STARTED", "stepName": "s"},
        {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"},
    ]
    why = "TEXT_MESSAGE_CHUNK: messageId is missing, and no item is open"
    assert run(START, *chunks)[1:] == [(1, said("a")), (3, Malformed(why))]


def test_a_call_comes_in_chunks_too() -> None:
    rest = {"type": "TOOL_CALL_CHUNK", "delta": "}"}
    assert run(START, call("CHUNK", delta="{"), rest, result())[1:] == [(1, called()), (3, ToolResult(call_id="c"))]


def test_reasoning_comes_in_chunks_too() -> None:
    chunk = {"type": "REASONING_MESSAGE_CHUNK", "messageId": "m", "delta": "hm"}
    assert run(START, chunk)[1:] == [(1, said("hm", "reasoning"))]


# What the model is given


def test_an_interrupted_result_was_made_up() -> None:
    lines = [call("START"), call("END"), result(), outcome("interrupted"), DONE]
    assert run(START, *lines)[2] == (3, ToolResult(call_id="c", is_error=True, synthetic=True))


def test_a_failure_right_before_the_terminal_was_made_up() -> None:
    lines = [call("START"), call("END"), result(), outcome("failed"), {"type": "RUN_ERROR", "message": "no"}]
    assert run(START, *lines)[2] == (3, ToolResult(call_id="c", is_error=True, synthetic=True))


def test_a_failure_that_the_model_answers_is_the_tools_own() -> None:
    lines = [call("START"), call("END"), result(), outcome("failed"), text("START")]
    assert run(START, *lines)[2] == (3, ToolResult(call_id="c", is_error=True))


def test_a_successful_outcome_is_no_error() -> None:
    lines = [call("START"), call("END"), result(), outcome("success"), DONE]
    assert run(START, *lines)[2] == (3, ToolResult(call_id="c"))


def test_an_outcome_belongs_to_the_result_that_it_names() -> None:
    results = [result("1", "x"), result("2", "y"), outcome("denied", "x")]
    assert run(START, *SAYS, *results, DONE)[2:4] == [
        (4, ToolResult(call_id="1", is_error=True)),
        (5, ToolResult(call_id="2")),
    ]


def test_a_snapshot_answers_a_call_that_the_stream_left_open() -> None:
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [{"role": "tool", "toolCallId": "c", "content": "done"}]}
    assert anomalies(START, call("START"), call("END"), snapshot, {**DONE, "outcome": {"type": "cancelled"}}) == []


def test_a_snapshot_does_not_answer_twice() -> None:
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [{"role": "tool", "toolCallId": "c", "content": "done"}]}
    assert anomalies(START, call("START"), call("END"), result(), snapshot, DONE) == []


def test_an_enqueued_message_after_a_result_is_a_steer() -> None:
    lines = [call("START"), call("END"), result(), enqueued("left")]
    assert run(START, *lines)[-1] == (4, UserMessage(text="left", id="left", delivery="steer"))


def test_an_enqueued_message_after_an_answer_is_a_follow_up_behind_a_boundary() -> None:
    answer = [text("START"), text("CONTENT", delta="a"), text("END")]
    assert run(START, *answer, enqueued("bye"))[2:] == [
        (4, RunStop(reason="completed", source="adapter")),
        (4, UserMessage(text="bye", id="bye", delivery="followUp")),
    ]


def test_of_several_follow_ups_taken_at_once_each_but_the_last_gets_an_empty_cycle() -> None:
    answer = [text("START"), text("CONTENT", delta="a"), text("END")]
    taken = run(START, *answer, enqueued("one", "two"))[2:]
    assert [type(event).__name__ for _, event in taken] == ["RunStop", "UserMessage", "RunStop", "UserMessage"]


def test_several_steers_taken_at_once_stay_in_one_cycle() -> None:
    steers = run(START, call("START"), call("END"), result(), enqueued("one", "two"), DONE)[3:5]
    assert [event.delivery for _, event in steers if isinstance(event, UserMessage)] == ["steer", "steer"]


def test_a_text_of_the_user_is_a_message_of_the_user() -> None:
    lines = [text("START", role="user"), text("CONTENT", delta="left"), text("END"), DONE]
    assert run(START, *lines)[1] == (1, UserMessage(text="left", id="m", delivery="steer"))


# Malformed


def test_a_missing_field_is_malformed_and_named() -> None:
    assert run(START, {"type": "TOOL_CALL_START", "toolCallId": "c"})[1:] == [
        (1, Malformed("TOOL_CALL_START: toolCallName is missing"))
    ]


def test_an_ill_typed_field_is_malformed_and_named() -> None:
    assert run(START, {"type": "TEXT_MESSAGE_START", "messageId": 1})[1:] == [
        (1, Malformed("TEXT_MESSAGE_START: messageId is no string"))
    ]


def test_an_ill_typed_outcome_is_malformed() -> None:
    assert run(START, {**DONE, "outcome": "success"})[1:] == [(1, Malformed("RUN_FINISHED: outcome is no object"))]


def test_values_that_are_no_events_are_malformed() -> None:
    assert run(None, [1], {"type": 1}, {}) == [
        (0, Malformed("unreadable line")),
        (1, Malformed("not an object: list")),
        (2, Malformed("type is no string")),
        (3, Malformed("type is no string")),
    ]
