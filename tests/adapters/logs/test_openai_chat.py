"""The stream of OpenAI's Chat Completions: what a response says, and each way in which it can be broken."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from openai.types.chat import ChatCompletionChunk

from turncheck.adapters.logs.formats.openai_chat import ChatMapper
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, RunStop

LOGS: Final = Path(__file__).parents[2] / "recordings" / "logs" / "openai-chat-3.54.0"


def recorded(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LOGS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def chunk(finish: str | None = None, own: str = "chatcmpl-1", **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": own, "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}


def call(index: int, call_id: str | None = None, tool: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"arguments": arguments} | ({} if tool is None else {"name": tool})
    return chunk(tool_calls=[{"index": index, "function": function} | ({} if call_id is None else {"id": call_id})])


ROLE: Final = chunk(role="assistant", content="")
STOP: Final = chunk("stop")


def run(*values: Any) -> list[Event]:
    mapper = ChatMapper()
    events = [*(event for at, value in enumerate(values) for event in mapper.value(at, value)), *mapper.end()]
    return [event for _, event in events if not isinstance(event, Native)]


def judged(*values: Any) -> LogResult:
    return check("log", BytesIO(b"\n".join(json.dumps(value).encode() for value in values)))


def malformed(*values: Any) -> list[str]:
    return [event.why for event in run(*values) if isinstance(event, Malformed)]


def outputs(*values: Any) -> list[tuple[str, str | None]]:
    return [
        (event.kind, event.call_id if event.kind == "tool-call" else event.text)
        for event in run(*values)
        if isinstance(event, AgentOutput)
    ]


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recorded_line_is_a_chunk_of_the_package(path: Path) -> None:
    for value in recorded(path.stem):
        ChatCompletionChunk.model_validate(value, strict=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("text", [("assistant", "Hello there.")]),
        ("reasoning", [("reasoning", "Greet back."), ("assistant", "Hello there.")]),
        ("tools", [("assistant", "I look at it."), ("tool-call", "call-1")]),
        ("two-tools", [("tool-call", "call-1"), ("tool-call", "call-2")]),
        ("refusal", [("assistant", "I will not.")]),
        ("two-choices", [("assistant", "Hello.")]),
    ],
)
def test_a_response_is_a_run_with_its_texts_and_calls(name: str, expected: list[tuple[str, str]]) -> None:
    ran = judged(*recorded(name))
    assert (ran.format, ran.cycles, ran.verdict) == ("openai-chat", 1, "pass")
    assert outputs(*recorded(name)) == expected


@pytest.mark.parametrize("finish", ["stop", "length", "tool_calls", "content_filter"])
def test_the_finish_reason_is_the_detail_of_the_end(finish: str) -> None:
    assert run(ROLE, chunk(finish))[-1] == RunStop(reason="completed", detail=finish)


def test_a_call_that_was_cut_is_none() -> None:
    assert outputs(*recorded("abort-amid-call")) == []


def test_a_stream_without_an_end_is_truncated() -> None:
    assert [finding.law for finding in judged(*recorded("model-stream-cut")).findings] == ["truncated"]


def test_a_stream_that_is_done_before_it_finished_is_found() -> None:
    assert malformed(ROLE, "[DONE]") == ["[DONE]: the response has no finish_reason"]


def test_an_id_that_changes_is_found_once() -> None:
    values = [ROLE, chunk(own="chatcmpl-2", content="a"), chunk("stop", own="chatcmpl-2")]
    assert malformed(*values) == ["chunk: its id is chatcmpl-2, and the response's is chatcmpl-1"]


def test_an_index_that_begins_again_is_found() -> None:
    assert malformed(ROLE, call(0, "c1", "read"), call(0, "c2", "grep"), STOP) == [
        "chunk: call 0 begins again: its id is c2, and was c1"
    ]


def test_a_call_that_begins_again_within_one_chunk_is_found() -> None:
    both = chunk(tool_calls=[{"index": 0, "id": one, "function": {"name": "read"}} for one in ("c1", "c2")])
    assert malformed(ROLE, both, STOP) == ["chunk: call 0 begins again: its id is c2, and was c1"]


@pytest.mark.parametrize(
    ("begun", "why"),
    [(call(0, None, "read"), "chunk: id is missing"), (call(0, "c1"), "chunk: name is missing")],
    ids=["id", "name"],
)
def test_a_call_that_begins_without_its_id_or_name_is_found(begun: dict[str, Any], why: str) -> None:
    assert malformed(ROLE, begun, STOP) == [why]


def test_two_calls_with_one_id_are_found() -> None:
    ran = judged(ROLE, call(0, "c1", "read"), call(1, "c1", "read"), chunk("tool_calls"))
    assert [finding.law for finding in ran.findings] == ["duplicate-call"]


@pytest.mark.parametrize("late", [STOP, chunk(content="a"), call(0, "c1", "read")], ids=["finish", "text", "call"])
def test_what_comes_after_the_finish_is_found(late: dict[str, Any]) -> None:
    (why,) = malformed(ROLE, STOP, late)
    assert "the response has finished, and goes on" in why


def test_an_error_ends_the_response() -> None:
    error = {"error": {"message": "busy"}}
    assert run(ROLE, error)[-1] == RunStop(reason="error", detail="busy")
    assert run(error)[-1] == RunStop(reason="error", detail="busy")


OTHERS: Final[dict[str, list[Any]]] = {
    "Azure's prompt filter": [{"id": "", "object": "", "choices": [], "prompt_filter_results": []}, ROLE, STOP],
    "OpenRouter's usage": [ROLE, STOP, chunk(role="assistant", content="") | {"usage": {}}],
    "usage": [ROLE, STOP, {**STOP, "choices": [], "usage": {}}],
    "the id in each chunk": [ROLE, call(0, "c1", "read"), call(0, "c1", "read", "{}"), chunk("tool_calls")],
    "no ids": [chunk(own="", content="a"), chunk("stop", own=""), chunk(own="", content="b"), chunk("stop", own="")],
    "two responses": [ROLE, STOP, "[DONE]", chunk(own="chatcmpl-2", content="b"), chunk("stop", own="chatcmpl-2")],
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_other_providers_send_is_no_fault(name: str) -> None:
    assert malformed(*OTHERS[name]) == []


WRONG: Final[list[Any]] = [
    *(None, 3, {"choices": 1}, {"choices": [1]}, {"choices": [{}]}, {"choices": [{"index": 0}]}),
    {"id": 1, "choices": []},
]


@pytest.mark.parametrize("value", WRONG)
def test_a_line_that_is_no_chunk_is_malformed(value: Any) -> None:
    assert len(malformed(ROLE, value, STOP)) == 1


def test_a_text_in_parts_is_a_text_and_its_thoughts_are_one() -> None:
    """So Mistral sends what a model thinks."""
    thought = chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "two"}, {"type": "text"}]}])
    text = chunk(content=[{"type": "text", "text": "4"}])
    outputs = [event for event in run(ROLE, thought, text, STOP) if isinstance(event, AgentOutput)]
    assert [(event.kind, event.text) for event in outputs] == [("reasoning", "two"), ("assistant", "4")]


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"content": [], "reasoning_content": "x"}, [("reasoning", "x")]),
        ({"content": [], "refusal": "no"}, [("assistant", "no")]),
        (
            {"content": [{"type": "text", "text": "4"}], "reasoning": "two", "refusal": "no"},
            [("reasoning", "two"), ("assistant", "4"), ("assistant", "no")],
        ),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": " and two"}]}], "reasoning": "two"},
            [("reasoning", "two and two")],
        ),
    ],
    ids=["reasoning", "refusal", "all", "thoughts"],
)
def test_a_text_in_parts_leaves_the_delta_its_other_texts(
    delta: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert outputs(ROLE, chunk(**delta), STOP) == expected


@pytest.mark.parametrize("own", [{}, {"id": None}, {"id": ""}], ids=["missing", "null", "empty"])
@pytest.mark.parametrize("before", [[], [call(0, "c1", "read")]], ids=["first", "behind another"])
def test_a_call_without_an_index_and_an_id_is_found(before: list[dict[str, Any]], own: dict[str, Any]) -> None:
    nameless = chunk(tool_calls=[own | {"function": {"arguments": "{}"}}])
    assert malformed(ROLE, *before, nameless, STOP) == ["chunk: index is missing"]


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    """So Mistral sends calls, whole."""
    calls = [{"id": name, "function": {"name": "read", "arguments": "{}"}} for name in ("a", "b")]
    outputs = [event for event in run(chunk(tool_calls=calls), chunk("tool_calls")) if isinstance(event, AgentOutput)]
    assert [event.call_id for event in outputs] == ["a", "b"]


def test_chunks_that_do_not_name_their_object_are_recognised() -> None:
    """So Moonshot sends them."""
    values = [{key: value[key] for key in value if key != "object"} for value in (ROLE, chunk(content="a"), STOP)]
    assert (judged(*values).format, judged(*values).verdict) == ("openai-chat", "pass")
