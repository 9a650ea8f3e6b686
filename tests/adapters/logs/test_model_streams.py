"""The streams of the Anthropic Messages and the OpenAI Responses API: one response each, right, cut and broken."""

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import read_values
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop, ToolResult, UserMessage

LOGS: Final = Path(__file__).parents[2] / "data" / "logs"
NAMES: Final = ("anthropic", "openai-responses")
both = pytest.mark.parametrize("name", NAMES)
STARTS: Final = ("content_block_start", "response.output_item.added")
ENDS: Final = ("message_stop", "response.completed")


def written(name: str, scenario: str = "tools") -> list[dict[str, Any]]:
    with (LOGS / name / f"{scenario}.sse").open("rb") as stream:
        return list(read_values(stream)[1])


def run(name: str, values: list[Any]) -> list[Event]:
    mapper = FORMATS[name].mapper()
    events = [*(event for at, value in enumerate(values) for event in mapper.value(at, value)), *mapper.end()]
    return [event for _, event in events if not isinstance(event, Native)]


def judged(values: list[Any]) -> LogResult:
    return check("log", BytesIO(b"\n".join(json.dumps(value).encode() for value in values)))


def malformed(name: str, values: list[Any]) -> list[str]:
    return [event.why for event in run(name, values) if isinstance(event, Malformed)]


def without(values: list[Any], *types: str) -> list[Any]:
    return [value for value in values if value["type"] not in types]


def test_the_written_responses_stream_is_one_of_the_sdks_types() -> None:
    events: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    for value in (*written("openai-responses"), *written("openai-responses", "cut")):
        events.validate_python(value)


@both
def test_a_response_is_a_run_with_reasoning_text_and_a_call(name: str) -> None:
    ran = judged(written(name))
    assert (ran.format, ran.cycles, ran.verdict) == (name, 1, "pass")
    outputs = [event for event in run(name, written(name)) if isinstance(event, AgentOutput)]
    assert [(event.kind, event.text, event.call_id) for event in outputs] == [
        ("reasoning", "Look first.", None),
        ("assistant", "I look.", None),
        ("tool-call", None, "call-1"),
    ]


@both
def test_a_stream_that_was_cut_has_no_terminal_and_its_call_is_none(name: str) -> None:
    ran = judged(written(name, "cut"))
    assert (ran.verdict, [finding.law for finding in ran.findings]) == ("fail", ["truncated"])
    assert [event for event in run(name, written(name, "cut")) if getattr(event, "kind", "") == "tool-call"] == []


@both
def test_an_item_that_starts_twice_is_found(name: str) -> None:
    values = written(name)
    at = next(index for index, value in enumerate(values) if value["type"] in STARTS)
    (why,) = malformed(name, [*values[: at + 1], values[at], *values[at + 1 :]])
    assert "item 0 is open already" in why


@both
def test_an_item_without_its_start_is_found(name: str) -> None:
    assert "not open" in malformed(name, without(written(name), *STARTS))[0]


@both
def test_an_item_without_its_end_is_found_where_the_response_is_over(name: str) -> None:
    values = without(written(name, "text"), "content_block_stop", "response.output_item.done")
    assert malformed(name, values) == ["item 0 has no end, and the response is over"]


@both
def test_a_second_response_while_one_is_open_is_found(name: str) -> None:
    values = written(name)
    assert "the response before has no end" in malformed(name, [values[0], *values])[0]


@both
def test_a_second_terminal_is_found(name: str) -> None:
    values = written(name)
    assert [finding.law for finding in judged([*values, values[-1]]).findings] == ["outside-run"]


@both
def test_several_responses_may_follow_one_another(name: str) -> None:
    assert (judged([*written(name), *written(name, "text")]).cycles, judged(written(name)).findings) == (2, ())


@both
def test_an_error_ends_the_response(name: str) -> None:
    errors: Mapping[str, Any] = {
        "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        "openai-responses": {"type": "error", "message": "busy", "sequence_number": 1},
    }
    assert run(name, [written(name)[0], errors[name]])[-1] == RunStop(reason="error", detail="busy")
    assert run(name, [errors[name]])[-1] == RunStop(reason="error", detail="busy")


@pytest.mark.parametrize(
    ("kind", "response", "expected"),
    [
        ("incomplete", {"incomplete_details": {"reason": "why"}}, "completed"),
        ("cancelled", {"incomplete_details": {"reason": "why"}}, "interrupted"),
        ("failed", {"error": {"message": "why"}}, "error"),
    ],
)
def test_the_end_of_a_response_says_why(kind: str, response: dict[str, Any], expected: Any) -> None:
    values = [written("openai-responses")[0], {"type": f"response.{kind}", "response": response}]
    assert run("openai-responses", values)[-1] == RunStop(reason=expected, detail="why")


def test_a_failure_behind_an_error_tells_it_again() -> None:
    """So OpenAI's API ends a response for which no quota is left."""
    error = {"type": "error", "sequence_number": 2, "error": {"code": "insufficient_quota", "message": "no quota"}}
    failed = {"type": "response.failed", "response": {"error": {"message": "no quota"}}}
    values = [written("openai-responses")[0], error, failed]
    assert [type(event) for event in run("openai-responses", values)] == [UserMessage, RunStop]
    assert judged(values).findings == ()


def test_a_second_failure_behind_an_error_is_one_too_many() -> None:
    failed = {"type": "response.failed", "response": {"error": {"message": "no quota"}}}
    error = {"type": "error", "message": "no quota", "sequence_number": 2}
    found = judged([written("openai-responses")[0], error, failed, failed]).findings
    assert [(finding.law, finding.at) for finding in found] == [("outside-run", 3)]


def block(index: int, **content: Any) -> list[dict[str, Any]]:
    """A block of Anthropic's without deltas."""
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        {"type": "content_block_stop", "index": index},
    ]


SEARCH: Final = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND: Final = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}


def test_a_tool_of_the_provider_is_answered_in_the_response() -> None:
    start, *_, end = written("anthropic", "text")
    assert judged([start, *block(0, **SEARCH), *block(1, **FOUND), end]).findings == ()


def test_a_tool_of_the_provider_may_be_answered_in_a_later_response() -> None:
    start, *_, end = written("anthropic", "text")
    values = [start, *block(0, **SEARCH), end, start, end, start, *block(0, **FOUND), end]
    assert judged(values).findings == ()


def test_a_tool_of_the_provider_is_answered_once() -> None:
    start, *_, end = written("anthropic", "text")
    values = [start, *block(0, **SEARCH), end, start, *block(0, **FOUND), *block(1, **FOUND), end]
    assert [finding.law for finding in judged(values).findings] == ["unknown-call"]


def test_a_tool_of_the_provider_that_is_called_again_is_answered_in_its_response() -> None:
    """So it is where a response that was cut is sent again."""
    start, *_, end = written("anthropic", "text")
    values = [start, *block(0, **SEARCH), end, start, *block(0, **SEARCH), *block(1, **FOUND), end]
    results = [event.call_id for event in run("anthropic", values) if isinstance(event, ToolResult)]
    assert (results, judged(values).findings) == (["s"], ())


def test_responses_without_numbers_are_recognised() -> None:
    values = [{key: value[key] for key in value if key != "sequence_number"} for value in written("openai-responses")]
    assert (judged(values).format, judged(values).verdict) == ("openai-responses", "pass")


def test_events_of_anthropic_are_not_taken_for_pis() -> None:
    assert judged(written("anthropic")).format == "anthropic"
    assert [FORMATS["pi"].recognises(value) for value in written("anthropic")].count(True) == 0
