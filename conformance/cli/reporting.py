"""The option ``--report``: the kinds of report, and their files."""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from turncheck.model.extras import needs_extra
from turncheck.model.rendering.printable import Document, fill
from turncheck.model.writing import write_file

from ..report.registry import KINDS, NEEDS
from .printing.output import document, echo

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Report:
    """A kind of report, and its file; None for standard output."""

    kind: str
    file: Path | None


def report_option(kinds: Sequence[str]) -> Callable[[_F], _F]:
    """The option ``--report`` for the given kinds; the command gets ``reports``."""

    def read(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[Report, ...]:
        return tuple(_read(one, kinds) for one in given)

    return click.option(
        "--report",
        "reports",
        multiple=True,
        callback=read,
        metavar="KIND[=FILE]",
        help=(
            f"Write a report: {', '.join(f'{kind} ({KINDS[kind]})' for kind in kinds)}. Without FILE it is printed,"
            " and the text goes to standard error. Repeatable. One that cannot be written is named on standard error,"
            " and changes no exit code."
        ),
    )


def _read(text: str, kinds: Sequence[str]) -> Report:
    kind, equals, file = text.partition("=")
    if kind not in kinds:
        raise click.BadParameter(f"no report {kind!r}; there are {', '.join(kinds)}")
    if kind in NEEDS:
        needs_extra(NEEDS[kind], f"the report {kind}")
    if equals and not file:
        raise click.BadParameter(f"{text} names no file: write {kind}=FILE, or {kind} for standard output")
    return Report(kind, Path(file) if equals else None)


def aside(reports: Sequence[Report], *, as_json: bool) -> AbstractContextManager[object]:
    """Send text to standard error within the context where one of *reports* goes to standard output.

    Raises click.UsageError where two want standard output.
    """
    printed = [one.kind for one in reports if one.file is None] + ["--json"] * as_json
    if len(printed) > 1:
        raise click.UsageError(f"{' and '.join(printed)} cannot all be printed: name a file, as in {printed[0]}=FILE")
    return redirect_stdout(sys.stderr) if printed and not as_json else nullcontext()


def publish(reports: Sequence[Report], rendered: Callable[[str], Document]) -> None:
    """Write each report; *rendered* gives the text of a kind. A file that cannot be written is named on stderr."""
    for report in reports:
        text = rendered(report.kind)
        if report.file is None:
            document(text)
            continue
        try:
            write_file(report.file, text)
        except OSError as error:
            echo(fill("the report {} cannot be written to {}: {}", report.kind, report.file, error.strerror), err=True)
