"""The hot path: generated, in step with the rows, and equal to the oracle whatever it is fed and however."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.conformance.generation.logs import Case, cases
from turncheck.model.checking import oracle as interpreter
from turncheck.model.checking.reference_views import views
from turncheck.model.codegen import generate as codegen
from turncheck.model.core.cycles import Cycle, CycleViews
from turncheck.model.core.decode import Batch, judge
from turncheck.model.core.events import Event, symbol_of
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import LogProjector, LogViewProjector, Projector, ViewProjector, project

SETTINGS = settings(max_examples=40, deadline=None, database=None, derandomize=True)
GAPS = st.lists(st.integers(0, 2), min_size=61, max_size=61)
"""From each position to the next: 0 where several events share one."""


def events_of(case: Case) -> tuple[Event, ...]:
    return tuple(map(judge, case.log))


def chunked(events: tuple[Event, ...], cuts: list[int]) -> list[slice]:
    return [slice(*bounds) for bounds in pairwise([0, *cuts, len(events)])]


def positions(gaps: list[int], count: int) -> list[int]:
    return list(accumulate(gaps))[:count]


def moved(projection: Any, ats: list[int]) -> Any:
    """A projection with every position that indexes events replaced by that event's."""
    match projection:
        case int():
            return ats[projection]
        case tuple() | list():
            return type(projection)(moved(item, ats) for item in projection)
        case dict():
            return {name: moved(item, ats) for name, item in projection.items()}
        case _:
            return projection


def test_the_loop_is_in_step_with_the_rows() -> None:
    assert codegen.LOOP.read_text(encoding="utf-8") == codegen.generate()


@SETTINGS
@given(cases())
def test_the_loop_does_what_the_oracle_does(case: Case) -> None:
    events = events_of(case)
    assert project(events, case.policies) == interpreter.project(events, case.policies)


@SETTINGS
@given(cases())
def test_any_chunking_gives_the_same(case: Case) -> None:
    events = events_of(case)
    ledger = ViewProjector(case.policies)
    for part in chunked(events, case.cuts):
        ledger.feed(events[part], range(len(events))[part])
    assert ledger.projection() == project(events, case.policies)


@SETTINGS
@given(cases(), GAPS)
def test_positions_with_gaps_and_shared_ones_change_nothing_else(case: Case, gaps: list[int]) -> None:
    events = events_of(case)
    ats = positions(gaps, len(events))
    ledger = ViewProjector(case.policies)
    for part in chunked(events, case.cuts):
        ledger.feed(events[part], ats[part])
    expected = msgspec.to_builtins(interpreter.project(events, case.policies))
    assert msgspec.to_builtins(ledger.projection()) == moved(expected, ats)


@SETTINGS
@given(cases())
def test_ranges_and_lists_of_positions_can_be_mixed(case: Case) -> None:
    events = events_of(case)
    ledger = ViewProjector(case.policies)
    for number, part in enumerate(chunked(events, case.cuts)):
        ats = range(len(events))[part]
        ledger.feed(events[part], list(ats) if number % 2 else ats)
    assert ledger.projection() == project(events, case.policies)


@SETTINGS
@given(cases())
def test_a_range_may_have_steps(case: Case) -> None:
    events = events_of(case)
    ledger = ViewProjector(case.policies)
    ledger.feed(events, range(0, 3 * len(events), 3))
    expected = msgspec.to_builtins(project(events, case.policies))
    assert msgspec.to_builtins(ledger.projection()) == moved(expected, [3 * at for at in range(len(events))])


@SETTINGS
@given(
    st.lists(cases(policies=Policies()), min_size=1, max_size=4), st.randoms(use_true_random=False), st.integers(1, 40)
)
def test_interleaved_sessions_are_what_they_are_alone(parts: list[Case], chance: Any, size: int) -> None:
    names = [None, "a", "b", ""]
    queues = [
        [msgspec.structs.replace(event, session_id=name) for event in events_of(part)]
        for name, part in zip(names, parts, strict=False)
    ]
    turns = [number for number, queue in enumerate(queues) for _ in queue]
    chance.shuffle(turns)
    log = tuple(queues[number].pop(0) for number in turns)
    sessions, ledgers = LogProjector(), LogViewProjector()
    closed: dict[str | None, list[CycleViews]] = {}
    for start in range(0, len(log), size):
        batch = Batch(log[start : start + size], range(start, min(start + size, len(log))))
        ledgers.feed(batch)
        for name, cycle in sessions.feed(batch).cycles:
            closed.setdefault(name, []).append(views(cycle, log))
    assert list(sessions.projectors) == list(ledgers.sessions) == list(dict.fromkeys(names[number] for number in turns))
    for name, ledger in ledgers.sessions.items():
        assert closed.get(name, []) == [cycle for cycle in ledger.projection().cycles if cycle.stop is not None]
    for number, part in enumerate(parts):
        ats = [at for at, turn in enumerate(turns) if turn == number]
        if ats:
            alone = msgspec.to_builtins(project(events_of(part)))
            assert msgspec.to_builtins(ledgers.sessions[names[number]].projection()) == moved(alone, ats)


# The views


def cycles_of(events: tuple[Event, ...], ats: Sequence[int], policies: Policies) -> list[Cycle]:
    projector = Projector(policies)
    closed = [cycle for _, cycle in projector.feed(events, ats).cycles]
    current = projector.open_cycle()
    return closed if current is None else [*closed, current]


@SETTINGS
@given(cases(), GAPS)
def test_the_views_that_the_loop_builds_are_the_definitions(case: Case, gaps: list[int]) -> None:
    events = events_of(case)
    ats = positions(gaps, len(events))
    ledger = ViewProjector(case.policies)
    ledger.feed(events, ats)
    defined = [views(cycle, events) for cycle in cycles_of(events, list(range(len(events))), case.policies)]
    assert msgspec.to_builtins(ledger.projection().cycles) == moved(msgspec.to_builtins(tuple(defined)), ats)


@SETTINGS
@given(cases(), GAPS)
def test_a_cycle_holds_the_same_events_whichever_loop_cuts_it(case: Case, gaps: list[int]) -> None:
    events = events_of(case)
    ats = positions(gaps, len(events))
    counted = cycles_of(events, range(len(events)), case.policies)
    listed = cycles_of(events, ats, case.policies)
    assert [cycle.items for cycle in listed] == [[ats[index] for index in cycle.items] for cycle in counted]


@SETTINGS
@given(cases())
def test_a_cycle_holds_what_was_accepted_and_nothing_else(case: Case) -> None:
    events = events_of(case)
    projection = project(events, case.policies)
    remarks = ("unanswered-call", "truncated")
    rejected = [anomaly.at for anomaly in projection.anomalies if anomaly.kind not in remarks]
    held = [
        at
        for cycle in cycles_of(events, list(range(len(events))), case.policies)
        for at in (cycle.root, *cycle.items, *([] if cycle.stop is None else [cycle.stop]))
    ]
    observed = [at for at, event in enumerate(events) if symbol_of(event) == "observation"]
    everything = [*held, *projection.queued, *projection.dropped, *rejected, *observed]
    assert sorted(everything) == list(range(len(events)))
