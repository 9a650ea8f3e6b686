"""A chunk of whole lines, of which some tell nothing."""

from collections.abc import Sequence
from typing import Final

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import Event

from ...chunks import Chunk
from ...formats.items import NATIVE
from ...framing import Origin
from ..spans import Span


class LineChunk(Chunk):
    """The lines at the positions *ats*, each ``NATIVE`` unless something is *told* at it.

    What is not heard, and where an event stands, is made on demand alone. *more* is the number of events that have the
    position of the one before.
    """

    def __init__(self, spans: Sequence[Span], ats: range, told: Batch, more: int) -> None:
        super().__init__(told, pauses=False)  # none of these formats says so
        self._spans: Final = spans
        self._range: Final = ats
        self._more: Final = more

    @property
    def batch(self) -> Batch:
        """All events, made anew each time."""
        events: list[Event] = []
        ats: list[int] = []
        silent = self._range.start
        for event, at in zip(*self.heard, strict=True):
            events += [NATIVE] * (at - silent)
            ats += range(silent, at)
            events.append(event)
            ats.append(at)
            silent = at + 1
        rest = range(silent, self._range.stop)
        return Batch((*events, *[NATIVE] * len(rest)), [*ats, *rest])

    @property
    def count(self) -> int:
        """The number of all events."""
        return len(self._range) + self._more

    def where(self) -> tuple[Sequence[int], Sequence[int]]:
        """The positions, each once, and the line of each."""
        parts = [
            span.lines[max(self._range.start - span.first, 0) : self._range.stop - span.first] for span in self._spans
        ]
        if len(parts) == 1:
            return self._range, parts[0]
        before, lines = parts
        if isinstance(lines, range) and lines.start == before[-1] + 1:
            return self._range, range(before[-1], lines.stop)
        return self._range, [*before, *lines]

    def origin(self, index: int) -> Origin:
        """Return where an event stands, by its index in the batch."""
        at = self.batch.ats[index]
        return next(span for span in reversed(self._spans) if span.first <= at).origin(at)

    def lines(self) -> Sequence[int]:
        """Return the physical line of each event."""
        at, lines = self.where()
        return [lines[one - at[0]] for one in self.batch.ats]
