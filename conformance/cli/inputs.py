"""The inputs of commands that read logs: files, folders and standard input, with their options."""

from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final, cast

import click

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import MAX_LINE

from .options import options

SUFFIXES: Final = (".jsonl", ".ndjson", ".sse")
"""The suffixes for which a folder is searched; a file that is named is read under any name."""


def _format(_context: click.Context, _parameter: click.Parameter, value: str) -> str | None:
    return None if value == "auto" else value


log_options: Final = options(
    click.option("--max-line", type=click.IntRange(1), default=MAX_LINE, help="Longer lines are malformed (bytes)."),
    click.option(
        "--format",
        "format_name",
        type=click.Choice(["auto", *(name for name in FORMATS if name != "pi-session")]),
        default="auto",
        show_default=True,
        callback=_format,
    ),
)
"""The options for reading a log."""


def expanded(paths: tuple[str, ...]) -> Iterator[str]:
    """Yield the logs: ``-`` and files as they are, folders searched for logs, in the order of their paths."""
    for path in paths:
        if path != "-" and is_kind(Path.is_dir, path):
            found = sorted(str(item) for item in Path(path).rglob("*") if item.suffix in SUFFIXES and item.is_file())
            if not found:
                raise click.ClickException(f"no log in the folder {path}: looked for {', '.join(SUFFIXES)}")
            yield from found
        else:
            yield path


def is_kind(kind: Callable[[Path], bool], path: str) -> bool:
    """Ask *kind*, such as ``Path.is_file``, of *path*; False where the path cannot be one, since it is too long."""
    try:
        return kind(Path(path))
    except OSError:
        return False


def opened(path: str) -> BufferedReader:
    """Open a log as a binary stream, to be used in ``with``. Raises OSError."""
    return cast(BufferedReader, click.open_file(path, "rb"))


def reason(error: OSError | ValueError) -> str:
    """Say why a log cannot be read, without its name."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
