"""Worker processes that judge logs and ranges of logs, each in one of them; results leave in the order of the tasks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any, Final, TypeAlias

from ..results import LogFinding, LogResult
from .fragment import Summary
from .one import Found, How, Work, name_of, unjudged
from .process import Process
from .section import Section
from .worker import Failed

Task: TypeAlias = Work | Callable[[], LogResult]
"""A log, or a range of one, for a worker; or what gives a result in this process when its turn has come."""

TRIES: Final = 2
"""Workers that a log may cost: one can be killed for its neighbours' memory; that kills no second one in a row."""
AHEAD: Final = 4096
"""Logs that may be judged before the result of an earlier one is there, so that a huge log stops no other."""
HELD: Final = 20_000
"""Findings that wait for their turn, in all: 16 MB. Workers whose findings have to wait beyond that stand still."""


class WorkerBugError(RuntimeError):
    """An exception in a worker that is no fault of its log."""


class _Entry:
    """A task between its giving and its result."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.findings: deque[LogFinding] = deque()
        self.taken = 0
        """Findings that came from a worker, also from one that was killed since."""
        self.skip = 0
        """Findings of the log's next judging that came from the one before."""
        self.tries = 0
        self.result: Found | None = None


def judged(
    tasks: Iterable[Task],
    how: How,
    jobs: int,
    *,
    found: Callable[[LogFinding], None] = lambda _: None,
    lost: Callable[[str], None] = lambda _: None,
) -> Iterator[Found]:
    """Yield the results of *tasks*, in their order, from up to *jobs* processes: of a range, its summary.

    *found* gets each finding before the result of its log, where *how* tells them. A worker that is killed is named to
    *lost*, and its log is judged again; after ``TRIES`` workers the log's result is an ``error`` that says so.
    Memory: ``HELD`` findings and ``AHEAD`` results.

    Raises WorkerBugError, OSError where no process can be started, and what a task raises.
    """
    pool = _Pool(iter(tasks), how, jobs, lost)
    try:
        yield from pool.results(found)
    finally:
        for process in (*pool.idle, *pool.busy):
            process.end()


class _Pool:
    def __init__(self, tasks: Iterator[Task], how: How, jobs: int, lost: Callable[[str], None]) -> None:
        self._tasks, self._how, self._jobs, self._lost = tasks, how, jobs, lost
        self._entries: deque[_Entry] = deque()
        self._again: deque[_Entry] = deque()
        self._names = [f"worker {number + 1} of {jobs}" for number in reversed(range(jobs))]
        self._held = 0
        self.idle: list[Process] = []
        self.busy: dict[Process, _Entry] = {}

    def results(self, found: Callable[[LogFinding], None]) -> Iterator[Found]:
        while True:
            self._give()
            if not self._entries:
                return
            first = self._entries[0]
            while first.findings:
                found(first.findings.popleft())
                self._held -= 1
            if callable(first.task):
                self._entries.popleft()
                yield first.task()
            elif first.result is not None:
                self._entries.popleft()
                self._held -= _weight(first.result)
                yield first.result
            else:
                self._hear(first)

    def _give(self) -> None:
        """Let idle workers judge, and start workers while there are logs for them."""
        while self.idle or self._names:
            entry = self._again.popleft() if self._again else self._next()
            if entry is None:
                return
            assert not callable(entry.task)
            process = self.idle.pop() if self.idle else Process(self._names.pop(), self._how)
            self.busy[process] = entry
            try:
                process.give(entry.task)
            except OSError:
                self._bury(process)

    def _next(self) -> _Entry | None:
        """The next log for a worker; tasks before it that need none wait for their turn."""
        while len(self._entries) < AHEAD and self._held < HELD:
            task = next(self._tasks, None)
            if task is None:
                return None
            entry = _Entry(task)
            self._entries.append(entry)
            if not callable(task):
                return entry
        return None

    def _hear(self, first: _Entry) -> None:
        """Take what the workers say; while too much waits, only what the *first* log's worker says."""
        full = self._held >= HELD
        heard = {process.wire: process for process, entry in self.busy.items() if entry is first or not full}
        for wire in wait([*heard]):
            process = heard[wire]  # type: ignore[index]
            try:
                said = process.wire.recv()
            except (OSError, EOFError):
                self._bury(process)
            else:
                self._take(process, said)

    def _take(self, process: Process, said: Any) -> None:
        entry = self.busy[process]
        match said:
            case LogResult() | Summary() | Section():
                entry.result = said
                self._held += _weight(said)
                del self.busy[process]
                self.idle.append(process)
            case Failed(error=error, traceback=where):
                raised = WorkerBugError(error)
                raised.add_note(f"in {process.name}, at {entry.task}:\n{where}")
                raise raised
            case _:
                fresh: list[LogFinding] = said[entry.skip :]
                entry.skip = max(0, entry.skip - len(said))
                entry.findings += fresh
                entry.taken += len(fresh)
                self._held += len(fresh)

    def _bury(self, process: Process) -> None:
        """Name a worker that is gone, and let its log be judged again, unless that has been done."""
        entry = self.busy.pop(process)
        assert not callable(entry.task)
        ended = process.ended()
        process.end()
        self._names.append(process.name)
        entry.tries += 1
        entry.skip = entry.taken
        if entry.tries < TRIES:
            self._lost(f"{ended} while it judged {name_of(entry.task)}: the log is judged again")
            self._again.append(entry)
        else:
            self._lost(f"{ended} while it judged {name_of(entry.task)}, as the one before")
            why = f"{ended} while it judged this log, and so did the worker before it; is there enough memory?"
            entry.result = unjudged(entry.task if isinstance(entry.task, str) else entry.task.path, self._how, why)


def _weight(result: Found) -> int:
    """Findings that a result keeps, or what takes as much memory."""
    return len(result.findings) if isinstance(result, LogResult) else len(result)
