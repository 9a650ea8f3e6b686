"""The option ``-j`` of commands that judge logs: the number of processes among which the logs are shared."""

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import click

from turncheck.adapters.logs.places import is_url

from ...check.fleet.one import How
from .inputs import Input

LARGE: Final = 32 << 20
"""Bytes of logs that pay for worker processes: two take 0.5 s of processor time to start, 32 MB of AG-UI some 3 s."""
LOOKED_AT: Final = 1000
"""Logs whose sizes are added up, at most: as many pay for the processes at whatever size."""

log_jobs_option: Final = click.option(
    *("-j", "--jobs"),
    type=click.IntRange(1),
    help=(
        "Processes among which the logs are shared; the output is the same. By default as many as processors where"
        f" the logs have more than {LARGE >> 20} MiB together, else one."
    ),
)


def _engine(_context: click.Context, _parameter: click.Parameter, value: str) -> str | None:
    """None for processes, else the address of Dask's scheduler, which may be empty."""
    name, _, address = value.partition("=")
    if name == "dask":
        return address
    if value != "processes":
        raise click.BadParameter(f"no engine {value!r}; there are processes, dask and dask=ADDRESS")
    return None


engine_option: Final = click.option(
    "--engine",
    metavar="processes|dask[=ADDRESS]",
    default="processes",
    show_default=True,
    callback=_engine,
    help="Who shares the logs: processes of this machine, or a Dask cluster by its scheduler's address (extra dask).",
)


def jobs_for(jobs: int | None, given: Iterable[Input], how: How) -> tuple[int, Iterator[Input]]:
    """Return the number of processes, and the inputs *given*, whose first ones' sizes decide where *jobs* is None.

    A single log counts where it is one that is cut.
    """
    inputs = iter(given)
    if jobs is not None:
        return jobs, inputs
    most = processors()
    seen: list[Input] = []
    total = 0
    while most > 1 and (one := next(inputs, None)) is not None:
        seen.append(one)
        total += _size(one)
        if len(seen) == LOOKED_AT or (len(seen) > 1 and total >= LARGE):
            return most, chain(seen, inputs)
    alone = len(seen) == 1 and total >= LARGE and _is_cut(seen[0].path, how, most)
    return most if alone else 1, chain(seen, inputs)


def _is_cut(path: str, how: How, jobs: int) -> bool:
    from ...check.fleet.sharing import ranges_of  # noqa: PLC0415 - only a single large log needs it

    return bool(ranges_of(path, how, jobs))


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(given: Input) -> int:
    """The bytes of a log; 0 for what has no size before it is read. One at a URL is waited for: it counts as large."""
    if is_url(given.path):
        return LARGE
    try:
        return 0 if given.path == "-" else Path(given.path).stat().st_size
    except OSError:
        return 0
