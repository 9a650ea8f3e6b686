"""A command under its own supervisor: none of its descendants outlives ``end``, or this process."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from ..errors import StartError
from . import supervisor
from .executable import unstartable
from .supervisor import AT_ONCE, GRACE, PATIENCE, kill_descendants

_SUPERVISOR: Final = (sys.executable, "-I", "-S", str(Path(supervisor.__file__).resolve()))
_LATE: Final = GRACE + PATIENCE + 2.0  # seconds for a supervisor to end everything, and itself


class Supervised:
    """The running *command*, with pipes to its stdin, stdout and stderr (``pipes``); ``pid`` is its own.

    Raises StartError if it cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._said = bytearray()
        self._code: int | None = None
        ours: list[int] = []
        theirs: list[int] = []
        try:
            reading, self._lifeline = os.pipe()
            theirs, ours = [reading], [self._lifeline]
            self._status, writing = os.pipe()
            theirs, ours = [reading, writing], [self._lifeline, self._status]
            self._process = subprocess.Popen(
                [*_SUPERVISOR, *map(str, theirs), *command],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=theirs,
                start_new_session=True,
                env=environment,
            )
            for descriptor in theirs:
                os.close(descriptor)
            theirs = []
            self.pipes: Final = _pipes(self._process)
            self.pid: Final = self._started()
        except BaseException as error:
            for descriptor in (*theirs, *ours):  # closing the lifeline ends the command
                os.close(descriptor)
            if isinstance(error, OSError | ValueError):
                raise StartError(f"cannot start {' '.join(command)!r}: {unstartable(command[0], error)}") from error
            raise

    def wait(self, seconds: float) -> int | None:
        """Return its exit code, negative for a signal; None if it does not end within *seconds*."""
        deadline = time.monotonic() + seconds
        while self._code is None and (left := deadline - time.monotonic()) > 0:
            line = self._line(left)
            if not line:
                break
            self._code = int(line.removeprefix("exit "))
        return self._code

    def end(self, *, at_once: bool = False) -> None:
        """End it and its descendants: SIGTERM first, SIGKILL after the grace; *at_once* with SIGKILL alone."""
        with contextlib.suppress(OSError):  # the supervisor is gone
            os.write(
                self._lifeline, AT_ONCE if at_once else b"."
            )  # a forked copy of this process may hold the pipe open
        self._process.send_signal(signal.SIGCONT)  # a command can stop its parent
        try:
            self._process.wait(_LATE)
        except subprocess.TimeoutExpired:
            kill_descendants(self._process.pid)
            self._process.kill()
            self._process.wait()

    def release(self) -> None:
        """Close all pipes."""
        for descriptor in (self._lifeline, self._status):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._lifeline = self._status = -1
        for pipe in self.pipes:
            with contextlib.suppress(OSError):
                pipe.close()

    def _started(self) -> int:
        kind, _, rest = self._line(None).partition(" ")
        if kind == "pid":
            return int(rest)
        self._process.wait()
        for pipe in self.pipes:
            pipe.close()
        if rest:
            raise OSError(int(rest), os.strerror(int(rest)))
        raise StartError("its supervisor was killed before it could be started")

    def _line(self, seconds: float | None) -> str:
        """Return the next line of the supervisor; empty if none comes within *seconds*."""
        while b"\n" not in self._said:
            if not select.select([self._status], [], [], seconds)[0]:
                return ""
            chunk = os.read(self._status, 4096)
            if not chunk:
                return ""
            self._said += chunk
        line, _, rest = self._said.partition(b"\n")
        self._said = rest
        return line.decode(errors="replace")


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr
