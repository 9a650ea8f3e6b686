"""A session's two files: the journal, which is authoritative, and the checkpoint, which says how far it is settled.

The journal is a log of the core (docs/log-format.md): ``turncheck check journal.jsonl`` judges it. Each line is one
event with the turn's fields (``turn``: its identity; ``turnId``, ``status``, ``nextAction``). It is append-only; a line
exists when its line feed is durable. The checkpoint is replaced as a whole after each terminal (TM-2.7).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from .files import Files, put

JOURNAL: Final = "journal.jsonl"
CHECKPOINT: Final = "checkpoint.json"


class CorruptJournalError(Exception):
    """The journal, or its checkpoint, is not what a crash leaves: nothing is repaired and nothing thrown away."""


class CorruptLineError(CorruptJournalError):
    """A line that is not the last is no event (TM-D4)."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(f"{path}:{line}: no event, and not the last line: the journal is corrupt and is left as it is")
        self.line: Final = line
        """1-based."""


class CheckpointMismatchError(CorruptJournalError):
    """The checkpoint settles what the journal does not have.

    The journal is durable before the checkpoint is, so that no crash makes this: the journal was cut, or one of the two
    files is another session's. To go on as if nothing was wrong would forget turns that were settled.
    """

    def __init__(self, journal: Path, checkpoint: Path, why: str) -> None:
        super().__init__(
            f"{checkpoint} does not fit {journal}: {why}. Both are left as they are: put the journal back from a copy,"
            f" or delete {checkpoint.name} to go on with the turns that {journal.name} has"
        )


class Checkpoint(msgspec.Struct, frozen=True):
    """The settled part of the journal: ``offset`` bytes, ``lines`` and ``turns`` up to the last terminal."""

    offset: int = 0
    lines: int = 0
    turns: int = 0


class Journal:
    """The two files in *folder*, which is made if missing. All calls raise OSError where the disk refuses."""

    def __init__(self, files: Files, folder: Path) -> None:
        self._files = files
        self._path: Final = folder / JOURNAL
        self._checkpoint: Final = folder / CHECKPOINT
        self._size = 0
        self.torn = b""
        """The torn last line that a crash left; the next append overwrites it (TM-D4)."""

    def load(self) -> list[dict[str, Any]]:
        """Return all whole lines, and set ``torn`` to the rest. Raises CorruptJournalError.

        The checkpoint says from where on a line may be torn; without one, any last line may be.
        """
        data = self._files.read(self._path)
        settled = self._settled(data)
        *lines, self.torn = data.split(b"\n")
        records: list[dict[str, Any]] = []
        self._size = 0
        for number, line in enumerate(lines, 1):
            record = _event(line)
            last = number == len(lines) and not self.torn
            if record is None and last and self._size >= settled:
                self.torn = line + b"\n"  # has its full length, but some of its blocks were never written
            elif record is None:
                raise CorruptLineError(self._path, number)
            else:
                records.append(record)
                self._size += len(line) + 1
        return records

    def append(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Make *records* durable, in one write; if that fails, restore the file as far as the disk allows."""
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        if self.torn:
            put(self._files, self._path, self._files.read(self._path)[: self._size] + data)
            self.torn = b""
        else:
            self._append(data)
        self._size += len(data)

    def settle(self, lines: int, turns: int) -> None:
        """Move the checkpoint to the journal's end (TM-2.7)."""
        put(self._files, self._checkpoint, msgspec.json.encode(Checkpoint(self._size, lines, turns)))

    def _append(self, data: bytes) -> None:
        try:
            self._files.append(self._path, data)
            self._files.sync(self._path)
            if not self._size:
                self._files.sync(self._path.parent)  # the file's name is durable too
        except OSError:
            self._undo()
            raise

    def _undo(self) -> None:
        try:
            self._files.truncate(self._path, self._size)
            self._files.sync(self._path)
        except OSError:
            pass  # the write leaves a torn last line, which recovery handles

    def _settled(self, data: bytes) -> int:
        """The number of bytes of *data* that the checkpoint settles. Raises CheckpointMismatchError."""
        given = self._files.read(self._checkpoint)
        if not given:
            return 0
        try:
            settled = msgspec.json.decode(given, type=Checkpoint)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._mismatch(f"it is no checkpoint ({error})") from error
        if settled.offset > len(data):
            raise self._mismatch(f"it settles {settled.offset} bytes, and the journal has {len(data)}")
        begin = data[: settled.offset]
        if begin.count(b"\n") != settled.lines or begin[-1:] not in {b"", b"\n"}:
            raise self._mismatch(
                f"the first {settled.offset} bytes there are not the {settled.lines} lines that it settles"
            )
        return settled.offset

    def _mismatch(self, why: str) -> CheckpointMismatchError:
        return CheckpointMismatchError(self._path, self._checkpoint, why)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None
