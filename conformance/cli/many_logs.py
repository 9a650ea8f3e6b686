"""Many logs: judged here or by several processes, and not again where a manifest knows them."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ..check.fleet.one import How, judged, shown, unjudged
from ..check.results import LogFinding, LogResult
from .options.inputs import Input, opened
from .printing.output import Progress, notice

if TYPE_CHECKING:
    from ..check.fleet.manifest import Manifest
    from ..check.fleet.one import Found
    from ..check.fleet.pool import Task
    from ..check.fleet.sharing import LogTask


class Shared(NamedTuple):
    """The processes that judge the logs: *jobs* of this machine, or a Dask cluster at the address *engine*."""

    jobs: int
    engine: str | None = None


@contextmanager
def manifest_at(path: Path | None, how: How) -> Generator["Manifest | None"]:
    """The manifest at *path*, if any; how many logs it knew is said at the end."""
    if path is None:
        yield None
        return
    from ..check.fleet.manifest import ManifestError, manifest  # noqa: PLC0415 - only --manifest needs SQLite

    try:
        with manifest(path, how, version("turncheck")) as known:
            yield known
            notice(f"{known.reused:,} of {known.seen:,} logs were judged before: {shown(str(path))}")
    except ManifestError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def tables_at(path: Path | None) -> Generator[Callable[[LogResult], None]]:
    """Yield a function that writes each log's findings and sessions to the table at *path*, if any."""
    if path is None:
        yield lambda _: None
        return
    from ..check.tables import TableError, tables  # noqa: PLC0415 - only --out needs them

    try:
        with tables(path) as keep:
            yield keep
    except TableError as error:
        raise click.ClickException(shown(str(error))) from error


def results(
    inputs: Iterator[Input], how: How, shared: Shared, found: Callable[[LogFinding], None], known: "Manifest | None"
) -> Iterator[LogResult]:
    """Yield the results in the order of the logs; *found* gets each finding before, where *how* tells them."""
    order: deque[str] = deque()

    def tasks() -> Iterator["LogTask"]:
        for given in inputs:
            order.append(given.path)
            before = known.known(given.path) if known is not None and given.fault is None else None
            if before is not None:
                yield partial(_again, before, how, found)
            elif given.fault is not None or given.path == "-":  # these are for this process
                yield partial(_here, given, how, found)
            else:
                yield given.path

    for result in _judged(tasks(), how, shared, found):
        place = order.popleft()
        if known is not None:
            known.keep(place, result)
        yield result


def _judged(
    tasks: Iterator["LogTask"], how: How, shared: Shared, found: Callable[[LogFinding], None]
) -> Iterator[LogResult]:
    if shared.engine is None and shared.jobs == 1:
        yield from (task() if callable(task) else _here(Input(task), how, found) for task in tasks)
        return
    from ..check.fleet import dask_engine, pool, sharing  # noqa: PLC0415 - only several processes need them

    def run(tasks: Iterable["Task"]) -> Iterator["Found"]:
        if shared.engine is None:
            yield from pool.judged(tasks, how, shared.jobs, found=found, lost=notice)
        else:
            yield from dask_engine.judged(tasks, how, shared.engine, shared.jobs)

    with Progress("check") as progress:
        for done, result in enumerate(sharing.shared(tasks, how, shared.jobs, run), 1):
            yield result
            progress.say(f"{done:,} logs")


def _again(result: LogResult, how: How, found: Callable[[LogFinding], None]) -> LogResult:
    """Tell a former run's result."""
    if how.tells:
        for finding in result.findings:
            found(finding)
    return result


def _here(given: Input, how: How, found: Callable[[LogFinding], None]) -> LogResult:
    """Judge a log in this process."""
    if given.fault is not None:
        return unjudged(given.path, how, given.fault)
    with Progress(shown(given.path)) as progress:
        return judged(given.path, how, found=found, progress=progress.events, opened=opened)
