"""What the projection yields: cycles of positions, their two views, and anomalies (PROTOCOL: the projection)."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from .events import Event, StopReason

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
    """The class of a tool."""
    return GROUPS.get(tool or "", OTHER)


class Anomaly(msgspec.Struct, frozen=True, gc=False):
    """What the machine does not permit: its kind and the position of the event (RC-D4)."""

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
    """An InferenceRound: positions of what the model was fed and of what it then made (RC-6.1, RC-D3)."""

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
    """A RequestCycle as the hot path cuts it: its root and stop, and the stretch of the log between.

    ``events`` are that stretch; at the indices ``skips`` stand events that are no part of the cycle (queued, rejected,
    observations). ``stop`` and ``reason`` are None while the cycle is open (RC-D9).
    ``ats`` are the events' positions, None where they are the ones just before the stop. The views are made on demand
    (``views.py``).
    """

    root: int
    kind: RootKind
    stop: int | None
    reason: StopReason | None
    events: tuple[Event, ...]
    skips: tuple[int, ...]
    ats: Sequence[int] | None = None

    def items(self) -> Iterable[tuple[int, Event]]:
        """The accepted outputs, results and steers after the root, each with its position, in order."""
        ats = self.ats
        if ats is None:
            assert self.stop is not None
            ats = range(self.stop - len(self.events), self.stop)
        if not self.skips:
            return zip(ats, self.events, strict=True)
        skipped = set(self.skips)
        return [item for index, item in enumerate(zip(ats, self.events, strict=True)) if index not in skipped]


class Projection(msgspec.Struct, frozen=True, rename="camel"):
    """What one session's log projects to: PROTOCOL section 2, without ``sessionId``. Positions only, no content."""

    cycles: tuple[CycleViews, ...]
    queued: tuple[int, ...]
    dropped: tuple[int, ...]
    anomalies: tuple[Anomaly, ...]


class SessionProjection(msgspec.Struct, frozen=True, rename="camel"):
    """A session's projection under its name: one line of `project --json`."""

    session_id: str | None
    cycles: tuple[CycleViews, ...]
    queued: tuple[int, ...]
    dropped: tuple[int, ...]
    anomalies: tuple[Anomaly, ...]
