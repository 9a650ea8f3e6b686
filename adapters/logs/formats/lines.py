"""A mapper of formats in which a line means the same wherever it stands: each line gives its events at once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from turncheck.model.core.events import Event, Malformed, Native

from .fields import MisfitError, Object, no_event
from .items import NATIVE
from .mapping import Mapped


class LineMapper:
    """Maps lines by ``line``; one that gives nothing is ``Native``.

    Such a line is held back until the next: where it is the log's last one, an end that ``ending`` infers takes its
    place, so that an observation shares no line with an event.
    """

    def __init__(self) -> None:
        self._held: Mapped | None = None
        self._last = 0

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the value at position *at*."""
        self._last = at
        if self._held is not None:
            yield self._held
            self._held = None
        events = self.told(value)
        if is_silent(events):
            self._held = at, events[0]
        else:
            yield from ((at, event) for event in events)

    def together(self, told: Iterable[Mapped], last: int, waits: Event | None) -> list[Mapped]:
        """Take what lines in a row told, up to position *last*; where that line says nothing, what it tells *waits*.

        Return what ``value`` would yield of them.
        """
        found = [*([] if self._held is None else [self._held]), *told]
        self._last, self._held = last, None if waits is None else (last, waits)
        return found

    def told(self, value: Any) -> Sequence[Event]:
        """Return the events of a line's value, at least one: of one that means nothing a ``Native``."""
        if not isinstance(value, dict):
            return [no_event(value)]
        given = cast("Object", value)
        return self.judged(given) or [self.silent(given)]

    def judged(self, value: Object) -> Sequence[Event]:
        """Return the events of a value, or why it is malformed."""
        try:
            return self.line(value)
        except MisfitError as misfit:
            return [Malformed(f"{value.get('type', 'message')!s:.40}: {misfit}")]

    def end(self) -> Iterator[Mapped]:
        """End the log: yield the ends that are inferred, and what was held back."""
        ends = [(self._last, event) for event in self.ending()]
        yield from ends or ([self._held] if self._held is not None else [])

    def line(self, value: Object) -> Sequence[Event]:
        """Return the events of a value, none where it means nothing. Raises MisfitError."""
        raise NotImplementedError

    def silent(self, value: Object) -> Event:
        """Return the event of a value that means nothing."""
        del value
        return NATIVE

    def ending(self) -> Iterable[Event]:
        """Return the ends of runs that the log's end lets one infer."""
        return ()


def is_silent(events: Sequence[Event]) -> bool:
    """Return whether a line's events say nothing."""
    return len(events) == 1 and isinstance(events[0], Native)
