"""Find and end the processes that a killed process leaves behind, on Linux; elsewhere none is found.

A process counts as the child's where it descends from it, is of its process group, or carries its mark in its
environment: the mark finds those whose parents are gone. This process is the subreaper that adopts such orphans, so
that it can wait for them.
"""

import contextlib
import ctypes
import functools
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

MARK: Final = "TURNCHECK_CHILD"
"""The environment variable that descendants of a child carry."""

_PR_SET_CHILD_SUBREAPER: Final = 36  # linux/prctl.h
_PATIENCE: Final = 2.0  # seconds for killed processes to be gone: they may hang in the kernel
_PROC: Final = Path("/proc")


class Process(NamedTuple):
    """A row of the process table; the start time tells it from a later one with the same id."""

    pid: int
    parent: int
    group: int
    started: int


class Family:
    """A child and its present descendants; *mark* finds later and orphaned ones."""

    def __init__(self, pid: int, mark: str) -> None:
        self._group = pid
        self._mark = f"{MARK}={mark}".encode()
        self._known = {(row.pid, row.started) for row in _descendants(pid)}

    def members(self) -> list[Process]:
        """Return the members of the family that still exist."""
        found = [row for row in _descendants(os.getpid()) if self._includes(row)]
        self._known |= {(row.pid, row.started) for row in found}  # a zombie has no environment that identifies it
        return found

    def _includes(self, row: Process) -> bool:
        known = row.group == self._group or (row.pid, row.started) in self._known
        return known or self._mark in _environment(row.pid)


@functools.cache
def adopt_orphans() -> None:
    """Make this process the one that adopts orphans of its descendants; once is enough. Only Linux has it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def sweep(family: Family) -> None:
    """Kill the rest of *family*, and wait until it is gone."""
    deadline = time.monotonic() + _PATIENCE
    while (members := family.members()) and time.monotonic() < deadline:
        for row in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(row.pid, signal.SIGKILL)
        for row in members:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(row.pid, os.WNOHANG)
        time.sleep(0.001)  # SIGKILL takes effect at the next schedule: don't compete with it


def _rows() -> Iterator[Process]:
    for name in os.listdir(_PROC) if sys.platform == "linux" else ():  # noqa: PTH208 - hundreds of names, and only strings are needed
        if name.isdigit():
            with contextlib.suppress(OSError):
                # "pid (command) state parent …": the command may hold anything; field 22 is the start
                fields = (_PROC / name / "stat").read_bytes().rpartition(b")")[2].split()
                yield Process(int(name), int(fields[1]), int(fields[2]), int(fields[19]))


def _descendants(ancestor: int) -> list[Process]:
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


def _environment(pid: int) -> frozenset[bytes]:
    try:
        return frozenset((_PROC / str(pid) / "environ").read_bytes().split(b"\0"))
    except OSError:  # gone, or not readable
        return frozenset()
