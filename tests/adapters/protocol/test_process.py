"""A child process that misbehaves is noticed in time, named, and gone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from turncheck.adapters.protocol.errors import DiedError, HangingError, RubbishError, StartError
from turncheck.adapters.protocol.process import GRACE, STDERR_LINES, Child

DOUBLE = Path(__file__).parents[1] / "doubles" / "misbehaving.py"
SHORT = 0.3
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


def gone(pid):
    return not Path(f"/proc/{pid}").exists()


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
from turncheck.adapters.protocol.process import Child
child = Child([sys.executable, {str(DOUBLE)!r}, "never_answers"], os.environ)
print(child.pid, flush=True)
{end}
"""
    harness = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert gone(int(harness.stdout))


def test_a_command_that_does_not_exist_cannot_be_started():
    with pytest.raises(StartError, match=r"cannot start 'no-such-program': no program 'no-such-program' is on PATH"):
        Child(["no-such-program"], os.environ)
