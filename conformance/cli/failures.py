"""Errors that end a command: reported on standard error without a traceback, with an exit code that says whose fault.

Exit code 1 means a broken law. Python's own for an uncaught exception is 1 too, so none leaves this module.
"""

import contextlib
import io
import os
import platform
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

import click

from turncheck.adapters.protocol.errors import BadTargetError, TargetError, excerpt
from turncheck.model.extras import MissingExtraError
from turncheck.model.rendering.printable import Printable, fill, lines

from .interruption import INTERRUPTED
from .printing.output import echo

BROKEN_PIPE: Final = 141
"""The exit code with which shells report a process that SIGPIPE ended."""
DEBUG: Final = "turncheck.debug"
"""The key of click's ``meta`` that is true with ``--debug``."""
SEND: Final = "Please report it where you got turncheck from, with these lines."
_ERROR: Final = 2


def run(command: click.Command, given: Sequence[str]) -> int:
    """Run *command* with the arguments *given*, report its errors, and return the exit code."""
    if not _streams():
        return _ERROR
    context: click.Context | None = None
    code = 0
    try:
        if any("\0" in argument for argument in given):
            raise click.UsageError("an argument has a NUL character in it, which no file name and no target has")  # noqa: TRY301
        with warnings.catch_warnings():
            warnings.showwarning = _warned
            with command.make_context("turncheck", [*given]) as context:
                command.invoke(context)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except SystemExit:
        raise
    except BrokenPipeError:
        code = BROKEN_PIPE  # the reader has seen enough
    except BaseException as error:  # noqa: BLE001 - every error is reported, and the exit code is not 1
        with contextlib.suppress(OSError):  # standard error is full or gone: only the exit code is left
            if context is not None and context.meta.get(DEBUG):
                echo(lines("".join(traceback.format_exception(error))), err=True)
            echo(_told(error, given), err=True)
        code = INTERRUPTED if isinstance(error, click.Abort | KeyboardInterrupt) else _ERROR
    return _flushed(code)


def _streams() -> bool:
    """Replace closed standard streams by the null device; return False if standard output is closed.

    Otherwise a file that is opened later would get the stream's number, and be taken for the stream.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - Python's, for a closed one
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the rest of the process
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        echo(fill("Error: standard output is closed: send it to a file, or to /dev/null"), err=True)
        return False
    stdout: Any = sys.stdout
    if hasattr(stdout, "reconfigure"):  # a locale may lack our marks, such as ✓
        stdout.reconfigure(errors="backslashreplace")
    return True


def _warned(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning of a library such as Hypothesis, which may quote foreign text."""
    echo(fill("{}: {}", category.__name__, lines(message)), err=True)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _told(error: BaseException, given: Sequence[str]) -> Printable:
    match error:
        case click.ClickException():
            shown = io.StringIO()
            error.show(shown)
            return lines(shown.getvalue().rstrip("\n").expandtabs(2))  # click indents choices by tabs
        case TargetError() | BadTargetError() | MissingExtraError():
            return fill("Error: {}", lines(error))
        case click.Abort() | KeyboardInterrupt():
            return fill("interrupted")
        case MemoryError():
            return fill("Error: there is not enough memory")
        case OSError(filename=None) if not _has_directory():
            return fill("Error: the working directory is not there any more: change to another one")
        case OSError():
            named = "" if error.filename is None else f"{excerpt(str(error.filename))}: "
            return fill("Error: {}{}", named, error.strerror or error)
        case _:
            return _bug(error, given)


def _bug(error: BaseException, given: Sequence[str]) -> Printable:
    *_, last = traceback.extract_tb(error.__traceback__)
    return fill(
        "Error: this is a bug in turncheck: {}\n"
        "  at       {}:{}, in {}\n"
        "  version  turncheck {}, {} {}, {}\n"
        "  command  {}\n"
        "{} The whole traceback is shown by `turncheck --debug` before the command.",
        excerpt("".join(traceback.format_exception_only(error)).strip()),
        *(last.filename, last.lineno, last.name),
        *(version("turncheck"), platform.python_implementation(), platform.python_version(), platform.platform()),
        excerpt(shlex.join(["turncheck", *given])),
        SEND,
    )


def _has_directory() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - only whether
    except OSError:
        return False
    return True


def _flushed(code: int) -> int:
    """Flush standard output, and return the exit code: *code*, unless that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = BROKEN_PIPE
    except OSError as error:
        code = _ERROR
        with contextlib.suppress(OSError):
            echo(fill("Error: standard output: {}", error.strerror or error), err=True)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # Python would try again at its exit, and return 120
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code
