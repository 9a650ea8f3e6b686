"""A child process that misbehaves is noticed in time, named, and gone."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from turncheck.adapters.protocol.errors import DiedError, HangingError, RubbishError, StartError
from turncheck.adapters.protocol.processes.process import STDERR_LINES, Child
from turncheck.adapters.protocol.processes.supervisor import GRACE

DOUBLE = Path(__file__).parents[1] / "doubles" / "misbehaving.py"
SHORT = 0.3
PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
LONG = 20.0  # never waited for: an answer comes, or the test is about something else


@pytest.fixture
def start():
    children = []

    def start(*arguments, **options):
        children.append(Child([sys.executable, str(DOUBLE), *arguments], os.environ, **options))
        return children[-1]

    yield start
    for child in children:
        child.kill()


@pytest.fixture
def no_subreaper():
    """Whether this process adopts orphans, which it does not at first; other tests may have made it."""
    prctl = ctypes.CDLL(None).prctl

    def adopts():
        adopter = ctypes.c_int()
        prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(adopter), 0, 0, 0)
        return bool(adopter.value)

    adopted = adopts()
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    yield adopts
    prctl(PR_SET_CHILD_SUBREAPER, int(adopted), 0, 0, 0)


def gone(pid):
    """Ended; an orphan's entry stays until some other process looks at it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def gone_soon(pids):
    """Whether all are gone within seconds."""
    deadline = time.monotonic() + LONG
    while not all(map(gone, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return all(map(gone, pids))


def test_an_answer_comes_back_without_its_line_feed(start):
    assert start("echoes").ask(b"hello\n", LONG) == b"hello"


def test_a_message_larger_than_any_pipe_gets_through_both_ways(start):
    message = b"x" * 3_000_000
    assert start("echoes").ask(message + b"\n", LONG) == message


def test_silence_is_hanging(start):
    with pytest.raises(HangingError, match=r"no answer within 0\.3 s"):
        start("never_answers").ask(b"{}\n", SHORT)


def test_half_a_line_is_hanging_and_shown(start):
    child = start("answers_half_a_line")
    child.ask(b"{}\n", LONG)
    with pytest.raises(HangingError, match="no end of the answer") as caught:
        child.ask(b"{}\n", SHORT)
    assert caught.value.came == '{"ok": tr'


def test_a_child_that_does_not_read_is_hanging(start):
    child = start("does_not_read")
    child.ask(b"{}\n", LONG)
    with pytest.raises(HangingError, match=r"it read [\d,]+ of 1,000,001 bytes"):
        child.ask(b"x" * 1_000_000 + b"\n", SHORT)


def test_a_hanging_child_costs_its_timeout_and_no_more(start):
    child = start("never_answers")
    began = time.monotonic()
    with pytest.raises(HangingError):
        child.ask(b"{}\n", SHORT)
    assert SHORT <= time.monotonic() - began < SHORT + GRACE


@pytest.mark.parametrize(("double", "seconds", "ended"), [("echoes", LONG, True), ("ignores_sigterm", SHORT, False)])
def test_a_child_that_is_closed_says_whether_it_ended_by_itself(start, double, seconds, ended):
    child = start(double)
    child.ask(b"{}\n", LONG)
    assert child.close(seconds=seconds) is ended
    assert gone(child.pid)


def test_a_hanging_child_is_gone_when_it_is_reported(start):
    child = start("never_answers")
    with pytest.raises(HangingError):
        child.ask(b"{}\n", SHORT)
    assert gone(child.pid)


def test_death_by_signal_is_named_with_what_came_before_it(start):
    with pytest.raises(DiedError, match="SIGSEGV") as caught:
        start("dies_in_the_middle_of_an_answer").ask(b"{}\n", LONG)
    assert caught.value.came == '{"ok": tr'


def test_an_exit_is_named_with_its_code_and_its_last_words(start):
    with pytest.raises(DiedError, match="exit code 3") as caught:
        start("exits_at_start").ask(b"{}\n", LONG)
    assert caught.value.stderr == ("no licence found",)


@pytest.mark.parametrize("pipe", ["stdin", "stdout"])
def test_a_closed_pipe_is_named(start, pipe):
    child = start(f"closes_{pipe}")
    child.ask(b"{}\n", LONG)
    with pytest.raises(DiedError, match=f"closed its {pipe}, but runs on"):
        child.ask(b"{}\n", LONG)


def test_a_flood_without_a_line_ends_at_the_limit(start):
    with pytest.raises(RubbishError, match="more than 1,000,000 bytes on stdout"):
        start("floods_stdout", line_limit=1_000_000).ask(b"{}\n", LONG)


def test_megabytes_on_stderr_do_not_block_the_answer(start):
    child = start("floods_stderr_then_answers")
    child.ask(b"{}\n", LONG)
    assert b'"seq": 1' in child.ask(b'{"seq": 1}\n', LONG)


def test_the_last_lines_of_stderr_are_kept(start):
    child = start("floods_stderr_then_answers")
    child.ask(b"{}\n", LONG)
    child.ask(b'{"seq": 1}\n', LONG)
    child.close()
    assert child.stderr == tuple(f"line {number}" for number in range(400_000 - STDERR_LINES, 400_000))


def test_stderr_without_line_ends_is_bounded(start):
    child = start("floods_stderr_without_newline")
    child.ask(b"{}\n", LONG)
    child.ask(b'{"seq": 1}\n', LONG)
    assert len(child.stderr[0]) <= 65536


def test_close_lets_a_child_end_by_itself(start):
    child = start("echoes")
    child.ask(b"a\n", LONG)
    child.close()
    assert gone(child.pid)


def test_close_ends_one_that_ignores_sigterm(start):
    child = start("ignores_sigterm")
    child.ask(b"a\n", LONG)
    child.close()
    assert gone(child.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_close_ends_children_and_orphans_in_sessions_of_their_own(start):
    child = start("leaves_children_behind")
    pids = eval(child.ask(b"a\n", LONG))["pids"]
    assert not any(map(gone, pids))
    child.close(b"end\n")
    assert all(map(gone, pids))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_close_ends_an_orphan_whose_environment_is_empty(start):
    child = start("leaves_a_daemon_behind")
    pid = int(child.ask(b"a\n", LONG))
    child.close(b"end\n")
    assert gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_the_processes_of_others_are_not_adopted(start, no_subreaper):
    start("echoes")
    assert not no_subreaper()


def test_a_child_outlives_the_thread_that_started_it(start):
    with ThreadPoolExecutor(1) as other:
        child = other.submit(start, "echoes").result()
    assert child.ask(b"still here\n", LONG) == b"still here"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has parent-death signals")
def test_a_child_that_kills_its_supervisor_dies_with_it(start):
    child = start("kills_its_parent")
    with pytest.raises(DiedError):
        child.ask(b"a\n", LONG)
    assert gone_soon([child.pid])


def test_a_child_that_stops_its_supervisor_is_ended(start):
    child = start("stops_its_parent")
    child.ask(b"a\n", LONG)
    child.close()
    assert gone(child.pid)


def test_another_child_survives_the_sweep(start):
    other = start("echoes")
    start("echoes").close()
    assert other.ask(b"still here\n", LONG) == b"still here"


def test_closing_twice_is_as_good_as_once(start):
    child = start("echoes")
    child.close()
    child.close()


def test_an_interruption_leaves_no_process(start, monkeypatch):
    child = start("echoes")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(child, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        child.ask(b"a\n", LONG)
    assert gone(child.pid)


@pytest.mark.parametrize("end", ["sys.exit()", "os.kill(os.getpid(), 2); child.ask(b'{}', 60)"])
def test_the_end_of_the_harness_leaves_no_process(end):
    code = f"""
import os, sys
from turncheck.adapters.protocol.processes.process import Child
child = Child([sys.executable, {str(DOUBLE)!r}, "never_answers"], os.environ)
print(child.pid, flush=True)
{end}
"""
    harness = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert gone(int(harness.stdout))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_harness_at_once_leaves_no_process(number):
    code = f"""
import os, signal, sys
from turncheck.adapters.protocol.processes.process import Child
child = Child([sys.executable, {str(DOUBLE)!r}, "leaves_a_daemon_behind"], os.environ)
print(child.pid, child.ask(b"a\\n", 60).decode(), flush=True)
os.kill(os.getpid(), {number})
"""
    harness = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    pids = [int(pid) for pid in harness.stdout.split()]
    assert (len(pids), gone_soon(pids)) == (2, True)


def test_a_command_that_does_not_exist_cannot_be_started():
    with pytest.raises(StartError, match=r"cannot start 'no-such-program': no program 'no-such-program' is on PATH"):
        Child(["no-such-program"], os.environ)
