"""``check --follow``: a log is judged while it is written, until Ctrl-C."""

import signal
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from types import FrameType

from turncheck.adapters.logs.tail import PAUSE, Tail

from ..check.metrics import prometheus
from ..check.results import LogFinding, LogResult
from .metrics_endpoint import serving
from .printing.output import echo, style


class Counts:
    """The counts of all logs that were followed, for Prometheus; another thread may read them."""

    def __init__(self) -> None:
        self._events = self._now = self._logs = 0
        self._findings: Counter[str] = Counter()

    def progress(self, events: int) -> None:
        """Take the number of events of the present log."""
        self._now = events

    def found(self, finding: LogFinding) -> None:
        """Take a finding."""
        self._findings[finding.law] += 1

    def ended(self, result: LogResult) -> None:
        """Take the result of a log; another one may follow."""
        self._events += result.events
        self._now = 0
        self._logs += 1

    def text(self) -> str:
        """Return the counts in Prometheus' text format."""
        counters = {"events": self._events + self._now, "logs_ended": self._logs}
        return prometheus(counters, {}, dict(self._findings))


def follow(
    path: str,
    judge: Callable[..., LogResult],
    *,
    max_line: int,
    tell: Callable[[LogFinding], None],
    show: Callable[[LogResult], None],
    port: int | None = None,
) -> None:
    """Judge the log at *path* by *judge*, a ``check`` with its options, until Ctrl-C.

    *tell* is called with each finding, *show* with the result of each file. A file that is replaced or cut ends one
    log, and begins another. Counts are served on a *port* of loopback, if one is given. Raises OSError, and ValueError
    for a log that cannot be followed.
    """
    counts = Counts()

    def found(finding: LogFinding) -> None:
        counts.found(finding)
        tell(finding)

    def ended(result: LogResult) -> None:
        counts.ended(result)
        show(result)

    with ExitStack() as stack:
        if port is not None:
            _say(f"metrics at {stack.enter_context(serving(port, counts.text))}")
        _follow(path, partial(judge, progress=counts.progress), max_line, found, ended)


def _follow(
    path: str,
    judge: Callable[..., LogResult],
    max_line: int,
    tell: Callable[[LogFinding], None],
    show: Callable[[LogResult], None],
) -> None:
    with _until_interrupted() as stop:
        tail = Tail(Path(path), stop, max_line=max_line, say=_say)
        while True:
            with tail:
                show(judge(path, tail, live=True, found=tell))
            if tail.replaced is None:
                return
            _say(f"{path} {tail.replaced}: followed from its start, as a new log")
            again = _again(path, stop, max_line)
            if again is None:
                return
            tail = again


def _again(path: str, stop: Event, max_line: int) -> Tail | None:
    """The new file, which may be gone once more by now: it is waited for; None where Ctrl-C comes first."""
    said = ""
    while not stop.is_set():
        try:
            return Tail(Path(path), stop, max_line=max_line, say=_say)
        except OSError as error:
            if error.strerror != said:
                said = error.strerror or str(error)
                _say(f"{path}: {said}; waiting for a file")
            stop.wait(PAUSE)
    return None


def _say(text: str) -> None:
    echo(style(text), err=True)


@contextmanager
def _until_interrupted() -> Generator[Event, None, None]:
    """An event that Ctrl-C sets; a second Ctrl-C ends at once."""
    stop = Event()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
