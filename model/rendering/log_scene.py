"""A log as a sequence picture: every event a row, with both views of its cycles beside them.

``cycle_scene`` lays out one cycle, for a reader who knows the log; ``session_scene`` a whole session, as a
counterexample needs it. What a log says is shown, never obeyed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from ..core.cycles import AiBlock, AnomalyKind, CycleViews, Projection, SteerStep, Step
from .printable import shown
from .scene import Arrow, Band, Row, Scene, Span, Stroke, Views
from .words import AGENT, MODEL, TOOLS, USER, Telling, as_object, of_event

LIFELINES: Final = (USER, AGENT, MODEL, TOOLS)
_REJECTED: Final = {*get_args(AnomalyKind)} - {"unanswered-call", "truncated"}
"""Anomalies of an event that is no part of any cycle; the others are remarks on one that is."""

_Said = Callable[[int, Telling], tuple[str, bool]]
"""Position and event → its caption, and whether it is part of what is drawn."""


@dataclass(frozen=True)
class _Layout:
    """What is drawn of *log*: the events at *positions*, each after the rows that *before* has for its position."""

    log: Sequence[object]
    positions: Iterable[int]
    before: Mapping[int, Sequence[Row]]
    mark: int | None

    def scene(self, title: str, cycles: Sequence[CycleViews], said: _Said) -> Scene:
        """Lay out the rows and the views of *cycles*. Rows before the log's end come last."""
        rows: list[Row] = []
        row_of: dict[int, int] = {}
        for at in self.positions:
            rows += self.before.get(at, ())
            row_of[at] = len(rows)
            rows.append(self._row(at, said))
        rows += self.before.get(len(self.log), ())
        rounds = tuple(span for cycle in cycles for span in _rounds(cycle, row_of))
        steps = tuple(_step(step, row_of) for cycle in cycles for step in cycle.steps)
        attached = {row_of[result]: call for call, result in _results(cycles).items() if result is not None}
        return Scene(title, LIFELINES, tuple(rows), Views(rounds, steps, attached))

    def _row(self, at: int, said: _Said) -> Row:
        told = of_event(self.log[at])
        caption, ours = said(at, told)
        text, marked = shown(told.text), at == self.mark
        if told.source == told.dest:
            return Band(caption, text, "stop" if ours else "other", at, marked)
        stroke: Stroke = "other" if not ours else "answer" if told.source == TOOLS else ""
        return Arrow(told.source, told.dest, caption, text, stroke, at, marked)


def cycle_scene(log: Sequence[object], cycle: CycleViews, mark: int | None = None) -> Scene:
    """Lay out *cycle*, whose positions index *log*: the JSON values of its session.

    Events between the cycle's that are no part of it are shown too. *mark* is a position to point at, in the cycle or
    not.
    """
    members = _members(cycle)
    results = _results([cycle])
    steers = {step.at for step in cycle.steps if isinstance(step, SteerStep)}

    def said(at: int, told: Telling) -> tuple[str, bool]:
        ours = at in members
        if at == cycle.root:
            return _root(cycle), ours
        if at in steers:
            return "steer", ours
        if at in results and results[at] is None:
            return f"{told.what}, unanswered", ours
        return told.what if ours else f"{told.what}, no part of this cycle", ours

    requests = {
        item.outputs[0]: [_request(", ".join(map(str, item.inputs)) or "nothing new")]
        for item in cycle.rounds
        if item.outputs
    }
    title = f"{'Direct' if cycle.kind == 'direct' else 'Follow-up'} cycle, {cycle.reason or 'still open'}"
    positions = _shown_positions(cycle, members, len(log), mark)
    return _Layout(log, positions, requests, mark).scene(title, [cycle], said)


def session_scene(
    title: str,
    log: Sequence[object],
    projection: Projection,
    mark: int | None,
    before: Mapping[int, Sequence[Row]],
) -> Scene:
    """Lay out *log*, the JSON values of a session, with the views of *projection*, whose positions index it.

    *mark* is the position to point at. *before* has rows that the log says nothing of, each before a position; those at
    ``len(log)`` come last.
    """
    notes = _notes(projection)

    def said(at: int, told: Telling) -> tuple[str, bool]:
        boundary = told.source != told.dest or as_object(log[at]).get("type") == "run-stop"
        return ", ".join([told.what, *notes[at]]), boundary and not _REJECTED.intersection(notes[at])

    return _Layout(log, range(len(log)), before, mark).scene(title, projection.cycles, said)


def _request(given: str) -> Arrow:
    """Draw where a round asks the model, which the log says nothing of."""
    return Arrow(AGENT, MODEL, shown(f"asked with {given}"), stroke="asked")


def _root(cycle: CycleViews) -> str:
    return "root" if cycle.kind == "direct" else "root, promoted follow-up"


def _members(cycle: CycleViews) -> set[int]:
    """Collect every position that the views name: all accepted events are in the rounds."""
    members = {at for item in cycle.rounds for at in (*item.inputs, *item.outputs)}
    return members | {cycle.root} | ({cycle.stop} if cycle.stop is not None else set())


def _shown_positions(cycle: CycleViews, members: set[int], size: int, mark: int | None) -> list[int]:
    """List the cycle's positions, those between them, and the mark; a promoted root may lie far before its cycle."""
    inner = members - {cycle.root} if cycle.kind == "followUp" else members
    last = size - 1 if cycle.stop is None else cycle.stop
    between = range(min(inner, default=last), last + 1)
    return sorted({*members, *between, *([] if mark is None else [mark])})


def _results(cycles: Sequence[CycleViews]) -> dict[int, int | None]:
    """Map each call's position to its result's."""
    blocks = [step for cycle in cycles for step in cycle.steps if isinstance(step, AiBlock)]
    return {call.at: call.result for block in blocks for group in block.groups for call in group.calls}


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
    text = () if step.text is None else (row_of[step.text],)
    label = "ai-block" if step.text is not None else "ai-block, no text"
    return Span(label, (*text, *(row for part in parts for row in part.outputs)), parts=parts)


def _notes(projection: Projection) -> Mapping[int, Sequence[str]]:
    """Map a position to what the projection makes of the event there."""
    notes: defaultdict[int, list[str]] = defaultdict(list)
    for cycle in projection.cycles:
        notes[cycle.root].append(_root(cycle))
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
