"""Large logs cut into ranges, so that several workers judge one log; the results are those of one process."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from turncheck.adapters.logs.formats.own import OWN
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.places import opened
from turncheck.adapters.logs.ranges import Range, cut, cut_between_runs, size_and_state
from turncheck.adapters.logs.reading import MAX_LINE, read_log

from ..results import LogResult
from .fragment import Summary
from .one import Found, How, done, judged, shown
from .pool import Task
from .section import Section, joined

LEAST: Final = 32 << 20
"""Bytes of a log that is cut; a shorter one costs less than two workers take to start."""
_SMALLEST: Final = 8 << 20
_LARGEST: Final = 64 << 20
"""Bytes of a range: 8 MiB take a worker some 0.04 s; the summary of 64 MiB takes up to a tenth of that in memory."""
_LOOKED: Final = 8 * MAX_LINE
"""Bytes in which the format is recognised, or the log is not cut: else one without lines is read to its end for it."""
_TURNS: Final = 4
"""Ranges per worker, so that all end at about the same time."""

_CUT: Final = {None, OWN.name, *(form.called for form in FORMATS.values() if form.rest is not None)}
"""The values of ``--format`` with which a log may be cut."""

LogTask: TypeAlias = str | Callable[[], LogResult]
"""The path of a log, or what gives a result in this process when its turn has come."""
Run: TypeAlias = Callable[[Iterable[Task]], Iterator[Found]]


def shared(tasks: Iterable[LogTask], how: How, jobs: int, run: Run) -> Iterator[LogResult]:
    """Yield the results of *tasks*, in order, where *run* gives one of each task or range; *jobs* workers judge."""
    plan: deque[tuple[LogTask, list[Range]]] = deque()

    def pieces() -> Iterator[Task]:
        for task in tasks:
            ranges = ranges_of(task, how, jobs) if isinstance(task, str) else []
            plan.append((task, ranges))
            yield from ranges or (task,)

    results = run(pieces())
    for first in results:
        task, ranges = plan.popleft()
        if not ranges:
            assert isinstance(first, LogResult)
            yield first
        else:
            assert isinstance(task, str)
            yield _joined(task, how, ranges, chain([first], (next(results) for _ in ranges[1:])))


def _joined(path: str, how: How, ranges: Sequence[Range], found: Iterator[Found]) -> LogResult:
    """The result of the log at *path*, from those of its ranges; the first one that is an error is that of the log."""
    first = next(found)
    given = chain([first], found)
    whole = joined(ranges, given, lambda part: done(part, how)) if isinstance(first, Section) else _merged(given)
    for _ in found:
        pass  # what is behind an error
    if isinstance(whole, LogResult):
        return whole
    if whole.told:
        return judged(path, how)
    return whole.result(shown(path), strict=how.strict, by_session=how.by_session)


def _merged(found: Iterator[Found]) -> Found:
    whole = next(found)
    for one in found:
        if not isinstance(whole, Summary):
            break
        if not isinstance(one, Summary):
            return one
        whole.extend(one)
    return whole


def ranges_of(path: str, how: How, jobs: int) -> list[Range]:
    """Return the ranges into which the log at *path* is cut for *jobs* workers; none where one worker judges it.

    Logs in turncheck's own format are cut at any bytes, where they are large and not compressed. What a line of another
    format means depends on the lines before it: such a log is cut between two runs, where the format has a ``Rest``.
    Where findings are told at once, the log is judged from its beginning on.

    >>> ranges_of("nowhere.jsonl", How(None, 1000), 2)
    []
    """
    found = None if how.tells or how.format_name not in _CUT else size_and_state(path)
    if found is None or found[0] < LEAST:
        return []
    size, state = found
    try:
        with opened(path) as stream:
            log = read_log(_Beginning(stream), format_name=how.format_name, max_line=how.max_line)
        if log.start is None or log.doubt is not None:
            return []
        parts = cut(path, size, state, log.start, min(max(size // (_TURNS * jobs), _SMALLEST), _LARGEST))
        if log.format is OWN:
            return [] if log.sent else parts
        if log.format.rest is None or log.format is not FORMATS.get(log.format.name):
            return []
        between = cut_between_runs(parts, log.format, how.max_line, sent=log.sent)
    except (OSError, ValueError):
        return []  # whoever judges it says why
    return between if len(between) > 1 else []


class _Beginning:
    """The first ``_LOOKED`` bytes of a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left = _LOOKED

    def read1(self, size: int = -1, /) -> bytes:
        """Read once. Raises ValueError behind them."""
        if self._left <= 0:
            raise ValueError(f"the format is not known after {_LOOKED:,} bytes")
        piece = self._stream.read1(size)
        self._left -= len(piece)
        return piece
