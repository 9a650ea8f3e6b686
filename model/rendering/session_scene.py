"""A whole session as one sequence picture: every event a row, the views of all its cycles beside them.

``sequence`` draws one cycle, and whoever reads a log knows it; a counterexample is read whole.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, get_args

from ..core.cycles import AiBlock, AnomalyKind, CycleViews, Projection, SteerStep
from .sequence import Arrow, Scene, Span, as_object, said, shown, step_span

AGENT: Final = 1
MODEL: Final = 2
"""Lifelines of ``sequence.LIFELINES``."""
_REJECTED: Final = {*get_args(AnomalyKind)} - {"unanswered-call", "truncated"}
"""Anomalies of an event that is no part of any cycle; the others are remarks on one that is."""


def session_scene(
    title: str,
    log: Sequence[object],
    projection: Projection,
    mark: int | None,
    before: Mapping[int, Sequence[Arrow]],
) -> Scene:
    """Lay out *log*, the JSON values of a session, with the views of *projection*, whose positions index it.

    *mark* is the position to point at. *before* has rows that the log says nothing of, each before a position; those at
    ``len(log)`` come last.
    """
    notes = _notes(projection)
    arrows: list[Arrow] = []
    row_of: dict[int, int] = {}
    for at in range(len(log) + 1):
        arrows += before.get(at, ())
        if at < len(log):
            row_of[at] = len(arrows)
            arrows.append(_arrow(log[at], at, notes.get(at, []), marked=at == mark))
    cycles = projection.cycles
    return Scene(
        title=title,
        arrows=tuple(arrows),
        rounds=tuple(span for cycle in cycles for span in _rounds(cycle, row_of)),
        steps=tuple(step_span(step, row_of) for cycle in cycles for step in cycle.steps),
        attached={row_of[result]: call for call, result in _results(projection).items() if result is not None},
    )


def _results(projection: Projection) -> dict[int, int | None]:
    blocks = [step for cycle in projection.cycles for step in cycle.steps if isinstance(step, AiBlock)]
    return {call.at: call.result for block in blocks for group in block.groups for call in group.calls}


def _rounds(cycle: CycleViews, row_of: Mapping[int, int]) -> list[Span]:
    return [
        Span(f"round {number}", tuple(row_of[at] for at in item.outputs), tuple(row_of[at] for at in item.inputs))
        for number, item in enumerate(cycle.rounds, 1)
        if item.inputs or item.outputs
    ]


def _notes(projection: Projection) -> dict[int, list[str]]:
    """Position → what the projection makes of the event there."""
    notes: defaultdict[int, list[str]] = defaultdict(list)
    for cycle in projection.cycles:
        notes[cycle.root].append("root" if cycle.kind == "direct" else "root, promoted follow-up")
        for step in cycle.steps:
            if isinstance(step, SteerStep):
                notes[step.at].append("steer")
    for at in projection.queued:
        notes[at].append("waits")
    for at in projection.dropped:
        notes[at].append("dropped")
    for anomaly in projection.anomalies:
        notes[anomaly.at].append(anomaly.kind)
    return notes


def _arrow(value: object, at: int, notes: Sequence[str], *, marked: bool) -> Arrow:
    event = as_object(value)
    source, dest, caption, text = said(event, value)
    if event.get("type") == "model-request":
        source, dest, caption = AGENT, MODEL, "asks"
    boundary = source != dest or event.get("type") == "run-stop"
    ours = boundary and not _REJECTED.intersection(notes)
    return Arrow(at, source, dest, ", ".join([caption, *notes]), shown(text), ours=ours, marked=marked)
