"""Ends of runs that a log in turncheck's own format tells several times, as adapters log them (``via``).

The first telling is the end; each further one becomes a ``native`` at its position, as ``verify`` reads it.
"""

from collections.abc import Sequence
from typing import Final

from turncheck.model.core.decode import Decoded, is_blank, lines_of, parse
from turncheck.model.core.events import Event, Fault, Native, RunStop, same_end

VIA: Final = b'"via"'
"""The field of a line that says how an end was told."""
LOOKED_BACK: Final = 256
"""Events of all sessions among which the first end that has a channel may find the one that it tells again. With whole
blocks held up to 4,096 events `check` took 1.06 and 1.11 of its time, so 1.02 and 0.98 (medians of 9, a load of 8)."""
_SILENT: Final = frozenset((Native, Fault))
"""Types of events that may stand between two tellings of one end."""


class ToldEnds:
    """Reads a log in order, event by event or block by block, and makes an observation of an end that was told before.

    Memory: the last end of each session behind which nothing came. Up to the first end with a channel nothing is looked
    at, so that a log without ``via`` costs nothing an event; the ends before it are those of ``LOOKED_BACK`` events.
    """

    def __init__(self) -> None:
        self._told: dict[str | None, dict[str, str]] = {}  # session → channel → reason, of its last end
        self._recent: tuple[Event, ...] | None = ()  # before the first channel: the last events

    def once(self, event: Event, via: object = None) -> Event:
        """Return the event, whose line has *via*; where it tells its session's last end again, a ``native``.

        >>> ends, stop = ToldEnds(), RunStop(reason="error")
        >>> [type(ends.once(stop, via)).__name__ for via in (None, "exception", None)]
        ['RunStop', 'Native', 'RunStop']
        """
        if self._recent:
            self._replay()
        if type(event) in _SILENT:
            return event
        session = event.session_id
        if not isinstance(event, RunStop):
            self._told.pop(session, None)
            return event
        if via is not None:
            self._recent = None
        told, by = self._told.get(session), str(via or "event")
        if told is None or not same_end(told, by, event.reason):
            self._told[session] = {by: event.reason}
            return event
        told[by] = event.reason
        return Native(session_id=session, source=event.source)

    def block(self, decoded: Decoded, text: bytes) -> tuple[Event, ...]:
        """Return the events that the lines *text* were decoded to, those of ends told again changed."""
        events = decoded.events
        if self._recent is None:
            return tuple(map(self.once, events, _vias(decoded, text)))
        vias = () if decoded.usual else _vias(decoded, text)
        first = next((index for index, via in enumerate(vias) if via is not None), None)
        if first is None:
            self._recent = (self._recent + events)[-LOOKED_BACK:]
            return events
        self._recent = (self._recent + events[:first])[-LOOKED_BACK:]
        self._replay()
        self._recent = None
        return (*events[:first], *map(self.once, events[first:], vias[first:]))

    def _replay(self) -> None:
        """Look at the events of blocks that were not looked at."""
        recent, self._recent = self._recent or (), ()
        for event in recent:
            self.once(event)


def tells_ends(decoded: Decoded, text: bytes) -> bool:
    """Return whether an end among the lines *text* says how it was told.

    >>> from turncheck.model.core.decode import decode_lines
    >>> told = b'{"type": "run-stop", "reason": "error", "via": "close"}'
    >>> tells_ends(decode_lines(told), told)
    True
    """
    return any(via is not None for via in _vias(decoded, text))


def _vias(decoded: Decoded, text: bytes) -> Sequence[object]:
    """The channel of each event, None where its line has none."""
    if decoded.usual or VIA not in text:
        return [None] * len(decoded.events)
    lines = (line for line in lines_of(text) if not is_blank(line))
    return [_via(event, line) for event, line in zip(decoded.events, lines, strict=True)]


def _via(event: Event, line: bytes) -> object:
    return parse(line).get("via") if isinstance(event, RunStop) and VIA in line else None
