"""Logs shared among processes: what comes out is what one process says, whatever becomes of the workers."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import pytest

from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check.fleet import pool
from turncheck.conformance.check.fleet.one import How, judged
from turncheck.conformance.check.fleet.process import Process
from turncheck.conformance.check.fleet.worker import TOGETHER
from turncheck.conformance.check.results import LogFinding, LogResult

USER: Final = b'{"type":"user-message","text":"red"}\n'
STOP: Final = b'{"type":"run-stop","reason":"completed"}\n'
SOUND: Final = USER + STOP
BROKEN: Final = USER + STOP + STOP
MANY: Final = 3000
LIMIT: Final = 60.0  # seconds; never waited for

needs_pipes = pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """The workers that were started."""
    found: list[Process] = []

    class Recorded(Process):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            found.append(self)

    monkeypatch.setattr(pool, "Process", Recorded)
    return found


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    """Paths of logs: sound, broken many times, empty, unreadable, missing, and a folder."""
    texts = {"a": SOUND, "b": USER + STOP * MANY, "c": b"", "d": b"rubbish", "f": BROKEN, "g": USER}
    for name, text in texts.items():
        (tmp_path / f"{name}.jsonl").write_bytes(text)
    return [*(str(tmp_path / f"{name}.jsonl") for name in "abcdefg"), str(tmp_path)]


Said = list[Any]
judge_all: Final[Callable[..., Iterator[Any]]] = pool.judged


def told(tasks: Any, jobs: int, how: How = How(None, MAX_LINE, tells=True), **options: Any) -> Said:  # noqa: B008
    said: Said = []
    for result in judge_all(tasks, how, jobs, found=said.append, **options):
        said.append(result)
    return said


def alone(tasks: list[str], how: How = How(None, MAX_LINE, tells=True)) -> Said:  # noqa: B008
    said: Said = []
    for path in tasks:
        said.append(judged(path, how, found=said.append))
    return said


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize(
    "how", [How(None, MAX_LINE, strict=True), How(None, MAX_LINE, tells=True)], ids=["strict", "tells"]
)
def test_any_number_of_workers_says_what_one_process_says(logs: list[str], jobs: int, how: How) -> None:
    assert told(logs, jobs, how) == alone(logs, how)


def test_findings_that_wait_for_their_turn_are_bounded(logs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "HELD", 10)
    monkeypatch.setattr(pool, "AHEAD", 3)
    assert told(logs * 2, 2) == alone(logs * 2)


def test_a_task_of_this_process_is_done_at_its_turn(logs: list[str]) -> None:
    before: list[int] = []
    said: Said = []

    def here() -> LogResult:
        before.append(len(said))
        return judged(logs[0], How(None, MAX_LINE))

    for result in judge_all([logs[4], here, logs[0]], How(None, MAX_LINE), 2):
        said.append(result)
    assert before == [1]
    assert [result.log for result in said if isinstance(result, LogResult)] == [logs[4], logs[0], logs[0]]


def test_no_more_workers_are_started_than_there_are_logs(logs: list[str], started: list[Process]) -> None:
    told(logs[:1], 4)
    assert len(started) == 1


def written(pipe: str, texts: list[bytes], between: Callable[[], None]) -> Thread:
    """Write each text to a reader of its own; call *between* while a reader, except the last one, waits for more.

    The next reader gets a pipe of its own under the same name.
    """
    os.mkfifo(pipe)

    def write() -> None:
        for number, text in enumerate(texts, 1):
            with open(pipe, "wb", buffering=0) as file:  # noqa: PTH123 - waits for a reader
                file.write(text)
                if number < len(texts):
                    os.unlink(pipe)  # noqa: PTH108
                    os.mkfifo(pipe)
                    between()

    thread = Thread(target=write, daemon=True)
    thread.start()
    return thread


def killed(started: list[Process]) -> None:
    """Kill the worker that was started last."""
    os.kill(started[-1].pid, signal.SIGKILL)


@needs_pipes
def test_the_log_of_a_worker_that_was_killed_is_judged_again(tmp_path: Path, started: list[Process]) -> None:
    pipe = str(tmp_path / "pipe")
    thread = written(pipe, [b"", BROKEN], partial(killed, started))
    lost: list[str] = []
    (result,) = judge_all([pipe], How(None, MAX_LINE), 2, lost=lost.append)
    thread.join(LIMIT)
    assert [finding.law for finding in result.findings] == ["outside-run"]
    why = f"worker 1 of 2 (process {started[0].pid}) was killed by SIGKILL while it judged {pipe}"
    assert lost == [f"{why}: the log is judged again"]


@needs_pipes
def test_findings_that_were_told_before_the_kill_are_not_told_again(tmp_path: Path, started: list[Process]) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    text = USER + STOP * MANY
    plain.write_bytes(text)
    said: Said = []
    enough = Event()

    def found(finding: LogFinding) -> None:
        said.append(finding)
        if len(said) >= TOGETHER:
            enough.set()

    def between() -> None:
        assert enough.wait(LIMIT)
        killed(started)

    thread = written(str(pipe), [text, text], between)
    (result,) = judge_all([str(pipe)], How("turncheck", MAX_LINE, tells=True), 1, found=found)
    thread.join(LIMIT)
    expected = alone([str(plain)], How("turncheck", MAX_LINE, tells=True))
    assert said == expected[:-1]
    assert isinstance(expected[-1], LogResult)
    assert result.findings == expected[-1].findings


@needs_pipes
def test_a_log_that_kills_two_workers_is_an_error_and_the_others_are_judged(
    tmp_path: Path, started: list[Process], logs: list[str]
) -> None:
    pipe = str(tmp_path / "pipe")
    thread = written(pipe, [b"", b"", b""], partial(killed, started))
    first, second = judge_all([pipe, logs[0]], How(None, MAX_LINE), 1)
    with open(pipe, "rb"):  # noqa: PTH123 - lets the last writer go
        thread.join(LIMIT)
    assert (first.log, first.verdict, first.exit_code) == (pipe, "error", 2)
    assert first.why == (
        f"worker 1 of 1 (process {started[1].pid}) was killed by SIGKILL while it judged this log, and so did the"
        " worker before it; is there enough memory?"
    )
    assert second.verdict == "pass"


def gone(processes: list[Process]) -> Iterator[bool]:
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
        yield True


def test_no_worker_is_left_after_the_last_result(logs: list[str], started: list[Process]) -> None:
    told(logs, 2)
    assert list(gone(started)) == [True, True]


def test_no_worker_is_left_where_the_results_are_not_wanted(logs: list[str], started: list[Process]) -> None:
    results = judge_all(logs, How(None, MAX_LINE), 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert list(gone(started)) == [True, True]


READER: Final = """
from turncheck.adapters.logs.formats.mapping import Format

class Mapper:
    def value(self, at, value):
        raise KeyError("of the reader")
    def end(self):
        return iter(())

FORM = Format(name="own", title="own", recognises=lambda value: True, mapper=Mapper)
"""


def test_what_is_raised_in_a_worker_names_the_log(
    logs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reader_that_raises.py").write_text(READER)
    with pytest.raises(pool.WorkerBugError, match="KeyError: 'of the reader'") as raised:
        list(judge_all([logs[0]], How("python:reader_that_raises:FORM", MAX_LINE), 1))
    assert f"at {logs[0]}" in raised.value.__notes__[0]
