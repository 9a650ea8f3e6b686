"""A child process that answers lines with lines, and never outlives its owner.

Its answers have a deadline and a limit, its stderr is drained and bounded, and a write never blocks; no threads. The
child leads a session of its own. On Linux this process becomes a child subreaper, so that any process of the child,
in a session of its own or orphaned, is found and killed too. A process that was orphaned *and* started with a wiped
environment escapes; on other POSIX systems so does any that left the process group. Windows is not supported.
"""

import atexit
import contextlib
import itertools
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO, Final

from .errors import DiedError, HangingError, RubbishError, StartError, TargetError
from .executable import unstartable
from .orphans import MARK, Family, adopt_orphans, sweep

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one answer: a projection of a million events has about as many."""
STDERR_LINES: Final = 50
_STDERR_BYTES: Final = 64 * 1024  # bytes kept of a log, which may never end a line
_CHUNK: Final = 64 * 1024  # bytes that a pipe holds; a larger buffer costs more than it saves
GRACE: Final = 0.5
"""Seconds between asking a process to end and killing it."""

_numbers = itertools.count()
_alive: set["Child"] = set()


@atexit.register
def _kill_all() -> None:
    for child in tuple(_alive):
        child.kill()


class Child:
    """A running process of ours. Not thread-safe.

    Raises StartError where *command* cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], line_limit: int = LINE_LIMIT) -> None:
        adopt_orphans()
        self._owner = os.getpid()
        self._mark = f"{self._owner}.{next(_numbers)}"
        self._limit = line_limit
        self._pending = bytearray()  # read from stdout, not handed out yet
        self._log = bytearray()
        self._sent = self._due = 0
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**environment, MARK: self._mark},
            )
        except (OSError, ValueError) as error:
            raise StartError(f"cannot start {' '.join(command)!r}: {unstartable(command[0], error)}") from error
        _alive.add(self)
        self.pid: Final = self._process.pid
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._pipes = [pipe for pipe in pipes if pipe is not None]
        self._stdin, self._stdout, self._stderr = map(_descriptor, self._pipes)
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._stdout, self._stderr):
            self._selector.register(descriptor, selectors.EVENT_READ)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send *line*, which ends in LF, and return the line that answers it, without its LF.

        Raises HangingError after *seconds*, DiedError where the process has ended or closed a pipe, and RubbishError
        where the answer is longer than the limit. After any of them, and after any interruption, the child is dead.
        """
        deadline = time.monotonic() + seconds
        try:
            self._send(line, deadline, seconds)
            return self._receive(deadline, seconds)
        except BaseException as error:
            self.kill()
            if isinstance(error, TargetError):
                error.stderr = self.stderr
            raise

    @property
    def alive(self) -> bool:
        """True until it is ended from here; it may have ended by itself."""
        return self in _alive

    @property
    def stderr(self) -> tuple[str, ...]:
        """The last lines of its log, as far as it was read."""
        return tuple(self._log.decode(errors="replace").splitlines()[-STDERR_LINES:])

    def kill(self) -> None:
        """End it and everything that it started, SIGTERM first; a second call does nothing."""
        if self.alive:
            self._kill(Family(self.pid, self._mark))

    def _kill(self, family: Family) -> None:
        if os.getpid() == self._owner:  # a forked copy of this process must not kill what isn't its own
            for request in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, request)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(GRACE)
            sweep(family)
            self._read_log(_CHUNK * 16)  # a process that escaped may still be writing: no further than this
        _alive.discard(self)
        self._selector.close()
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()

    def close(self, farewell: bytes = b"") -> None:
        """Say *farewell*, give it a moment to end by itself, and leave no process behind."""
        if not self.alive:
            return
        family = Family(self.pid, self._mark)  # before the farewell: orphans are harder to find
        try:
            with contextlib.suppress(OSError):
                os.write(self._stdin, farewell)
            with contextlib.suppress(OSError):
                self._pipes[0].close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        finally:
            self._kill(family)

    def _send(self, line: bytes, deadline: float, seconds: float) -> None:
        self._sent, self._due = self._write(line), len(line)
        if self._sent == self._due:
            return
        rest = memoryview(line)
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        try:
            while self._sent < self._due:
                # It may have to write an answer or a log before it reads on.
                if self._wait(deadline, seconds):
                    self._sent += self._write(rest[self._sent :])
        finally:
            self._selector.unregister(self._stdin)

    def _write(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self._stdin, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._died("closed its stdin") from error

    def _receive(self, deadline: float, seconds: float) -> bytes:
        searched = 0
        while (end := self._pending.find(b"\n", searched)) < 0:
            searched = len(self._pending)
            self._wait(deadline, seconds)
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line

    def _wait(self, deadline: float, seconds: float) -> bool:
        """Wait until something moves, and read it; return whether stdin can be written.

        Raises HangingError at the deadline, DiedError at the end of stdout, RubbishError at the limit.
        """
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._hangs(seconds)
        ready = [key.fd for key, _ in self._selector.select(left)]
        if self._stderr in ready:
            self._read_log(_CHUNK)
        if self._stdout in ready:
            chunk = os.read(self._stdout, _CHUNK)
            if not chunk:
                raise self._died("closed its stdout")
            self._pending += chunk
            if len(self._pending) > self._limit:
                problem = f"more than {self._limit:,} bytes on stdout without an answer in a line of its own"
                raise RubbishError(problem, came=bytes(self._pending[:1000]))
        return self._stdin in ready

    def _read_log(self, most: int) -> None:
        """Read up to *most* bytes of stderr; keep the end of them."""
        while most > 0:
            try:
                chunk = os.read(self._stderr, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                with contextlib.suppress(KeyError):
                    self._selector.unregister(self._stderr)
                return
            most -= len(chunk)
            self._log += chunk
            del self._log[:-_STDERR_BYTES]

    def _hangs(self, seconds: float) -> HangingError:
        came = bytes(self._pending) or "nothing"
        if self._sent < self._due:
            return HangingError(
                f"hangs: it read {self._sent:,} of {self._due:,} bytes of the message in {seconds:g} s", came=came
            )
        what = "no end of the answer" if self._pending else "no answer"
        return HangingError(f"hangs: {what} within {seconds:g} s", came=came)

    def _died(self, otherwise: str) -> DiedError:
        """Say how the process ended, now that a pipe is closed; *otherwise* where it did not end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        match self._process.returncode:
            case None:
                how = f"{otherwise}, but runs on"
            case code if code < 0:
                how = f"was killed by {signal.Signals(-code).name}"
            case code:
                how = f"ended with exit code {code}"
        return DiedError(f"the process {how} where an answer was due", came=bytes(self._pending) or "nothing")


def _descriptor(pipe: IO[bytes]) -> int:
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()
