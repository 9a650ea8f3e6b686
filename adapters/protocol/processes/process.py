"""A child process that answers lines with lines, and never outlives its owner.

Its answers have a deadline and a limit, its stderr is drained and bounded, and a write never blocks; no threads. It
runs under a supervisor, which ends it and its descendants, however this process ends. Windows is not supported.
"""

import atexit
import contextlib
import os
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Final

from ..errors import DiedError, HangingError, RubbishError, TargetError
from .supervised import Supervised
from .supervisor import GRACE

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one answer, at most: a projection of a million events has about as many."""
STDERR_LINES: Final = 50
_STDERR_BYTES: Final = 64 * 1024  # bytes kept of a log, which may never end a line
_CHUNK: Final = 64 * 1024  # bytes that a pipe holds; a larger buffer costs more than it saves
_alive: set["Child"] = set()


@atexit.register
def _kill_all() -> None:
    for child in tuple(_alive):
        child.kill()


class Child:
    """A running child process. Not thread-safe.

    Raises StartError if *command* cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], line_limit: int = LINE_LIMIT) -> None:
        self._owner = os.getpid()
        self._limit = line_limit
        self._pending = bytearray()  # read from stdout, not handed out yet
        self._log = bytearray()
        self._sent = self._due = 0
        self._process = Supervised(command, environment)
        _alive.add(self)
        self.pid: Final = self._process.pid
        for pipe in self._process.pipes:
            os.set_blocking(pipe.fileno(), False)
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._process.pipes)
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._stdout, self._stderr):
            self._selector.register(descriptor, selectors.EVENT_READ)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send *line*, which ends in LF, and return the line that answers it, without its LF.

        Raises HangingError after *seconds*, DiedError if the process has ended or closed a pipe, and RubbishError if
        the answer is longer than the limit. After any of them, and after any interruption, the child is dead.
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
        """True until this object ends it; it may have ended by itself."""
        return self in _alive

    @property
    def stderr(self) -> tuple[str, ...]:
        """The last lines of its stderr, as far as read."""
        return tuple(self._log.decode(errors="replace").splitlines()[-STDERR_LINES:])

    def cut(self, line: bytes, seconds: float) -> None:
        """Send *line*, and return *seconds* later, or when it is answered: the answer is lost, and a kill is due."""
        with contextlib.suppress(TargetError):
            deadline = time.monotonic() + seconds
            self._send(line, deadline, seconds)
            self._receive(deadline, seconds)

    def kill(self, *, at_once: bool = False) -> None:
        """End it and its descendants, SIGTERM first unless *at_once*; a second call does nothing."""
        if not self.alive:
            return
        if os.getpid() == self._owner:  # a forked copy of this process must not kill what isn't its own
            self._process.end(at_once=at_once)
            self._read_log(_CHUNK * 16)  # an escaped process may still be writing: read no further
        _alive.discard(self)
        self._selector.close()
        self._process.release()

    def close(self, farewell: bytes = b"", seconds: float = GRACE) -> bool:
        """Send *farewell*, and leave no process behind; return whether it ended by itself within *seconds*."""
        if not self.alive:
            return True
        try:
            with contextlib.suppress(OSError):
                os.write(self._stdin, farewell)
            self._process.pipes[0].close()
            return self._process.wait(seconds) is not None
        finally:
            self.kill()

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
        """Wait until a pipe is ready, and read output; return whether stdin can be written.

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
        """Return an error that says how the process ended, now that a pipe is closed; *otherwise* if it did not end."""
        ended = self._process.wait(GRACE)
        match ended:
            case None:
                how = f"{otherwise}, but runs on"
            case code if code < 0:
                how = f"was killed by {signal.Signals(-code).name}"
            case code:
                how = f"ended with exit code {code}"
        error = DiedError(f"the process {how} where an answer was due", came=bytes(self._pending) or "nothing")
        error.exit = ended
        return error
