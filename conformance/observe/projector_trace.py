"""The observation that a log law on a projector judges: one log, its policies, and the projection."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from turncheck.model.core.cycles import AiBlock, Call, CycleViews, Projection, SteerStep, UserStep
from turncheck.model.core.events import Event, UserMessage, symbol_of
from turncheck.model.core.policies import Policies

REJECTS: Final = frozenset(
    ("malformed", "unknown-type", "outside-run", "unknown-call", "duplicate-result", "duplicate-call")
)
"""The anomalies that reject their event; the others remark on events that stay (RC-D4)."""


class Stretch(NamedTuple):
    """An observed cycle with the positions between which its run was active: ``begin`` < event < ``end``."""

    cycle: CycleViews
    begin: int
    end: int


@dataclass(frozen=True)
class ProjectorTrace:
    """One observation of a projector. ``views`` says which of the two views it yields."""

    events: tuple[Event, ...]
    policies: Policies
    observed: Projection
    expected: Projection
    views: frozenset[str] = frozenset(("steps", "rounds"))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The letter of each event."""
        return tuple(map(symbol_of, self.events))

    def symbol(self, at: int) -> str:
        """The letter at a position; ``nothing`` where the log has no such position."""
        return self.symbols[at] if 0 <= at < len(self.events) else "nothing"

    @cached_property
    def rejected(self) -> frozenset[int]:
        """Positions that the observed anomalies reject."""
        return frozenset(anomaly.at for anomaly in self.observed.anomalies if anomaly.kind in REJECTS)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The observed cycles with the positions at which their runs began (a promoted one's at the stop before)."""
        found: list[Stretch] = []
        for cycle in self.observed.cycles:
            begin = found[-1].end if cycle.kind == "followUp" and found else cycle.root
            found.append(Stretch(cycle, begin, len(self.events) if cycle.stop is None else cycle.stop))
        return tuple(found)

    def inside(self, stretch: Stretch) -> range:
        """The log's positions while the cycle ran."""
        return range(max(stretch.begin + 1, 0), min(stretch.end, len(self.events)))

    def messages(self, stretch: Stretch, *, steers: bool) -> Iterator[int]:
        """Positions of the steers, or else the follow-ups, that came while the cycle ran (RC-3.2)."""
        for at in self.inside(stretch):
            event = self.events[at]
            if isinstance(event, UserMessage) and self.symbols[at] == "user-message":
                steer = (event.delivery or self.policies.while_active) == "steer"
                if steer is steers:
                    yield at

    def fate(self, reason: str | None) -> str | None:
        """Return the fate of the queue after a stop, None for an open cycle (RC-D6)."""
        return self.policies.queue_fate().get(reason or "")


def steers_of(cycle: CycleViews) -> list[int]:
    """Positions of the steer steps."""
    return [step.at for step in cycle.steps if isinstance(step, SteerStep)]


def blocks_of(cycle: CycleViews) -> list[AiBlock]:
    """The ai-blocks."""
    return [step for step in cycle.steps if isinstance(step, AiBlock)]


def calls_of(cycle: CycleViews) -> list[Call]:
    """The calls of all groups."""
    return [call for block in blocks_of(cycle) for group in block.groups for call in group.calls]


def positions_of(cycle: CycleViews, view: str) -> list[int]:
    """Every position that a view of the cycle shows, in the view's own order; results where their calls are."""
    if view == "rounds":
        return [at for part in cycle.rounds for at in (*part.inputs, *part.outputs)]
    found: list[int] = []
    for step in cycle.steps:
        if isinstance(step, UserStep):
            found.append(step.at)
            continue
        found += [] if step.text is None else [step.text]
        for group in step.groups:
            for call in group.calls:
                found += [call.at] if call.result is None else [call.at, call.result]
    return found
