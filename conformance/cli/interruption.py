"""Let SIGTERM and SIGHUP end a command as Ctrl-C does, in the command line's own process only."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130
_BASE: Final = 128  # shells report a process that signal n ended by 128 + n


class Interruption:
    """The signal that ended the command; None for Ctrl-C, and without a signal."""

    number: int | None = None

    def code(self, otherwise: int) -> int:
        """Return the exit code: 128 + n after signal n, else *otherwise*."""
        return otherwise if self.number is None else _BASE + self.number


@contextmanager
def interruptible() -> Generator[Interruption, None, None]:
    """Raise KeyboardInterrupt for each signal within the context; one that is ignored (nohup) stays so."""
    interruption = Interruption()

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interruption.number = number
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        numbers = (signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
