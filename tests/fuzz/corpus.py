"""The committed inputs: one file per target, one input per line, as a JSON string of UTF-8.

A byte that is no UTF-8 is written as its lone surrogate by ``surrogateescape``, so that any bytes are kept, and text is
readable.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "corpus"
WORK: Final = Path(__file__).parents[2] / "build" / "fuzz"
"""A folder per target: what it has learned, which grows from run to run."""


def load(name: str) -> list[bytes]:
    """Return the inputs of a target, none if it has no file."""
    file = FOLDER / f"{name}.jsonl"
    lines = file.read_text("ascii").splitlines() if file.exists() else []
    return [json.loads(line).encode("utf-8", "surrogateescape") for line in lines]


def save(name: str, inputs: Iterable[bytes]) -> Path:
    """Write the inputs of a target, short ones first; return the file."""
    file = FOLDER / f"{name}.jsonl"
    ordered = sorted(set(inputs), key=lambda data: (len(data), data))
    file.write_text("".join(f"{json.dumps(data.decode('utf-8', 'surrogateescape'))}\n" for data in ordered), "ascii")
    return file
