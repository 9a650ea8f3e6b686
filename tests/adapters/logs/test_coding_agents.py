"""The logs of Claude Code and Codex: what no recording shows, and the defects that must be found in them."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest

from turncheck.adapters.logs.formats import claude_code
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model.core.events import Event, Native, RunStop, UserMessage

LOGS: Final = Path(__file__).parents[2] / "recordings" / "logs"
FOLDERS: Final = (
    "claude-code-session-2.1.330",
    "claude-code-stream-2.1.330",
    "codex-rollout-0.169.0",
    "codex-exec-0.169.0",
)


def run(name: str, *values: Any) -> list[tuple[int, Event]]:
    mapper = FORMATS[name].mapper()
    events = [event for at, value in enumerate(values) for event in mapper.value(at, value)]
    return [(at, event) for at, event in [*events, *mapper.end()] if not isinstance(event, Native)]


def recorded(folder: str, scenario: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LOGS / folder / f"{scenario}.jsonl").read_text("utf-8").splitlines()]


def judged(values: list[dict[str, Any]]) -> LogResult:
    return check("log", BytesIO(b"\n".join(json.dumps(value).encode() for value in values)))


def laws(values: list[dict[str, Any]]) -> list[str]:
    return [finding.law for finding in judged(values).findings]


def is_result(value: dict[str, Any]) -> bool:
    """Whether a line is a tool's result, or the end of a tool's item."""
    said = json.dumps(value)
    if '"item.completed"' in said:
        return "command_execution" in said
    return '"tool_result"' in said or '"function_call_output"' in said


# Each recorded log, broken


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_call_without_its_result_is_found(folder: str) -> None:
    log = recorded(folder, "tools") if "session" not in folder else recorded(folder, "abort-amid-tool")
    assert laws([value for value in log if not is_result(value)]) == ["unanswered-call"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_result_that_comes_twice_is_found(folder: str) -> None:
    log = recorded(folder, "tools")
    at = next(index for index, value in enumerate(log) if is_result(value))
    again = {**log[at], "uuid": "another"}
    assert laws([*log[: at + 1], again, *log[at + 1 :]]) == ["duplicate-result"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_log_that_was_cut_is_inconclusive(folder: str) -> None:
    log = recorded(folder, "tools")
    at = next(index for index, value in enumerate(log) if is_result(value))
    assert (judged(log[:at]).verdict, laws(log[:at])) == ("inconclusive", ["truncated"])


@pytest.mark.parametrize("folder", ["claude-code-stream-2.1.330", "codex-rollout-0.169.0", "codex-exec-0.169.0"])
def test_a_second_terminal_is_found(folder: str) -> None:
    log = recorded(folder, "text")
    assert laws([*log, log[-1]]) == ["outside-run"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_torn_line_is_found(folder: str) -> None:
    data = (LOGS / folder / "tools.jsonl").read_bytes()
    lines = data.splitlines()
    lines[0] = lines[0][:-9]
    assert [finding.law for finding in check("log", BytesIO(b"\n".join(lines))).findings] == ["malformed"]


# Claude Code


def kept(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, "model": "m"}
    return {"type": kind, "message": message, "sessionId": "s", "isSidechain": False, **more}


CALL: Final = [{"type": "tool_use", "id": "c", "name": "Task", "input": {}}]
RESULT: Final = [{"type": "tool_result", "tool_use_id": "c", "content": "done"}]


def test_a_sub_agent_is_a_session_of_its_own() -> None:
    inner = {"isSidechain": True, "agentId": "a1"}
    log = [
        kept("user", "go"),
        kept("assistant", CALL),
        kept("user", "look", **inner),
        kept("assistant", "seen", **inner),
        kept("user", RESULT),
        kept("assistant", "done"),
    ]
    assert [event.session_id for _, event in run("claude-code", *log)] == [
        None,
        None,
        "a1",
        "a1",
        None,
        None,
        None,
        "a1",
    ]
    assert judged(log).verdict == "pass"


@pytest.mark.parametrize(
    "line",
    [
        kept("user", "Caveat: …", isMeta=True),
        kept("user", "This session is being continued…", isCompactSummary=True),
        kept("user", "<command-name>/clear</command-name>"),
        kept("user", "<local-command-stdout>ok</local-command-stdout>"),
        kept("assistant", "No response requested.") | {"message": {"model": "<synthetic>", "content": []}},
        {"type": "summary", "summary": "x", "leafUuid": "y"},
    ],
)
def test_what_the_program_says_by_itself_means_nothing(line: dict[str, Any]) -> None:
    assert run("claude-code", line) == []


def test_a_line_that_a_resumed_session_repeats_counts_once() -> None:
    log = [kept("user", "go", uuid="1"), kept("assistant", CALL, uuid="2"), kept("assistant", CALL, uuid="2")]
    assert len(run("claude-code", *log)) == 2


def test_of_many_lines_the_older_ones_are_not_known_again() -> None:
    lines = [kept("user", "go", uuid="0"), *(kept("assistant", "red", uuid=str(at)) for at in range(1, 6))]
    with patch.object(claude_code, "KEPT_IDS", 4):
        assert len(run("claude-code", *lines, lines[5])) == len(run("claude-code", *lines))
        assert len(run("claude-code", *lines, lines[1])) > len(run("claude-code", *lines))


def test_an_interruption_is_observed_and_an_answer_is_inferred_to_end_the_run() -> None:
    cut = [{"type": "text", "text": "[Request interrupted by user]"}]
    events = run("claude-code", kept("user", "go"), kept("user", cut), kept("user", "again"), kept("assistant", "done"))
    assert [event for _, event in events if isinstance(event, RunStop)] == [
        RunStop(reason="interrupted"),
        RunStop(reason="completed", source="adapter"),
    ]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ({"subtype": "success", "is_error": False}, "completed"),
        ({"subtype": "error_max_turns", "is_error": True}, "error"),
        ({"subtype": "success", "is_error": True, "terminal_reason": "api_error"}, "error"),
        ({"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}, "interrupted"),
    ],
)
def test_the_result_of_a_stream_says_how_the_run_ended(end: dict[str, Any], reason: str) -> None:
    begin = {"type": "system", "subtype": "init", "session_id": "s"}
    (_, root), (_, stop) = run("claude-code-stream", begin, {"type": "result", "session_id": "s", **end})
    assert root == UserMessage(text="", source="adapter")
    assert isinstance(stop, RunStop)
    assert (stop.reason, stop.source) == (reason, None)


# Codex


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": "event_msg", "payload": {"type": kind, **payload}}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": "response_item", "payload": {"type": kind, **payload}}


ANSWER: Final = item("message", role="assistant", content=[{"type": "output_text", "text": "alpha"}])


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("interrupted", "interrupted"), ("replaced", "interrupted"), ("review_ended", "completed")],
)
def test_an_aborted_turn_says_why(reason: str, expected: str) -> None:
    events = run(
        "codex", event("task_started"), event("user_message", message="go"), event("turn_aborted", reason=reason)
    )
    assert events[-1] == (2, RunStop(reason=expected, detail=reason))  # type: ignore[arg-type]


def test_older_files_have_no_ends_and_the_next_question_shows_them() -> None:
    log = [event("user_message", message="go"), ANSWER, event("user_message", message="again"), ANSWER]
    ran = judged(log)
    assert (ran.cycles, ran.verdict) == (2, "pass")


def test_a_message_amid_a_turn_is_a_steer() -> None:
    log = [event("task_started"), event("user_message", message="go"), ANSWER, event("user_message", message="left")]
    assert run("codex", *log)[-1] == (3, UserMessage(text="left", delivery="steer"))


def test_an_item_behind_the_end_of_its_turn_is_found() -> None:
    log = [event("task_started"), event("user_message", message="go"), event("task_complete"), ANSWER]
    assert laws(log) == ["outside-run"]


def test_a_turn_that_fails_is_an_error() -> None:
    begin = {"type": "turn.started"}
    assert run("codex-exec", begin, {"type": "turn.failed", "error": {"message": "no credit"}})[-1] == (
        1,
        RunStop(reason="error", detail="no credit"),
    )
