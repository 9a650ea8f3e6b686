"""OpenTelemetry traces: what spans say of a run, in both dialects, and what they leave open."""

import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from otlp_spans import SPEC, agent, line, model, openinference_model, span, tool

from turncheck.adapters.logs.formats.otlp.reader import _OPEN, _WAIT, OtlpMapper
from turncheck.adapters.logs.formats.otlp.wire import plain
from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop, ToolResult, UserMessage

LOGS: Final = Path(__file__).parents[2] / "recordings" / "logs"
NATIVE: Final = LOGS / "otlp-pydantic-ai-2.68.0"
OPENINFERENCE: Final = LOGS / "otlp-openinference-pydantic-ai-0.1.30"
LOOP: Final = LOGS / "otlp-openinference-openai-0.1.66"
WRITTEN: Final = Path(__file__).parents[2] / "data" / "logs" / "otlp"


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text("utf-8").splitlines()]


def run(*lines: Any) -> list[Event]:
    mapper = OtlpMapper()
    events = [*(event for at, value in enumerate(lines) for event in mapper.value(at, value)), *mapper.end()]
    return [event for _, event in events if not isinstance(event, Native)]


def told(events: Iterable[Event]) -> list[str]:
    """The events in short; what is inferred has a question mark."""
    return [_told(event) + ("?" if getattr(event, "source", None) == "adapter" else "") for event in events]


def _told(event: Event) -> str:
    match event:
        case UserMessage(text=text):
            return f"user {text}"
        case AgentOutput(kind="tool-call", call_id=own):
            return f"call {own}"
        case AgentOutput(kind=kind, text=text):
            return f"{kind} {text}"
        case ToolResult(call_id=own, is_error=failed):
            return f"{'failure' if failed else 'result'} {own}"
        case RunStop(reason=reason):
            return reason
        case Malformed(why=why):
            return why
        case _:
            return type(event).__name__.lower()


def shown(*spans: dict[str, Any]) -> list[str]:
    """What a trace says whose spans come one a line."""
    return told(run(*map(line, spans)))


def judged(*lines: Any) -> LogResult:
    return check("log", BytesIO(b"\n".join(json.dumps(value).encode() for value in lines)))


# Recordings


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("text", ["user Hi", "assistant Hello there.", "completed"]),
        ("reasoning", ["user Hi", "reasoning Greet back.", "assistant Hello there.", "completed"]),
        (
            "two-tools",
            [
                *("user Hi", "call call-1", "call call-2", "result call-1", "result call-2"),
                *("assistant It is line 1.", "completed"),
            ],
        ),
        ("tool-failure", ["user Hi", "call call-1", "failure call-1", "error"]),
        ("abort-amid-tool", ["user Hi", "call call-1", "failure call-1", "interrupted?"]),
        ("abort-amid-text", ["user Hi", "assistant Hello there.", "completed?"]),
        ("unknown-tool", ["user Hi", "call call-1", "result call-1", "assistant No such tool.", "completed"]),
        ("structured", ["user Hi", "call call-1", "result call-1?", "completed"]),
        ("no-content", ["user ", "assistant ", "call call-1", "result call-1", "assistant ", "completed?"]),
        ("model-alone", ["user Hi", "call call-1", "result call-1?", "completed?"]),
    ],
)
def test_a_trace_of_pydantic_ai_is_read_as_its_run(name: str, expected: list[str]) -> None:
    assert told(run(*recorded(NATIVE / f"{name}.jsonl"))) == expected


def test_a_batch_on_one_line_is_the_same_run_as_a_span_a_line() -> None:
    assert told(run(*recorded(NATIVE / "one-batch.jsonl"))) == told(run(*recorded(NATIVE / "tools.jsonl")))


@pytest.mark.parametrize("path", sorted(OPENINFERENCE.glob("*.jsonl")), ids=lambda path: path.stem)
def test_both_dialects_on_one_span_say_the_same(path: Path) -> None:
    lines = recorded(path)
    thoughts = [text for text in told(run(*lines)) if not text.startswith("reasoning")]
    assert told(run(*map(_without_genai, lines))) == thoughts  # that instrumentation leaves the reasoning out


def _without_genai(value: dict[str, Any]) -> dict[str, Any]:
    """The line without the attributes of the GenAI conventions."""
    text = json.dumps(value).replace('"key": "gen_ai.', '"key": "other.')
    found: dict[str, Any] = json.loads(text)
    return found


def test_an_applications_own_loop_is_read_by_openinference_alone() -> None:
    assert told(run(*recorded(LOOP / "tools.jsonl"))) == [
        *("user Hi", "call call-1", "result call-1?", "assistant It says alpha.", "completed")
    ]


def test_requests_without_an_agent_go_on_where_they_bring_results_and_begin_a_run_where_not() -> None:
    assert told(run(*recorded(LOOP / "no-agent-no-tools.jsonl"))) == [
        *("user Hi", "call call-1", "result call-1", "assistant It says alpha.", "completed?"),
        *("user Bye", "assistant Bye.", "completed?"),
    ]


def test_a_call_that_the_next_request_leaves_unanswered_is_found() -> None:
    ran = judged(*recorded(LOOP / "tool-without-a-result.jsonl"))
    assert [finding.law for finding in ran.findings] == ["unanswered-call"]


def test_an_agent_within_a_tool_is_a_session_of_its_own() -> None:
    sessions = {event.session_id for event in run(*recorded(NATIVE / "sub-agent.jsonl"))}
    assert len(sessions) == 2


def test_requests_without_an_agent_may_give_their_calls_the_same_ids_again() -> None:
    first = [model(2, 1, 2, calls="a", parent=None), tool(3, None, 3, 4, parent=None)]
    second = [model(4, 5, 6, calls="a", parent=None), {**tool(5, None, 7, 8, parent=None), "status": {"code": 2}}]
    assert told(run(line(*first, model(6, 4, 5, text="blue", answers="a", parent=None), *second))) == [
        *("user ?", "call a", "result a?", "assistant blue", "completed?"),
        *("user ?", "call a", "failure a?", "completed?"),
    ]


# What the order of spans says


def test_the_order_is_that_of_time_and_not_that_of_the_lines() -> None:
    assert told(run(*[line(one) for one in reversed(SPEC)])) == told(run(*map(line, SPEC)))


def test_a_tool_may_run_while_the_response_goes_on() -> None:
    assert shown(tool(3, "a", 2, 3), model(2, 1, 5, calls="a"), agent(0, 7)) == [
        *("user ?", "call a", "result a", "completed?")
    ]


def test_a_tool_that_ends_behind_its_agent_belongs_to_the_run() -> None:
    found = shown(model(2, 1, 2, calls="a"), agent(0, 4), tool(3, "a", 3, 6))
    assert found == ["user ?", "call a", "result a", "completed?"]


def test_a_tool_is_waited_for_some_lines_and_then_its_call_is_found() -> None:
    mapper = OtlpMapper()
    begun = [line(model(2, 1, 2, calls="a")), line(model(3, 3, 4, text="blue", answers="")), line(agent(0, 7))]
    events = [event for at, value in enumerate(begun) for event in mapper.value(at, value)]
    for at in range(len(begun), len(begun) + _WAIT - 1):
        events += mapper.value(at, {})
    assert {type(event) for _, event in events} == {Native}
    assert told(event for _, event in mapper.value(len(begun) + _WAIT, {}))[1:] == [
        *("user ?", "call a", "assistant blue", "completed?")
    ]


def test_a_trace_that_lacks_its_agent_has_no_end() -> None:
    assert shown(model(2, 1, 2, calls="a"), tool(3, "a", 3, 4)) == ["user ?", "call a", "result a"]
    assert judged(line(model(2, 1, 2, calls="a"))).verdict == "inconclusive"


def test_a_parent_in_another_process_is_no_tear() -> None:
    found = shown({**model(2, 1, 2, text="blue"), "flags": 0x300})
    assert found == ["user ?", "assistant blue", "completed?"]


def test_traces_that_never_become_whole_are_not_kept_for_ever() -> None:
    mapper = OtlpMapper()
    for number in range(_OPEN):
        assert [*mapper.value(number, line(model(2, 1, 2, text="blue", trace=f"t{number}")))] != [] or number == 0
    found = [*mapper.value(_OPEN, line(model(2, 1, 2, text="red", trace="last")))]
    assert told(event for _, event in found) == ["native", "user ?", "assistant blue"]


def test_a_span_that_is_exported_twice_counts_once() -> None:
    lines = [*map(line, SPEC)]
    assert told(run(*[one for one in lines for _ in range(2)])) == told(run(*lines))
    assert told(run(*lines, *lines)) == told(run(*lines))


def test_agents_of_one_conversation_are_runs_of_one_session() -> None:
    lines = [line(agent(0, 1, trace=trace, conversation="c")) for trace in ("t1", "t2")]
    assert [event.session_id for event in run(*lines) if isinstance(event, RunStop)] == ["c", "c"]


# Calls and results


def test_without_content_a_tool_shows_its_call() -> None:
    assert shown(model(2, 1, 2), tool(3, "a", 3, 4), model(4, 5, 6), agent(0, 7)) == [
        *("user ?", "call a?", "result a", "completed?")
    ]


def test_where_inputs_are_not_captured_calls_without_tools_are_taken_for_answered() -> None:
    assert shown(model(2, 1, 2, calls="a"), model(3, 3, 4, text="blue"), agent(0, 7)) == [
        *("user ?", "call a", "result a?", "assistant blue", "completed?")
    ]


def test_a_result_in_the_next_request_answers_a_call_without_a_tool() -> None:
    assert shown(model(2, 1, 2, calls="a"), model(3, 3, 4, text="blue", answers="a"), agent(0, 7)) == [
        *("user ?", "call a", "result a", "assistant blue", "completed?")
    ]


def test_tools_without_ids_answer_calls_of_their_names_in_order() -> None:
    spans = [model(2, 1, 2, calls="ab"), tool(3, None, 3, 4), tool(4, None, 5, 6), agent(0, 9)]
    assert shown(*spans) == ["user ?", "call a", "call b", "result a?", "result b?", "completed?"]


def test_a_tool_without_an_id_that_ran_before_any_call_of_its_name_answers_no_later_one() -> None:
    early, later = tool(3, None, 3, 4), tool(5, None, 7, 8)
    assert shown(model(2, 1, 2), early, model(4, 5, 6, calls="a"), later, agent(0, 9)) == [
        *("user ?", "call s3?", "result s3?", "call a", "result a?", "completed?")
    ]


def test_a_call_of_a_response_that_failed_was_cut() -> None:
    assert shown({**model(2, 1, 2, calls="a"), "status": {"code": 2}}, agent(0, 3, error="Timeout")) == [
        *("user ?", "fault", "error")
    ]


def test_two_calls_with_one_id_are_found() -> None:
    ran = judged(*map(line, (model(2, 1, 2, calls="aa"), tool(3, "a", 3, 4), agent(0, 7))))
    assert [finding.law for finding in ran.findings] == ["duplicate-call"]


# Ends


@pytest.mark.parametrize(
    ("error", "expected"),
    [("CancelledError", "interrupted"), ("asyncio.exceptions.CancelledError", "interrupted"), ("Timeout", "error")],
)
def test_an_agents_error_is_the_end(error: str, expected: str) -> None:
    assert run(line(agent(0, 1, error=error)))[-1] == RunStop(reason=expected, detail=error, session_id="t1")  # type: ignore[arg-type]


def test_an_end_that_nothing_states_is_marked_as_inferred() -> None:
    stated = [shown(agent(0, 1)), shown(agent(0, 1, output="blue")), shown({**agent(0, 1), "status": {"code": 1}})]
    assert [events[-1] for events in stated] == ["completed?", "completed", "completed"]


def test_the_finish_reason_is_the_detail_of_the_end() -> None:
    (stop,) = [event for event in run(line(model(2, 1, 2, text="x"), agent(0, 3))) if isinstance(event, RunStop)]
    assert stop.detail == "stop"


# Attributes


def test_messages_may_be_structured_values() -> None:
    assert told(run(*recorded(WRITTEN / "structured.jsonl"))) == [
        "user red",
        "reasoning hm",
        "assistant blue",
        "completed?",
    ]


def test_messages_may_stand_in_an_event_of_the_span() -> None:
    assert "assistant blue" in told(run(*recorded(WRITTEN / "details-in-an-event.jsonl")))


def test_messages_that_an_sdk_cut_are_taken_for_not_captured() -> None:
    whole = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "blue"}]}])
    cut = span(2, 1, 1, 2, {"gen_ai.operation.name": "chat", "gen_ai.output.messages": whole[:-9]})
    assert shown(cut, agent(0, 3)) == ["user ?", "completed?"]


def test_the_openinference_messages_of_one_response_are_one_output() -> None:
    assert shown(openinference_model(2, 1, 2, "blue", "a"), agent(0, 3)) == [
        *("user ?", "assistant blue", "call a", "result a?", "completed?")
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": "a"}, "a"),
        ({"intValue": "3"}, 3),
        ({"intValue": 3}, 3),
        ({"boolValue": True}, True),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"doubleValue": 0.5}}]}}, {"a": 0.5}),
        ({}, None),
        ({"bytesValue": "AA=="}, None),
        ({"arrayValue": 1}, None),
    ],
)
def test_a_value_of_an_attribute_is_a_plain_one(value: dict[str, Any], expected: Any) -> None:
    assert plain(value) == expected


LISTED: Final = {"arrayValue": {"values": [{"stringValue": "x"}]}}


def test_an_attribute_that_is_a_list_where_a_text_should_be_says_nothing() -> None:
    unknown = agent(0, 1) | {"attributes": [{"key": "gen_ai.operation.name", "value": LISTED}]}
    assert shown(unknown) == []
    kind = {"key": "llm.output_messages.0.message.contents.0.message_content.type", "value": LISTED}
    text = {"key": "llm.output_messages.0.message.contents.0.message_content.text", "value": {"stringValue": "blue"}}
    asked = span(2, 1, 1, 2, {"openinference.span.kind": "LLM"})
    asked["attributes"] += [kind, text]
    assert shown(asked, agent(0, 3)) == ["user ?", "assistant blue", "completed?"]


# What is none


def test_traces_of_other_programs_are_refused_by_name() -> None:
    other = line(span(1, None, 0, 1, {"http.request.method": "GET"}))
    with pytest.raises(UnrecognisedError, match="OTLP JSON without spans of the GenAI conventions"):
        judged(other)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"spanId": "s9", "startTimeUnixNano": "0", "endTimeUnixNano": "1"}, "traceId"),
        ({"traceId": "", "spanId": "s9", "startTimeUnixNano": "0", "endTimeUnixNano": "1"}, "empty"),
        ({"traceId": "t", "spanId": "s9", "startTimeUnixNano": "soon", "endTimeUnixNano": "1"}, "startTimeUnixNano"),
        ({**agent(0, 1), "attributes": 1}, "attributes"),
    ],
)
def test_a_span_that_is_none_is_malformed_and_the_others_of_its_line_count(wrong: dict[str, Any], why: str) -> None:
    malformed, *rest = run(line(wrong, *SPEC))
    assert isinstance(malformed, Malformed)
    assert why in malformed.why
    assert told(rest) == told(run(line(*SPEC)))


NONE: Final[list[Any]] = [None, 3, {"spans": []}, {"resourceSpans": 1}, {"resourceSpans": [{"scopeSpans": 1}]}]


@pytest.mark.parametrize("value", NONE)
def test_a_line_that_is_none_is_malformed(value: Any) -> None:
    assert [type(event) for event in run(value)] == [Malformed]


@pytest.mark.parametrize("value", [{}, {"resourceSpans": []}, {"resourceLogs": []}, {"resourceSpans": [{}]}])
def test_a_line_without_spans_means_nothing(value: Any) -> None:
    assert run(value) == []


def positions(lines: Sequence[Any]) -> list[int]:
    mapper = OtlpMapper()
    found = [at for number, value in enumerate(lines) for at, _ in mapper.value(number, value)]
    return [*found, *(at for at, _ in mapper.end())]


def test_a_run_stands_at_the_line_that_completes_its_trace() -> None:
    assert sorted(set(positions([*map(line, SPEC)]))) == [0, 1, 2, 3]
    assert positions([*map(line, SPEC)]).count(3) == 5
