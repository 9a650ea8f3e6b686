"""A log as a sequence picture: a row per event, with both views of the cycles beside the rows.

A log's texts are shown, never obeyed.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, get_args

from ..core.cycles import AiBlock, AnomalyKind, CycleViews, Projection, SteerStep, Step
from .printable import shown
from .scene import Arrow, Band, Row, Scene, Span, Stroke, Views
from .words import AGENT, MODEL, TOOLS, USER, as_object, of_event

LIFELINES: Final = (USER, AGENT, MODEL, TOOLS)
_REJECTED: Final = {*get_args(AnomalyKind)} - {"unanswered-call", "truncated"}
"""Anomalies whose event belongs to no cycle; the others are remarks on an event that does."""


def session_scene(
    title: str,
    log: Sequence[object],
    projection: Projection,
    mark: int | None,
    before: Mapping[int, Sequence[Row]],
) -> Scene:
    """Lay out *log*, the JSON values of a session, with the views of *projection*, whose positions index it.

    *mark* is the position to point at. *before* maps positions to rows that the log does not hold; those at
    ``len(log)`` come last.
    """
    notes = _notes(projection)
    rows: list[Row] = []
    row_of: dict[int, int] = {}
    for at, value in enumerate(log):
        rows += before.get(at, ())
        row_of[at] = len(rows)
        rows.append(_row(value, at, notes[at], marked=at == mark))
    rows += before.get(len(log), ())
    cycles = projection.cycles
    rounds = tuple(span for cycle in cycles for span in _rounds(cycle, row_of))
    steps = tuple(_step(step, row_of) for cycle in cycles for step in cycle.steps)
    blocks = [step for cycle in cycles for step in cycle.steps if isinstance(step, AiBlock)]
    calls = [call for block in blocks for group in block.groups for call in group.calls]
    attached = {row_of[call.result]: call.at for call in calls if call.result is not None}
    return Scene(title, LIFELINES, tuple(rows), Views(rounds, steps, attached))


def requests(cycles: Sequence[CycleViews]) -> Mapping[int, Sequence[Row]]:
    """Make a row before the first output of each round, for the model's request, which the log does not hold."""
    asked = {item.outputs[0]: item.inputs for cycle in cycles for item in cycle.rounds if item.outputs}
    given = {at: ", ".join(map(str, inputs)) or "nothing new" for at, inputs in asked.items()}
    return {at: [Arrow(AGENT, MODEL, shown(f"asked with {words}"), stroke="asked")] for at, words in given.items()}


def _row(value: object, at: int, notes: Sequence[str], *, marked: bool) -> Row:
    told = of_event(value)
    caption, text = ", ".join([told.what, *notes]), shown(told.text)
    rejected = not _REJECTED.isdisjoint(notes)
    if told.source == told.dest:
        stop = as_object(value).get("type") == "run-stop" and not rejected
        return Band(caption, text, "stop" if stop else "other", at, marked)
    stroke: Stroke = "other" if rejected else "answer" if told.source == TOOLS else ""
    return Arrow(told.source, told.dest, caption, text, stroke, at, marked)


def _rounds(cycle: CycleViews, row_of: Mapping[int, int]) -> list[Span]:
    return [
        Span(f"round {number}", tuple(row_of[at] for at in item.outputs), tuple(row_of[at] for at in item.inputs))
        for number, item in enumerate(cycle.rounds, 1)
        if item.inputs or item.outputs
    ]


def _step(step: Step, row_of: Mapping[int, int]) -> Span:
    if not isinstance(step, AiBlock):
        return Span("steer" if isinstance(step, SteerStep) else "non-steer", (row_of[step.at],))
    parts = tuple(Span(group.type, tuple(row_of[call.at] for call in group.calls)) for group in step.groups)
    label, text = ("ai-block, no text", ()) if step.text is None else ("ai-block", (row_of[step.text],))
    return Span(label, (*text, *(row for part in parts for row in part.outputs)), parts=parts)


def _notes(projection: Projection) -> Mapping[int, Sequence[str]]:
    """Map a position to the projection's remarks on the event there."""
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
