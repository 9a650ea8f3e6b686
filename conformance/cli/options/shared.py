"""Parts from which commands declare their options."""

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

_F = TypeVar("_F", bound=Callable[..., Any])

SECONDS: Final = click.FloatRange(0, min_open=True)
"""A duration."""


def options(*declared: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Give a command several options at once, in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(declared), command)


def _usable(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    """A folder that is named must be one that can be written; the default one may never be needed."""
    if context.get_parameter_source(parameter.name or "") is ParameterSource.DEFAULT:
        return value
    there = next(part for part in (value, *value.absolute().parents) if os.path.lexists(part))
    try:
        value.lstat()  # a name that is too long is not there either
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise click.BadParameter(f"{value}: {error.strerror}") from error
    if not there.is_dir():
        raise click.BadParameter(f"{value}: a folder is needed where {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise click.BadParameter(f"{value}: the folder {there} may not be written")
    return value


def out_option(default: str, **told: Any) -> Callable[[_F], _F]:
    """The option ``--out``, a folder that is written into; *told* is what click shows of it."""
    kind = click.Path(path_type=Path)
    return click.option("--out", type=kind, default=Path(default), callback=_usable, **told)


timeout_option: Final = click.option("--timeout", type=SECONDS, default=5.0, show_default=True, help="For an answer.")
