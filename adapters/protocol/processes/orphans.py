"""Find and end the processes that a killed process leaves behind, on Linux; other systems find none.

A process counts as the child's if it descends from it, is of its process group, or carries its mark in its
environment: the mark finds those whose parents are gone. This process is the subreaper that adopts such orphans, so
that it can wait for them.
"""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Final

from .supervisor import PATIENCE, Process, adopt_orphans, descendants

__all__ = ["MARK", "Family", "adopt_orphans", "sweep"]

MARK: Final = "TURNCHECK_CHILD"
"""The environment variable that descendants of a child carry."""

_PROC: Final = Path("/proc")


class Family:
    """A child and its present descendants; *mark* finds later and orphaned ones."""

    def __init__(self, pid: int, mark: str) -> None:
        self._group = pid
        self._mark = f"{MARK}={mark}".encode()
        self._known = {(row.pid, row.started) for row in descendants(pid)}

    def members(self) -> list[Process]:
        """Return the members of the family that still exist."""
        found = [row for row in descendants(os.getpid()) if self._includes(row)]
        self._known |= {(row.pid, row.started) for row in found}  # a zombie has no environment that identifies it
        return found

    def _includes(self, row: Process) -> bool:
        known = row.group == self._group or (row.pid, row.started) in self._known
        return known or self._mark in _environment(row.pid)


def sweep(family: Family) -> None:
    """Kill the rest of *family*, and wait until it is gone."""
    deadline = time.monotonic() + PATIENCE
    while (members := family.members()) and time.monotonic() < deadline:
        for row in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(row.pid, signal.SIGKILL)
        for row in members:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(row.pid, os.WNOHANG)
        time.sleep(0.001)  # SIGKILL takes effect at the next schedule: don't compete with it


def _environment(pid: int) -> frozenset[bytes]:
    try:
        return frozenset((_PROC / str(pid) / "environ").read_bytes().split(b"\0"))
    except OSError:  # gone, or not readable
        return frozenset()
