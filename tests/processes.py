"""What tests look for among the machine's processes."""

from contextlib import suppress
from pathlib import Path


def living(mark: bytes) -> list[str]:
    """Return the processes, by number, whose environment holds *mark*."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended, or belongs to another user
            if mark in path.read_bytes():
                found.append(path.parent.name)
    return found
