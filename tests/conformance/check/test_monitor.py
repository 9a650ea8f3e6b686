"""Live streams: what the monitor finds is what ``check`` finds, and nothing grows for ever."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest

import turncheck
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import read_values
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.monitor import Monitor
from turncheck.model.core.decode import decode_lines
from turncheck.model.core.events import RunStop, UserMessage

LOGS: Final = Path(__file__).parents[2] / "recordings" / "logs"
USER: Final = {"type": "user-message", "text": "red"}
STOP: Final = {"type": "run-stop", "reason": "completed"}
CALL: Final = {"type": "agent-output", "kind": "tool-call", "callId": "c", "tool": "read"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


RECORDED: Final = sorted(
    path for path in LOGS.glob("*/*.*") if path.stem.startswith(("abort", "tool", "steer", "walk"))
)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_findings_on_a_recording_are_those_of_check(path: Path) -> None:
    expected = check("log", BytesIO(path.read_bytes()))
    with path.open("rb") as stream:
        values = list(read_values(stream)[1])
    monitor = Monitor(format_name=expected.format)
    found = [finding for value in values for finding in monitor.feed(value)] + monitor.end(strict=True)
    assert sorted((finding.law, finding.at) for finding in found if path.suffix == ".jsonl") == sorted(
        (finding.law, finding.at) for finding in expected.findings if path.suffix == ".jsonl"
    )
    assert len(found) == len(expected.findings)


@pytest.mark.parametrize("kind", ["dict", "bytes", "text", "event"])
def test_a_session_is_fed_with_objects_lines_or_events(kind: str) -> None:
    made: dict[str, Any] = {
        "dict": [USER, STOP, STOP],
        "bytes": [json.dumps(value).encode() for value in (USER, STOP, STOP)],
        "text": [f"data: {json.dumps(value)}\n" for value in (USER, STOP, STOP)],
        "event": [UserMessage(text="red"), RunStop(reason="completed"), RunStop(reason="completed")],
    }
    monitor = Monitor()
    assert [[finding.law for finding in monitor.feed(value)] for value in made[kind]] == [[], [], ["outside-run"]]
    assert (monitor.events, monitor.cycles, monitor.findings) == (3, 1, {"outside-run": 1})


@pytest.mark.parametrize("line", [b"", b"\r\n", b": ping", b"event: message", b"id: 5", "retry: 3"])
def test_what_is_no_event_of_a_stream_holds_no_position(line: Any) -> None:
    monitor = Monitor()
    assert monitor.feed(line) == []
    monitor.feed(USER)
    assert [finding.at for finding in monitor.feed(b"rubbish")] == [1]


def test_sessions_are_apart() -> None:
    monitor = Monitor()
    monitor.feed(USER, session="a")
    (finding,) = monitor.feed(STOP, session="b")
    assert (finding.session, finding.law, finding.at) == ("b", "outside-run", 0)
    assert monitor.feed(STOP, session="a") == []


def test_an_open_run_is_a_finding_at_the_end_where_logs_of_the_format_are_whole() -> None:
    monitor = Monitor(format_name="ag-ui")
    monitor.feed({"type": "RUN_STARTED"})
    assert [finding.law for finding in monitor.end()] == ["truncated"]
    own = Monitor()
    own.feed(USER)
    assert own.end() == []
    own.feed(USER)
    assert [finding.law for finding in own.end(strict=True)] == ["truncated"]


def test_a_session_that_ended_begins_anew() -> None:
    monitor = Monitor()
    monitor.feed(USER)
    monitor.end()
    assert [finding.at for finding in monitor.feed(STOP)] == [0]
    assert monitor.end("nobody") == []


def test_the_session_that_was_fed_longest_ago_is_forgotten_first() -> None:
    monitor = Monitor(sessions=2)
    for session in ("a", "b", "a", "c"):
        monitor.feed(USER, session=session)
    assert (len(monitor), monitor.expired) == (2, 1)
    assert monitor.feed(STOP, session="a") == []
    assert [finding.law for finding in monitor.feed(STOP, session="b")] == ["outside-run"]


def test_an_idle_session_is_forgotten() -> None:
    clock = Clock()
    monitor = Monitor(idle=10.0, clock=clock)
    monitor.feed(USER, session="a")
    clock.now = 11.0
    monitor.feed(USER, session="b")
    assert (len(monitor), monitor.expired) == (1, 1)


def test_ten_thousand_sessions_are_kept_and_no_more() -> None:
    monitor = Monitor()
    for session in range(12_000):
        monitor.feed(USER, session=str(session))
    assert (len(monitor), monitor.expired) == (10_000, 2_000)


def test_an_unanswered_call_is_told_at_the_stop() -> None:
    monitor = Monitor()
    told = [monitor.feed(value) for value in (USER, CALL, STOP)]
    assert [[(finding.law, finding.at) for finding in found] for found in told] == [[], [], [("unanswered-call", 1)]]


def test_a_clients_call_is_excused() -> None:
    with (LOGS / "pydantic-ai-2.68.0" / "tool-approval-session.sse").open("rb") as stream:
        values = list(read_values(stream)[1])
    monitor = Monitor(format_name="ag-ui")
    assert [finding for value in values for finding in monitor.feed(value)] == []


def test_metrics_count_every_law() -> None:
    monitor = Monitor()
    monitor.feed(STOP)
    lines = monitor.metrics().splitlines()
    assert 'turncheck_findings_total{law="outside-run"} 1' in lines
    assert 'turncheck_findings_total{law="unknown-call"} 0' in lines
    assert sum(line.startswith("# TYPE turncheck_findings_total") for line in lines) == 1


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(KeyError):
        Monitor(format_name="nonsense")


# The functions


def test_a_log_may_be_a_path_bytes_or_a_stream(tmp_path: Path) -> None:
    data = json.dumps(USER).encode() + b"\n" + json.dumps(STOP).encode()
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    for log in (path, str(path), data):
        assert (turncheck.check(log).verdict, len(turncheck.project(log))) == ("pass", 1)
    assert (turncheck.check(BytesIO(data)).verdict, len(turncheck.project(BytesIO(data)))) == ("pass", 1)


def test_a_log_in_another_format_is_projected_too() -> None:
    (session,) = turncheck.project(LOGS / "codex-rollout-0.169.0" / "two-prompts.jsonl")
    assert len(session.cycles) == 2


def test_the_package_has_what_it_says_and_nothing_else() -> None:
    assert turncheck.Monitor is Monitor
    assert [name for name in turncheck.__all__ if not hasattr(turncheck, name)] == []
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = turncheck.nothing


@pytest.mark.parametrize("name", FORMATS)
def test_a_monitor_takes_every_format(name: str) -> None:
    monitor = Monitor(format_name=name)
    monitor.feed(None)
    assert len(monitor) == 1


# Many at once


def batch_of(kind: str, values: list[dict[str, Any]]) -> Any:
    lines = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return {
        "objects": values,
        "lines": lines.splitlines(),
        "block": b"\n" + lines + b" \n",
        "events": list(decode_lines(lines)[0]),
    }[kind]


@pytest.mark.parametrize("kind", ["objects", "lines", "block", "events"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_events_fed_together_give_the_findings_of_events_fed_one_by_one(kind: str, size: int) -> None:
    log = [STOP, USER, CALL, {"type": "odd"}, STOP, CALL, USER, STOP, STOP]
    alone, together = Monitor(), Monitor()
    expected = [finding for value in log for finding in alone.feed(value, session="a")]
    found = [
        finding
        for at in range(0, len(log), size)
        for finding in together.feed_all(batch_of(kind, log[at : at + size]), session="a")
    ]
    assert (found, together.metrics()) == (expected, alone.metrics())


@pytest.mark.parametrize(
    "path", [path for path in RECORDED if path.suffix == ".jsonl"][::4], ids=lambda path: path.name
)
def test_a_recording_fed_at_once_has_the_findings_of_its_lines(path: Path) -> None:
    data = path.read_bytes()
    form = check("log", BytesIO(data)).format
    alone, together = Monitor(format_name=form), Monitor(format_name=form)
    expected = [finding for line in data.splitlines() for finding in alone.feed(line)]
    assert (together.feed_all(data), together.events) == (expected, alone.events)


@pytest.mark.parametrize("blocks", [True, False])
def test_an_end_that_is_told_again_is_known_however_it_is_fed(blocks: bool) -> None:  # noqa: FBT001
    end = {**STOP, "reason": "error"}
    log = [USER, {**end, "via": "exception"}, {"type": "native"}, end, USER, end, {**end, "via": "close"}]
    monitor = Monitor()
    for number, value in enumerate(log):
        line = json.dumps(value).encode()
        fed = monitor.feed_all(line + b"\n") if blocks or number % 2 else monitor.feed(line)
        assert fed == []
    assert monitor.cycles == 2


def test_no_event_opens_no_session() -> None:
    monitor = Monitor()
    assert (monitor.feed_all([], session="a"), len(monitor)) == ([], 0)
