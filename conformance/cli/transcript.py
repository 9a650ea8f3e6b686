"""A session of a runtime as a person reads it: events, what is awaited, and cycles with their content."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from turncheck.model.core.cycles import AiBlock, Call, CycleViews, Projection, SteerStep
from turncheck.model.core.decode import Batch, judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import LogViewProjector
from turncheck.model.core.stimuli import Awaited, ModelAwaited, Shown, TimerAwaited, ToolAwaited

WIDE: Final = 100
"""Characters of one value that are shown."""


def event_line(event: Any) -> str:
    """An event: its type, then its other fields but the model's input, which what is awaited shows."""
    if not isinstance(event, dict):
        return f"no event: {_short(event)}"
    fields = cast(dict[str, Any], event)
    shown = [f"{name}={_short(value)}" for name, value in fields.items() if name not in {"type", "input"}]
    return f"{fields.get('type')!s:13} {' '.join(shown)}".rstrip()


def awaited_line(awaited: Awaited) -> str:
    """What is awaited: a model with its whole input, a tool with its arguments, a timer."""
    session = "" if awaited.session_id is None else f"session {awaited.session_id}: "
    match awaited:
        case ModelAwaited():
            shown = "" if awaited.input is None else f", shown: {' · '.join(map(_shown, awaited.input))}"
            return f"{session}model {awaited.request_id}{shown}"
        case ToolAwaited():
            called = f"{awaited.tool or ''} {_short(awaited.arguments)} for call {awaited.call_id}"
            return f"{session}tool {called}, {awaited.execution}{', cancelled' if awaited.cancelled else ''}"
        case TimerAwaited():
            return f"{session}timer in {awaited.due:g} s"


def projected(log: Sequence[Any], policies: Policies) -> Mapping[str | None, Projection]:
    """The projection of each session of *log*, whose events are JSON values; positions are those in *log*."""
    ledgers = LogViewProjector(policies)
    ledgers.feed(Batch(tuple(map(judge, log)), range(len(log))))
    return ledgers.projections()


def session_lines(log: Sequence[Any], name: str | None, projection: Projection) -> Iterator[str]:
    """The cycles of one session of *log* as a tree of its ResolutionSteps, what still waits, and the anomalies."""
    if name is not None:
        yield f"session {name}"
    for number, cycle in enumerate(projection.cycles, 1):
        yield from _cycle_lines(log, number, cycle)
    for state, ats in (("queued", projection.queued), ("dropped", projection.dropped)):
        for at in ats:
            yield f"{state}  {_said(log[at])}"
    for anomaly in projection.anomalies:
        if anomaly.kind != "truncated":  # a session under way always is
            yield f"anomaly: {anomaly.kind} at {event_line(log[anomaly.at])}"


def _cycle_lines(log: Sequence[Any], number: int, cycle: CycleViews) -> Iterator[str]:
    yield f"cycle {number}  {cycle.kind}, {cycle.reason or 'still open'}"
    for place, step in enumerate(cycle.steps, 1):
        last = place == len(cycle.steps)
        branch, indent = ("└─ ", "   ") if last else ("├─ ", "│  ")
        if not isinstance(step, AiBlock):
            yield f"{branch}{'steer' if isinstance(step, SteerStep) else 'non-steer'} {_said(log[step.at])}"
            continue
        yield f"{branch}ai-block {'without text' if step.text is None else _said(log[step.text])}"
        for group in step.groups:
            for call in group.calls:
                yield f"{indent}   {group.type}: {_called(log, call)}"


def _called(log: Sequence[Any], call: Call) -> str:
    asked = f"{log[call.at]['tool']} {_short(log[call.at].get('arguments'))}"
    if call.result is None:
        return f"{asked} → no result"
    result = log[call.result]
    return f"{asked} → {'error ' if result.get('isError') else ''}{_short(result.get('output'))}"


def _said(event: Mapping[str, Any]) -> str:
    reasoning = "(reasoning) " if event.get("kind") == "reasoning" else ""
    return reasoning + _short(event.get("text", event.get("content")))


def _shown(entry: Shown) -> str:
    call = "" if entry.call_id is None else f" {entry.tool or 'result'} {entry.call_id}"
    text = "" if entry.text is None else f" {_short(entry.text)}"
    return f"{entry.role}{call}{text}"


def _short(value: Any) -> str:
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    return text if len(text) <= WIDE else text[:WIDE] + "…"
