"""The inputs of commands that read logs: files, folders and standard input, with their options."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import BufferedReader
from pathlib import Path
from typing import Final, NamedTuple, cast

import click

from turncheck.adapters.logs import parquet, places
from turncheck.adapters.logs.formats.registry import FORMATS, SCHEME, UnsupportedFormatError, every_format
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.reading import MAX_LINE

from .shared import options

_PLAIN: Final = (".jsonl", ".ndjson", ".sse")
SUFFIXES: Final = (*_PLAIN, *(f"{name}{packed}" for packed in (".gz", ".zst") for name in _PLAIN), parquet.SUFFIX)
"""The suffixes for which a folder is searched; a file that is named is read under any name."""
_LOOKED_FOR: Final = f"looked for {', '.join(_PLAIN)}, also as .gz and .zst, and {parquet.SUFFIX}"
_AUTO: Final = "auto"


def _format(_context: click.Context, _parameter: click.Parameter, value: str) -> str | None:
    """None for ``auto``, else a name that the registry has, or the user's own reader."""
    if value == _AUTO or value.startswith(SCHEME):
        return None if value == _AUTO else value
    names = {*FORMATS, *(form.called for form in FORMATS.values())}
    try:
        names |= set() if value in names else {*every_format()}
    except UnsupportedFormatError as error:
        raise click.BadParameter(str(error)) from error
    if value not in names:
        known = ", ".join(dict.fromkeys(form.called for form in every_format().values()))
        raise click.BadParameter(f"no format {value!r}; there are {known}, and {SCHEME}MODULE:NAME for your own reader")
    return value


def _complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    names = [_AUTO, *dict.fromkeys(form.called for form in FORMATS.values())]
    return [name for name in names if name.startswith(begun)]


log_options: Final = options(
    click.option("--max-line", type=click.IntRange(1), default=MAX_LINE, help="Longer lines are malformed (bytes)."),
    click.option(
        "--format",
        "format_name",
        metavar=f"NAME|{SCHEME}MODULE:NAME",
        default=_AUTO,
        show_default=True,
        callback=_format,
        shell_complete=_complete,
        help=f"The log's format: {', '.join(dict.fromkeys(form.called for form in FORMATS.values()))}, or your own.",
    ),
)
"""The options for reading a log."""


class Input(NamedTuple):
    """A log, or what stands where one may be: then ``fault`` says why it cannot be judged."""

    path: str
    fault: str | None = None


def expanded(paths: tuple[str, ...]) -> Iterator[Input]:
    """Yield the logs: ``-`` and files as they are, folders searched for logs, in the order of their paths; so are URLs.

    Links to folders are followed. A folder that cannot be read, a link that leads nowhere or back, and a log's name on
    what is no file are yielded with their fault; so is a folder that was named and has no log.
    """
    for path in paths:
        if places.is_url(path):
            yield from _elsewhere(path)
        elif path != "-" and is_kind(Path.is_dir, path):
            yield from sorted(_searched(path)) or [Input(path, f"no log in the folder: {_LOOKED_FOR}")]
        else:
            yield Input(path)


def _elsewhere(url: str) -> Iterator[Input]:
    """The logs at a URL, which may be a glob or a folder."""
    try:
        yield from [Input(found) for found in places.listed(url, SUFFIXES)] or [
            Input(url, f"no log here: {_LOOKED_FOR}")
        ]
    except OSError as error:
        yield Input(url, str(error))


def _searched(root: str) -> Iterator[Input]:
    """All logs below *root*, each folder once, by whatever way it is found first."""
    seen: set[tuple[int, int]] = set()
    waiting = [(str(Path(root)), frozenset[tuple[int, int]]())]
    while waiting:
        folder, above = waiting.pop()
        try:
            status = os.stat(folder)  # noqa: PTH116 - text in, text out
            own = (status.st_dev, status.st_ino)
            if own in above:
                yield Input(str(Path(folder)), "the link leads back to a folder above it")
            if own in seen:
                continue
            seen.add(own)
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield Input(str(Path(folder)), f"the folder cannot be read: {error.strerror}")
            continue
        for entry in entries:
            try:
                mode = entry.stat().st_mode
            except OSError as error:
                why = "the link leads nowhere" if isinstance(error, FileNotFoundError) else error.strerror
                yield Input(str(Path(entry.path)), why)
                continue
            if stat.S_ISDIR(mode):
                waiting.append((entry.path, above | {own}))
            elif entry.name.endswith(SUFFIXES):
                yield Input(str(Path(entry.path)), None if stat.S_ISREG(mode) else "it is no file")


def is_kind(kind: Callable[[Path], bool], path: str) -> bool:
    """Ask *kind*, such as ``Path.is_file``, of *path*; False where the path cannot be one, since it is too long."""
    try:
        return kind(Path(path))
    except OSError:
        return False


def opened(path: str) -> AbstractContextManager[Stream]:
    """Open a log, or standard input for ``-``, to be used in ``with``. Raises OSError and MissingExtraError."""
    return cast(BufferedReader, click.open_file(path, "rb")) if path == "-" else places.opened(path)
