"""Counterexample files: written, found and read."""

import hashlib
import re
from pathlib import Path
from typing import Final

import msgspec

from turncheck.model.core.refused_json import LEVELS, too_deep
from turncheck.model.writing import write_file

from .results import BREAKS, AnyCounterexample, Counterexample, FlowCounterexample, WordCounterexample

_NAME: Final = 60
"""Bytes of a file's name that a target takes: with the longest law well below the 255 that file systems allow."""
_FORMS: Final = Counterexample | WordCounterexample | FlowCounterexample
_LEVELS: Final = LEVELS + 50
"""Levels of a file: it holds values from answers, inside some of its own."""


def write(counterexample: AnyCounterexample, folder: Path, number: int = 1) -> Path:
    """Write the file, named by its target and law, and by its *number* from 2 on. Raises OSError."""
    more = "" if number == 1 else f".{number}"
    path = folder / f"{_file_name(counterexample.target)}.{counterexample.law}{more}.json"
    write_file(path, msgspec.json.format(msgspec.json.encode(counterexample), indent=2) + b"\n")
    return path


def _file_name(target: str) -> str:
    """The words of *target*; only the end of many, behind a digest by which those that end alike stay apart."""
    words = "".join(character if character.isalnum() else "-" for character in target).strip("-")
    if len(words.encode()) <= _NAME:
        return words
    digest = hashlib.sha256(target.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{digest}-{words.encode()[-_NAME:].decode(errors='ignore')}"


def read(path: Path) -> AnyCounterexample:
    """Read a counterexample file. Raises OSError, msgspec.MsgspecError, UnicodeDecodeError."""
    data = path.read_bytes()
    if too_deep(data, _LEVELS):
        raise msgspec.ValidationError(f"its lists and objects are more than {_LEVELS} levels deep")
    found: AnyCounterexample = msgspec.json.decode(data, type=_FORMS)
    if isinstance(found, WordCounterexample) and found.law != BREAKS and len(found.steps) != len(found.applied):
        raise msgspec.ValidationError(
            f"{len(found.applied)} stimuli were applied, and {len(found.steps)} steps observed"
        )
    return found


def is_counterexample(path: Path) -> bool:
    """Return whether *path* is a counterexample file of ours, and no symbolic link."""
    return _ours(path) is not None


def files_of(target: str, law: str, folder: Path) -> list[Path]:
    """Return the files of *folder* that ``write`` would write for counterexamples of *law*, with any number."""
    numbered = re.compile(re.escape(f"{_file_name(target)}.{law}") + r"(\.\d+)?\.json")
    named = sorted(path for path in folder.glob("*.json") if numbered.fullmatch(path.name))
    return [path for path in named if (one := _ours(path)) is not None and (one.target, one.law) == (target, law)]


def _ours(path: Path) -> AnyCounterexample | None:
    if path.is_symlink():
        return None
    try:
        return read(path)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
