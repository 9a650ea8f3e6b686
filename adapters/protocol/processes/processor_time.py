"""The seconds of the processor that a process has used: on a busy machine the clock says more of the machine."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from .supervisor import descendants

_PROC: Final = Path("/proc")
_TIMES: Final = slice(11, 15)
"""Of the fields behind the command's name in proc(5)'s ``stat``: its own user and system time, and its children's."""


def processor_seconds(pid: int) -> float | None:
    """Return the seconds that a running process has used with all its descendants; None where nobody tells.

    >>> processor_seconds(os.getpid()) > 0
    True
    """
    if sys.platform != "linux":
        return None
    ticks = 0
    with contextlib.suppress(OSError):
        for one in (pid, *(row.pid for row in descendants(pid))):
            fields = (_PROC / str(one) / "stat").read_bytes().rpartition(b")")[2].split()
            ticks += sum(map(int, fields[_TIMES]))
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else None
