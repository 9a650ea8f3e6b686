"""Tools that are programs: each call is a process in its own session, and is ended with all processes it started."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from ...protocol.processes.orphans import MARK, Family, adopt_orphans, sweep

_numbers: Final = count()


class Program:
    """A running call: *command* in *directory*, with its arguments on stdin.

    *ended* is called with output and exit code, in a thread, also after a kill. Raises OSError where the program cannot
    be started.
    """

    def __init__(
        self, command: Sequence[str], arguments: bytes, directory: str, ended: Callable[[str, int], None]
    ) -> None:
        adopt_orphans()
        self._mark = f"{os.getpid()}.tool.{next(_numbers)}"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=directory,
            start_new_session=True,
            env={**os.environ, MARK: self._mark},
        )
        self.pid: Final = self._process.pid
        self._thread = threading.Thread(target=self._wait, args=(arguments, ended), daemon=True)
        self._thread.start()

    def kill(self) -> None:
        """End the program and all processes it started, even in other sessions; all are gone when this returns."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        sweep(Family(self.pid, self._mark))

    def join(self) -> None:
        """Wait until *ended* has returned."""
        self._thread.join()

    def _wait(self, arguments: bytes, ended: Callable[[str, int], None]) -> None:
        output, _ = self._process.communicate(arguments)
        ended(output.decode(errors="replace"), self._process.returncode)
