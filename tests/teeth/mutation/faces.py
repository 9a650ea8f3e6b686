"""The model's projection as a projector, by each of its routes, through which mutants are judged.

The reference itself takes the loop that builds both views at once. The other two loops cut cycles out of a stream; here
they answer as projectors too. The bench imports a copy of this file beside its copy of the model.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import count, cycle, islice
from typing import Any

import msgspec
from msgspec.structs import replace

from turncheck.model.checking.reference_views import views
from turncheck.model.core.cycles import Anomaly, Cycle, Projection
from turncheck.model.core.decode import Batch, decode_line
from turncheck.model.core.events import Event, Native
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import LogProjector, LogViewProjector, Projector, ViewProjector, project
from turncheck.model.core.session_state import Progress

PROFILE = {"roles": ["projector"], "capabilities": ["policies", "feed", "steps", "rounds"]}
OTHERS = (
    {"type": "user-message", "text": "other"},
    {"type": "agent-output", "kind": "assistant", "text": "other"},
    {"type": "user-message", "text": "more"},
    {"type": "tool-result", "callId": "c1"},
    {"type": "heartbeat"},
    {"type": "run-stop", "reason": "completed"},
    {"type": "native"},
    None,
    {"type": "run-stop", "reason": "error"},
)
"""What another session says in between: its runs open and close, and it does what is not permitted."""


def read(values: Sequence[Any]) -> tuple[Event, ...]:
    """The events, by the fast way: it leaves to the loops what an event lacks."""
    return tuple(decode_line(json.dumps(value).encode()) for value in values)


class Whole:
    """What all have in common. ``start`` begins a session, ``take`` gives it events, ``projection`` says what it is."""

    profile = PROFILE

    def __init__(self, policies: Policies = DEFAULT) -> None:
        self.policies = policies
        self.reset()

    def reset(self) -> None:
        self.at = 0
        self.start()

    def project(self, events: Sequence[Any], policies: Any = None) -> Projection:
        if not events:
            return self.projection()
        session = type(self)(self.policies if policies is None else msgspec.convert(policies, Policies))
        for part in session.parts(events):
            session.feed(part)
        return session.projection()

    def parts(self, events: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """A whole log, in the parts in which this face takes it."""
        yield events

    def feed(self, values: Sequence[Any]) -> None:
        start, self.at = self.at, self.at + len(values)
        self.take(read(values), range(start, self.at))

    def start(self) -> None:
        raise NotImplementedError

    def take(self, events: tuple[Event, ...], ats: range) -> None:
        raise NotImplementedError

    def projection(self) -> Projection:
        raise NotImplementedError


class Reference(Whole):
    """As the reference does it: ``project`` for a whole log, a ``ViewProjector`` for what is fed."""

    def project(self, events: Sequence[Any], policies: Any = None) -> Projection:
        if not events:
            return self.projection()
        chosen = self.policies if policies is None else msgspec.convert(policies, Policies)
        return project(read(events), chosen)

    def start(self) -> None:
        self.ledger = ViewProjector(self.policies)

    def take(self, events: tuple[Event, ...], ats: Sequence[int]) -> None:
        self.ledger.feed(events, ats)

    def projection(self) -> Projection:
        return self.ledger.projection()


class Alone(Whole):
    """One session's projector, fed at positions without a gap: the loop ``feed``."""

    def start(self) -> None:
        self.projector = Projector(self.policies)
        self.events: list[Event] = []
        self.cycles: list[Cycle] = []
        self.anomalies: list[Anomaly] = []

    def take(self, events: tuple[Event, ...], ats: Sequence[int]) -> None:
        self.keep(events, self.projector.feed(events, ats), None)

    def keep(self, events: Sequence[Event], progress: Progress, name: str | None) -> None:
        """Keep *events*, which positions index, and of *progress* what is the session's."""
        self.events += events
        self.cycles += [cycle for session, cycle in progress.cycles if session == name]
        self.anomalies += [anomaly for session, anomaly in progress.anomalies if session == name]

    def projection(self) -> Projection:
        projector = self.projector
        running = projector.open_cycle()
        cycles = [*self.cycles, *([] if running is None else [running])]
        anomalies = (*self.anomalies, *projector.ending())
        shown = tuple(views(cycle, self.events) for cycle in cycles)
        return Projection(shown, projector.queued, projector.dropped, anomalies)


class Turns(Alone):
    """The same, and every other batch stands at a list of positions: ``feed`` and ``feed_sessions`` in turn."""

    def start(self) -> None:
        super().start()
        self.plain = True

    def parts(self, events: Sequence[Any]) -> Iterator[Sequence[Any]]:
        rest = iter(events)
        for size in cycle((3, 1, 2, 5, 1, 1)):
            part = list(islice(rest, size))
            if not part:
                return
            yield part

    def take(self, events: tuple[Event, ...], ats: Sequence[int]) -> None:
        super().take(events, ats if self.plain else list(ats))
        self.plain = not self.plain


class Beside(Alone):
    """A session with a name, and each of its events is followed by another session's: ``feed_sessions``."""

    name: str | None = "own"
    turns = count()
    """So that the other session begins with each of its events in turn."""

    def start(self) -> None:
        super().start()
        self.sessions = LogProjector(self.policies)
        begins = next(self.turns) % len(OTHERS)
        self.others = cycle(read((*OTHERS[begins:], *OTHERS[:begins])))

    def parts(self, events: Sequence[Any]) -> Iterator[Sequence[Any]]:
        yield from ([event] for event in events)

    def other(self) -> Event:
        """The next event of the other session."""
        return replace(next(self.others), session_id="other")

    def take(self, events: tuple[Event, ...], ats: Sequence[int]) -> None:
        mixed = [event for own in events for event in (replace(own, session_id=self.name), self.other())]
        self.keep(events, self.sessions.feed(Batch(tuple(mixed), [at for at in ats for _ in range(2)])), self.name)

    def projection(self) -> Projection:
        self.projector = self.sessions.projectors.get(self.name) or Projector(self.policies, self.name)
        return super().projection()


class Joined(Beside):
    """A session without a name; amid the second batch another session's event takes a position of its own.

    ``feed`` begins and ``feed_sessions`` goes on. The positions behind are shifted, and told as they were.
    """

    name = None

    def start(self) -> None:
        super().start()
        self.joined: int | None = None
        self.listed = next(self.turns) % 3 == 0
        self.batches = 0

    def parts(self, events: Sequence[Any]) -> Iterator[Sequence[Any]]:
        third = len(events) // 3
        yield events[:third]
        yield events[third:]

    def take(self, events: tuple[Event, ...], ats: Sequence[int]) -> None:
        own = tuple(replace(event, session_id=None) for event in events)
        self.batches += bool(own)
        if own and self.batches == 2:
            half = (len(own) + 1) // 2
            self.joined = ats[0] + half
            own = (*own[:half], self.other(), *own[half:])
        start = ats[0] + (self.batches > 2) if own else 0
        places = range(start, start + len(own))
        ats = list(places) if self.batches == 1 and self.listed else places
        self.keep(own, self.sessions.feed(Batch(own, ats)), self.name)

    def projection(self) -> Any:
        return self.told(msgspec.to_builtins(super().projection()))

    def told(self, value: Any) -> Any:
        """The same with the positions that there would be without the other session: all numbers are positions."""
        if isinstance(value, dict):
            return {key: self.told(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.told(part) for part in value]
        behind = isinstance(value, int) and self.joined is not None and value > self.joined
        return value - 1 if behind else value


class Both(Whole):
    """A whole log with both views, two sessions in each batch: ``LogViewProjector``."""

    def start(self) -> None:
        self.ledgers = LogViewProjector(self.policies)
        self.ledgers.feed(Batch((Native(session_id="own"),), range(1)))

    def take(self, events: tuple[Event, ...], ats: Sequence[int]) -> None:
        mixed = [event for own in events for event in (replace(own, session_id="own"), Native(session_id="other"))]
        self.ledgers.feed(Batch(tuple(mixed), [at for at in ats for _ in range(2)]))

    def projection(self) -> Projection:
        return self.ledgers.projections()["own"]
