"""The rules of AI SDK streams that no recording shows, or not alone."""

from typing import Any

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop, ToolResult, UserMessage
from turncheck.model.core.projection import ViewProjector

START = {"type": "start"}
STEP = {"type": "start-step"}
FINISH = {"type": "finish", "finishReason": "stop"}
ERROR = {"type": "error", "errorText": "no credit"}
DONE = "[DONE]"
ROOT = (0, UserMessage(text="", source="adapter"))
COMPLETED = RunStop(reason="completed", detail="stop")


def run(*values: Any) -> list[tuple[int, Event]]:
    """What the values map to, without the lines that mean nothing."""
    mapper = FORMATS["ai-sdk"].mapper()
    events = [event for at, value in enumerate(values) for event in mapper.value(at, value)]
    return [(at, event) for at, event in [*events, *mapper.end()] if type(event).__name__ not in {"Native", "Fault"}]


def anomalies(*values: Any) -> list[str]:
    events, ledger = run(*values), ViewProjector()
    ledger.feed([event for _, event in events], [at for at, _ in events])
    return [f"{anomaly.kind} {anomaly.at}" for anomaly in ledger.projection().anomalies]


def text(phase: str, name: str = "t", **more: Any) -> dict[str, Any]:
    return {"type": f"text-{phase}", "id": name, **more}


def call(phase: str, name: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": f"tool-input-{phase}", "toolCallId": name, "toolName": "read", **more}


def result(name: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": "tool-output-available", "toolCallId": name, "output": 1, **more}


def said(words: str, response: str | None = None) -> AgentOutput:
    return AgentOutput(kind="assistant", text=words, response_id=response)


def called(response: str | None = None) -> AgentOutput:
    return AgentOutput(kind="tool-call", call_id="c", tool="read", response_id=response)


# The run


def test_the_run_begins_at_the_first_chunk_of_any_kind() -> None:
    assert run({"type": "data-x", "data": 1}, START, FINISH) == [ROOT, (2, COMPLETED)]


def test_a_first_chunk_may_be_root_and_item_at_once() -> None:
    assert run(call("available"), result(), FINISH)[:2] == [ROOT, (0, called())]


def test_a_repeated_start_in_a_merged_stream_is_no_second_run() -> None:
    assert anomalies(START, START, FINISH) == []


def test_an_error_before_done_is_the_terminal_on_its_own_line() -> None:
    expected = (1, RunStop(reason="error", detail="no credit"))
    assert run(START, ERROR, {"type": "data-x", "data": 1}, DONE) == [ROOT, expected]


def test_a_last_error_is_the_terminal_in_json_lines() -> None:
    assert run(START, ERROR) == [ROOT, (1, RunStop(reason="error", detail="no credit"))]


def test_an_error_before_a_finish_is_no_terminal_but_its_reason() -> None:
    assert run(START, ERROR, FINISH, DONE) == [ROOT, (2, RunStop(reason="error", detail="stop"))]


def test_of_two_errors_the_last_is_the_terminal() -> None:
    assert anomalies(START, ERROR, text("start"), text("delta", delta="a"), ERROR, DONE) == []


def test_an_error_after_the_terminal_is_a_second_one() -> None:
    assert anomalies(START, FINISH, ERROR, DONE) == ["outside-run 2"]


def test_an_abort_before_a_finish_leaves_two_terminals() -> None:
    assert anomalies(START, {"type": "abort"}, FINISH) == ["outside-run 2"]


def test_done_without_a_terminal_is_truncated() -> None:
    assert anomalies(START, DONE) == ["truncated 0"]


def test_another_stream_may_follow_done() -> None:
    assert anomalies(START, FINISH, DONE, START, FINISH, DONE) == []


def test_a_stream_that_was_cut_is_found_although_another_follows() -> None:
    assert anomalies(START, DONE, START, FINISH, DONE) == ["truncated 2"]


def test_a_text_after_the_terminal_is_an_anomaly_on_each_of_its_lines() -> None:
    late = [text("start"), text("delta", delta="a"), text("end")]
    assert anomalies(START, FINISH, *late) == ["malformed 2", "outside-run 3", "malformed 4"]


def test_data_may_come_after_the_terminal() -> None:
    assert anomalies(START, FINISH, {"type": "data-usage", "data": 1}, {"type": "message-metadata"}) == []


# Items


def test_responses_are_counted_by_their_steps() -> None:
    answer = [text("start"), text("delta", delta="a"), text("end")]
    assert run(START, STEP, *answer, STEP, *answer)[1:] == [(3, said("a", "step-1")), (7, said("a", "step-2"))]


def test_a_text_without_its_end_is_whole_at_the_terminal() -> None:
    assert run(START, text("start"), text("delta", delta="a"), FINISH) == [ROOT, (2, said("a")), (3, COMPLETED)]


def test_a_text_has_the_position_of_its_first_delta_that_is_not_empty() -> None:
    assert run(START, text("start"), text("delta", delta=""), text("delta", delta="a"))[1:] == [(3, said("a"))]


def test_a_text_without_deltas_is_none() -> None:
    assert run(START, text("start"), text("end")) == [ROOT]


def test_interleaved_texts_leave_in_the_order_of_their_first_deltas() -> None:
    lines = [text("start", "1"), text("start", "2"), text("delta", "2", delta="b"), text("delta", "1", delta="a")]
    assert run(START, *lines, text("end", "1"), text("end", "2"))[1:] == [(3, said("b")), (4, said("a"))]


def test_an_id_that_begins_again_is_another_text() -> None:
    lines = [text("start"), text("delta", delta="a"), text("start"), text("delta", delta="b")]
    assert run(START, *lines)[1:] == [(2, said("a")), (4, said("b"))]


def test_a_delta_without_an_open_text_is_malformed() -> None:
    assert run(START, text("delta", delta="a"))[1:] == [(1, Malformed("text-delta: its item is not open"))]


def test_a_call_whose_input_never_became_available_is_no_call() -> None:
    lines = [call("start"), {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "{"}]
    assert anomalies(START, *lines, {"type": "abort"}) == []


def test_a_call_has_the_position_of_its_input_start() -> None:
    assert run(START, call("start"), call("available", input={}), result())[1:] == [
        (1, called()),
        (3, ToolResult(call_id="c")),
    ]


def test_calls_that_stream_side_by_side_keep_the_order_of_their_starts() -> None:
    lines = [call("start", "1"), call("start", "2"), call("available", "2"), result("2"), call("available", "1")]
    assert [at for at, _ in run(START, *lines)] == [0, 1, 2, 4]


def test_a_call_may_come_whole() -> None:
    assert run(START, call("available", input={}))[1:] == [(1, called())]


def test_an_invalid_call_is_answered_by_its_output_error() -> None:
    failed = {"type": "tool-output-error", "toolCallId": "c", "errorText": "no"}
    assert run(START, call("error", input={}, errorText="no"), failed)[1:] == [
        (1, called()),
        (2, ToolResult(call_id="c", is_error=True)),
    ]


def test_a_denied_call_has_an_error_as_its_result() -> None:
    denied = {"type": "tool-output-denied", "toolCallId": "c"}
    assert run(START, call("available"), denied)[-1] == (2, ToolResult(call_id="c", is_error=True))


def test_a_preliminary_output_is_no_result() -> None:
    assert run(START, call("available"), result(preliminary=True), result())[1:] == [
        (1, called()),
        (3, ToolResult(call_id="c")),
    ]


def test_a_repeated_call_id_is_an_anomaly() -> None:
    assert anomalies(START, call("available"), result(), call("available"), FINISH) == ["duplicate-call 3"]


def test_two_results_are_an_anomaly() -> None:
    assert anomalies(START, call("available"), result(), result(), FINISH) == ["duplicate-result 3"]


def test_a_result_without_a_call_is_an_anomaly_after_an_output() -> None:
    assert anomalies(START, text("start"), text("delta", delta="a"), result(), FINISH) == ["unknown-call 3"]


def test_a_result_before_the_first_output_answers_the_stream_before() -> None:
    assert anomalies(START, result(), STEP, text("start"), text("delta", delta="a"), FINISH) == []


def test_a_result_of_a_call_that_was_cut_is_an_anomaly() -> None:
    assert anomalies(START, call("start"), result(), FINISH) == ["unknown-call 2"]


def test_a_result_after_the_terminal_is_an_anomaly() -> None:
    assert anomalies(START, FINISH, result()) == ["outside-run 2"]


# Malformed and unknown


def test_a_missing_field_is_malformed_and_named() -> None:
    assert run(START, {"type": "text-start"})[1:] == [(1, Malformed("text-start: id is missing"))]


def test_an_unknown_chunk_means_nothing() -> None:
    mapper = FORMATS["ai-sdk"].mapper()
    assert [*mapper.value(0, START), *mapper.value(1, {"type": "vendor"})][1:] == [(1, Native())]


def test_done_holds_no_position() -> None:
    mapper = FORMATS["ai-sdk"].mapper()
    assert list(mapper.value(0, DONE)) == []


def test_unreadable_lines_keep_their_positions() -> None:
    assert run(START, None, FINISH) == [ROOT, (1, Malformed("unreadable line")), (2, COMPLETED)]
