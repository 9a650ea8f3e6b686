"""`turncheck check --follow`: a log is judged while it grows, until Ctrl-C."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Timer
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from turncheck.adapters.logs.formats.registry import UnsupportedFormatError
from turncheck.adapters.logs.reading import read_log
from turncheck.adapters.logs.tail import Tail
from turncheck.conformance.check.results import LogResult
from turncheck.conformance.cli.following import Counts, _again
from turncheck.model.core.events import RunStop

USER = b'{"type":"user-message","text":"red"}\n'
STOP = b'{"type":"run-stop","reason":"completed"}\n'
LIMIT = 60.0  # seconds; never waited for
RECORDED = Path(__file__).parents[2] / "recordings" / "logs"


class Following:
    """A running `check --follow`; each line of its output is waited for."""

    def __init__(self, path, *options):
        arguments = [sys.executable, "-m", "turncheck.conformance", "check", "--follow", str(path), *options]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self):
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode()

    def interrupted(self):
        """Press Ctrl-C; return the remaining output and the exit code."""
        self.process.send_signal(signal.SIGINT)
        out, errors = self.process.communicate()
        sys.stderr.write(errors.decode())  # pytest shows it where the test fails
        return out.decode(), self.process.returncode


@contextmanager
def following(path, *options):
    found = Following(path, *options)
    watchdog = Timer(LIMIT, found.process.kill)
    watchdog.start()
    try:
        yield found
    finally:
        watchdog.cancel()
        found.process.kill()
        found.process.communicate()


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(USER + STOP)
    return path


def test_a_finding_is_told_as_soon_as_its_line_is_there(log):
    with following(log, "--json") as follow:
        append(log, STOP)
        first = json.loads(follow.line())
        append(log, USER + b"rubbish\n")
        second = json.loads(follow.line())
    assert [(found["law"], found["line"]) for found in (first, second)] == [("outside-run", 3), ("malformed", 5)]


def test_ctrl_c_ends_it_with_the_result_and_130(log):
    with following(log, "--json") as follow:
        append(log, STOP)
        follow.line()
        out, code = follow.interrupted()
    assert (code, json.loads(out)["verdict"], json.loads(out)["events"]) == (130, "fail", 3)


def test_the_text_is_that_of_check(log):
    with following(log) as follow:
        append(log, STOP)
        assert follow.line().split()[:3] == ["line", "3", "outside-run"]
        assert "turncheck, 3 events, 1 cycles: fail" in follow.interrupted()[0]


def test_an_open_run_is_told_at_the_end_alone(log):
    with following(log, "--json") as follow:
        append(log, STOP + USER)
        follow.line()
        told, result = map(json.loads, follow.interrupted()[0].splitlines())
    assert (told["law"], told["line"]) == ("truncated", 4)
    assert [found["law"] for found in result["findings"]] == ["outside-run", "truncated"]


def test_a_file_that_is_replaced_is_a_new_log(log):
    with following(log, "--json") as follow:
        append(log, STOP)
        follow.line()
        other = log.with_suffix(".new")
        other.write_bytes(STOP)
        other.replace(log)
        assert json.loads(follow.line())["verdict"] == "fail"  # the result of the old one
        assert json.loads(follow.line())["line"] == 1
        assert follow.process.stderr is not None
        assert b"was replaced: followed from its start, as a new log" in follow.process.stderr.readline()


def test_a_recorded_format_is_told_at_once_too(tmp_path):
    path = tmp_path / "log.sse"
    path.write_bytes((RECORDED / "ai-sdk-6.0.326" / "abort-two-tools.sse").read_bytes())
    with following(path, "--json") as follow:
        assert json.loads(follow.line())["law"] == "unanswered-call"


@pytest.mark.parametrize("arguments", [("nowhere.jsonl",), ("-",), (".",), ("a.jsonl", "b.jsonl")])
def test_what_is_not_one_file_is_refused(invoke, tmp_path, arguments):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(USER)
    ran = invoke(tmp_path, "check", "--follow", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "--follow takes one file" in ran.err


def test_an_array_cannot_be_followed(invoke, tmp_path):
    (tmp_path / "log.json").write_bytes(b"[" + USER)
    ran = invoke(tmp_path, "check", "--follow", "log.json")
    assert (ran.code, ran.out) == (2, "")
    assert "it cannot be followed" in ran.err


def test_a_report_of_a_log_that_grows_is_refused(invoke, tmp_path):
    (tmp_path / "log.jsonl").write_bytes(USER)
    ran = invoke(tmp_path, "check", "--follow", "log.jsonl", "--report", "sarif=out.sarif")
    assert (ran.code, ran.out) == (2, "")
    assert "they tell of a log that is whole" in ran.err


# ---- the stream ----


class Tailed(NamedTuple):
    """A tail with its stop event, and its messages."""

    read1: Callable[..., bytes]
    stop: Event
    said: list[str]
    tail: Tail


@pytest.fixture
def tailed(log):
    """A tail that never waits: it ends where it would have to."""
    stop = Event()
    said = []

    def say(text):
        said.append(text)
        stop.set()

    with Tail(log, stop, max_line=1000, say=say) as tail:
        yield Tailed(tail.read1, stop, said, tail)


def test_whole_lines_are_handed_on(tailed):
    assert tailed.read1() == USER + STOP


def test_no_more_is_handed_on_than_was_asked_for(tailed):
    assert tailed.read1(5) == USER[:5]
    assert tailed.read1(500) == USER[5:] + STOP


def test_a_line_that_is_not_whole_is_held_back(log, tailed):
    append(log, USER[:9])
    assert tailed.read1() == USER + STOP
    tailed.stop.set()
    assert tailed.read1() == b""


def test_what_was_held_back_comes_with_its_rest(log, tailed):
    append(log, USER[:9])
    tailed.read1()
    append(log, USER[9:])
    assert tailed.read1() == USER


def test_a_line_over_the_limit_is_not_held(log, tailed):
    tailed.read1()
    append(log, b"x" * 1001)
    assert tailed.read1() == b"x" * 1001


def test_a_replaced_file_ends_the_stream(log, tailed):
    tailed.read1()
    other = log.with_suffix(".new")
    other.write_bytes(USER)
    other.replace(log)
    assert (tailed.read1(), tailed.tail.replaced) == (b"", "was replaced")


def test_a_file_that_was_cut_ends_the_stream(log, tailed):
    tailed.read1()
    os.truncate(log, 5)
    assert (tailed.read1(), tailed.tail.replaced) == (b"", "was cut")


def test_what_the_old_file_still_held_is_read_first(log, tailed):
    append(log, USER)
    other = log.with_suffix(".new")
    other.write_bytes(STOP)
    other.replace(log)
    assert tailed.read1() == USER + STOP + USER


def test_a_file_that_is_gone_is_waited_for(log, tailed):
    tailed.read1()
    log.unlink()
    assert (tailed.read1(), tailed.tail.replaced) == (b"", None)
    assert tailed.said == [f"{log} is gone; waiting for a new one"]


def became_fifo(log):
    log.unlink()
    os.mkfifo(log)


def became_folder(log):
    log.unlink()
    log.mkdir()


def became_circle(log):
    log.unlink()
    log.symlink_to(log.name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (became_fifo, "is a FIFO now; waiting for a file"),
        (became_folder, "is a folder now; waiting for a file"),
        (became_circle, "cannot be read: Too many levels of symbolic links; waiting for a file"),
    ],
)
def test_a_file_that_is_none_any_more_is_waited_for(log, tailed, change, said):
    tailed.read1()
    change(log)
    assert (tailed.read1(), tailed.tail.replaced) == (b"", None)
    assert tailed.said == [f"{log} {said}"]


def test_what_is_no_file_is_not_opened_and_not_waited_for(log):
    became_fifo(log)
    with pytest.raises(OSError, match="it is a FIFO, and a file is needed"):
        Tail(log, Event(), max_line=1000)


def test_a_line_without_its_end_is_told_when_the_file_is_another_one(log, tailed):
    append(log, USER[:9])
    tailed.read1()
    os.truncate(log, 5)
    assert tailed.read1() == b""
    assert tailed.tail.replaced == "was cut, behind 9 bytes of a line without an end, which were not judged"


def test_a_file_that_comes_back_is_followed(log):
    with following(log, "--json") as follow:
        append(log, STOP)
        follow.line()
        became_fifo(log)
        assert follow.process.stderr is not None
        assert b"is a FIFO now; waiting for a file" in follow.process.stderr.readline()
        other = log.with_suffix(".new")
        other.write_bytes(STOP)
        other.replace(log)
        assert json.loads(follow.line())["verdict"] == "fail"  # the result of the old one
        assert json.loads(follow.line())["line"] == 1
        assert follow.interrupted()[1] == 130


def test_a_new_file_that_is_gone_at_once_is_waited_for(log, monkeypatch):
    """Between the look that finds it and its opening."""
    said = []
    stop = Event()

    def say(text):
        said.append(text)
        stop.set()

    monkeypatch.setattr("turncheck.conformance.cli.following._say", say)
    log.unlink()
    assert _again(str(log), stop, 1000) is None
    assert said == [f"{log}: No such file or directory; waiting for a file"]


def test_a_live_log_gives_an_event_before_the_next_one_comes(log, tailed):
    log.write_bytes(b"")
    append(log, b'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n')
    chunks = read_log(tailed, live=True).chunks
    assert len(next(chunks).batch.events) == 1
    append(log, b'data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n\n')
    assert [type(event) for event in next(chunks).batch.events] == [RunStop]


def test_a_live_log_is_no_array(log, tailed):
    log.write_bytes(b"[" + USER)
    with pytest.raises(UnsupportedFormatError):
        read_log(tailed, live=True)


HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01","cwd":"/"}\n'


@pytest.mark.parametrize("name", [None, "pi"])
@pytest.mark.parametrize(
    ("second", "expected"),
    [(b'{"type":"agent_start"}\n', "pi"), (b'{"type":"message","id":"1","parentId":null}\n', "pi-session")],
)
def test_a_header_alone_is_waited_out(name, second, expected):
    class Growing(io.BytesIO):
        """A log that holds only its header at first."""

        def read1(self, _size=-1, /):
            return self.readline()

    assert read_log(Growing(HEADER + second), format_name=name, live=True).format.name == expected


# Metrics


def test_prometheus_reads_what_was_found_so_far(log):
    with following(log, "--json", "--metrics", "0") as follow:
        assert follow.process.stderr is not None
        url = follow.process.stderr.readline().decode().removeprefix("metrics at ").strip()
        append(log, STOP)
        assert json.loads(follow.line())["law"] == "outside-run"
        with urlopen(url) as answer:
            kind, text = answer.headers["Content-Type"], answer.read().decode()
        with pytest.raises(HTTPError, match="404"):
            urlopen(url.replace("metrics", ""))
        _, code = follow.interrupted()
    assert (kind, code) == ("text/plain; version=0.0.4; charset=utf-8", 130)
    assert 'turncheck_findings_total{law="outside-run"} 1\n' in text
    assert 'turncheck_findings_total{law="malformed"} 0\n' in text
    assert "# TYPE turncheck_events_total counter\n" in text


def test_counts_go_on_where_another_log_takes_the_place_of_one():
    counts = Counts()
    counts.progress(5)
    counts.ended(LogResult("a", "turncheck", 5, 1, (), "pass"))
    counts.progress(2)
    assert counts.text().splitlines()[1:4:2] == ["turncheck_events_total 7", "turncheck_logs_ended_total 1"]


def test_a_port_that_is_taken_is_named(log, invoke, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = invoke(tmp_path, "check", "--follow", str(log), "--metrics", str(taken.getsockname()[1]))
    assert (ran.code, "Address already in use" in ran.err) == (2, True)


def test_metrics_are_for_a_log_that_is_followed(log, invoke, tmp_path):
    ran = invoke(tmp_path, "check", str(log), "--metrics", "0")
    assert (ran.code, "--metrics is for --follow" in ran.err) == (2, True)
