"""A journal of what a runtime has heard, kept in a folder: one stimulus a line, in the protocol's form."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import ValidationError
from msgspec.json import decode, encode

from turncheck.model.core.stimuli import Stimulus, StoreFail

from ...protocol.errors import TargetError

_NAME: Final = "stimuli.jsonl"
_TRIES: Final = 4
"""Writes of a stimulus, until one does not fail."""


class Journal:
    """The stimuli of one runtime, in *folder*. Behind a ``StoreFail``, writes fail as on a full disk.

    >>> from tempfile import TemporaryDirectory
    >>> from turncheck.model.core.stimuli import Abort
    >>> with TemporaryDirectory() as folder:
    ...     Journal(Path(folder)).append(Abort())
    ...     list(Journal(Path(folder)).stimuli())
    [Abort(session_id=None, agent_id=None)]
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._failing = 0

    def append(self, stimulus: Stimulus) -> None:
        """Keep a stimulus; a write that fails is tried again. Raises TargetError where it cannot be written."""
        for left in reversed(range(_TRIES)):
            try:
                self._write(encode(stimulus) + b"\n")
            except OSError as error:
                if not left:
                    raise TargetError(f"{self._path} cannot be written: {error.strerror}") from error
            else:
                self._failing += stimulus.times if isinstance(stimulus, StoreFail) else 0
                return

    def _write(self, line: bytes) -> None:
        if self._failing:
            self._failing -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with self._path.open("ab") as file:
            file.write(line)

    def stimuli(self) -> Iterator[Stimulus]:
        """Yield what was kept. Raises TargetError where it cannot be read."""
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            raise TargetError(f"{self._path} cannot be read: {error.strerror}") from error
        for line in lines:
            try:
                yield decode(line, type=Stimulus)
            except ValidationError as error:
                raise TargetError(f"{self._path} has a line that is no stimulus: {error}") from error
