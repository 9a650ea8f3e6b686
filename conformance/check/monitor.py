"""A monitor of live sessions: events go in one by one, findings come out the moment they are certain."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final, TypeAlias, cast

import msgspec

from turncheck.adapters.logs.beginning import read_value
from turncheck.adapters.logs.fast.live import lines_in
from turncheck.adapters.logs.formats.mapping import Mapped, Mapper
from turncheck.adapters.logs.formats.own import OWN, OwnMapper
from turncheck.adapters.logs.formats.recognition import named
from turncheck.adapters.logs.formats.saving import StateError, restored, saved
from turncheck.adapters.logs.formats.told_ends import VIA
from turncheck.model.core.cycles import Anomaly
from turncheck.model.core.decode import Batch, decode_line, lines_of
from turncheck.model.core.events import Event
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import LogProjector

from ..laws.law import first_finding
from ..laws.log import LOG_LAWS
from .judge import detail, excused_calls
from .metrics import prometheus

SESSIONS: Final = 10_000
"""Sessions that a monitor keeps by default; an idle one takes about 3 KB."""

Value: TypeAlias = Event | Mapping[str, Any] | bytes | str | None


class SessionFinding(msgspec.Struct, frozen=True):
    """A law that a session breaks, at a position: the number of its event, from 0."""

    session: str | None
    law: str
    clauses: tuple[str, ...]
    at: int
    message: str


class _Session:
    def __init__(self, mapper: Mapper, sessions: LogProjector, at: int = 0, seen: float = 0.0) -> None:
        self.mapper, self.sessions = mapper, sessions
        self.at, self.seen = at, seen


class _Head(msgspec.Struct):
    """The first line of a saved state: what has to agree with the monitor that restores it, and the counts."""

    turncheck: str
    format: str
    policies: Policies
    events: int
    cycles: int
    expired: int
    findings: dict[str, int]


class Monitor:
    """Judges live streams of events, many sessions at once, by the laws on logs.

    *format_name* is that of ``check``: each session is a log of its own in that format. At most *sessions* are kept:
    the one that was fed longest ago is forgotten first, and so is one that was not fed for *idle* seconds; what was
    open in it is not judged. ``events``, ``cycles``, ``expired`` and ``findings`` (law → number) count since the start.

    Raises KeyError for an unknown format, UnsupportedFormatError for a reader that cannot be had.

    >>> monitor = Monitor()
    >>> monitor.feed({"type": "user-message", "text": "hi"}, session="a")
    []
    >>> (finding,) = monitor.feed({"type": "tool-result", "callId": "c"}, session="a")
    >>> finding.session, finding.law, finding.at
    ('a', 'unknown-call', 1)
    """

    def __init__(
        self,
        *,
        format_name: str = "turncheck",
        policies: Policies = DEFAULT,
        sessions: int = SESSIONS,
        idle: float = float("inf"),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._form = named(format_name, [])
        self._policies, self._most, self._idle, self._clock = policies, sessions, idle, clock
        self._sessions: OrderedDict[str | None, _Session] = OrderedDict()
        self.events = self.cycles = self.expired = 0
        self.findings: Counter[str] = Counter()

    def __len__(self) -> int:
        """The number of sessions that are kept."""
        return len(self._sessions)

    def feed(self, value: Value, *, session: str | None = None) -> list[SessionFinding]:
        """Take the next event of a session; return the findings that are certain now.

        *value* is a line as bytes or text (JSON, or a ``data:`` line of server-sent events), a JSON object, an event of
        the core, or None for a line that could not be read. A blank line and the other fields of server-sent events
        are no events.
        """
        line = self._line(value)
        if line is _NO_EVENT:
            return []
        state = self._state(session)
        at = state.at
        state.at = at + 1
        if line is value and _is_event(line):  # the caller's own event; a line's may be an end told again
            return self._judged(session, state, (cast(Event, line),), range(at, at + 1))
        return self._mapped(session, state, [*state.mapper.value(at, line)])

    def feed_all(self, values: bytes | Iterable[Value], *, session: str | None = None) -> list[SessionFinding]:
        r"""Take the next events of a session together, which costs an event a small part of what ``feed`` costs.

        *values* are those of ``feed``, or the bytes of whole lines. Findings come in order, as ``feed`` tells them.

        >>> found = Monitor().feed_all(b'{"type":"run-stop","reason":"error"}\n', session="a")
        >>> [(finding.law, finding.at) for finding in found]
        [('outside-run', 0)]
        """
        if isinstance(values, bytes):
            block = values
            if self._form is OWN:
                return self._events(session, lambda mapper: cast(OwnMapper, mapper).block(block))
            lines = lines_in(self._form, block)
            if lines is not None and lines.values:
                state = self._state(session)
                settled, silent, state.at = lines.fed(state.mapper, state.at)
                self.events += silent
                return self._mapped(session, state, settled)
            values = lines_of(block)
        given = [*values]
        if not given:
            return []
        if all(isinstance(value, msgspec.Struct) for value in given):
            events = tuple(cast("list[Event]", given))
            return self._events(session, lambda _: events)
        read = [(line, line is value) for value in given if (line := self._line(value)) is not _NO_EVENT]
        if not read:
            return []
        state = self._state(session)
        found: list[Mapped] = []
        for line, own in read:
            if own and _is_event(line):
                found.append((state.at, cast(Event, line)))
            else:
                found += state.mapper.value(state.at, line)
            state.at += 1
        return self._mapped(session, state, found)

    def _events(self, session: str | None, read: Callable[[Mapper], tuple[Event, ...]]) -> list[SessionFinding]:
        state = self._state(session)
        events = read(state.mapper)
        at = state.at
        state.at += len(events)
        return self._judged(session, state, events, range(at, state.at))

    def end(self, session: str | None = None, *, strict: bool | None = None) -> list[SessionFinding]:
        """End a session, and forget it; return the findings that its end makes certain.

        A run that is still open is one where *strict*, by default where a log of the format is whole.
        """
        state = self._sessions.pop(session, None)
        if state is None:
            return []
        found = self._mapped(session, state, [*state.mapper.end()])
        if self._form.whole if strict is None else strict:
            found += [self._finding(session, anomaly) for _, anomaly in state.sessions.ending()]
        return found

    def metrics(self) -> str:
        """Return the counts in Prometheus' text format."""
        counters = {"events": self.events, "cycles": self.cycles, "sessions_expired": self.expired}
        return prometheus(counters, {"sessions": len(self)}, self.findings)

    def save(self) -> bytes:
        """Return the state: the sessions with all that is open in them, how long each is idle, and the counts.

        It holds what the streams said where that may still matter (an open text, a call's id): keep it as you keep the
        streams. Raises StateError where a reader of your own keeps what cannot be saved, such as a function.
        """
        now = self._clock()
        rest = [(name, one.at, now - one.seen, one.sessions) for name, one in self._sessions.items()]
        state = saved([one.mapper for one in self._sessions.values()], self._form.mapper, rest)
        return msgspec.json.encode(self._head(dict(self.findings))) + b"\n" + state

    def restore(self, state: bytes) -> None:
        """Go on where another monitor stopped: what this one has is replaced by the *state* that ``save`` returned.

        Raises StateError, and changes nothing, where the state is damaged, or was saved by a monitor of another format,
        with other policies, or by another version of turncheck.

        >>> before, after = Monitor(), Monitor()
        >>> _ = before.feed({"type": "user-message", "text": "hi"}, session="a")
        >>> after.restore(before.save())
        >>> [finding.law for finding in after.end("a", strict=True)]
        ['truncated']
        """
        line, _, rest = state.partition(b"\n")
        try:
            head = msgspec.json.decode(line, type=_Head)
        except ValueError as error:
            raise StateError(f"this is no saved state of a monitor: {error}") from error
        own = self._head({})
        for what in ("turncheck", "format", "policies"):
            theirs, ours = getattr(head, what), getattr(own, what)
            if theirs != ours:
                raise StateError(f"the state was saved with {what} {theirs}, and this monitor has {ours}")
        mappers, sessions = restored(rest, self._form.mapper)
        now = self._clock()
        self._sessions = OrderedDict(
            (name, _Session(mapper, projector, at, now - idle))
            for mapper, (name, at, idle, projector) in zip(mappers, sessions, strict=True)
        )
        self.events, self.cycles, self.expired = head.events, head.cycles, head.expired
        self.findings = Counter(head.findings)

    def _head(self, findings: dict[str, int]) -> _Head:
        counts = self.events, self.cycles, self.expired, findings
        return _Head(version("turncheck"), self._form.name, self._policies, *counts)

    def _line(self, value: Value) -> Any:
        """The JSON value, or the event, of what was fed; ``_NO_EVENT`` for a line that holds none."""
        if isinstance(value, str):
            value = value.encode("utf-8", "surrogatepass")
        if not isinstance(value, bytes):
            return value
        text = value.strip()
        if text.startswith(b"{"):
            pass
        elif text.startswith(b"data:"):
            text = text[5:].strip()
        elif not text or text.startswith((b"event:", b"id:", b"retry:", b":")):
            return _NO_EVENT
        if self._form is OWN and VIA not in text:
            return decode_line(text)
        return read_value(text)

    def _state(self, session: str | None) -> _Session:
        now = self._clock()
        if self._idle < float("inf"):
            self._forget(now)
        state = self._sessions.get(session)
        if state is None:
            while len(self._sessions) >= self._most:
                self._expire()
            state = self._sessions[session] = _Session(self._form.mapper(), LogProjector(self._policies))
        else:
            self._sessions.move_to_end(session)
        state.seen = now
        return state

    def _forget(self, now: float) -> None:
        """Forget the sessions that are idle for too long."""
        while self._sessions and now - next(iter(self._sessions.values())).seen > self._idle:
            self._expire()

    def _expire(self) -> None:
        self._sessions.popitem(last=False)
        self.expired += 1

    def _mapped(self, session: str | None, state: _Session, found: list[Mapped]) -> list[SessionFinding]:
        if not found:
            return []
        ats, events = zip(*found, strict=True)
        return self._judged(session, state, events, ats)

    def _judged(
        self, session: str | None, state: _Session, events: tuple[Event, ...], ats: Sequence[int]
    ) -> list[SessionFinding]:
        batch = Batch(events, ats)
        self.events += len(events)
        progress = state.sessions.feed(batch)
        self.cycles += len(progress.cycles)
        if not progress.anomalies:
            return []
        excused: set[int] = excused_calls(progress) if self._form.client_calls else set()
        return [
            self._finding(session, anomaly, batch)
            for _, anomaly in progress.anomalies
            if anomaly.kind != "unanswered-call" or anomaly.at not in excused
        ]

    def _finding(self, session: str | None, anomaly: Anomaly, batch: Batch | None = None) -> SessionFinding:
        law = LOG_LAWS[anomaly.kind]
        broken = first_finding(law.judge(anomaly))
        assert broken is not None
        more = detail(anomaly, batch) if batch is not None else ""
        self.findings[law.name] += 1
        message = f"{broken.message}: {more}" if more else broken.message
        return SessionFinding(session, law.name, law.clauses, anomaly.at, message)


def _is_event(line: Any) -> bool:
    """Return whether it is an event of the core, and no value of a log."""
    return isinstance(line, msgspec.Struct)


_NO_EVENT: Final = object()
