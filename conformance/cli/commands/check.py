"""``turncheck check``."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import click
from msgspec import structs

from turncheck.adapters.logs.parquet import COLUMNS
from turncheck.model.rendering.printable import fill

from ...check.fleet.one import How, reason
from ...check.judge import check
from ...check.results import LogFinding, LogResult
from ...report.registry import OF_LOGS, on_logs
from ..interruption import INTERRUPTED
from ..many_logs import Shared, manifest_at, results, tables_at
from ..options.inputs import expanded, is_kind, log_options
from ..options.log_jobs import engine_option, jobs_for, log_jobs_option
from ..printing.output import OutputError, echo, emit, style
from ..printing.showing import MARKS
from ..reporting import Report, aside, publish, report_option

SHOWN: Final = 10
"""Findings of a law that the text shows; the others are counted."""


def _table(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in {".parquet", ".jsonl"}:
        raise click.BadParameter(f"{value} is neither .parquet nor .jsonl")
    return value


def _columns(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, str]:
    line, _, session = value.partition(",")
    if not line:
        raise click.BadParameter("name the column of lines, as in --columns line,session")
    return line, session


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@log_options
@click.option("--strict", is_flag=True, help="A log that ends in a run is a failure.")
@click.option("--follow", is_flag=True, help="Judge one log while it is written, until Ctrl-C.")
@click.option("--metrics", "port", type=click.IntRange(0, 65535), help="With --follow: serve counts for Prometheus.")
@click.option("--all", "shows_all", is_flag=True, help="Show each finding at once, not the first ten of each law.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per log; with --follow or --all each finding.")
@log_jobs_option
@engine_option
@click.option(
    "--manifest",
    "kept",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the results in this SQLite file, and judge only logs that are new or have changed since.",
)
@click.option(
    "--out",
    "table",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_table,
    metavar="FILE.parquet|FILE.jsonl",
    help="Write a table with a row a finding, and beside it one with a row a session (FILE.sessions.parquet).",
)
@click.option(
    "--columns",
    callback=_columns,
    metavar="LINE[,SESSION]",
    default=",".join(COLUMNS),
    show_default=True,
    help="The columns of a log in Parquet that have its lines, and the session of each.",
)
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
    port: int | None,
    shows_all: bool,
    as_json: bool,
    jobs: int | None,
    engine: str | None,
    kept: Path | None,
    table: Path | None,
    columns: tuple[str, str],
    reports: tuple[Report, ...],
) -> None:
    """Judge recorded logs of an agent runtime.

    LOG is a file, a folder (searched for .jsonl, .ndjson and .sse, packed as .gz or .zst too, and .parquet), a URL
    (s3://… and others that fsspec opens: of a file, a folder, or a glob in quotes), or - for standard input, in one of
    the formats that --format names. Exits 0 when nothing is wrong, 1 when a law is broken, 2 when a log could not be
    judged: it cannot be read, is in no format that is read, is empty, or no event of it opens a run.

    The first ten findings of each law are shown, and the others counted.

    With --follow each finding is printed as soon as it is certain, and the result at Ctrl-C, with exit code 130. A
    file that is replaced or cut is followed from its start, as a new log. With --metrics PORT, counts for Prometheus
    are at http://127.0.0.1:PORT/metrics meanwhile (0: a free port, which is told).
    """
    if follow:
        judge = partial(check, format_name=format_name, max_line=max_line, strict=strict)
        log, *others = logs
        if others or not is_kind(Path.is_file, log):
            raise click.UsageError(f"--follow takes one file: {', '.join(logs)} is none")
        if reports or table is not None:
            raise click.UsageError("--follow has no report and no table: they tell of a log that is whole")
        _follow(log, judge, max_line, port, as_json=as_json, shows_all=shows_all)
        context.exit(INTERRUPTED)
    if port is not None:
        raise click.UsageError("--metrics is for --follow")
    if engine is not None and shows_all:
        raise click.UsageError("--all tells each finding at once, which --engine dask cannot: leave one of them out")
    worst = 0
    every: list[LogResult] = []  # only a report needs them all
    how = How(format_name, max_line, strict, tells=shows_all, by_session=table is not None, columns=columns)
    with aside(reports, as_json=as_json), manifest_at(kept, how) as known, tables_at(table) as keep:
        processes, inputs = jobs_for(jobs, expanded(logs), how)
        for result in results(inputs, how, Shared(processes, engine), emit if as_json else _show_finding, known):
            worst = max(worst, result.exit_code)
            every += [result] if reports else []
            keep(result)
            emit(structs.replace(result, sessions=())) if as_json else _show(result, listed=not shows_all)
    publish(reports, lambda kind: on_logs(kind)(every))
    context.exit(worst)


def _follow(
    log: str, judge: Callable[..., LogResult], max_line: int, port: int | None, *, as_json: bool, shows_all: bool
) -> None:
    from ..following import follow  # noqa: PLC0415 - only --follow needs it

    told: Counter[str] = Counter()

    def tell(finding: LogFinding) -> None:
        told[finding.law] += 1
        if shows_all or told[finding.law] <= SHOWN:
            _show_finding(finding)

    def show(result: LogResult) -> None:
        _show_summary(result)
        _show_more({} if shows_all else told)
        told.clear()

    try:
        heard = (emit, emit) if as_json else (tell, show)
        follow(log, judge, max_line=max_line, tell=heard[0], show=heard[1], port=port)
    except OutputError:
        raise  # no fault of the log
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{log}: {reason(error)}") from error


def _show(result: LogResult, *, listed: bool = True) -> None:
    _show_summary(result)
    if listed:
        counts: Counter[str] = Counter()
        for finding in result.findings:
            counts[finding.law] += 1
            if counts[finding.law] <= SHOWN:
                _show_finding(finding)
        _show_more(counts + Counter(result.more))


def _show_more(counts: Mapping[str, int]) -> None:
    for law, count in counts.items():
        if count > SHOWN:
            echo(fill("    … and {:,} more of {}; --all shows them", count - SHOWN, law))


def _show_summary(result: LogResult) -> None:
    mark, colour = MARKS[result.verdict]
    echo(
        fill(
            "{} {}  {}, {} events, {} cycles: {}",
            style(mark, fg=colour, bold=True),
            style(result.log, bold=True),
            result.format,
            result.events,
            result.cycles,
            style(result.verdict, fg=colour),
        )
    )
    if result.why:
        echo(fill("    {}", style(result.why)))


def _show_finding(finding: LogFinding) -> None:
    where = f"line {finding.line}"
    clauses = style(", ".join(finding.clauses), dim=True)
    echo(fill("    {:>9}  {}  {}  {}", where, style(finding.law, fg="yellow"), style(finding.message), clauses))
