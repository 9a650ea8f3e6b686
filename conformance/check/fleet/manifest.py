"""Results of former runs, kept in an SQLite file: a further run judges the logs that are new or have changed.

A log is what it was where its place, its size and its stamp are: the time of its last change, or the tag that a store
gives each state of an object. Tables: ``logs`` (a row for each log that was judged) and ``findings``.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.places import identity

from ..results import LogResult
from .one import How, shown

_OURS: Final = 0x7475726E
"""SQLite's application id of a manifest: "turn" in ASCII."""
_WAIT: Final = 30.0
"""Seconds to wait for another run that writes."""
_TABLES: Final = """
create table if not exists logs (
    place text not null, how text not null, size integer not null, stamp text not null,
    log text not null, format text not null, verdict text not null, events integer not null, cycles integer not null,
    why text, result blob not null, primary key (place, how));
create table if not exists findings (
    place text not null, how text not null, law text not null, at integer not null, line integer not null,
    message text not null, foreign key (place, how) references logs on delete cascade);
create index if not exists of_a_log on findings (place, how);
"""


class ManifestError(ValueError):
    """The file is no manifest, or cannot be read or written; the message names it and says why."""


class _Key(NamedTuple):
    place: str
    size: int
    stamp: str


class Manifest:
    """The results of former runs that judged *how* this one does. Use it by ``manifest``."""

    def __init__(self, base: sqlite3.Connection, how: How, version: str) -> None:
        self._base = base
        self._how = f"{version} {how.format_name or 'auto'} {how.max_line} {how.strict} {how.by_session} {how.columns}"
        self._tells = how.tells
        self._kept = how.format_name is None or how.format_name in FORMATS  # a reader of the user's own can change
        self._asked: dict[str, _Key] = {}
        self.seen = 0
        """Logs that were asked for."""
        self.reused = 0
        """Results that came from former runs."""

    def known(self, place: str) -> LogResult | None:
        """Return what a former run found in the log at *place*, None where it has to be judged.

        None too where each finding is to be told, and the former run only counted some.
        """
        self.seen += 1
        same = identity(place) if self._kept else None
        if same is None:
            return None
        key = self._asked[place] = _Key(place, *same)
        query = "select result from logs where place = ? and how = ? and size = ? and stamp = ?"
        row = self._base.execute(query, (key.place, self._how, key.size, key.stamp)).fetchone()
        result = None if row is None else msgspec.json.decode(row[0], type=LogResult)
        if result is None or (self._tells and result.more):
            return None
        del self._asked[place]
        self.reused += 1
        return result

    def keep(self, place: str, result: LogResult) -> None:
        """Keep the *result* of a log for which ``known`` said None. What could not be judged is tried again."""
        key = self._asked.pop(place, None)
        if key is None or result.verdict == "error" or result.format not in FORMATS:
            return
        name = (place, self._how)
        self._base.execute("delete from logs where place = ? and how = ?", name)
        whole = msgspec.json.encode(result)
        row = (result.log, result.format, result.verdict, result.events, result.cycles, result.why, whole)
        self._base.execute(f"insert into logs values ({', '.join('?' * 11)})", (*name, key.size, key.stamp, *row))  # noqa: S608
        self._base.executemany(
            "insert into findings values (?, ?, ?, ?, ?, ?)",
            [(*name, found.law, found.at, found.line, found.message) for found in result.findings],
        )
        self._base.commit()  # a kill loses nothing, and another run that writes waits for no long log


@contextmanager
def manifest(path: Path, how: How, version: str) -> Generator[Manifest]:
    """Open the manifest at *path*, which is made where it is missing; what was kept is there however this ends.

    *version* is turncheck's: another one judges anew. Raises ManifestError.
    """
    is_new = not path.exists()
    try:
        base = _opened(path)
    except sqlite3.Error as error:
        if is_new and path.exists() and not path.stat().st_size:  # as where the disk is full
            path.unlink()
        raise _fault(path, error) from error
    try:
        yield Manifest(base, how, version)
    except sqlite3.Error as error:
        raise _fault(path, error) from error
    finally:
        base.close()


def _opened(path: Path) -> sqlite3.Connection:
    if path.is_symlink():
        raise ManifestError(f"manifest {shown(str(path))}: it is a link, and links are not written through")
    base = sqlite3.connect(path, timeout=_WAIT)
    try:
        _claim(path, base)
        base.execute("pragma foreign_keys = on")
        base.execute("pragma journal_mode = wal")  # a commit waits for no disk, and a loss of power breaks nothing
        base.execute("pragma synchronous = normal")
        base.executescript(_TABLES)
    except BaseException:
        base.close()
        raise
    return base


def _claim(path: Path, base: sqlite3.Connection) -> None:
    """Mark a new database as a manifest; another program's is left alone."""
    (own,) = base.execute("pragma application_id").fetchone()
    if own != _OURS and base.execute("select 1 from sqlite_master").fetchone():
        raise ManifestError(f"manifest {shown(str(path))}: a database of another program; name a new file")
    base.execute(f"pragma application_id = {_OURS}")


def _fault(path: Path, error: sqlite3.Error) -> ManifestError:
    return ManifestError(f"manifest {shown(str(path))}: {error}; what it held before is left as it is")
