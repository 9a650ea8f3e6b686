"""Run a command; end it and its descendants when the owner orders so, or is gone for any reason.

``python -I -S supervisor.py LIFELINE STATUS COMMAND ARGUMENT...``: LIFELINE and STATUS are descriptors of pipes.
STATUS gets ``pid N`` or ``error NUMBER`` (an errno), and ``exit CODE`` (negative: a signal) when the command has ended.
A byte on LIFELINE, its end (the kernel closes it with the owner, even after SIGKILL) or SIGTERM ends all of them: with
SIGTERM, and SIGKILL after a grace. The byte ``!`` orders SIGKILL at once.

On Linux this process is a child subreaper: a descendant stays one in a session of its own, and orphaned. The kernel
kills the command if this process is killed. The owner has neither role, so that it may be any process, and have
threads. Only the standard library's cheapest modules are imported: two such processes start per verification.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

AT_ONCE: Final = b"!"
GRACE: Final = 0.5
"""Seconds between SIGTERM and SIGKILL."""
PATIENCE: Final = 2.0
"""Seconds to wait for killed processes to be gone: they may hang in the kernel."""

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER: Final = 36
_PROC: Final = "/proc"
_NOT_STARTED: Final = 127
_SIGNALS: Final = 1 << 16  # read at once: one byte per signal, and a pipe holds no more


class Process(NamedTuple):
    """A row of the process table; the start time distinguishes it from a later process with the same id."""

    pid: int
    parent: int
    group: int
    started: int


def descendants(ancestor: int) -> list[Process]:
    """Return the present descendants of a process, zombies included; none without ``/proc``."""
    children: dict[int, list[Process]] = {}
    for row in _rows():
        children.setdefault(row.parent, []).append(row)
    found: list[Process] = []
    waiting = [ancestor]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += [row.pid for row in below]
    return found


def kill_descendants(ancestor: int) -> bool:
    """Send SIGKILL to the process groups of all present descendants; return whether there were any.

    A group dies at once, however fast its members fork.
    """
    found = descendants(ancestor)
    for group in {row.group for row in found} - {os.getpgid(0)}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    return bool(found)


def adopt_orphans() -> None:
    """Make this process adopt the orphans among its descendants. Only Linux can do that."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when *parent*, which started it, is gone. Only Linux can do that."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(_NOT_STARTED)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _rows() -> Iterator[Process]:
    for name in os.listdir(_PROC) if sys.platform == "linux" else ():  # noqa: PTH208 - pathlib takes long to import
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"{_PROC}/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                # "pid (command) state parent …": the command may hold anything; field 22 is the start
                fields = file.read().rpartition(b")")[2].split()
                yield Process(int(name), int(fields[1]), int(fields[2]), int(fields[19]))


class _Supervisor:
    def __init__(self, lifeline: int, status: int) -> None:
        self._lifeline, self._status = lifeline, status
        for descriptor in (lifeline, status):
            os.set_inheritable(descriptor, False)  # noqa: FBT003
        self._wake, writing = os.pipe()
        for descriptor in (self._wake, writing):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: None)
        self._pid = 0
        self._ended = False
        self._order = b""

    def run(self, command: Sequence[str]) -> None:
        try:
            self._pid = _start(command)
        except OSError as error:
            self._say(f"error {error.errno}")
            return
        _leave_pipes()  # a pipe's end shows only if no other process holds it
        self._say(f"pid {self._pid}")
        while not self._ordered():
            self._reap()
        self._end(GRACE if self._order != AT_ONCE else 0.0)

    def _ordered(self) -> bool:
        """Wait for a child's end, or for the order to end all; return True for the order."""
        ready, _, _ = select.select([self._lifeline, self._wake], [], [])
        if self._lifeline in ready:
            self._order = os.read(self._lifeline, 1)
            return True
        return signal.SIGTERM in os.read(self._wake, _SIGNALS)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._pid:
                    self._ended = True
                    self._say(f"exit {os.waitstatus_to_exitcode(found[1])}")

    def _end(self, grace: float) -> None:
        self._reap()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGTERM if grace else signal.SIGKILL)
        deadline = time.monotonic() + grace
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            if select.select([self._wake], [], [], left)[0]:
                os.read(self._wake, _SIGNALS)
            self._reap()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while (kill_descendants(os.getpid()) or not self._ended) and time.monotonic() < deadline:
            time.sleep(0.001)  # SIGKILL takes effect at the next schedule: don't compete with it
            self._reap()

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # the owner may be gone
            os.write(self._status, f"{line}\n".encode(errors="replace"))


def _start(command: Sequence[str]) -> int:
    """Start *command* in a session of its own, and return its id. Raises OSError."""
    reading, writing = os.pipe()  # closed by a successful exec
    owner = os.getpid()
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
                signal.signal(number, signal.SIG_DFL)
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == owner:
                os.execvp(command[0], [*command])  # noqa: S606
        except OSError as error:
            os.write(writing, str(error.errno).encode())
        finally:
            os._exit(_NOT_STARTED)
    os.close(writing)
    failed = os.read(reading, 64)
    os.close(reading)
    if failed:
        os.waitpid(pid, 0)
        raise OSError(int(failed), os.strerror(int(failed)))
    return pid


def _leave_pipes() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def main(arguments: Sequence[str]) -> None:
    """Supervise the command in *arguments*, which follows the two descriptors."""
    adopt_orphans()
    _Supervisor(int(arguments[0]), int(arguments[1])).run(arguments[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # nothing is left to clean up, and an orderly end takes milliseconds
