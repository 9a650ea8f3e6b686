"""Project a log's events to the cycles, queue and anomalies of each session (RC-7.6: deterministic).

``Projector`` takes one session's events in batches of any size; ``LogProjector`` routes a whole log's. Both stream: a
closed cycle is final, is returned once, and is not kept. A sub-agent of a session is routed as a session of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from typing import Final

from msgspec.structs import replace

from .cycles import Anomaly, Cycle, CycleViews, Projection, Round
from .decode import Batch
from .events import AgentSession, Event, session_and_agent
from .loop import feed, feed_sessions, feed_views, finish
from .policies import DEFAULT, Policies, tables
from .session_state import LoopState, Progress, ViewState

_KNOWN: Final = 4096
"""Sessions with a state of their own, some 1.3 kB each, beyond which idle ones are forgotten, their names aside."""


class AnomalyError(ValueError):
    """Raised in strict mode: the machine does not permit an event. ``anomaly`` is the first such event."""

    def __init__(self, session_id: str | None, anomaly: Anomaly) -> None:
        named = zip(("session", "agent"), session_and_agent(session_id), strict=True)
        whose = "".join(f" of {what} {name!r}" for what, name in named if name is not None)
        super().__init__(f"{anomaly.kind} at position {anomaly.at}{whose}")
        self.session_id = session_id
        self.anomaly = anomaly


class Projector:
    """The incremental projection of one session. Memory: the open cycle, the queue and the dropped follow-ups.

    The loop works on ``state``.
    """

    def __init__(self, policies: Policies = DEFAULT, name: str | None = None) -> None:
        self.state = LoopState(name, **tables(policies))

    def feed(self, events: Sequence[Event], ats: Sequence[int]) -> Progress:
        """Take the next events at their positions (ascending); return the cycles closed and the anomalies revealed.

        The events' own session ids are ignored.
        """
        progress = Progress([], [])
        taken = 0
        if isinstance(ats, range) and ats.step == 1:
            taken = feed(self.state, events, ats.start, progress)
        if taken < len(events):
            feed_sessions({}, lambda _: self.state, events[taken:], ats[taken:], progress)
        return progress

    def open_cycle(self) -> Cycle | None:
        """Return the open cycle as if the log ended here, None while idle."""
        return self.state.open_cycle()

    def ending(self) -> list[Anomaly]:
        """Return the anomalies that the log's end here would reveal; nothing is changed."""
        return finish(self.state)

    @property
    def queued(self) -> tuple[int, ...]:
        """Positions of the follow-ups that wait, the oldest first."""
        return tuple(self.state.queue)

    @property
    def dropped(self) -> tuple[int, ...]:
        """Positions of the follow-ups that a drop policy discarded, in queue order."""
        return tuple(self.state.dropped)

    @property
    def oldest(self) -> int | None:
        """The first position that a later anomaly can name, None where none can."""
        state = self.state
        live = [*([] if state.kind is None else [state.root]), *islice(state.queue, 1)]
        return min(live, default=None)


class LogProjector:
    """The projection of a whole log: one ``Projector`` per session, in the order in which the sessions appear.

    With ``strict``, the first anomaly of the log raises AnomalyError. Of many sessions those that are idle are
    forgotten: one idle ``Projector`` stands for all of them. Memory: that of the others, and the names.
    """

    def __init__(self, policies: Policies = DEFAULT, *, strict: bool = False) -> None:
        self._policies = policies
        self._strict = strict
        self._idle = Projector(policies)
        self._most = _KNOWN
        self._states: dict[str | None, LoopState] = {}
        self._named = False
        self.projectors: dict[str | None, Projector] = {}

    def _new(self, name: str | None) -> LoopState:
        projector = self.projectors[name] = Projector(self._policies, name)
        return projector.state

    def _forget_idle(self) -> None:
        """Forget idle sessions, rarely enough to be linear over all batches; a new state is as theirs were."""
        for name in [name for name, state in self._states.items() if state.is_idle]:
            del self._states[name]
            self.projectors[name] = self._idle
        self._most = max(_KNOWN, 2 * len(self._states))

    def feed(self, batch: Batch) -> Progress:
        """Route a batch to its sessions; return the cycles closed and the anomalies revealed."""
        if len(self._states) > self._most:
            self._forget_idle()
        events, ats = batch
        progress = Progress([], [])
        taken = 0
        # Most logs are of one session without a name: the loop for those ends where another session begins.
        if not self._named and events and events[0].session_id is None and isinstance(ats, range) and ats.step == 1:
            state = self._states.get(None) or self._states.setdefault(None, self._new(None))
            taken = feed(state, events, ats.start, progress)
        if taken < len(events):
            feed_sessions(self._states, self._new, events[taken:], ats[taken:], progress)
            self._named = self._states.keys() != {None}
        if self._strict and progress.anomalies:
            raise AnomalyError(*progress.anomalies[0])
        return progress

    def ending(self) -> list[tuple[str | None, Anomaly]]:
        """Return the anomalies that the log's end reveals, by session. Raises AnomalyError in strict mode."""
        found = [(name, anomaly) for name, projector in self.projectors.items() for anomaly in projector.ending()]
        if self._strict and found:
            raise AnomalyError(*min(found, key=lambda item: item[1].at))
        return found

    @property
    def oldest(self) -> int | None:
        """The first position that a later anomaly of any session can name, None where none can. O(sessions)."""
        some = (projector.oldest for projector in self.projectors.values())
        return min((at for at in some if at is not None), default=None)


class ViewProjector:
    """The projection of one session with both views built as it goes: O(positions), no content kept."""

    def __init__(self, policies: Policies = DEFAULT, name: str | None = None) -> None:
        self._state = ViewState(name, **tables(policies))
        self._closed: list[CycleViews] = []

    def feed(self, events: Sequence[Event], ats: Sequence[int]) -> None:
        """Take the next events at their positions (ascending)."""
        feed_views(self._state, self._closed.append, events, ats)

    def projection(self) -> Projection:
        """Return the projection as if the log ended here, ``truncated`` included; later events do not change it."""
        state = self._state
        cycles = self._closed
        if state.kind is not None:
            rest = [Round(state.fed, [])] if state.fed else []
            running = CycleViews(state.root, state.kind, None, None, state.steps, [*state.rounds, *rest])
            cycles = [*cycles, deepcopy(running)]
        anomalies = (*state.anomalies, *finish(state))
        return Projection(tuple(cycles), tuple(state.queue), tuple(state.dropped), anomalies)


class SessionViewProjector:
    """The projection of one session with both views, and of each of its sub-agents; session ids are ignored."""

    def __init__(self, policies: Policies = DEFAULT) -> None:
        self._policies = policies
        self._agents: dict[str | None, ViewProjector] = {None: ViewProjector(policies)}

    def feed(self, events: Sequence[Event], ats: Sequence[int]) -> None:
        """Take the next events at their positions (ascending)."""
        for agent, part in _grouped(Batch(tuple(events), ats), _agent).items():
            self._agents.setdefault(agent, ViewProjector(self._policies, agent)).feed(*part)

    def projection(self) -> Projection:
        """Return the projection as if the log ended here; later events do not change it."""
        own, *agents = ((agent, ledger.projection()) for agent, ledger in self._agents.items())
        return replace(own[1], agents={str(agent): projection for agent, projection in agents})


class LogViewProjector:
    """The projection of a whole log with both views: one ``ViewProjector`` per session, in order of appearance.

    A sub-agent's counts as a session here; ``projections`` puts it into that of its session.
    With ``strict``, the first anomaly of the log raises AnomalyError.
    """

    def __init__(self, policies: Policies = DEFAULT, *, strict: bool = False) -> None:
        self._policies = policies
        # LogProjector knows which session's anomaly is the first; strict mode alone needs that.
        self._strict = LogProjector(policies, strict=True) if strict else None
        self.sessions: dict[str | None, ViewProjector] = {}

    def feed(self, batch: Batch) -> None:
        """Route a batch to its sessions. Raises AnomalyError in strict mode."""
        if self._strict is not None:
            self._strict.feed(batch)
        for name, (events, ats) in _grouped(batch).items():
            self.sessions.setdefault(name, ViewProjector(self._policies, name)).feed(events, ats)

    def projections(self) -> dict[str | None, Projection]:
        """Return session → its projection, as if the log ended here. Raises AnomalyError in strict mode."""
        if self._strict is not None:
            self._strict.ending()
        return _by_session({name: ledger.projection() for name, ledger in self.sessions.items()})


def _by_session(found: Mapping[str | None, Projection]) -> dict[str | None, Projection]:
    """Put the projections of sub-agents into those of their sessions; one without events of its own is empty."""
    own: dict[str | None, Projection] = {}
    agents: dict[str | None, dict[str, Projection]] = {}
    for name, projection in found.items():
        session, agent = session_and_agent(name)
        own.setdefault(session, _EMPTY)
        if agent is None:
            own[session] = projection
        else:
            agents.setdefault(session, {})[agent] = projection
    return {name: replace(one, agents=agents[name]) if name in agents else one for name, one in own.items()}


_EMPTY: Final = Projection((), (), (), ())


def _session(event: Event) -> str | None:
    return event.session_id


def _agent(event: Event) -> str | None:
    return session_and_agent(event.session_id)[1]


def _grouped(
    batch: Batch, key: Callable[[Event], str | None] = _session
) -> dict[str | None, tuple[Sequence[Event], Sequence[int]]]:
    names = list(map(key, batch.events))
    if not names or names.count(names[0]) == len(names):
        return dict.fromkeys(names[:1], batch)
    groups: dict[str | None, tuple[list[Event], list[int]]] = {}
    for name, event, at in zip(names, *batch, strict=True):
        events, ats = groups.setdefault(name, ([], []))
        events.append(event)
        ats.append(at)
    return dict(groups)


def project(events: Sequence[Event], policies: Policies = DEFAULT, *, strict: bool = False) -> Projection:
    """Project one session's whole log, each of its sub-agents by itself; positions index *events*.

    Sessions' names are ignored. Raises AnomalyError at the first anomaly in strict mode, a sub-agent's after the
    session's own.
    """
    ledger = SessionViewProjector(policies)
    ledger.feed(events, range(len(events)))
    projection = ledger.projection()
    for agent, one in ((None, projection), *projection.agents.items()):
        if strict and one.anomalies:
            raise AnomalyError(None if agent is None else AgentSession(None, agent), one.anomalies[0])
    return projection
