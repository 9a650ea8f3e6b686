"""Parts from which commands declare their options."""

from collections.abc import Callable
from functools import reduce
from typing import Any, Final, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])

SECONDS: Final = click.FloatRange(0, min_open=True)
"""A duration."""


def options(*declared: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Give a command several options at once, in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(declared), command)


timeout_option: Final = click.option("--timeout", type=SECONDS, default=5.0, show_default=True, help="For an answer.")
