"""A worker process as its owner sees it."""

import os
import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import Any, Final

from .one import How, Work

COMMAND: Final = (sys.executable, "-P", "-m", "turncheck.conformance.check.fleet.worker")
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Process:
    """A worker that judges one log at a time. It ends with its owner, however that ends."""

    def __init__(self, name: str, how: How) -> None:
        self.name = name
        ours, theirs = socket.socketpair()
        with theirs:
            command = [*COMMAND, str(theirs.fileno()), str(os.getpid())]
            quiet = subprocess.DEVNULL  # what a reader of the user's own prints has no place among the results
            # Blocked, a signal finds the process recorded; the worker unblocks it.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
            try:
                self._process = subprocess.Popen(command, stdin=quiet, stdout=quiet, pass_fds=[theirs.fileno()])
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.wire: Connection[Any, Any] = Connection(ours.detach())
        self._how: How | None = how

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def give(self, work: Work) -> None:
        """Let it judge a log, or a range of one. Raises OSError where it is gone."""
        if self._how is not None:
            self.wire.send(self._how)
            self._how = None
        self.wire.send(work)

    def ended(self) -> str:
        """Say who it was, and how it ended; it has closed its socket."""
        self._process.kill()  # one that closed its socket and lives is of no use
        code = self._process.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"{self.name} (process {self.pid}) {how}"

    def end(self) -> None:
        """Leave no process behind."""
        self._process.kill()
        self._process.wait()
        self.wire.close()
