"""``turncheck formats``."""

from collections.abc import Iterable
from typing import Any

import click

from turncheck.adapters.logs.formats.mapping import ASPECTS, Format
from turncheck.adapters.logs.formats.recognition import named
from turncheck.adapters.logs.formats.registry import UnsupportedFormatError, every_format
from turncheck.adapters.logs.places import without_secrets
from turncheck.adapters.logs.reading import read_values
from turncheck.model.rendering.printable import fill

from ...check.fleet.one import reason
from ...check.reader_kit import ReaderReport, judge_reader
from ..options.inputs import expanded, opened
from ..printing.output import echo, emit, style


@click.command()
@click.argument("name", required=False, metavar="[NAME|python:MODULE:NAME]")
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.pass_context
def command(context: click.Context, *, name: str | None, logs: tuple[str, ...], as_json: bool) -> None:
    """List the log formats with what each cannot say, show one, or judge its reader on logs.

    With NAME and logs of that format the reader is held to its promises, on the logs and on spoiled copies of them: it
    takes any line, positions never descend, every line has one, nothing is invented, the format is told from all
    others. Exits 1 when a promise is broken.
    """
    try:
        forms = list(every_format().values()) if name is None else [named(name, [])]
    except KeyError as error:
        raise click.UsageError(f"no format {name!r}; there are {', '.join(every_format())}") from error
    except UnsupportedFormatError as error:
        raise click.ClickException(str(error)) from error
    if not logs:
        for form in forms:
            emit(_plain(form)) if as_json else _show(form)
        return
    report = judge_reader(forms[0], [_values(log) for log in _files(logs)])
    emit(report) if as_json else _told(report)
    context.exit(1 if report.faults else 0)


def _files(logs: tuple[str, ...]) -> Iterable[str]:
    for given in expanded(logs):
        if given.fault is not None:
            raise click.ClickException(f"{given.path}: {given.fault}")
        yield given.path


def _values(log: str) -> list[Any]:
    try:
        with opened(log) as stream:
            return [value for value in read_values(stream, format_name="turncheck")[1] if value != "[DONE]"]
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{without_secrets(log)}: {reason(error)}") from error


def _plain(form: Format) -> dict[str, object]:
    says = {aspect: form.limits.get(aspect, "yes") for aspect in ASPECTS}
    return {"name": form.name, "called": form.called, "title": form.title, "whole": form.whole, "says": says}


def _show(form: Format) -> None:
    echo(fill("{}  {}", style(f"{form.name:20}", bold=True), form.title))
    for aspect, why in form.limits.items():
        echo(fill("  {}  {}", style(f"{ASPECTS[aspect]:20}", dim=True), style(why)))


def _told(report: ReaderReport) -> None:
    echo(fill("{}  {} logs, {} lines", style(report.format, bold=True), report.logs, report.lines))
    for title, counts in (("events", report.events), ("without a meaning", report.silent)):
        shown = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "none"
        echo(fill("  {}  {}", style(f"{title:17}", dim=True), style(shown)))
    for fault in report.faults:
        echo(
            fill(
                "  {} {}  {}", style("✗", fg="red", bold=True), style(fault.promise, fg="yellow"), style(fault.message)
            )
        )
    if not report.faults:
        echo(fill("  {} every promise of a reader is kept", style("✓", fg="green", bold=True)))
