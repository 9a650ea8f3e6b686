"""The state of one session between two batches of the generated loop."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from .cycles import Anomaly, Call, Cycle, Group, GroupKind, RootKind, Round, Step
from .events import Event

Share: TypeAlias = tuple[tuple[Event, ...], tuple[int, ...], Sequence[int]]
"""A stretch of events, the indices of those in it that are no part of the cycle, and all positions."""


NO_RESPONSE: Final = 0
"""No response yet: equal to no id, nor to the absence of one."""


class LoopState:
    """Registers and tables of ``request_cycle`` for one session, and the cycle under way.

    ``closed``, ``anomalies`` and ``dropped`` only grow here; who consumes a stream takes the first two out after each
    batch. ``kind`` is None while no cycle is open. The open cycle's share so far is ``parts``, and after them ``items``
    at ``places``. Memory: the open cycle, the queue and what was dropped.
    """

    __slots__ = (
        "anomalies",
        "calls",
        "closed",
        "control",
        "dropped",
        "items",
        "kind",
        "name",
        "parts",
        "places",
        "queue",
        "queue_fate",
        "root",
        "while_active",
    )

    def __init__(self, name: str | None, *, while_active: str, queue_fate: Mapping[str, str]) -> None:
        self.name: Final = name
        self.while_active: Final = while_active
        self.queue_fate: Final = queue_fate
        self.control = 0
        self.root = -1
        self.kind: RootKind | None = None
        self.queue: deque[int] = deque()
        self.calls: dict[str, int] = {}
        self.dropped: list[int] = []
        self.closed: list[Cycle] = []
        self.anomalies: list[Anomaly] = []
        self.parts: list[Share] = []
        self.items: list[Event] = []
        self.places: list[int] = []

    def news(self) -> tuple[list[Cycle], list[Anomaly]]:
        """What was closed and revealed since it was asked last."""
        news = self.closed, self.anomalies
        self.closed, self.anomalies = [], []
        return news

    def settle(self) -> None:
        """Make a part of the items: the loop that knows no other sessions looks at parts alone."""
        if self.items and self.kind is not None:
            self.parts.append((tuple(self.items), (), tuple(self.places)))
        self.items.clear()
        self.places.clear()

    def open_cycle(self) -> Cycle | None:
        """The cycle under way as if the log ended here, None while idle; nothing is changed."""
        if self.kind is None:
            return None
        shares = [*self.parts, (tuple(self.items), (), tuple(self.places))]
        return Cycle(self.root, self.kind, None, None, *joined(shares))


class ViewState(LoopState):
    """The state of one session whose views are built as it goes: they stand in for ``parts`` and ``items``."""

    __slots__ = (
        "answers",
        "apart",
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
        self.steps: list[Step] = []
        self.rounds: list[Round] = []
        self.fed: list[int] = []
        self.made: list[int] = []
        self.response: str | int | None = NO_RESPONSE
        self.apart = False
        self.groups: list[Group] | None = None
        self.group: GroupKind | None = None
        self.calls_of_group: list[Call] = []
        self.answers: dict[str, Call] = {}


def joined(shares: Sequence[Share]) -> Share:
    """Consecutive shares of one cycle as one."""
    events: list[Event] = []
    skips: list[int] = []
    ats: list[int] = []
    for share, skipped, places in shares:
        skips += [len(events) + skip for skip in skipped]
        events += share
        ats += places
    return tuple(events), tuple(skips), tuple(ats)
