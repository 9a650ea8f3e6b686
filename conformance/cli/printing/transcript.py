"""The cycles of a runtime's session, with their content, for a person."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turncheck.model.core.cycles import AiBlock, Call, CycleViews, Projection, SteerStep
from turncheck.model.core.decode import Batch, judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import LogViewProjector
from turncheck.model.rendering.words import event_line, short


def projected(log: Sequence[Any], policies: Policies) -> Mapping[str | None, Projection]:
    """Project each session of *log*, whose events are JSON values; positions are those in *log*."""
    ledgers = LogViewProjector(policies)
    ledgers.feed(Batch(tuple(map(judge, log)), range(len(log))))
    return ledgers.projections()


def session_lines(log: Sequence[Any], name: str | None, projection: Projection) -> Iterator[str]:
    """Write the cycles of one session of *log* as trees of their steps, then the waiting messages and the anomalies."""
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
    for agent, own in projection.agents.items():
        yield f"sub-agent {agent}"
        yield from session_lines(log, None, own)


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
    asked = f"{log[call.at]['tool']} {short(log[call.at].get('arguments'))}"
    if call.result is None:
        return f"{asked} → no result"
    result = log[call.result]
    return f"{asked} → {'error ' if result.get('isError') else ''}{short(result.get('output'))}"


def _said(event: Mapping[str, Any]) -> str:
    reasoning = "(reasoning) " if event.get("kind") == "reasoning" else ""
    return reasoning + short(event.get("text", event.get("content")))
