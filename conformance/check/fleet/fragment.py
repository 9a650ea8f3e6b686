"""Findings in a range of a large log, whatever stands before it: summaries of ranges merge to the log's result."""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from turncheck.adapters.logs.chunks import NOT_READ
from turncheck.adapters.logs.formats.own import OWN
from turncheck.adapters.logs.formats.told_ends import tells_ends
from turncheck.adapters.logs.framing import Block, blocks
from turncheck.adapters.logs.ranges import Range, opened_range
from turncheck.model.core.cycles import Anomaly
from turncheck.model.core.decode import Batch, decode_lines, is_blank, lines_of
from turncheck.model.core.events import Event, RunPause, RunResume, RunStop
from turncheck.model.core.fragments import Fragment

from ..judge import detail
from ..results import LISTED, LogResult, Tally

_BITS: Final = 40
"""Bits of a place that count the events of a range; those above are the range's number."""
_EVENTS: Final = (1 << _BITS) - 1
_MOST: Final = 16 * LISTED
"""Findings after which those that are not listed are dropped: seldom enough to cost nothing."""
_PAUSES: Final = frozenset((RunPause, RunResume))
_CLEARED: Final = -1
"""In place of where a session paused: it goes on, or its run ended."""


class _Found(NamedTuple):
    """An anomaly, the place of the event that reveals it, and what the anomaly's own event says."""

    when: int
    session: str | None
    anomaly: Anomaly
    more: str


class Summary:
    """The findings of consecutive ranges of one log, and what the ranges before them can change.

    A place is the number of a range and that of an event in it, so that no merge has to move it. Memory: up to
    ``LISTED`` findings of each law, and what ``Fragment`` keeps.
    """

    def __init__(self, number: int) -> None:
        self._next = number << _BITS
        self.fragment = Fragment(first=number == 0)
        self.sizes: dict[int, tuple[int, int]] = {}  # range → its events, its lines
        self.found: list[_Found] = []
        self.counts: Counter[tuple[str, str | None]] = Counter()  # kind and session → findings, listed or not
        self.lines: dict[int, int] = {}  # place → line in its range; without an entry no blank line is before it
        self._blanks = array("q")  # the place of the event behind each blank line
        self.pauses: dict[str | None, int] = {}
        self.told = False
        """True if an end says how it was told: then the log has to be judged in one piece, by ``ToldEnds``."""

    def __len__(self) -> int:
        """The number of findings that are kept."""
        return len(self.found)

    def take(self, block: Block) -> None:
        """Take the next lines of the range."""
        text = b"" if block.whole is None else block.whole
        decoded = decode_lines(text) if text else NOT_READ
        events, lines, usual = decoded
        self.told = self.told or tells_ends(decoded, text)
        batch = Batch(events, range(self._next, self._next + len(events)))
        if lines != len(events):
            place = self._next
            for line in lines_of(text):
                if is_blank(line):
                    self._blanks.append(place)
                else:
                    place += 1
        self.fragment.feed(batch)
        if self.pauses or not (usual or _PAUSES.isdisjoint(map(type, events))):
            self._note_pauses(batch)
        self._next += len(events)
        self._drain(batch)

    def _note_pauses(self, batch: Batch) -> None:
        event: Event
        for event, at in zip(*batch, strict=True):
            if isinstance(event, RunPause):
                self.pauses[event.session_id] = at
            elif isinstance(event, RunResume | RunStop):
                self.pauses[event.session_id] = _CLEARED

    def _drain(self, batch: Batch | None = None) -> None:
        """Take the anomalies that are certain now; those of a *batch* may say more."""
        fresh = self.fragment.anomalies
        if not fresh:
            return
        for when, session, anomaly in fresh:
            self.counts[anomaly.kind, session] += 1
            self.found.append(_Found(when, session, anomaly, detail(anomaly, batch) if batch is not None else ""))
        fresh.clear()
        if len(self.found) > _MOST:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the first findings of each law."""
        self.found.sort(key=lambda one: one.when)
        seen: Counter[str] = Counter()
        kept: list[_Found] = []
        for one in self.found:
            seen[one.anomaly.kind] += 1
            if seen[one.anomaly.kind] <= LISTED:
                kept.append(one)
        self.found = kept

    def end(self) -> None:
        """Take no more lines."""
        self.fragment.end()
        self._shorten()
        number, events = divmod(self._next, 1 << _BITS)
        self.sizes[number] = events, events + len(self._blanks)
        if self._blanks:
            self.lines = {at: (at & _EVENTS) + 1 + bisect_right(self._blanks, at) for at in self._places()}
            self._blanks = array("q")

    def _places(self) -> Iterator[int]:
        """The places whose lines may be asked for."""
        yield from (one.anomaly.at for one in self.found)
        yield from self.fragment.positions()

    def extend(self, behind: "Summary") -> None:
        """Append the summary of the ranges *behind* these, which is used up: associative."""
        self.told = self.told or behind.told
        for name in self.pauses:
            part = behind.fragment.sessions.get(name)
            if part is not None and part.stopped:
                self.pauses[name] = _CLEARED
        self.pauses |= behind.pauses
        self.sizes |= behind.sizes
        self.found += behind.found
        self.counts += behind.counts
        self.fragment.extend(behind.fragment)
        self.lines |= behind.lines
        self._drain()
        self._shorten()
        if self.lines and self.fragment.first:
            self.lines = {at: self.lines[at] for at in self._places() if at in self.lines}

    def result(self, log: str, *, strict: bool, by_session: bool) -> LogResult:
        """Return the result of the whole *log*: nothing stands before these ranges, which are used up."""
        self.fragment = self.fragment.whole()
        self._drain()
        self._shorten()
        tally = Tally(by_session=by_session)
        numbers = sorted(self.sizes)
        events = dict(zip(numbers, accumulate((self.sizes[one][0] for one in numbers), initial=0), strict=False))
        lines = dict(zip(numbers, accumulate((self.sizes[one][1] for one in numbers), initial=0), strict=False))

        def position(place: int) -> int:
            return events[place >> _BITS] + (place & _EVENTS)

        def line(place: int) -> int:
            return lines[place >> _BITS] + self.lines.get(place, (place & _EVENTS) + 1)

        tally.events = sum(own for own, _ in self.sizes.values())
        for session, part in self.fragment.sessions.items():
            tally.add(session, part.cycles)
        for _, session, anomaly, more in self.found:
            tally.find(session, Anomaly(anomaly.kind, position(anomaly.at)), line(anomaly.at), more)
            self.counts[anomaly.kind, session] -= 1
        for (kind, session), count in self.counts.items():
            tally.unlisted(session, kind, count)
        for session, root in self.fragment.roots():
            paused = self.pauses.get(session, _CLEARED) > root
            tally.ends_open(session, position(root), line(root), paused=paused)
        return tally.result(log, OWN.name, self.fragment.sessions, strict=strict or OWN.whole)


def summarised(part: Range, max_line: int) -> Summary:
    """Summarise a range of a log in turncheck's own format. Raises OSError."""
    found = Summary(part.number)
    with opened_range(part, max_line) as (stream, offset):
        for block in blocks(stream, max_line, offset):
            found.take(block)
            if found.told:
                break
    found.end()
    return found
