"""A virtual clock: timers fire in order of due time when time is advanced, ties in the order in which they were set."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

RETRY_DUE: Final = "retry-due"


@dataclass(order=True)
class Timer:
    """A letter for a conversation, and the time at which it is *due*, in seconds since the start."""

    due: float
    order: int
    session: str = field(compare=False)
    letter: str = field(compare=False)
    told: Any = field(compare=False)


class Clock:
    """Timers, and the seconds passed since the start."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[Timer] = []
        self._order = count()

    def set(self, seconds: float, session: str, letter: str, told: Any) -> None:
        """Set a timer: *session* gets the letter in so many seconds."""
        heapq.heappush(self._timers, Timer(self.now + seconds, next(self._order), session, letter, told))

    def drop(self, session: str) -> None:
        """Forget the timers of a conversation."""
        self._timers = sorted(timer for timer in self._timers if timer.session != session)

    def waiting(self) -> list[Timer]:
        """The timers that are set, the next one first."""
        return sorted(self._timers)

    def advance(self, seconds: float) -> Iterator[Timer]:
        """Let time pass, and yield the timers that come due; a timer that is set meanwhile may come due too."""
        end = self.now + seconds
        while self._timers and self._timers[0].due <= end:
            timer = heapq.heappop(self._timers)
            self.now = timer.due
            yield timer
        self.now = end

    def jump(self) -> Timer | None:
        """Take the next back-off, where one waits, as if it were due now; all other timers stay as they are."""
        timer = next((one for one in sorted(self._timers) if one.letter == RETRY_DUE), None)
        if timer is not None:
            self._timers = sorted(one for one in self._timers if one is not timer)
        return timer
