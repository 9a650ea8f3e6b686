"""Counterexamples, printed with the terminal's colours, and the marks of verdicts."""

from collections.abc import Mapping
from typing import Final

import click

from ..report import law_summary
from ..report.text import counterexample_lines
from ..verify.results import AnyCounterexample, Verdict
from .output import style

_COLOURS: Final[Mapping[Verdict, str]] = {
    "pass": "green",
    "fail": "red",
    "inconclusive": "yellow",
    "skipped": "blue",
    "error": "red",
}
MARKS: Final = {verdict: (mark, _COLOURS[verdict]) for verdict, mark in law_summary.MARKS.items()}
"""Verdict → its mark and colour."""


def show_counterexample(found: AnyCounterexample, *, clauses: bool = True) -> None:
    """Print *found*, with the text of its clauses unless these stand elsewhere."""
    for line in counterexample_lines(found, style, clauses=clauses):
        click.echo(line)
