"""See on Linux whether a local server is computing: a process that waits for a CPU is silent, but not quiescent.

On other systems, and for servers of other users or machines, nothing is known.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_LISTENING: Final = "0A"


class Server:
    """The processes that listen on *port* at the first look."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._processes: list[Path] = []

    def computing(self) -> bool:
        """Return True if one of its threads runs or is ready to; False if that cannot be seen."""
        if not any(process.exists() for process in self._processes):
            self._processes = list(_listeners(self._port))
        return any(state in "RD" for process in self._processes for state in _states(process))


def _states(process: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for task in process.joinpath("task").iterdir():
            yield task.joinpath("stat").read_text().rpartition(") ")[2][:1]


def _listeners(port: int) -> Iterator[Path]:
    sockets = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _inodes(_PROC / "net" / table, port)}
    for process in _PROC.glob("[0-9]*") if sockets else ():
        with contextlib.suppress(OSError):
            if any(str(one.readlink()) in sockets for one in process.joinpath("fd").iterdir()):
                yield process


def _inodes(table: Path, port: int) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for line in table.read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                yield fields[9]
