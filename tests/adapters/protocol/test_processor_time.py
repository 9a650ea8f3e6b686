"""Seconds of the processor of a process and its descendants."""

import subprocess
import sys

import pytest

from turncheck.adapters.protocol.processes.processor_time import processor_seconds

_WORK = "import time; [None for _ in iter(lambda: time.process_time() > 0.2, True)]; print(flush=True); input()"
_IDLE = "print(flush=True); input()"
_BELOW = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_WORK!r}])"


def spent(program: str) -> float | None:
    """What a process has used when it has written a line."""
    command = [sys.executable, "-I", "-S", "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        found = processor_seconds(process.pid)
        process.stdin.write(b"\n")
    return found


@pytest.mark.parametrize("program", [_WORK, _BELOW])
def test_what_a_process_computes_is_counted_and_what_its_children_do(program):
    assert (spent(program) or 0) >= 0.1


def test_a_process_that_waits_has_used_next_to_nothing():
    assert (spent(_IDLE) or 0) < 0.1


def test_of_a_process_that_is_gone_nothing_is_told():
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ""]) as process:
        process.wait()
    assert processor_seconds(process.pid) is None
