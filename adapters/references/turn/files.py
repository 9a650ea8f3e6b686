"""The file layer: all access to a session's files goes through these few calls, so that a test can record or fail each.

The runtime relies only on these promises of POSIX: bytes are durable after fsync of their file; a name (a new file, a
rename) after fsync of its folder; a rename is atomic; an append is in order within its file.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from filelock import FileLock


class Free:
    """A lock that is always free: nobody else can see the files."""

    def acquire(self, timeout: float) -> object:
        """Succeed at once."""
        return timeout

    def release(self) -> None:
        """Do nothing."""


Lock: TypeAlias = FileLock | Free
"""An advisory lock, released however its process ends; raises filelock.Timeout (an OSError)."""


class Files:
    """A session's file operations. All but ``read`` and ``lock`` raise OSError where the disk refuses."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it; it may exist already."""
        path.mkdir(parents=True, exist_ok=True)

    def read(self, path: Path) -> bytes:
        """Return the whole file, no bytes where there is none."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return b""

    def write(self, path: Path, data: bytes) -> None:
        """Make the file anew."""
        _written(path, os.O_TRUNC, data)

    def append(self, path: Path, data: bytes) -> None:
        """Write at the file's end."""
        _written(path, os.O_APPEND, data)

    def truncate(self, path: Path, size: int) -> None:
        """Cut the file to *size* bytes."""
        os.truncate(path, size)

    def rename(self, path: Path, to: Path) -> None:
        """Put a file in the place of another, atomically."""
        path.replace(to)

    def sync(self, path: Path) -> None:
        """Make a file's bytes durable, or a folder's names."""
        _opened(path, os.O_RDONLY, os.fsync)

    def lock(self, path: Path) -> Lock:
        """Return the lock of that name: a file lock, which the kernel releases when the process ends."""
        return FileLock(path)


class MemoryFiles(Files):
    """Files that end with the process: for a session without a folder, and for the crash tests."""

    def __init__(self, files: dict[Path, bytes] | None = None) -> None:
        self.files: Final = dict(files or {})

    def make_folder(self, path: Path) -> None:
        """Do nothing: folders are only parts of names."""

    def read(self, path: Path) -> bytes:
        """Return the whole file, no bytes where there is none."""
        return self.files.get(path, b"")

    def write(self, path: Path, data: bytes) -> None:
        """Make the file anew."""
        self.files[path] = data

    def append(self, path: Path, data: bytes) -> None:
        """Write at the file's end."""
        self.files[path] = self.read(path) + data

    def truncate(self, path: Path, size: int) -> None:
        """Cut the file."""
        self.files[path] = self.read(path)[:size]

    def rename(self, path: Path, to: Path) -> None:
        """Put a file in the place of another."""
        self.files[to] = self.files.pop(path)

    def sync(self, path: Path) -> None:
        """Do nothing: nothing here is durable."""

    def lock(self, path: Path) -> Lock:  # noqa: ARG002 - a file's name
        """Return a free lock: nobody else can see these files."""
        return Free()


def _written(path: Path, how: int, data: bytes) -> None:
    def write(descriptor: int) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    _opened(path, os.O_WRONLY | os.O_CREAT | how, write)


def _opened(path: Path, how: int, do: Callable[[int], None]) -> None:
    descriptor = os.open(path, how, 0o644)
    try:
        do(descriptor)
    finally:
        os.close(descriptor)


def put(files: Files, path: Path, data: bytes) -> None:
    """Replace a file as a whole: after a crash it is the old one or the new one. Raises OSError."""
    aside = path.with_name(f"{path.name}.new")
    files.write(aside, data)
    files.sync(aside)
    files.rename(aside, path)
    files.sync(path.parent)
