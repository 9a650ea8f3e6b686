"""What a runtime has heard, kept in a folder: one stimulus a line, in the protocol's form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import ValidationError
from msgspec.json import decode, encode

from turncheck.model.core.stimuli import Stimulus

from ...protocol.errors import TargetError

_NAME: Final = "stimuli.jsonl"


class Journal:
    """The stimuli of one runtime, in *folder*.

    >>> from tempfile import TemporaryDirectory
    >>> from turncheck.model.core.stimuli import Abort
    >>> with TemporaryDirectory() as folder:
    ...     Journal(Path(folder)).append(Abort())
    ...     list(Journal(Path(folder)).stimuli())
    [Abort(session_id=None, agent_id=None)]
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def append(self, stimulus: Stimulus) -> None:
        """Keep a stimulus. Raises TargetError where it cannot be written."""
        try:
            with self._path.open("ab") as file:
                file.write(encode(stimulus) + b"\n")
        except OSError as error:
            raise TargetError(f"{self._path} cannot be written: {error.strerror}") from error

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
