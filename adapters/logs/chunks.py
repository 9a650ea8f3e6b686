"""Chunks of a log that is read: batches of events with their origins and lines."""

from collections.abc import Callable, Sequence
from typing import Final

from turncheck.model.core.decode import Batch, Decoded
from turncheck.model.core.events import Event, Malformed

from .framing import Origin

TOO_LONG: Final = Malformed("line over the limit (--max-line)")
"""The event of a line over the limit."""
NOT_READ: Final = Decoded((TOO_LONG,), 1, usual=False)
"""Such a line."""


class Chunk:
    """A batch of events, the origin of each by its index in the batch, and their physical lines.

    ``lines`` is a range wherever the numbers form one: a log without blank lines is one range from end to end.
    ``heard`` is the batch without the observations ``NATIVE``, where the reader has it at hand: it is enough to cut
    cycles, and most lines of a stream are such observations. ``pauses``: there may be a ``RunPause`` among the events.
    """

    def __init__(
        self,
        heard: Batch,
        origin: Callable[[int], Origin] | None = None,
        lines: Callable[[], Sequence[int]] | None = None,
        whole: tuple[Sequence[int], Callable[[], tuple[Event, ...]]] | None = None,
        *,
        pauses: bool = True,
    ) -> None:
        """Take the batch; or what is heard of it, with the positions and the events of the *whole*.

        A class with methods ``origin`` and ``lines`` of its own gives none: a chunk that holds its own methods is freed
        by the garbage collector alone, long after a hundred others, each with a block (`check` of a session file took
        139 MB then, not 28).
        """
        self.heard: Final = heard
        self.pauses: Final = pauses
        self._origin, self._lines = origin, lines
        self._whole = whole

    def origin(self, index: int) -> Origin:
        """Return where an event stands, by its index in the batch."""
        assert self._origin is not None
        return self._origin(index)

    def lines(self) -> Sequence[int]:
        """Return the physical line of each event."""
        assert self._lines is not None
        return self._lines()

    @property
    def batch(self) -> Batch:
        """All events, made anew each time."""
        return self.heard if self._whole is None else Batch(self._whole[1](), self._whole[0])

    @property
    def count(self) -> int:
        """The number of all events."""
        return len(self.heard.ats if self._whole is None else self._whole[0])

    def where(self) -> tuple[Sequence[int], Sequence[int]]:
        """The positions of the batch, ascending, each at least once, and the line of each."""
        return (self.heard.ats if self._whole is None else self._whole[0]), self.lines()
