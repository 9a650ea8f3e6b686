"""The evidence floor: events that a run must show before its verdicts mean anything, and how often it did."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from turncheck.adapters.protocol.messages import Profile
from turncheck.model.core.events import UserMessage
from turncheck.model.core.policies import DEFAULT
from turncheck.model.core.provider_limits import NOTICE
from turncheck.model.core.stimuli import Together, ToolAwaited
from turncheck.model.machines.blocks import Block

from ...laws.law import Law
from ...laws.runtime.contract import exercised
from ...observe.projector_trace import ProjectorTrace
from ...observe.runtime_trace import RuntimeTrace, flat
from .covered import FloorItem

_LIFE: Final = ("a message is accepted", "the model is asked", "a run completes")
"""Events that any runtime must show."""
_BY_LAW: Final = frozenset(
    (
        "observer",
        "sessions",
        "persistence",
        "store-faults",
        "feed",
        "terminal-events",
        NOTICE,
        "streaming",
        "tool-status",
    )
)
"""Capabilities that no stimulus exercises: planned if their law is, and counted by its evidence."""
_BY_CASE: Final = frozenset(
    (
        *("steer", "follow-up", "abort", "tools", "serial", "tool-failure", "model-failure", "reasoning"),
        *("model-input", "raw-arguments", "call-ids", "together", "limits", "deaf", "clock", "images", "usage"),
        *("approval", "client-tools", "compaction", "clients", "policies", "steps", "rounds"),
    )
)


class Floor:
    """Counts of events in one subject's cases; ``life`` names those that any implementation must show."""

    life: Sequence[str] = ()

    def __init__(self) -> None:
        self.counts: Final[Counter[str]] = Counter()


class RuntimeFloor(Floor):
    """Counts of events in runs: messages, requests, ends, and the accepted stimuli of each capability."""

    life = _LIFE

    def add(self, trace: RuntimeTrace) -> None:
        """Count the events of a word."""
        counts, options = self.counts, trace.options
        counts["a message is accepted"] += sum(isinstance(event, UserMessage) for event in trace.events)
        counts["the model is asked"] += len(trace.requests)
        counts["a run completes"] += sum(cycle.reason == "completed" for cycle in trace.cycles)
        counts["model-input"] += sum(request.input is not None for request in trace.requests)
        counts["serial"] += options.policies.get("tools") == "serial"
        counts["limits"] += "maxRounds" in options.limits
        calls: set[str] = set()
        for step in trace.steps:
            counts["together"] += isinstance(step.stimulus, Together)  # one of them may be refused
            counts["deaf"] += any(isinstance(one, ToolAwaited) and one.cancelled for one in step.answer.awaiting)
            for stimulus in flat(step.stimulus) if step.took_place else ():
                counts.update(exercised(stimulus, calls))


class ProjectorFloor(Floor):
    """Counts in projections: cycles of each kind, each view, and policies other than the default."""

    life = ("a direct cycle is projected", "a follow-up cycle is projected")

    def add(self, trace: ProjectorTrace) -> None:
        """Count the cycles, views and policies of a projection."""
        cycles = trace.observed.cycles
        self.counts["a direct cycle is projected"] += sum(cycle.kind == "direct" for cycle in cycles)
        self.counts["a follow-up cycle is projected"] += sum(cycle.kind == "followUp" for cycle in cycles)
        self.counts["steps"] += sum(bool(cycle.steps) for cycle in cycles)
        self.counts["rounds"] += sum(bool(cycle.rounds) for cycle in cycles)
        self.counts["policies"] += trace.policies != DEFAULT


class CollatorFloor(Floor):
    """Counts in blocks: responses, and the tools that they used."""

    life = ("a response is shown", "a tool's result is shown")

    def add(self, blocks: Sequence[Block]) -> None:
        """Count the blocks of a flow."""
        self.counts["a response is shown"] += len(blocks)
        self.counts["a tool's result is shown"] += sum(use.result is not None for one in blocks for use in one.calls)


def items(
    floor: Floor, profile: Profile, laws: Iterable[Law], observed: Mapping[str, int], *, declared: bool
) -> tuple[FloorItem, ...]:
    """Return the floor of a run of *laws* with the evidence *observed*; a *declared* capability counts if planned."""
    found = [FloorItem(what, floor.counts[what]) for what in floor.life]
    evidence = Counter[str]()
    for law in laws:
        for need in _BY_LAW.intersection(law.needs):
            evidence[need] += observed[law.name]
    for name in profile.capabilities if declared else ():
        if name in _BY_CASE:
            found.append(FloorItem(name, floor.counts[name], declared=True))
        elif name in evidence:
            found.append(FloorItem(name, evidence[name], declared=True))
    return tuple(found)
