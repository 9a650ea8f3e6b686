"""ACP transcripts: what no recording shows, and the defects that must be found in them."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model.core.events import AgentOutput, Event, Native, RunStop, ToolResult, UserMessage

LOGS: Final = Path(__file__).parents[2] / "recordings" / "logs" / "codex-acp-0.16.0"


def recorded(scenario: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LOGS / f"{scenario}.jsonl").read_text("utf-8").splitlines()]


def prompt(number: Any = 1, session: str = "s") -> dict[str, Any]:
    said = [{"type": "text", "text": "red"}]
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "session/prompt",
        "params": {"sessionId": session, "prompt": said},
    }


def update(what: str, session: str = "s", /, **more: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": what, **more}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def chunk(text: str, session: str = "s", kind: str = "agent_message_chunk") -> dict[str, Any]:
    return update(kind, session, content={"type": "text", "text": text})


def call(identity: str = "c", **more: Any) -> dict[str, Any]:
    return update("tool_call", toolCallId=identity, title="look", kind="read", **more)


def status(word: str, identity: str = "c") -> dict[str, Any]:
    return update("tool_call_update", toolCallId=identity, status=word)


def answer(reason: str = "end_turn", number: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {"stopReason": reason}}


def run(*values: Any) -> list[tuple[int, Event]]:
    mapper = FORMATS["acp"].mapper()
    events = [event for at, value in enumerate(values) for event in mapper.value(at, value)]
    return [(at, event) for at, event in [*events, *mapper.end()] if not isinstance(event, Native)]


def judged(*values: Any) -> LogResult:
    return check("log", BytesIO(b"\n".join(json.dumps(value).encode() for value in values)))


def laws(*values: Any) -> list[str]:
    return [finding.law for finding in judged(*values).findings]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "completed"),
        ("max_tokens", "completed"),
        ("max_turn_requests", "completed"),
        ("refusal", "completed"),
        ("cancelled", "interrupted"),
    ],
)
def test_the_answer_of_a_prompt_says_how_the_run_ended(reason: str, expected: Any) -> None:
    assert run(prompt(), answer(reason))[-1] == (1, RunStop(reason=expected, detail=reason, session_id="s"))


def test_chunks_are_one_text_and_a_call_ends_it() -> None:
    events = run(prompt(), chunk("a"), chunk("b"), call(), status("completed"), chunk("c"), answer())
    outputs = [(at, event.text or event.call_id) for at, event in events if isinstance(event, AgentOutput)]
    assert outputs == [(1, "a"), (3, "c"), (5, "c")]  # of a text its first piece is kept


def test_thoughts_are_reasoning() -> None:
    events = run(prompt(), chunk("hm", kind="agent_thought_chunk"), chunk("red"), answer())
    assert [event.kind for _, event in events if isinstance(event, AgentOutput)] == ["reasoning", "assistant"]


def test_a_final_status_counts_once() -> None:
    values = [prompt(), call(), status("in_progress"), status("completed"), status("completed"), answer()]
    assert [(at, event.call_id) for at, event in run(*values) if isinstance(event, ToolResult)] == [(3, "c")]


def test_a_call_may_come_with_its_final_status() -> None:
    assert laws(prompt(), call(status="failed"), answer()) == []


def test_a_call_without_a_final_status_is_found() -> None:
    assert laws(prompt(), call(status="pending"), answer("cancelled")) == ["unanswered-call"]


def test_a_status_of_a_call_that_nobody_told_is_found() -> None:
    assert laws(prompt(), status("completed"), answer()) == ["unknown-call"]


def test_a_status_behind_the_answer_is_found() -> None:
    assert laws(prompt(), call(), answer("cancelled"), status("failed")) == ["unanswered-call", "outside-run"]


def test_a_second_answer_is_nothing_and_text_behind_the_answer_is_found() -> None:
    assert laws(prompt(), answer(), answer()) == []
    assert laws(prompt(), answer(), chunk("late")) == ["outside-run"]


def test_a_call_may_show_in_the_request_for_its_permission_alone() -> None:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", "kind": "edit"}, "options": []}
    asks = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params}
    allows = {"jsonrpc": "2.0", "id": 1, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
    assert laws(prompt(), asks, allows, status("completed"), answer()) == []


def test_an_error_of_the_agent_ends_the_run() -> None:
    failed = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "busy"}}
    assert run(prompt(), failed)[-1] == (1, RunStop(reason="error", detail="busy", session_id="s"))


def test_sessions_are_apart() -> None:
    values = [prompt(1, "a"), prompt(2, "b"), chunk("x", "a"), chunk("y", "b"), answer("end_turn", 2)]
    ran = judged(*values)
    assert (ran.cycles, ran.verdict) == (1, "inconclusive")


def test_what_is_replayed_while_a_session_is_loaded_means_nothing() -> None:
    load = {"jsonrpc": "2.0", "id": 1, "method": "session/load", "params": {"sessionId": "s"}}
    loaded = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert run(load, chunk("old"), call(), loaded) == []
    assert laws(load, chunk("old"), loaded, prompt(2), chunk("new"), answer("end_turn", 2)) == []


def test_a_transcript_may_begin_amid_a_prompt() -> None:
    assert run(chunk("red"))[0] == (0, UserMessage(text="", source="adapter", session_id="s"))


def test_a_recorder_may_wrap_each_message() -> None:
    values = [{"from": "client", "message": value} for value in recorded("tools")]
    assert (judged(*values).format, judged(*values).verdict) == ("acp", "pass")


def test_other_json_rpc_is_not_taken_for_it() -> None:
    assert not FORMATS["acp"].recognises({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}})
    assert not FORMATS["acp"].recognises({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})


def test_a_torn_line_is_found() -> None:
    lines = (LOGS / "tools.jsonl").read_bytes().splitlines()
    assert [finding.law for finding in check("log", BytesIO(b"\n".join([lines[0][:-5], *lines[1:]]))).findings] == [
        "malformed"
    ]


def test_a_transcript_that_was_cut_is_inconclusive() -> None:
    assert judged(*recorded("tools")[:-1]).verdict == "inconclusive"
