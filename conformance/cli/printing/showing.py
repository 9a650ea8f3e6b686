"""Verdicts and lines of text, printed with the terminal's colours."""

from collections.abc import Iterable, Mapping
from typing import Final

from turncheck.model.rendering.printable import Printable

from ...report import law_summary
from ...verify.outcome.results import Verdict
from .output import echo

_COLOURS: Final[Mapping[Verdict, str]] = {
    "pass": "green",
    "fail": "red",
    "inconclusive": "yellow",
    "skipped": "blue",
    "error": "red",
}
MARKS: Final = {verdict: (mark, _COLOURS[verdict]) for verdict, mark in law_summary.MARKS.items()}
"""Verdict → its mark and colour."""


def show(texts: Iterable[Printable]) -> None:
    """Print each of *texts*."""
    for text in texts:
        echo(text)
