"""``turncheck check``."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from ...check.judge import EXIT, LogFinding, LogResult, check
from ...report.registry import OF_LOGS, on_logs
from ..group import INTERRUPTED
from ..inputs import expanded, log_options, opened
from ..output import Progress, emit, style
from ..reporting import Report, aside, publish, report_option
from ..showing import MARKS


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@log_options
@click.option("--strict", is_flag=True, help="A log that ends in a run is a failure.")
@click.option("--follow", is_flag=True, help="Judge one log while it is written, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per log; with --follow also each finding.")
@report_option(OF_LOGS)
@click.pass_context
def command(
    context: click.Context,
    *,
    logs: tuple[str, ...],
    format_name: str | None,
    max_line: int,
    strict: bool,
    follow: bool,
    as_json: bool,
    reports: tuple[Report, ...],
) -> None:
    """Judge recorded logs of an agent runtime.

    LOG is a file, a folder (searched for .jsonl, .ndjson and .sse), or - for standard input, in turncheck's own format,
    AG-UI, pi, or the AI SDK's UI message stream. Exits 0 when nothing is wrong, 1 when a law is broken, 2 when a log
    could not be judged.

    With --follow each finding is printed as soon as it is certain, and the result at Ctrl-C, with exit code 130. A
    file that is replaced or cut is followed from its start, as a new log.
    """
    judge = partial(check, format_name=format_name, max_line=max_line, strict=strict)
    if follow:
        log, *others = logs
        if others or not Path(log).is_file():
            raise click.UsageError(f"--follow takes one file: {', '.join(logs)} is none")
        if reports:
            raise click.UsageError("--follow has no report: a report tells of a log that is whole")
        _follow(log, judge, max_line, as_json=as_json)
        context.exit(INTERRUPTED)
    worst = 0
    kept: list[LogResult] = []  # only a report needs them all
    with aside(reports, as_json=as_json):
        for path in expanded(logs):
            result = _judged(path, judge, format_name or "auto")
            worst = max(worst, EXIT[result.verdict])
            kept += [result] if reports else []
            emit(result) if as_json else _show(result)
    publish(reports, lambda kind: on_logs(kind)(kept))
    context.exit(worst)


def _follow(log: str, judge: Callable[..., LogResult], max_line: int, *, as_json: bool) -> None:
    from ..following import follow  # noqa: PLC0415 - only --follow needs it

    tell, show = (emit, emit) if as_json else (_show_finding, _show_summary)
    try:
        follow(log, judge, max_line=max_line, tell=tell, show=show)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{log}: {error}") from error


def _judged(path: str, judge: Callable[..., LogResult], form: str) -> LogResult:
    shown = os.fsencode(path).decode(errors="replace")
    try:
        with opened(path) as stream, Progress(shown) as progress:
            return judge(shown, stream, progress=progress.events)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return LogResult(shown, form, 0, 0, (), "error", why)


def _show(result: LogResult) -> None:
    _show_summary(result)
    for finding in result.findings:
        _show_finding(finding)


def _show_summary(result: LogResult) -> None:
    mark, colour = MARKS[result.verdict]
    click.echo(
        f"{style(mark, fg=colour, bold=True)} {style(result.log, bold=True)}  "
        f"{result.format}, {result.events} events, {result.cycles} cycles: {style(result.verdict, fg=colour)}"
    )
    if result.why:
        click.echo(f"    {style(result.why)}")


def _show_finding(finding: LogFinding) -> None:
    where = f"line {finding.line}"
    clauses = style(", ".join(finding.clauses), dim=True)
    click.echo(f"    {where:>9}  {style(finding.law, fg='yellow')}  {style(finding.message)}  {clauses}")
