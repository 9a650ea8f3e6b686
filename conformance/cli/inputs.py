"""The inputs of commands that read logs: files, folders and standard input, with their options."""

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final, cast

import click

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import MAX_LINE

from .options import options

SUFFIXES: Final = (".jsonl", ".ndjson", ".sse")
"""The suffixes for which a folder is searched; a file that is named is read under any name."""

log_options: Final = options(
    click.option("--max-line", type=click.IntRange(1), default=MAX_LINE, help="Longer lines are malformed (bytes)."),
    click.option(
        "--format",
        "format_name",
        type=click.Choice(["auto", *(name for name in FORMATS if name != "pi-session")]),
        default="auto",
        show_default=True,
        callback=lambda _context, _parameter, value: None if value == "auto" else value,
    ),
)
"""The options for reading a log."""


def expanded(paths: tuple[str, ...]) -> Iterator[str]:
    """Yield the logs: ``-`` and files as they are, folders searched for logs, in the order of their paths."""
    for path in paths:
        if path != "-" and Path(path).is_dir():
            found = sorted(str(item) for item in Path(path).rglob("*") if item.suffix in SUFFIXES and item.is_file())
            if not found:
                raise click.ClickException(f"no log in the folder {path}: looked for {', '.join(SUFFIXES)}")
            yield from found
        else:
            yield path


@contextmanager
def opened(path: str) -> Generator[BufferedReader, None, None]:
    """Open a log as a binary stream. Raises OSError."""
    if path == "-":
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    with Path(path).open("rb") as stream:
        yield stream
