"""Write files whole or not at all: the one place that writes files for users.

An existing file is replaced by a rename: a reader finds the old bytes or the new ones, whenever the writer dies. A
killed writer leaves a ``.turncheck-*.tmp`` beside the file, which the next write there removes.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

_OURS: Final = re.compile(r"\.turncheck-[0-9a-f]{32}\.tmp")
_DESCRIPTOR: Final = re.compile(r"(?:/dev|/proc/self)/fd/(\d+)")
_NO_LOCKS: Final = {errno.ENOLCK, errno.EBADF, errno.ENOTSUP, errno.EINVAL}
"""Errors of file systems without locks, and of some on the fsync of a folder."""
_PATIENCE: Final = 10.0
"""Seconds to wait for another writer of the same file; reading and writing a baseline takes some milliseconds."""


def write_file(path: Path | str, data: str | bytes) -> None:
    r"""Make *data* the content of the file at *path*, durably; text is written in UTF-8, line feeds as they are.

    Missing folders are made. An existing file keeps its mode (and its owner, if the writer may set it); a new one has
    the umask's. A file with several hard links loses the others.

    A FIFO, a character device or one of this process's own descriptors (``/dev/stdout``, ``/dev/fd/63``) is written in
    place. Any other symbolic link is refused: following it would write a file that nobody named, and replacing it would
    break the link.

    Raises OSError, always with *path* as its ``filename``: the file is then as it was. (If only the last step fails,
    which makes the file's name durable, it is the new one, and a power failure may bring the old one back.)

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "new", "a.txt"), "whole\n")
    ...     Path(folder, "new", "a.txt").read_text()
    'whole\n'
    """
    path = Path(path)
    content = data.encode() if isinstance(data, str) else data
    try:
        found = _status(path)
        own = _own_descriptor(path)
        if own is not None:
            _write_descriptor(own, content)
        elif found is None or stat.S_ISREG(found.st_mode):
            make_folder(path.parent)
            _replace(path, content, found)
        elif stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode):
            _write_special(path, content)
        else:
            raise _unfit(found.st_mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextlib.contextmanager
def written(path: Path | str) -> Generator[BinaryIO]:
    r"""Yield a file that takes the place of the one at *path* when the context ends; where it raises, nothing changes.

    Missing folders are made. Only a regular file is replaced. Raises OSError.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written(Path(folder, "a.txt")) as file:
    ...         _ = file.write(b"piece by piece\n")
    ...     Path(folder, "a.txt").read_text()
    'piece by piece\n'
    """
    path = Path(path)
    found = _status(path)
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise _unfit(found.st_mode)
    make_folder(path.parent)
    with _replacing(path, found) as descriptor:
        file = os.fdopen(descriptor, "wb", closefd=False)
        try:
            yield file
        except BaseException:
            with contextlib.suppress(OSError):  # what it holds is given up, and the disk may be full
                file.close()
            raise
        file.close()


def make_folder(path: Path) -> None:
    """Make a folder and those above it; any of them may exist already.

    Raises OSError: NotADirectoryError if a file stands in its place, or in the place of one above it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        said = f"a folder is needed where {_file_on(path)} is a file"
        raise NotADirectoryError(errno.ENOTDIR, said, str(path)) from error


@contextlib.contextmanager
def locked(path: Path | str) -> Generator[None, None, None]:
    """Keep other holders of this lock from the file at *path* while it is read and rewritten.

    The lock is on the file's folder, which is made if it is missing, so that no lock file is left; it ends with its
    process. On a file system without locks (some network ones) there is none. Raises TimeoutError after ten seconds.
    """
    folder = Path(path).parent
    make_folder(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + _PATIENCE
        while not _taken(descriptor):
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, "another process is writing in its folder", str(path))
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    """Return whether the lock is ours now, or the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _file_on(path: Path) -> Path:
    """Return the longest part of *path* that exists, which is the file in the way."""
    return next((part for part in (path, *path.parents) if os.path.lexists(part)), path)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of *path*, behind a link only if that leads to no regular file; None if nothing is there."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None  # make_folder says which part is no folder
    if stat.S_ISLNK(found.st_mode) and path.exists():
        behind = path.stat()  # a FIFO or a device by another name, like /dev/stdout, is not to be replaced
        return behind if stat.S_ISFIFO(behind.st_mode) or stat.S_ISCHR(behind.st_mode) else found
    return found


def _unfit(mode: int) -> OSError:
    if stat.S_ISLNK(mode):
        return OSError(errno.ELOOP, "it is a symbolic link, which is not followed: name the file that it leads to")
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, "it is a folder, and a file is needed")
    kinds = {stat.S_IFBLK: "a block device", stat.S_IFCHR: "a device", stat.S_IFIFO: "a FIFO"}
    kind = kinds.get(stat.S_IFMT(mode), "a socket")
    return OSError(errno.EINVAL, f"it is {kind}, and a file is needed")


def _own_descriptor(path: Path) -> int | None:
    """Return this process's descriptor that *path* names, perhaps by one link; reopening it would begin at 0."""
    names = [str(path)]
    with contextlib.suppress(OSError):
        names.append(str(path.readlink()))
    match = next(filter(None, map(_DESCRIPTOR.fullmatch, names)), None)
    return None if match is None else int(match[1])


def _write_descriptor(number: int, data: bytes) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # earlier output comes first
    _write_all(number, data)


def _write_special(path: Path, data: bytes) -> None:
    try:
        # Open without blocking: a FIFO that nobody reads would stop the run for ever.
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "nobody reads this FIFO") from error
        raise
    try:
        os.set_blocking(descriptor, True)
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _replace(path: Path, data: bytes, found: os.stat_result | None) -> None:
    with _replacing(path, found) as descriptor:
        _write_all(descriptor, data)


@contextlib.contextmanager
def _replacing(path: Path, found: os.stat_result | None) -> Generator[int]:
    """A descriptor of a new file, which takes the place of *path* when the context ends without an exception."""
    if found is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it may not be written")  # a rename needs only the folder's permission
    _sweep(path.parent)
    beside, descriptor = _temporary(path.parent)
    try:
        if found is not None:
            _dress(descriptor, found)
        yield descriptor
        os.fsync(descriptor)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    finally:
        os.close(descriptor)  # only now: closing ends the lock, which kept others from sweeping the file away
    _sync_folder(path.parent)


def _temporary(folder: Path) -> tuple[Path, int]:
    """Make a file, locked while it is open: ``_sweep`` takes a writer for dead if it gets the lock."""
    while True:
        path = folder / f".turncheck-{uuid4().hex}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(descriptor)
                path.unlink()
                raise
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # swept away between the two calls


def _dress(descriptor: int, found: os.stat_result) -> None:
    """Give the new file the owner and the mode of the one that it replaces."""
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


def _sweep(folder: Path) -> None:
    """Remove the temporary files of writers that were killed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_abandoned(Path(entry.path))


def _remove_abandoned(path: Path) -> None:
    with contextlib.suppress(OSError):  # gone by now, another user's, or locked by a live writer
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    """Make the file's name durable, if the file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return  # a folder may be written and not read
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    finally:
        os.close(descriptor)
