"""Let SIGTERM and SIGHUP end a command as Ctrl-C does, in the command line's own process only."""

import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130
_MOMENT: Final = 0.01
"""Seconds until an interrupt that was swallowed is raised again: by then the callback has returned."""
_BASE: Final = 128  # shells report a process that signal n ended by 128 + n


class InterruptError(KeyboardInterrupt):
    """An interrupt whose exit code is ours.

    CPython 3.11 ends by SIGINT once a KeyboardInterrupt itself, and not a subclass, has left code that ``exec`` runs
    from a text, as dataclasses do: also where it was caught (``run_eval_code_obj`` in Python/pythonrun.c).
    """


class Interruption:
    """The signal that ended the command; None for Ctrl-C, and without a signal."""

    number: int | None = None

    def code(self, otherwise: int) -> int:
        """Return the exit code: 128 + n after signal n, else *otherwise*."""
        return otherwise if self.number is None else _BASE + self.number


@contextmanager
def interruptible(interruption: Interruption) -> Generator[None, None, None]:
    """Raise KeyboardInterrupt for each signal within the context; one that is ignored (nohup) stays so.

    Python swallows what is raised within a callback of its own (a finalizer, Hypothesis' callback on garbage
    collection): the interrupt is raised again then, a moment later. *interruption* is told the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interruption.number = number
        raise InterruptError

    def again(_number: int, _frame: FrameType | None) -> None:  # for Ctrl-C too
        raise InterruptError

    def swallowed(given: "sys.UnraisableHookArgs") -> None:
        if issubclass(given.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _MOMENT)
        else:
            unraisable(given)

    handlers = {signal.SIGTERM: interrupt, signal.SIGHUP: interrupt, signal.SIGINT: again, signal.SIGALRM: again}
    before = {number: signal.getsignal(number) for number in handlers if signal.getsignal(number) != signal.SIG_IGN}
    unraisable, sys.unraisablehook = sys.unraisablehook, swallowed
    for number in before:
        signal.signal(number, handlers[number])
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, handler)
