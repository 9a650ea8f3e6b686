"""One failure of the page: its sequence diagram, the two views, the path through the machine, and the difference."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import Step
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.request_cycle import SPEC, tables
from turncheck.model.rendering.log_scene import session_scene
from turncheck.model.rendering.scene import Row as Drawn
from turncheck.model.rendering.svg import embedded
from turncheck.model.rendering.words import awaited_line

from ....observe.runtime_trace import projection_policies
from ....verify.outcome.results import (
    AnyCounterexample,
    Counterexample,
    FlowCounterexample,
    LawResult,
    WordCounterexample,
)
from ...counterexample_diagram import flow_picture, word_picture
from .machine import picture_of
from .stimulus_rows import rows_of_word
from .strings import Pieces, compact, said, shortened
from .views import Views, views

Driven: TypeAlias = Counterexample | WordCounterexample
"""A counterexample with a log, which has cycles."""

DRAWN: Final = 120
"""Events of a sequence picture, at most; the list beside it has them all."""


class Entry(NamedTuple):
    """A row of the list: a stimulus, an event at its position with the row that it takes, or the awaited answers."""

    kind: str
    at: int | None
    pieces: Pieces
    row: str = ""
    marked: bool = False


class Failure(NamedTuple):
    """The fields of one broken law that the template reads."""

    name: str
    law: LawResult
    found: AnyCounterexample
    facts: Sequence[tuple[str, Pieces]]
    picture: str
    entries: Sequence[Entry]
    views: Sequence[Views]
    path: str
    style: str
    cause: str


def failure_of(place: int, law: LawResult, found: AnyCounterexample, cause: str = "") -> Failure:
    """Lay out *found*; *place* is its number on the page, and *cause* says what it belongs to."""
    if isinstance(found, FlowCounterexample):
        return _of_flow(place, law, found, cause)
    if isinstance(found, Counterexample):
        log, policies = found.input.events, found.input.policies
    else:
        log = [event for step in found.steps for event in step.events]
        policies = projection_policies({**found.profile.policies, **found.word.options.policies})
    events, shown = [*map(judge, log)], shortened(log)
    ours = project(events, policies)
    follower = Stepper(SPEC, tables(policies))
    rows = [follower.take(symbol_of(event), event, at) for at, event in enumerate(events)]
    rows.append(follower.take("log-end", None, len(log)))
    return Failure(
        name=f"failure-{place}",
        law=law,
        found=found,
        facts=_facts(found, policies),
        picture=_picture(found, shown, ours) if len(log) <= DRAWN else "",
        entries=_entries(found, log, rows),
        views=_views(found, shown, ours),
        path=_in_words(rows, found.position),
        style=_lit(f"#failure-{place}-path", rows, found.position),
        cause=cause,
    )


def _of_flow(place: int, law: LawResult, found: FlowCounterexample, cause: str) -> Failure:
    """Lay out frames: they have no cycles, and no way through the core's machine."""
    told = msgspec.to_builtins(found.flow)
    frames = [Entry("frame", at, compact(frame), marked=at == found.position) for at, frame in enumerate(found.frames)]
    return Failure(
        name=f"failure-{place}",
        law=law,
        found=found,
        facts=[(name, compact(value)) for name, value in told.items() if name != "iterations"],
        picture=embedded(flow_picture(found)) if len(found.frames) <= DRAWN else "",
        entries=frames,
        views=(),
        path="",
        style="",
        cause=cause,
    )


def _lit(selector: str, rows: Sequence[Row], position: int | None) -> str:
    states = dict.fromkeys([rows[0].source, *(row.dest for row in rows)])
    colours = dict.fromkeys(rows[:-1], "lit")
    if position is not None and 0 <= position < len(rows):
        colours |= {rows[position]: "offending"}
    return picture_of(SPEC.name).lit(selector, colours, states)


def _in_words(rows: Sequence[Row], position: int | None) -> str:
    states = [rows[0].source, *(row.dest for row in rows[:-1])]
    way = " → ".join(state for state, _ in itertools.groupby(states))
    if position is None or not 0 <= position < len(rows):
        return f"The log's way: {way}; the finding is about the whole"
    return f"The log's way: {way}; the offending transition is {rows[position].source}: {rows[position].label}"


def _picture(found: Driven, log: Sequence[Any], projection: Projection) -> str:
    if isinstance(found, WordCounterexample) and found.again:
        return embedded(word_picture(found))
    before: Mapping[int, Sequence[Drawn]] = rows_of_word(found) if isinstance(found, WordCounterexample) else {}
    return embedded(session_scene(found.law, log, projection, found.position, before))


def _views(found: Driven, log: Sequence[Any], ours: Projection) -> list[Views]:
    theirs: Projection | None = found.projection if isinstance(found, Counterexample) else None
    if theirs is None or theirs == ours:
        return [views("the model", log, ours, ours)]
    return [views("the model", log, ours, theirs), views("the implementation", log, theirs, ours)]


def _facts(found: Driven, policies: Policies) -> list[tuple[str, Pieces]]:
    if isinstance(found, Counterexample):
        cuts = [("cut before", compact(found.input.cuts))] if found.input.cuts else []
        return [("policies", compact(msgspec.to_builtins(policies))), *cuts]
    options = msgspec.to_builtins(found.word.options)
    tools = [tool.get("name") for tool in options.pop("tools", ())]
    facts = {"policies": found.profile.policies, "tools": tools, "options": options}
    return [(name, compact(value)) for name, value in facts.items() if value]


def _entries(found: Driven, log: Sequence[Any], rows: Sequence[Row]) -> list[Entry]:
    events = [
        Entry("event", at, compact(event), _taken(rows[at]), marked=at == found.position)
        for at, event in enumerate(log)
    ]
    if isinstance(found, Counterexample):
        return events
    out: list[Entry] = []
    at = 0
    for place, (stimulus, step) in enumerate(zip(found.applied, found.steps, strict=False)):
        kind = "closing" if place >= len(found.word.stimuli) else "stimulus"
        out.append(Entry(kind, None, compact(msgspec.to_builtins(stimulus))))
        out += events[at : at + len(step.events)]
        at += len(step.events)
        out += _answer(step)
    for one in found.again:
        out += [Entry("restarted", None, said("the process is killed, and started again"))] if one.restarted else []
        out.append(Entry("instead", None, compact(msgspec.to_builtins(one.stimulus))))
        out += [Entry("event", None, compact(event)) for event in one.step.events]
        out += _answer(one.step)
    return out


def _answer(step: Step) -> Iterator[Entry]:
    if step.refused is not None:
        yield Entry("refused", None, said(f"{step.refused.why} {step.refused.message}".rstrip()))
    yield Entry("awaits", None, said(", ".join(map(awaited_line, step.awaiting)) or "nothing"))


def _taken(row: Row) -> str:
    return f"{row.source} → {row.dest}: {'; '.join(row.effects).replace('_', ' ') or 'nothing'}"
