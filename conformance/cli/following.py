"""``check --follow``: a log is judged while it is written, until Ctrl-C."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType

from turncheck.adapters.logs.tail import PAUSE, Tail

from ..check.results import LogFinding, LogResult
from .printing.output import echo, style


def follow(
    path: str,
    judge: Callable[..., LogResult],
    *,
    max_line: int,
    tell: Callable[[LogFinding], None],
    show: Callable[[LogResult], None],
) -> None:
    """Judge the log at *path* by *judge*, a ``check`` with its options, until Ctrl-C.

    *tell* is called with each finding, *show* with the result of each file. A file that is replaced or cut ends one
    log, and begins another. Raises OSError, and ValueError for a log that cannot be followed.
    """
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
