"""The state of one session between two batches of the generated loop."""

from collections import deque
from collections.abc import Mapping
from typing import Final, NamedTuple

from .cycles import Anomaly, Call, Cycle, Group, GroupKind, RootKind, Round, Step

NO_RESPONSE: Final = 0
"""No response yet: equal to no id, nor to the absence of one."""


class Progress(NamedTuple):
    """Cycles closed and anomalies revealed by a batch, each with its session, in the order of the events."""

    cycles: list[tuple[str | None, Cycle]]
    anomalies: list[tuple[str | None, Anomaly]]


class State:
    """One session's registers and tables, except open calls: their type differs by loop variant.

    ``active`` is the control state. ``kind`` is None while no cycle is open; ``dropped`` only grows. Memory: the
    positions of the open cycle, the queue and the dropped follow-ups; no content.
    """

    __slots__ = (
        "active",
        "dropped",
        "kind",
        "name",
        "queue",
        "queue_fate",
        "root",
        "while_active",
    )

    def __init__(self, name: str | None, *, while_active: str, queue_fate: Mapping[str, str]) -> None:
        self.name: Final = name
        self.while_active: Final = while_active
        self.queue_fate: Final = queue_fate
        self.active = False
        self.root = -1
        self.kind: RootKind | None = None
        self.queue: deque[int] = deque()
        self.dropped: list[int] = []


class LoopState(State):
    """The state of one session from which cycles are cut: ``places`` are the open cycle's positions so far."""

    __slots__ = ("calls", "places")

    def __init__(self, name: str | None, *, while_active: str, queue_fate: Mapping[str, str]) -> None:
        super().__init__(name, while_active=while_active, queue_fate=queue_fate)
        self.calls: dict[str, int] = {}
        self.places: list[int] = []

    def open_cycle(self) -> Cycle | None:
        """Return the open cycle as if the log ended here, None while idle; nothing is changed."""
        if self.kind is None:
            return None
        return Cycle(self.root, self.kind, None, None, self.root, tuple(self.places))

    @property
    def is_idle(self) -> bool:
        """True where all goes on as in a session that has not begun: a stop ends a run and all of its calls."""
        return not (self.active or self.queue or self.dropped or self.calls)


class ViewState(State):
    """The state of one session whose views are built as events come; ``anomalies`` only grow."""

    __slots__ = (
        "anomalies",
        "calls",
        "calls_of_group",
        "fed",
        "group",
        "groups",
        "made",
        "response",
        "rounds",
        "steps",
    )

    def __init__(self, name: str | None, *, while_active: str, queue_fate: Mapping[str, str]) -> None:
        super().__init__(name, while_active=while_active, queue_fate=queue_fate)
        self.anomalies: list[Anomaly] = []
        self.calls: dict[str, Call] = {}
        self.steps: list[Step] = []
        self.rounds: list[Round] = []
        self.fed: list[int] = []
        self.made: list[int] = []
        self.response: str | int | None = NO_RESPONSE
        self.groups: list[Group] | None = None
        self.group: GroupKind | None = None
        self.calls_of_group: list[Call] = []
