"""A projector under test, as conformance sees it, and its projection on the wire.

``errors`` has the errors that its calls raise. A projection is validated, with the views that the profile declares.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from turncheck.model.core.cycles import Anomaly, CycleViews, Projection, RootKind, Round, Step
from turncheck.model.core.events import StopReason
from turncheck.model.core.policies import Policies
from turncheck.model.core.refused_json import why_refused

from .errors import RubbishError, UnsupportedError
from .messages import Profile
from .target import Target


class ProjectorTarget(Target, Protocol):
    """An implementation that projects logs.

    Events are JSON values, None for an unreadable line. Every call raises TargetError if the target breaks,
    ImplementationError if it raises or answers ``failed``, and UnsupportedError for an undeclared capability. After a
    TargetError it can be called again: its process is replaced, a few times at most; the fed events are then lost, and
    ``feed`` and ``fed`` raise TargetError until ``reset``.
    """

    @property
    def last_input_changed(self) -> bool | None:
        """True if the last call changed its events; None if that cannot be seen."""
        ...

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log, whatever was fed; *policies* None means those of its profile."""
        ...

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events of the session under way, or, with *start*, those from that position on.

        Events at positions below the number of events fed so far are repeats: the same events once more.
        """
        ...

    def fed(self) -> Projection:
        """Return the projection of the events fed since the reset, as if the log ended there; nothing is changed."""
        ...

    def reset(self) -> None:
        """Forget the fed events."""
        ...

    def again(self, hash_seed: int) -> "ProjectorTarget":
        """Return the same implementation in a new process with this PYTHONHASHSEED."""
        ...


VIEWS: Final = ("steps", "rounds")


class _Cycle(msgspec.Struct, frozen=True, gc=False):
    root: int
    kind: RootKind
    stop: int | None
    reason: StopReason | None
    steps: list[Step] | UnsetType = UNSET
    rounds: list[Round] | UnsetType = UNSET

    def views(self) -> CycleViews:
        return CycleViews(self.root, self.kind, self.stop, self.reason, self.steps or [], self.rounds or [])


class _Projection(msgspec.Struct, frozen=True, gc=False):
    cycles: tuple[_Cycle, ...]
    queued: tuple[int, ...]
    dropped: tuple[int, ...]
    anomalies: tuple[Anomaly, ...]

    def projection(self) -> Projection:
        return Projection(tuple(cycle.views() for cycle in self.cycles), self.queued, self.dropped, self.anomalies)


class _WithAgents(_Projection, frozen=True, gc=False):
    agents: dict[str, _Projection] = {}

    def projection(self) -> Projection:
        return replace(super().projection(), agents={name: one.projection() for name, one in self.agents.items()})


_decode: Final[Callable[[bytes], _Projection]] = msgspec.json.Decoder(_Projection).decode
_decode_with_agents: Final[Callable[[bytes], _WithAgents]] = msgspec.json.Decoder(_WithAgents).decode


def read_projection(raw: Raw | UnsetType, profile: Profile) -> Projection:
    """Decode the projection in an answer; a view that *profile* does not declare is empty, even if one was sent.

    So is ``agents`` without the capability ``sub-agents``. Unknown fields are tolerated. Raises RubbishError if a field
    is missing or of another type, and UnsupportedError if a declared view is missing: a false claim is a failure, not
    an error.
    """
    if raw is UNSET:
        raise RubbishError("the answer has no projection")
    absent = [view for view in VIEWS if not profile.can(view)]
    try:
        decode = _decode_with_agents if profile.can("sub-agents") else _decode
        wire = decode(_without(raw, absent) if absent else raw)
    except msgspec.ValidationError as error:
        raise RubbishError(f"the projection is not as it should be: {error}", came=bytes(raw)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = why_refused(bytes(raw), error)
        raise RubbishError(f"the projection is not as it should be: {why}", came=bytes(raw)) from error
    for view in VIEWS:
        if view not in absent and any(getattr(cycle, view) is UNSET for cycle in _cycles(wire)):
            raise UnsupportedError(
                f"a cycle lacks `{view}`, which the profile declares; leave {view!r} out of its capabilities or send it"
            )
    return wire.projection()


def _cycles(wire: _Projection) -> Iterator[_Cycle]:
    yield from wire.cycles
    for one in wire.agents.values() if isinstance(wire, _WithAgents) else ():
        yield from one.cycles


def _without(raw: Raw, views: list[str]) -> bytes:
    """Return the projection without the keys *views* in its cycles: a view that is not declared is not judged."""
    value: Any = msgspec.json.decode(raw)
    # A value that is no projection stays as it is, and is refused.
    with contextlib.suppress(TypeError, KeyError, AttributeError):
        for one in (value, *value.get("agents", {}).values()):
            for cycle in one["cycles"]:
                for view in views:
                    cycle.pop(view, None)
    return msgspec.json.encode(value)
