"""Places of logs: a path of this machine, or a URL that fsspec opens, such as s3://bucket/folder/*.jsonl."""

import os
import re
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from turncheck.model.extras import MissingExtraError, needs_extra

from .framing import Stream

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_GLOB: Final = re.compile(r"[*?[]")
_HTTP: Final = ("http://", "https://")
_STAMPS: Final = ("ETag", "etag", "md5Hash", "content_md5", "updated", "LastModified", "last_modified", "mtime")
"""Names that file systems of fsspec have for the tag or time of a state, the surest first."""
_BLOCK: Final = 8 << 20
"""Bytes that one request to a store of objects fetches: s3fs would hold 50 MB a log."""
_NOT_FOUND: Final = 404
_CONNECT: Final = 30.0
_SILENCE: Final = 60.0
"""Seconds for a server to accept, and between two pieces of its answer; an answer may take as long as it needs."""


class UnreadableError(OSError):
    """A log at a URL cannot be found, opened or read; the message says what the store said, without secrets."""


def is_url(path: str) -> bool:
    """Say whether *path* is a URL; a path of this machine that looks like one can be written with ``./`` before it.

    >>> is_url("s3://logs/today.jsonl"), is_url("logs/today.jsonl")
    (True, False)
    """
    return _URL.match(path) is not None


def without_secrets(path: str) -> str:
    """Return *path* without what a URL may hold of secrets: a password, and the values of its query.

    >>> without_secrets("https://me:pw@example.org/a.jsonl?X-Amz-Signature=f00")
    'https://…@example.org/a.jsonl?…'
    """
    for secret in _secrets(path):
        path = path.replace(secret, "…")
    return path


def _secrets(path: str) -> list[str]:
    if not is_url(path):
        return []
    _, place, _, query, _ = urlsplit(path)
    user, _, _ = place.rpartition("@")
    return [secret for secret in (user, query) if secret]


def opened(path: str) -> AbstractContextManager[Stream]:
    """Open the log at *path*, to be used in ``with``; a URL's bytes are fetched as they are read.

    Raises OSError (a URL's faults as UnreadableError, while it is read too), and MissingExtraError for a URL where the
    extra ``fleet`` is missing.
    """
    return _remote(path) if is_url(path) else Path(path).open("rb")


@contextmanager
def opened_at(path: str, offset: int) -> Generator[tuple[Stream, os.stat_result | None]]:
    """Open the log at *path* at an offset, with the state of a file of this machine. Raises what ``opened`` raises."""
    if is_url(path):
        with _remote(path) as file:
            file.seek(offset)
            yield file, None
    else:
        with Path(path).open("rb") as file:
            file.seek(offset)
            yield file, os.fstat(file.fileno())


@contextmanager
def seekable(path: str) -> Generator[Any]:
    """Open the file at *path* for reading at any place; what goes wrong later is told by ``told``.

    Raises what ``opened`` raises.
    """
    if not is_url(path):
        with Path(path).open("rb") as file:
            yield file
        return
    with told(path):
        system, inside = _system(path)
        found = system.open(inside, "rb", block_size=_BLOCK)
    try:
        yield found
    finally:
        with told(path):
            found.close()


def listed(url: str, suffixes: Sequence[str]) -> Iterator[str]:
    """Yield the URLs that a glob stands for, or the logs below a folder, sorted; any other URL as it is.

    Logs of a folder are what ends in one of *suffixes*. A URL of http names one file: servers have no folders. So does
    a URL that is chained by ``::``. Raises UnreadableError and MissingExtraError.
    """
    if url.startswith(_HTTP) or "::" in url:
        yield url
        return
    with told(url):
        system, inside = _system(url)
        if _GLOB.search(inside):
            found = [path for path in system.glob(inside) if not system.isdir(path)]
        elif system.isdir(inside):
            found = [path for path in system.find(inside) if path.endswith(tuple(suffixes))]
        else:
            yield url
            return
        yield from (str(system.unstrip_protocol(path)) for path in sorted(found))


def identity(path: str) -> tuple[int, str] | None:
    """Return the size in bytes and the stamp of the log at *path*: where both are what they were, so is its content.

    The stamp is the time of the last change, or the tag that a store of objects gives each state of an object. None
    where there is none, or no log.

    >>> identity("nowhere.jsonl") is None
    True
    """
    if path == "-":
        return None
    if not is_url(path):
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            return None
        return (status.st_size, str(status.st_mtime_ns)) if stat.S_ISREG(status.st_mode) else None
    try:
        with told(path):
            system, inside = _system(path)
            found = system.info(inside)
    except UnreadableError:
        return None  # whoever opens it hears why
    stamp = next((found[name] for name in _STAMPS if found.get(name)), None)
    size = found.get("size")
    return (size, str(stamp)) if stamp is not None and isinstance(size, int) else None


@contextmanager
def _remote(url: str) -> Generator["_File"]:
    with told(url):
        system, path = _system(url)
        # A store of objects is asked for ranges; a web server for the whole, as many know no ranges.
        file = system.open(path, "rb", block_size=0 if url.startswith(_HTTP) else _BLOCK)
    try:
        yield _File(url, file)
    finally:
        with told(url):
            file.close()


class _File:
    """A stream whose faults are UnreadableError."""

    def __init__(self, url: str, file: Any) -> None:
        self._url, self._file = url, file

    def read1(self, size: int = -1, /) -> bytes:
        with told(self._url):
            return cast(bytes, self._file.read(size))

    def seek(self, offset: int) -> None:
        with told(self._url):
            self._file.seek(offset)


def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL, configured by fsspec's own environment variables and files, and the path in it."""
    needs_extra("fleet", f"a log at {url.partition('://')[0]}://")
    url_to_fs = import_module("fsspec.core").url_to_fs
    if not url.startswith(_HTTP):
        return cast("tuple[Any, str]", url_to_fs(url))
    timeout = import_module("aiohttp").ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=_SILENCE)
    return cast("tuple[Any, str]", url_to_fs(url, client_kwargs={"timeout": timeout}))


@contextmanager
def told(url: str) -> Generator[None]:
    """Raise what the file system of a URL raises, which may be any exception, as UnreadableError."""
    if not is_url(url):
        yield
        return
    try:
        yield
    except (MemoryError, MissingExtraError, UnreadableError):
        raise
    except Exception as error:
        found: BaseException = error
        while isinstance(found, FileNotFoundError) and found.__cause__ is not None:
            found = found.__cause__  # fsspec calls whatever goes wrong with a web server so
        if isinstance(found, FileNotFoundError) or getattr(found, "status", None) == _NOT_FOUND:
            raise UnreadableError("there is nothing at this URL") from error
        said = str(found)
        for secret in _secrets(url):
            said = said.replace(secret, "…")
        raise UnreadableError(f"{type(found).__name__}: {said.strip() or 'it does not say why'}") from error
