"""Start a Python adapter by a fork of one that has already imported all that comes before a file.

In comes the command of an adapter; out comes another one, which starts the same faster: begin with ``Forks``. Only what
is imported from the mutated file on is imported at each start; heavy frameworks take seconds for the rest.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from turncheck.conformance.verify.subjects.subject import HASH_SEED

HERE = Path(__file__).parent
SEEDS = (0, HASH_SEED)
"""The hash seeds with which ``verify`` starts a runtime: a fork cannot choose its own."""
WAITS = b"!"
"""A process says so on stdout when it waits; one that never does says what it says, or nothing."""


class Forks:
    """The processes of a Python adapter that wait before they import a file: one per file and hash seed.

    *command* starts the adapter with *environment*, whose ``PYTHONPATH`` is searched after our own; the modules *first*
    are imported before all others, as they need nothing of the runtime. Sockets are made in *folder*.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, first: Sequence[str] = ()
    ) -> None:
        self._command, self._environment, self._folder, self._first = command, environment, folder, first
        self._opened = ExitStack()
        self._waiting: dict[str, tuple[str, list[subprocess.Popen[bytes]]]] = {}

    def command(self, file: str) -> list[str]:
        """Return the command that starts the adapter by a fork of the one that waits for *file*, an absolute path.

        Raises RuntimeError if the adapter never imports that file.
        """
        if file not in self._waiting:
            socket = str(self._folder / f"fork-{len(self._waiting)}-")
            self._waiting[file] = socket, [self._start(file, socket, seed) for seed in SEEDS]
        socket, processes = self._waiting[file]
        for one in processes:
            if one.poll() is not None:
                raise RuntimeError(f"{' '.join(self._command)} does not import {file}")
        return [sys.executable, "-I", "-S", str(HERE / "client.py"), socket]

    def close(self) -> None:
        """End the processes that wait, and those that they started."""
        self._waiting.clear()
        self._opened.close()

    def _start(self, file: str, socket: str, seed: int) -> subprocess.Popen[bytes]:
        """Start a process, and return when it waits for clients, or has ended."""
        told = {
            "PYTHONPATH": os.pathsep.join([str(HERE), self._environment["PYTHONPATH"]]),
            "PYTHONHASHSEED": str(seed),
            "WILD_FILE": file,
            "WILD_FIRST": " ".join(self._first),
            "WILD_SOCKET": f"{socket}{seed}",
        }
        environment = {**os.environ, **self._environment, **told}
        started = self._opened.enter_context(
            subprocess.Popen(self._command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        )
        assert started.stdout is not None
        if started.stdout.read(1) != WAITS:
            started.communicate()
        return started
