"""Counterexamples and coverage, printed with the terminal's colours."""

from collections.abc import Mapping
from typing import Any, Final

import click

from ..report import law_summary
from ..report.text import counterexample_lines, coverage_lines, difference_lines
from ..verify.results import AnyCounterexample, Covered, Verdict
from .output import style

__all__ = ["MARKS", "show_counterexample", "show_coverage", "show_difference"]

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


def show_difference(expected: Any, observed: Any) -> None:
    """Print where two values differ; nothing where both are None."""
    for line in difference_lines(expected, observed, style):
        click.echo(line)


def show_coverage(coverage: Covered) -> None:
    """Print what was exercised, and what was not."""
    for line in coverage_lines(coverage):
        click.echo(line)
