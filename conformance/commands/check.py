"""``turncheck check``."""

import os

import click

from ..checking import EXIT, LogResult, check
from .inputs import expanded, log_options, opened
from .output import Progress, emit, style

_MARKS = {"pass": ("✓", "green"), "fail": ("✗", "red"), "inconclusive": ("?", "yellow"), "error": ("!", "red")}


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@log_options
@click.option("--strict", is_flag=True, help="A log that ends in a run is a failure.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a log.")
@click.pass_context
def command(
    context: click.Context, *, logs: tuple[str, ...], format_name: str, max_line: int, strict: bool, as_json: bool
) -> None:
    """Judge recorded logs of an agent runtime.

    LOG is a file, a folder (searched for .jsonl, .ndjson and .sse), or - for standard input, in turncheck's own format,
    AG-UI, pi, or the AI SDK's UI message stream. Exits 0 when nothing is wrong, 1 when a law is broken, 2 when a log
    could not be judged.
    """
    worst = 0
    for path in expanded(logs):
        result = _judged(path, format_name, max_line, strict=strict)
        worst = max(worst, EXIT[result.verdict])
        if as_json:
            emit(result)
        else:
            _show(result)
    context.exit(worst)


def _judged(path: str, format_name: str, max_line: int, *, strict: bool) -> LogResult:
    name = None if format_name == "auto" else format_name
    shown = os.fsencode(path).decode(errors="replace")
    try:
        with opened(path) as stream, Progress(shown) as progress:
            return check(shown, stream, format_name=name, max_line=max_line, strict=strict, progress=progress.events)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return LogResult(shown, format_name, 0, 0, (), "error", why)


def _show(result: LogResult) -> None:
    mark, colour = _MARKS[result.verdict]
    click.echo(
        f"{style(mark, fg=colour, bold=True)} {style(result.log, bold=True)}  "
        f"{result.format}, {result.events} events, {result.cycles} cycles: {style(result.verdict, fg=colour)}"
    )
    if result.why:
        click.echo(f"    {style(result.why)}")
    for finding in result.findings:
        where = f"line {finding.line}"
        clauses = style(", ".join(finding.clauses), dim=True)
        click.echo(f"    {where:>9}  {style(finding.law, fg='yellow')}  {style(finding.message)}  {clauses}")
