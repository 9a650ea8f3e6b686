"""The projection's result: cycles of positions, their two views, and anomalies (PROTOCOL: the projection)."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain, starmap
from typing import Final, Literal, TypeAlias

import msgspec

from .events import StopReason

RootKind: TypeAlias = Literal["direct", "followUp"]
AnomalyKind: TypeAlias = Literal[
    "malformed",
    "unknown-type",
    "outside-run",
    "unknown-call",
    "duplicate-result",
    "duplicate-call",
    "unanswered-call",
    "truncated",
]
GroupKind: TypeAlias = Literal["read-group", "write-group", "bash-group", "other-group"]

GROUPS: Final[dict[str, GroupKind]] = {
    "ls": "read-group",
    "read": "read-group",
    "grep": "read-group",
    "find": "read-group",
    "write": "write-group",
    "edit": "write-group",
    "bash": "bash-group",
}
"""Tool → class (RC-6.4)."""
OTHER: Final = "other-group"
"""The class of every other tool."""


def group_of(tool: str | None) -> GroupKind:
    """Return the class of a tool."""
    return GROUPS.get(tool or "", OTHER)


class Anomaly(msgspec.Struct, frozen=True, gc=False):
    """An event that the machine does not permit: the anomaly's kind and the event's position (RC-D4)."""

    kind: AnomalyKind
    at: int


class Call(msgspec.Struct, gc=False):
    """A tool call and its result's position, None while unanswered (RC-6.5). The loop attaches the result."""

    at: int
    result: int | None = None


class Group(msgspec.Struct, frozen=True, gc=False):
    """Adjacent calls of one class (RC-6.4)."""

    type: GroupKind
    calls: list[Call]


class UserStep(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """The step of a user message (RC-6.2): the root's or a steer's."""

    at: int


class RootStep(UserStep, frozen=True, gc=False, tag="non-steer"):
    """The root."""


class SteerStep(UserStep, frozen=True, gc=False, tag="steer"):
    """A steer."""


class AiBlock(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="ai-block"):
    """One AI text, None where a call came without one (RC-D1), and the groups of calls after it (RC-6.3)."""

    text: int | None
    groups: list[Group]


Step: TypeAlias = RootStep | SteerStep | AiBlock


class Round(msgspec.Struct, frozen=True, gc=False):
    """An InferenceRound: positions of the model's inputs and of its outputs (RC-6.1, RC-D3)."""

    inputs: list[int]
    outputs: list[int]


class CycleViews(msgspec.Struct, frozen=True, gc=False):
    """A cycle with both views: the object in ``cycles`` of the projection's JSON."""

    root: int
    kind: RootKind
    stop: int | None
    reason: StopReason | None
    steps: list[Step]
    rounds: list[Round]


class Cycle(msgspec.Struct, frozen=True, gc=False):
    """A RequestCycle as the hot path cuts it: positions only, no content.

    It holds ``places``, then every position from ``begin`` to before the stop, except ``skips``; ``items`` lists them
    all. ``stop`` and ``reason`` are None while the cycle is open (RC-D9). The views are made from it and the log on
    demand (``checking.reference_views.views``), or built while the log is read (``ViewProjector``).
    """

    root: int
    kind: RootKind
    stop: int | None
    reason: StopReason | None
    begin: int
    places: tuple[int, ...] = ()
    skips: tuple[int, ...] = ()

    @property
    def items(self) -> list[int]:
        """The positions of the accepted outputs, results and steers after the root, in order."""
        end = self.begin if self.stop is None else self.stop
        return [*self.places, *between(self.begin, end, self.skips)]

    def holds(self, at: int) -> bool:
        """Return whether a position is one of ``items``, without listing them.

        >>> cycle = Cycle(0, "direct", 9, "completed", 5, (1, 3), (6,))
        >>> [at for at in range(10) if cycle.holds(at)] == cycle.items
        True
        """
        end = self.begin if self.stop is None else self.stop
        return _among(self.places, at) or (self.begin <= at < end and not _among(self.skips, at))


def _among(places: Sequence[int], at: int) -> bool:
    index = bisect_left(places, at)
    return index < len(places) and places[index] == at


def between(begin: int, end: int, skips: Sequence[int]) -> Iterator[int]:
    """Return the positions from *begin* to before *end* without *skips*, which are ascending and among them."""
    ranges = zip((begin, *(skip + 1 for skip in skips)), (*skips, end), strict=True)
    return chain.from_iterable(starmap(range, ranges))


class Projection(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One session's projection: PROTOCOL section 2, without ``sessionId``. Positions only, no content.

    ``agents`` has the projection of each sub-agent's own events, by its ``agentId``; all else is the session's own.
    """

    cycles: tuple[CycleViews, ...]
    queued: tuple[int, ...]
    dropped: tuple[int, ...]
    anomalies: tuple[Anomaly, ...]
    agents: dict[str, "Projection"] = {}


class SessionProjection(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A session's projection under its name: one line of `project --json`."""

    session_id: str | None
    cycles: tuple[CycleViews, ...]
    queued: tuple[int, ...]
    dropped: tuple[int, ...]
    anomalies: tuple[Anomaly, ...]
    agents: dict[str, Projection] = {}
