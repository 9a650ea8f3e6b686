"""Fragments of a log: their projections merge, in any grouping, to that of the whole log.

Where every stop promotes the queue, as by default, a session is the number of messages that wait or are being answered:
a message adds one, a steer makes it at least one, a stop takes one away, and the session is active while it is above
zero. A stop ends all calls. So a fragment is run once, with each session idle at its beginning. What stands before it
changes nothing but two things. A message that waits there delays the fragment's own by one cycle, until the fragment
runs idle: a **floor**, an event that finds nothing to take away. And what a session does up to its first stop, or
between two stops where something comes outside a run, is judged otherwise while a message waits: the events of such a
**stretch** are kept, and run through the machine as soon as the beginning is known.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from .cycles import Anomaly
from .decode import Batch
from .events import AgentOutput, Event, RunStop, ToolResult, UserMessage, WireEvent
from .loop import feed_sessions
from .policies import DEFAULT, tables
from .projection import LogProjector
from .session_state import LoopState, Progress

_Calls: TypeAlias = dict[str, int]
_HEARD: Final = frozenset((AgentOutput, ToolResult, UserMessage, RunStop))
_STATELESS: Final = frozenset(("malformed", "unknown-type"))
"""Kinds of anomalies that depend on no state."""


class Revealed(NamedTuple):
    """An anomaly of a session, and the position of the event that reveals it."""

    when: int
    session: str | None
    anomaly: Anomaly


class Stretch:
    """Events of one session whose judgement depends on what stands before their fragment.

    The session is active at their beginning where more than ``floors`` messages wait before the fragment.
    """

    __slots__ = ("ats", "events", "floors", "stopped", "sure")

    def __init__(self, floors: int) -> None:
        self.floors = floors
        self.events: list[WireEvent] = []
        self.ats = array("q")
        self.sure = False
        """True once a message came: behind it the session is active in any case."""
        self.stopped = False

    def add(self, event: Event, at: int) -> None:
        """Keep what the machine reads of an event; a text of the agent behind a message is accepted in any case."""
        match event:
            case AgentOutput(kind="tool-call"):
                event = AgentOutput(kind="tool-call", call_id=event.call_id, tool="")
            case AgentOutput(kind=kind):
                if self.sure:
                    return
                event = AgentOutput(kind=kind, text="")
            case ToolResult():
                event = ToolResult(call_id=event.call_id)
            case UserMessage():
                event = UserMessage(text="", delivery=event.delivery)
                self.sure = True
            case _:
                event = RunStop(reason="completed")
                self.stopped = True
        self.events.append(event)
        self.ats.append(at)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pack the events: pickled one by one, those of 200 sessions took as long as reading a tenth of their log."""
        return _unpacked, (self.floors, self.ats, self.sure, self.stopped, msgspec.msgpack.encode(self.events))

    def join(self, behind: "Stretch") -> None:
        """Go on with the events of the next fragment's first stretch."""
        for event, at in zip(behind.events, behind.ats, strict=True):
            self.add(event, at)

    @property
    def begins_with_message(self) -> bool:
        """True if it is judged alike, active or not, except for the calls that are open before it."""
        return bool(self.events) and isinstance(self.events[0], UserMessage)

    def run(self, name: str | None, calls: _Calls | None) -> tuple[list[Revealed], int, _Calls]:
        """Run the machine, active with these *calls*, or idle where they are None.

        Return the anomalies, the number of cycles closed (0 or 1), and the calls of the run that is open at the end.
        """
        state = LoopState(name, **tables(DEFAULT))
        if calls is not None:
            state.active, state.kind, state.calls = True, "direct", calls
        progress = Progress([], [])
        feed_sessions({}, lambda _: state, self.events, self.ats, progress)
        found = [
            Revealed(self.ats[-1] if anomaly.kind == "unanswered-call" else anomaly.at, session, anomaly)
            for session, anomaly in progress.anomalies
        ]
        return found, len(progress.cycles), state.calls


def _unpacked(floors: int, ats: "array[int]", sure: bool, stopped: bool, packed: bytes) -> Stretch:  # noqa: FBT001
    stretch = Stretch(floors)
    stretch.ats, stretch.sure, stretch.stopped = ats, sure, stopped
    stretch.events = msgspec.msgpack.decode(packed, type=list[WireEvent])
    return stretch


class Part:
    """A session's part of a fragment; what is counted is counted from an idle beginning.

    ``pushes`` are the positions of its messages, in order, and of the steers that opened a run; the last ``waiting``
    ones wait, or are answered. ``steers`` has the ordinal of the floor that such a steer is: where as many messages
    wait before the fragment, it opens no run.
    """

    __slots__ = ("calls", "cycles", "floors", "open", "pushes", "steers", "stopped", "stretches", "waiting")

    def __init__(self, *, first: bool) -> None:
        self.stretches: list[Stretch] = [] if first else [Stretch(0)]
        self.open = not first
        """True if the last stretch goes on at the end; else ``calls`` are those of the run that is open there."""
        self.stopped = False
        """True if a stop is among its events; not known of the first fragment."""
        self.calls: _Calls = {}
        self.cycles = self.floors = self.waiting = 0
        self.pushes = array("q")
        self.steers: dict[int, int] = {}

    def extend(self, name: str | None, behind: "Part", *, first: bool) -> list[Revealed]:
        """Append the same session's part of the next fragment, which is used up; *first* where nothing stands before.

        Return the anomalies that are certain now.
        """
        found: list[Revealed] = []
        self.cycles += behind.cycles
        self.stopped |= behind.stopped
        calls = self.calls
        stretches = behind.stretches
        if self.open:
            head, *stretches = stretches
            self.stretches[-1].join(head)
            self.open = not head.stopped
        for stretch in stretches:
            active = self.waiting > stretch.floors
            self.open = not (active or first or stretch.begins_with_message)
            if self.open:
                stretch.floors += self.floors - self.waiting
                self.stretches.append(stretch)
                self.open = not stretch.stopped
            else:
                anomalies, closed, calls = stretch.run(name, calls if active else None)
                found += anomalies
                self.cycles += closed
        self.calls = calls if behind.open else behind.calls
        gone = {at for at, floor in behind.steers.items() if floor <= self.waiting}
        self.pushes += array("q", (at for at in behind.pushes if at not in gone)) if gone else behind.pushes
        more = self.floors - self.waiting
        self.steers |= {at: floor + more for at, floor in behind.steers.items() if at not in gone}
        self.floors += max(0, behind.floors - self.waiting)
        self.waiting = behind.waiting + max(0, self.waiting - behind.floors)
        if first:
            self.pushes, self.steers = self.pushes[len(self.pushes) - self.waiting :], {}
        return found


class Fragment:
    """The projection of a stretch of a log under the default policies, whatever stands before it.

    ``feed`` it in batches, then ``end`` it, and ``extend`` it by the fragment that follows. Where *first*, nothing
    stands before it. Memory: the open cycles, the stretches, and the positions of messages; where it is the first one,
    of those that wait.

    >>> whole, rest = Fragment(first=True), Fragment()
    >>> whole.feed(Batch((UserMessage(text="hi"),), [0]))
    >>> rest.feed(Batch((RunStop(reason="completed"), RunStop(reason="completed")), [1, 2]))
    >>> whole.end(), rest.end()
    (None, None)
    >>> whole.extend(rest)
    >>> whole.cycles, whole.anomalies
    (1, [Revealed(when=2, session=None, anomaly=Anomaly(kind='outside-run', at=2))])
    """

    def __init__(self, *, first: bool = False) -> None:
        self.first: Final = first
        self.sessions: dict[str | None, Part] = {}
        self.anomalies: list[Revealed] = []
        """Those that are certain, in the order of the events that reveal them. A caller may empty it."""
        self._log: LogProjector | None = LogProjector()
        self._kept: dict[str | None, Part] = {}

    def feed(self, batch: Batch) -> None:
        """Take the next events."""
        log = self._log
        assert log is not None
        before = len(log.projectors)
        progress = log.feed(batch)
        for name in islice(log.projectors, before, None):
            part = self.sessions[name] = Part(first=self.first)
            if not self.first:
                self._kept[name] = part
        outside = {anomaly.at for _, anomaly in progress.anomalies if anomaly.kind == "outside-run"}
        marked: set[int] = set()
        if not self.first and (self._kept or outside):
            marked = self._keep(batch, progress, outside, log)
        elif not self.first:
            self._note_steers(batch, progress, log)
        for name, cycle in progress.cycles:
            part = self.sessions[name]
            part.cycles += 1
            if not self.first:
                part.pushes.append(cycle.root)
        if progress.anomalies:
            self.anomalies += (
                one for one in _revealed(progress) if one.when not in marked or one.anomaly.kind in _STATELESS
            )

    def _keep(self, batch: Batch, progress: Progress, outside: set[int], log: LogProjector) -> set[int]:
        """Keep the events of stretches, and count floors; return the positions of the events that were kept."""
        malformed = {anomaly.at for _, anomaly in progress.anomalies if anomaly.kind == "malformed"}
        roots = {cycle.root for _, cycle in progress.cycles}
        marked: set[int] = set()
        for event, at in zip(*batch, strict=True):
            part = self._kept.get(event.session_id)
            struct = type(event)
            if part is None and at in outside:
                part = self._kept[event.session_id] = self.sessions[event.session_id]
                part.stretches.append(Stretch(part.floors))
            if struct is UserMessage and event.delivery == "steer":  # type: ignore[union-attr]
                self._note_steer(event.session_id, at, roots, log)
            if part is None or struct not in _HEARD or at in malformed:
                continue
            marked.add(at)
            part.stretches[-1].add(event, at)
            if struct is RunStop:
                del self._kept[event.session_id]
                part.stopped = True
                if at in outside:
                    part.floors += 1
                else:
                    part.cycles -= 1  # it is counted when the stretch is run
        return marked

    def _note_steers(self, batch: Batch, progress: Progress, log: LogProjector) -> None:
        """Count the floors that are steers."""
        types = [*map(type, batch.events)]
        steers: list[int] = []
        index = -1
        with suppress(ValueError):  # raised behind the last one; a loop over all events takes three times as long
            while True:
                index = types.index(UserMessage, index + 1)
                if batch.events[index].delivery == "steer":  # type: ignore[union-attr]
                    steers.append(index)
        roots = {cycle.root for _, cycle in progress.cycles} if steers else set[int]()
        for index in steers:
            self._note_steer(batch.events[index].session_id, batch.ats[index], roots, log)

    def _note_steer(self, name: str | None, at: int, roots: set[int], log: LogProjector) -> None:
        """Count a steer that opened a run: it is one of the batch's *roots*, or that of the run that is open."""
        if at in roots or at == log.projectors[name].state.root:
            part = self.sessions[name]
            part.floors += 1
            part.steers[at] = part.floors

    def end(self) -> None:
        """Take no more events."""
        assert self._log is not None
        for name, projector in self._log.projectors.items():
            part, state = self.sessions[name], projector.state
            waiting = [*([] if state.kind is None else [state.root]), *state.queue]
            part.waiting = len(waiting)
            part.pushes.extend(waiting)
            part.open = name in self._kept
            part.calls = {} if part.open else {**state.calls}
        self._log = None
        self._kept = {}

    def extend(self, behind: "Fragment") -> None:
        """Append the fragment *behind* this one, which is used up: associative, and linear in *behind*."""
        assert not behind.first, "nothing stands before the first fragment"
        revealed = behind.anomalies
        for name, part in behind.sessions.items():
            own = self.sessions.get(name)
            if own is None:
                own = self.sessions[name] = Part(first=self.first)
            revealed += own.extend(name, part, first=self.first)
        self.anomalies += revealed
        self.anomalies.sort(key=lambda one: one.when)

    def whole(self) -> "Fragment":
        """Return the projection where nothing stands before this fragment, which is used up."""
        if self.first:
            return self
        beginning = Fragment(first=True)
        beginning.end()
        beginning.extend(self)
        return beginning

    @property
    def cycles(self) -> int:
        """The number of cycles closed, those aside that depend on what stands before."""
        return sum(part.cycles for part in self.sessions.values())

    def roots(self) -> Iterator[tuple[str | None, int]]:
        """Yield each session whose run is open at the end of a whole log, with the position of the run's root."""
        assert self.first, "what is open depends on what stands before"
        for name, part in self.sessions.items():
            if part.waiting:
                yield name, part.pushes[-part.waiting]

    def positions(self) -> Iterator[int]:
        """Yield each position that is kept, those of ``anomalies`` aside."""
        for part in self.sessions.values():
            yield from part.pushes
            yield from (at for stretch in part.stretches for at in stretch.ats)
            yield from (at for at in part.calls.values() if at >= 0)


def _revealed(progress: Progress) -> Iterator[Revealed]:
    """The anomalies of a batch; a call is found to be unanswered by the stop of its cycle."""
    stops: dict[str | None, list[int]] = {}
    for name, cycle in progress.cycles:
        assert cycle.stop is not None
        stops.setdefault(name, []).append(cycle.stop)
    for name, anomaly in progress.anomalies:
        if anomaly.kind == "unanswered-call":
            of_session = stops[name]
            yield Revealed(of_session[bisect_right(of_session, anomaly.at)], name, anomaly)
        else:
            yield Revealed(anomaly.at, name, anomaly)
