"""Saved lists of messages: every provider's way to write calls and results, and what a list cannot say."""

import json
from io import BytesIO
from typing import Any

import pytest

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model.core.events import AgentOutput, Event, Native, RunStop, ToolResult, UserMessage

ASKS = {"role": "user", "content": "what is in notes.txt?"}
SAYS = {"role": "assistant", "content": "It says alpha."}
OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
}
OPENAI_RESULT = {"role": "tool", "tool_call_id": "c", "content": "alpha"}
ANTHROPIC_CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {}}]}
ANTHROPIC_RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "alpha"}]}
MODEL_CALL = {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "read"}]}
MODEL_RESULT = {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "read"}]}
ITEM_CALL = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
ITEM_RESULT = {"type": "function_call_output", "call_id": "c", "output": "alpha"}
PROVIDERS = {
    "OpenAI chat": (OPENAI_CALL, OPENAI_RESULT),
    "Anthropic": (ANTHROPIC_CALL, ANTHROPIC_RESULT),
    "AI SDK ModelMessage": (MODEL_CALL, MODEL_RESULT),
    "OpenAI Responses items": (ITEM_CALL, ITEM_RESULT),
}
every_provider = pytest.mark.parametrize(("call", "result"), PROVIDERS.values(), ids=PROVIDERS)


def ui(*parts: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {"id": "m", "role": role, "parts": [*parts]}


def tool(state: str, call_id: str = "c") -> dict[str, Any]:
    return {"type": "tool-read", "toolCallId": call_id, "state": state, "input": {}}


def run(*values: Any) -> list[tuple[int, Event]]:
    mapper = FORMATS["messages"].mapper()
    events = [event for at, value in enumerate(values) for event in mapper.value(at, value)]
    return [*events, *mapper.end()]


def judged(*messages: Any) -> LogResult:
    return check("log", BytesIO(json.dumps(messages).encode()))


def found(*messages: Any) -> list[tuple[str, int]]:
    return [(finding.law, finding.at) for finding in judged(*messages).findings]


@every_provider
def test_a_call_with_its_result_and_an_answer_is_a_sound_run(call: Any, result: Any) -> None:
    ran = judged(ASKS, call, result, SAYS)
    assert (ran.format, ran.cycles, ran.verdict, ran.findings) == ("messages", 1, "pass", ())


@every_provider
def test_a_call_that_the_next_question_leaves_open_is_found(call: Any, result: Any) -> None:
    assert found(ASKS, call, ASKS, SAYS) == [("unanswered-call", 1)]


@every_provider
def test_a_second_result_is_found(call: Any, result: Any) -> None:
    assert found(ASKS, call, result, result, SAYS) == [("duplicate-result", 3)]


@every_provider
def test_a_result_without_its_call_is_found(call: Any, result: Any) -> None:
    assert found(ASKS, result, SAYS) == [("unknown-call", 1)]


@every_provider
def test_a_call_id_that_comes_twice_is_found(call: Any, result: Any) -> None:
    assert found(ASKS, call, result, call, SAYS)[:1] == [("duplicate-call", 3)]


@every_provider
def test_a_list_that_ends_amid_a_run_is_inconclusive(call: Any, result: Any) -> None:
    assert judged(ASKS, call).verdict == "inconclusive"
    assert judged(ASKS, call, result).verdict == "inconclusive"


def test_the_tools_of_ui_messages_are_answered_in_their_part() -> None:
    assert found(ui(role="user"), ui(tool("output-available"), {"type": "text", "text": "alpha"})) == []


@pytest.mark.parametrize("state", ["input-available", "approval-requested", "approval-responded"])
def test_a_tool_of_ui_messages_that_the_next_question_leaves_open_is_found(state: str) -> None:
    assert found(ASKS, ui(tool(state)), ASKS, SAYS) == [("unanswered-call", 1)]


def test_a_tool_whose_input_was_cut_is_no_call() -> None:
    assert found(ASKS, ui(tool("input-streaming")), ASKS, SAYS) == []


def test_a_failed_tool_is_an_error() -> None:
    events = [event for _, event in run(ASKS, ui(tool("output-error")))]
    assert ToolResult(call_id="c", is_error=True) in events


def test_two_answers_in_a_row_are_one_run() -> None:
    assert found(ASKS, SAYS, SAYS, ASKS, SAYS) == []


def test_a_message_behind_a_result_is_a_steer() -> None:
    events = run(ASKS, OPENAI_CALL, OPENAI_RESULT, ASKS, SAYS)
    assert (3, UserMessage(text=ASKS["content"], delivery="steer")) in events


def test_text_beside_a_result_is_a_message_too() -> None:
    both = {"role": "user", "content": [*ANTHROPIC_RESULT["content"], {"type": "text", "text": "and todo.txt?"}]}
    kinds = [type(event) for at, event in run(ASKS, ANTHROPIC_CALL, both) if at == 2]
    assert kinds == [ToolResult, UserMessage]


def test_a_tool_that_the_provider_runs_is_answered_in_its_response() -> None:
    searched = {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "alpha"},
        ],
    }
    assert found(ASKS, searched, ASKS, SAYS) == []


def test_a_list_may_begin_with_the_result_of_a_tool_that_the_provider_runs() -> None:
    found = {"type": "tool_search_tool_result", "tool_use_id": "c", "content": {}}
    answer = {"role": "assistant", "content": [found, {"type": "text", "text": "It says alpha."}]}
    assert judged(answer).findings == ()
    assert [finding.law for finding in judged(ASKS, answer).findings] == ["unknown-call"]


def test_a_list_may_begin_with_an_answer() -> None:
    assert judged(SAYS, ASKS, SAYS).cycles == 2


def test_what_the_system_says_means_nothing() -> None:
    assert run({"role": "system", "content": "be brief"}) == [(0, Native())]


def test_the_end_of_a_run_is_inferred() -> None:
    assert run(ASKS, SAYS)[-1] == (1, RunStop(reason="completed", source="adapter"))


def test_each_line_with_a_list_is_a_session() -> None:
    lines = [{"messages": [ASKS, OPENAI_CALL, ASKS, SAYS]}, {"messages": [ASKS, SAYS]}, {"id": "x", "messages": [ASKS]}]
    events = run(*lines)
    assert {event.session_id for _, event in events} == {None, "list 2", "x"}
    ran = check("log", BytesIO(b"\n".join(json.dumps(line).encode() for line in lines)))
    assert [(finding.law, finding.line) for finding in ran.findings] == [("unanswered-call", 1), ("truncated", 3)]


def test_a_pretty_printed_object_with_messages_is_read() -> None:
    log = json.dumps({"model": "m", "messages": [ASKS, SAYS]}, indent=2).encode()
    assert check("log", BytesIO(log)).verdict == "pass"


@pytest.mark.parametrize("message", [{"role": "robot"}, {"role": "assistant", "content": 5}, {"role": "tool"}, {}])
def test_an_odd_message_is_malformed(message: Any) -> None:
    assert found(ASKS, message, SAYS) == [("malformed", 1)]


def test_reasoning_and_text_are_outputs_of_one_response() -> None:
    thought = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "red"}],
    }
    outputs = [event for _, event in run(ASKS, thought) if isinstance(event, AgentOutput)]
    assert [(event.kind, event.response_id) for event in outputs] == [
        ("reasoning", "response-1"),
        ("assistant", "response-1"),
    ]
