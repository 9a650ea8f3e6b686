"""The durable store of conversations: SQLite in a folder, one transaction per step. Without a folder, nothing lasts."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from .core import Saved

_TABLES: Final = """
create table if not exists conversation (id text primary key, parent text, directory text not null, saved blob);
create table if not exists message (conversation text not null, event blob not null);
"""


class Stored(NamedTuple):
    """A conversation as last saved."""

    id: str
    parent: str | None
    directory: str
    saved: Saved
    log: list[dict[str, Any]]


class Store:
    """Keeps nothing: for a runtime without a folder."""

    def create(self, name: str, parent: str | None, directory: str) -> None:
        """Note a new conversation: its parent, where it is a sub-agent, and its directory never change (BED-010a)."""

    def save(self, name: str, saved: Saved, events: list[dict[str, Any]]) -> None:
        """Make the state and the new events durable, both or neither (BED-007a)."""

    def load(self) -> Iterator[Stored]:
        """All conversations, parents before their sub-agents."""
        return iter(())

    def close(self) -> None:
        """Release the store."""


class Database(Store):
    """Conversations in ``conversations.sqlite`` of a folder. Raises sqlite3.Error where the file cannot be written."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(folder / "conversations.sqlite")  # a commit is synced: SQLite's own default
        self._connection.executescript(_TABLES)

    def create(self, name: str, parent: str | None, directory: str) -> None:
        """Note a new conversation; it is committed with its first ``save``."""
        self._connection.execute("insert into conversation values (?, ?, ?, null)", (name, parent, directory))

    def save(self, name: str, saved: Saved, events: list[dict[str, Any]]) -> None:
        """Commit the state with the new events."""
        with self._connection:
            self._connection.execute(
                "update conversation set saved = ? where id = ?", (msgspec.json.encode(saved), name)
            )
            self._connection.executemany(
                "insert into message values (?, ?)", [(name, msgspec.json.encode(event)) for event in events]
            )

    def load(self) -> Iterator[Stored]:
        """Yield all committed conversations."""
        found = self._connection.execute(
            "select id, parent, directory, saved from conversation where saved is not null order by rowid"
        )
        for name, parent, directory, saved in found.fetchall():
            events = self._connection.execute(
                "select event from message where conversation = ? order by rowid", (name,)
            )
            log = [msgspec.json.decode(event) for (event,) in events]
            yield Stored(name, parent, directory, msgspec.json.decode(saved, type=Saved), log)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
