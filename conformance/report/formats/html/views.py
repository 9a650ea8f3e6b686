"""The two views of a session's cycles as lines of text, side by side on the page, for any positions."""

from collections.abc import Sequence
from itertools import chain, repeat
from typing import NamedTuple

from turncheck.model.core.cycles import AiBlock, CycleViews, Projection, RootStep, Step
from turncheck.model.rendering.printable import shown
from turncheck.model.rendering.words import of_event

from .strings import Line, beside


class View(NamedTuple):
    """The lines of each view of one cycle, under its title."""

    title: str
    rounds: Sequence[Line]
    steps: Sequence[Line]


class Views(NamedTuple):
    """All cycles of a session, as *who* projects them, and the events in no cycle."""

    who: str
    cycles: Sequence[View]
    rest: Sequence[Line]


def views(who: str, log: Sequence[object], projection: Projection, other: Projection) -> Views:
    """Lay out *projection* of *log*, and mark the lines that *other* does not have."""
    none = CycleViews(-1, "direct", None, None, [], [])
    pairs = zip(projection.cycles, chain(other.cycles, repeat(none)), strict=False)
    cycles = [
        View(_title(number, ours), _marked(_rounds(ours), _rounds(twin)), _marked(_steps(log, ours), _steps(log, twin)))
        for number, (ours, twin) in enumerate(pairs, 1)
    ]
    return Views(who, cycles, _marked(_rest(projection), _rest(other)))


def _marked(lines: Sequence[str], others: Sequence[str]) -> Sequence[Line]:
    return beside([[line] for line in lines], [[line] for line in others])[0]


def _title(number: int, cycle: CycleViews) -> str:
    kind = "direct" if cycle.kind == "direct" else "promoted follow-up"
    end = "still open" if cycle.stop is None else f"{cycle.reason} at {cycle.stop}"
    return f"Cycle {number}: {kind}, root {cycle.root}, {end}"


def _rounds(cycle: CycleViews) -> list[str]:
    return [
        f"round {number}: fed {_all(item.inputs)}; made {_all(item.outputs)}"
        for number, item in enumerate(cycle.rounds, 1)
    ]


def _steps(log: Sequence[object], cycle: CycleViews) -> list[str]:
    return [line for step in cycle.steps for line in _step(log, step)]


def _step(log: Sequence[object], step: Step) -> list[str]:
    if not isinstance(step, AiBlock):
        return [f"{'non-steer' if isinstance(step, RootStep) else 'steer'} {step.at}{_text(log, step.at)}"]
    text = "without text" if step.text is None else f"text {step.text}{_text(log, step.text)}"
    calls = (
        f"  {group.type}: "
        + ", ".join(f"{call.at} → {'no result' if call.result is None else call.result}" for call in group.calls)
        for group in step.groups
    )
    return [f"ai-block {text}", *calls]


def _rest(projection: Projection) -> list[str]:
    found = [("queued", projection.queued), ("dropped", projection.dropped)]
    lines = [f"{name}: {_all(ats)}" for name, ats in found if ats]
    return lines + [f"anomaly: {anomaly.kind} at {anomaly.at}" for anomaly in projection.anomalies]


def _all(positions: Sequence[int]) -> str:
    return ", ".join(map(str, positions)) or "nothing"


def _text(log: Sequence[object], at: int) -> str:
    if not 0 <= at < len(log):
        return ""
    words = of_event(log[at]).text
    return f" “{shown(words)}”" if words else ""
