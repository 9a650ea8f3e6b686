"""Verdicts and lines of text, printed with the terminal's colours."""

from collections.abc import Iterable, Mapping
from typing import Final

import click

from ..report import law_summary
from ..verify.results import Verdict

_COLOURS: Final[Mapping[Verdict, str]] = {
    "pass": "green",
    "fail": "red",
    "inconclusive": "yellow",
    "skipped": "blue",
    "error": "red",
}
MARKS: Final = {verdict: (mark, _COLOURS[verdict]) for verdict, mark in law_summary.MARKS.items()}
"""Verdict → its mark and colour."""


def show(lines: Iterable[str]) -> None:
    """Print each of *lines*."""
    for line in lines:
        click.echo(line)
