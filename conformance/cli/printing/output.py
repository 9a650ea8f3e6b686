"""Output: JSON for machines, styled text for people, progress of slow steps."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from turncheck.model.rendering.printable import NOTHING, Document, Printable, fill, line, lines

_QUIET_FOR: Final = 2.0
"""Seconds before progress is shown on a terminal."""
_LINE_EVERY: Final = 10.0
"""Seconds between two lines of progress elsewhere: a log of CI that lasts a minute has six."""


class OutputError(OSError):
    """Standard output or standard error, which is named, cannot be written."""


def echo(text: Printable = NOTHING, *, err: bool = False) -> None:
    """Print lines for people. Only this, ``document`` and ``emit`` write to standard output and standard error."""
    _write(text, err=err)


def document(text: Document) -> None:
    """Print a whole text as it is, and a line feed if it lacks one."""
    _write(text, nl=not text.endswith("\n"))


def _write(text: Printable | Document, *, nl: bool = True, err: bool = False) -> None:
    try:
        click.echo(text, nl=nl, err=err)
    except BrokenPipeError:
        raise
    except OSError as error:  # full, or no file that can be written
        raise OutputError(error.errno, error.strerror, "standard error" if err else "standard output") from error


def emit(value: object) -> None:
    """Print one JSON object on its own line."""
    try:
        document(Document(msgspec.json.encode(value).decode()))
    except UnicodeEncodeError:  # a file name that is no UTF-8
        plain = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        document(Document(plain.encode(errors="replace").decode()))


def style(text: object, **styles: Any) -> Printable:
    """Colour *text*, unless NO_COLOR is set to any non-empty value, or the output is no terminal.

    Text of an implementation is shown on one line, with its control characters spelled out.
    """
    clean = line(text)
    plain = os.environ.get("NO_COLOR") or not sys.stdout.isatty()
    return clean if plain else Printable(click.style(clean, **styles))


def quiet() -> bool:
    """Return True with ``--quiet``: no progress is shown."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("turncheck.quiet"))


class Progress:
    """A line of progress on stderr, which is replaced four times a second; without a terminal, one each ten seconds.

    It is silent at first, and with ``--quiet``.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._silent = quiet()
        self._terminal = sys.stderr.isatty()
        self._shown = False
        self._next = time.monotonic() + (_QUIET_FOR if self._terminal else _LINE_EVERY)

    def __enter__(self) -> "Progress":
        return self

    def events(self, count: int) -> None:
        """Show the number of events read."""
        self.say(f"{count:,} events")

    def say(self, what: str) -> None:
        """Show *what*, unless the last line is too fresh."""
        now = time.monotonic()
        if self._silent or now < self._next:
            return
        if not self._terminal:
            self._next = now + _LINE_EVERY
            echo(fill("{}: {}", self._name, what), err=True)
            return
        self._next = now + 0.25
        self._shown = True
        click.echo("\r\x1b[K" + fill("{}: {}", self._name, what), nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def hypothesis_elsewhere() -> None:
    """Move Hypothesis's cache out of the working directory, which is the user's."""
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir(), "turncheck-hypothesis")))


def notice(text: str) -> None:
    """Print *text*, spelled, on stderr, except with ``--quiet``."""
    if not quiet():
        echo(lines(text), err=True)
