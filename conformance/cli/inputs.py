"""Options and arguments that several commands share: logs, formats and policies."""

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import MAX_LINE

_F = TypeVar("_F", bound=Callable[..., Any])

SUFFIXES: Final = (".jsonl", ".ndjson", ".sse")
"""The suffixes for which a folder is searched; a file that is named is read under any name."""


def log_options(function: _F) -> _F:
    """The options for reading a log."""
    names = [name for name in FORMATS if name != "pi-session"]
    for option in (
        click.option("--format", "format_name", type=click.Choice(["auto", *names]), default="auto", show_default=True),
        click.option(
            "--max-line", type=click.IntRange(1), default=MAX_LINE, help="Longer lines are malformed (bytes)."
        ),
    ):
        function = option(function)
    return function


def policy_options(function: _F) -> _F:
    """The options on the projection's policies."""
    fates = click.Choice(["promote", "hold", "drop"])
    for option in (
        click.option("--queue-after-error", type=fates, default="promote", show_default=True),
        click.option("--queue-after-interrupted", type=fates, default="promote", show_default=True),
        click.option("--while-active", type=click.Choice(["steer", "followUp"]), default="followUp", show_default=True),
    ):
        function = option(function)
    return function


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
