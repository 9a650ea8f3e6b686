"""The projection over time: sessions, strict mode, policies, what is final, and what is kept."""

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, Self

import msgspec
import pytest
from hypothesis import given, settings

from turncheck.conformance.generation.logs import Case, cases
from turncheck.model.core.cycles import Anomaly, Projection
from turncheck.model.core.decode import Batch, decode_lines, judge
from turncheck.model.core.events import AgentOutput, Event, Malformed, RunStop, ToolResult, UserMessage
from turncheck.model.core.policies import Policies, QueueFate
from turncheck.model.core.projection import AnomalyError, LogProjector, Projector, ViewProjector, project

SETTINGS = settings(max_examples=60, deadline=None, database=None, derandomize=True)

USER = UserMessage(text="red")
STEER = UserMessage(text="red", delivery="steer")
FOLLOW_UP = UserMessage(text="red", delivery="followUp")
TEXT = AgentOutput(kind="assistant", text="red")
DONE, ABORTED, FAILED = RunStop(reason="completed"), RunStop(reason="interrupted"), RunStop(reason="error")
BAD = Malformed("bad")


def call(name: str) -> AgentOutput:
    return AgentOutput(kind="tool-call", call_id=name, tool="read")


def result(name: str) -> ToolResult:
    return ToolResult(call_id=name)


def of(session: str | None, *events: Event) -> list[Event]:
    return [msgspec.structs.replace(event, session_id=session) for event in events]


def batch(events: Sequence[Event]) -> Batch:
    return Batch(tuple(events), range(len(events)))


def test_an_open_cycle_has_neither_a_stop_nor_a_reason() -> None:
    """RC-D9."""
    projector = Projector()
    projector.feed((USER, TEXT), range(2))
    running = projector.open_cycle()
    assert running is not None
    assert (running.root, running.stop, running.reason) == (0, None, None)


def fed(sessions: LogProjector, events: Sequence[Event], size: int) -> None:
    for start in range(0, len(events), size):
        part = tuple(events[start : start + size])
        sessions.feed(Batch(part, range(start, start + len(part))))


def roots(projection: Projection) -> list[tuple[int, str, int | None]]:
    return [(cycle.root, cycle.kind, cycle.stop) for cycle in projection.cycles]


# Totality


def test_an_empty_log_projects_to_nothing() -> None:
    assert project(()) == Projection((), (), (), ())


def test_an_open_cycle_has_no_stop_and_no_reason() -> None:
    (cycle,) = project((USER, TEXT)).cycles
    assert (cycle.stop, cycle.reason) == (None, None)


def test_an_open_cycle_comes_last() -> None:
    assert roots(project((USER, DONE, USER))) == [(0, "direct", 1), (2, "direct", None)]


def test_anomalies_come_in_the_order_of_the_lines_that_reveal_them() -> None:
    log = (USER, call("a"), call("b"), BAD, DONE, TEXT, USER)
    assert project(log).anomalies == (
        Anomaly("malformed", 3),
        Anomaly("unanswered-call", 1),
        Anomaly("unanswered-call", 2),
        Anomaly("outside-run", 5),
        Anomaly("truncated", 6),
    )


def test_a_call_is_looked_up_in_its_own_cycle_only() -> None:
    log = (USER, call("a"), result("a"), DONE, USER, result("a"), call("a"), result("a"), DONE)
    assert project(log).anomalies == (Anomaly("unknown-call", 5),)


def test_a_call_id_counts_as_used_whether_answered_or_not() -> None:
    log = (USER, call("a"), call("a"), result("a"), call("a"), DONE)
    assert project(log).anomalies == (Anomaly("duplicate-call", 2), Anomaly("duplicate-call", 4))


def test_a_rejected_event_changes_nothing() -> None:
    plain = (USER, call("a"), call("b"), DONE)
    spoiled = (USER, call("a"), result("x"), BAD, call("a"), call("b"), DONE)
    assert len(project(spoiled).cycles[0].rounds) == len(project(plain).cycles[0].rounds)
    assert len(project(spoiled).cycles[0].steps) == len(project(plain).cycles[0].steps)


# Policies (RC-D6)

STORY = (USER, FOLLOW_UP, FOLLOW_UP, ABORTED, USER, DONE, DONE, DONE)


def story(fate: QueueFate) -> Projection:
    return project(STORY, Policies(queue_after_interrupted=fate))


def test_a_promoted_queue_gives_one_cycle_each_at_once() -> None:
    assert roots(story("promote")) == [
        (0, "direct", 3),
        (1, "followUp", 5),
        (2, "followUp", 6),
        (4, "followUp", 7),
    ]


def test_a_held_queue_waits_for_the_next_direct_cycles_stop() -> None:
    assert roots(story("hold")) == [(0, "direct", 3), (4, "direct", 5), (1, "followUp", 6), (2, "followUp", 7)]


def test_a_dropped_queue_is_kept_apart_in_its_order() -> None:
    projection = story("drop")
    assert roots(projection) == [(0, "direct", 3), (4, "direct", 5)]
    assert (projection.dropped, projection.queued) == ((1, 2), ())


def test_a_held_queue_is_promoted_by_the_reason_of_the_later_stop() -> None:
    policies = Policies(queue_after_interrupted="hold", queue_after_error="drop")
    projection = project((USER, FOLLOW_UP, ABORTED, USER, FAILED), policies)
    assert (roots(projection), projection.dropped) == ([(0, "direct", 2), (3, "direct", 4)], (1,))


def test_a_queue_held_at_the_end_is_queued_and_no_anomaly() -> None:
    projection = project((USER, FOLLOW_UP, ABORTED), Policies(queue_after_interrupted="hold"))
    assert (projection.queued, projection.anomalies) == ((1,), ())


def test_after_completed_the_queue_is_promoted_whatever_the_policies() -> None:
    policies = Policies(queue_after_interrupted="drop", queue_after_error="hold")
    assert roots(project((USER, FOLLOW_UP, DONE), policies))[1] == (1, "followUp", None)


def test_delivery_outranks_the_policy() -> None:
    for policy in ("steer", "followUp"):
        projection = project((USER, STEER, FOLLOW_UP), Policies(while_active=policy))
        assert projection.queued == (2,)


@pytest.mark.parametrize(("policy", "queued"), [("steer", ()), ("followUp", (1,))])
def test_without_delivery_the_policy_decides(policy: Any, queued: tuple[int, ...]) -> None:
    assert project((USER, USER), Policies(while_active=policy)).queued == queued


# Sessions


def test_sessions_come_in_the_order_of_their_first_lines() -> None:
    sessions = LogProjector()
    sessions.feed(batch([*of("b", USER), *of("a", BAD), *of(None, USER), *of("b", DONE)]))
    assert list(sessions.projectors) == ["b", "a", None]


def test_a_session_appears_with_its_first_line_even_if_that_is_rejected() -> None:
    sessions = LogProjector()
    sessions.feed(batch(decode_lines(b'{"type":"run-stop","sessionId":"a"}\n{"type":"x","sessionId":"b"}')[0]))
    assert list(sessions.projectors) == ["a", "b"]


@pytest.mark.parametrize(
    "line", [b"rubbish", b"null", b"[]", b'{"type":"native","sessionId":5}', b'{"sessionId":null}']
)
def test_a_line_without_a_usable_session_belongs_to_the_session_null(line: bytes) -> None:
    sessions = LogProjector()
    sessions.feed(batch(decode_lines(line)[0]))
    assert list(sessions.projectors) == [None]


def test_the_empty_string_is_a_session() -> None:
    sessions = LogProjector()
    sessions.feed(batch(of("", USER) + of(None, USER)))
    assert list(sessions.projectors) == ["", None]


def test_an_empty_batch_touches_no_session() -> None:
    assert LogProjector().feed(batch([])) == ([], [])


# Strict mode


def test_strict_raises_at_the_first_anomaly() -> None:
    with pytest.raises(AnomalyError, match=r"unknown-call at position 1$") as caught:
        project((USER, result("a"), BAD), strict=True)
    assert caught.value.anomaly == Anomaly("unknown-call", 1)


def test_strict_names_the_session() -> None:
    with pytest.raises(AnomalyError, match="malformed at position 0 of session 'a'"):
        LogProjector(strict=True).feed(batch(of("a", BAD)))


def test_strict_takes_a_log_that_ends_in_a_run_as_an_anomaly() -> None:
    with pytest.raises(AnomalyError, match="truncated at position 0"):
        project((USER,), strict=True)


@pytest.mark.parametrize("size", [1, 2, 6])
def test_strict_is_about_the_first_line_that_reveals_one_however_the_log_is_cut(size: int) -> None:
    log = [*of("a", USER, call("x")), *of("b", USER), *of("b", BAD), *of("a", DONE), *of("b", DONE)]
    with pytest.raises(AnomalyError, match="malformed at position 3 of session 'b'"):
        fed(LogProjector(strict=True), log, size)


def test_strict_at_the_end_names_the_run_that_began_first() -> None:
    sessions = LogProjector(strict=True)
    sessions.feed(batch([*of("b", USER), *of("a", USER)]))
    with pytest.raises(AnomalyError, match="truncated at position 0 of session 'b'"):
        sessions.ending()


@SETTINGS
@given(cases())
def test_strict_and_lenient_agree_on_the_first(case: Case) -> None:
    events = tuple(map(judge, case.log))
    anomalies = project(events, case.policies).anomalies
    with pytest.raises(AnomalyError) if anomalies else nullcontext() as caught:
        project(events, case.policies, strict=True)
    assert not anomalies or (caught is not None and caught.value.anomaly == anomalies[0])


# What looking changes: nothing


@SETTINGS
@given(cases())
def test_looking_changes_nothing(case: Case) -> None:
    events = tuple(map(judge, case.log))
    looked, unseen = ViewProjector(case.policies), ViewProjector(case.policies)
    for at, event in enumerate(events):
        looked.feed((event,), range(at, at + 1))
        unseen.feed((event,), range(at, at + 1))
        assert looked.projection() == looked.projection()
    assert looked.projection() == unseen.projection()


@SETTINGS
@given(cases())
def test_a_prefix_projects_as_the_log_did_then(case: Case) -> None:
    events = tuple(map(judge, case.log))
    ledger = ViewProjector(case.policies)
    for at, event in enumerate(events):
        ledger.feed((event,), range(at, at + 1))
        assert ledger.projection() == project(events[: at + 1], case.policies)


@SETTINGS
@given(cases())
def test_closed_cycles_are_final(case: Case) -> None:
    events = tuple(map(judge, case.log))
    whole = project(events, case.policies).cycles
    for cut in case.cuts:
        closed = [cycle for cycle in project(events[:cut], case.policies).cycles if cycle.stop is not None]
        assert list(whole[: len(closed)]) == closed


@SETTINGS
@given(cases())
def test_the_input_stays_as_it_is(case: Case) -> None:
    events = list(map(judge, case.log))
    before, identities = list(map(repr, events)), list(map(id, events))
    project(events, case.policies)
    assert (list(map(repr, events)), list(map(id, events))) == (before, identities)


# What is kept, and how much work is done


def busy() -> list[Event]:
    return [USER, TEXT, call("a"), FOLLOW_UP, result("a"), BAD, DONE, TEXT, call("a"), call("b"), ABORTED]


def kept(projector: Projector) -> dict[str, int]:
    """Return the number of entries that the state holds, by register."""
    state = projector.state
    names = [name for kind in type(state).__mro__ for name in getattr(kind, "__slots__", ())]
    return {name: len(value) for name in names if hasattr(value := getattr(state, name), "__len__")}


@pytest.mark.parametrize("size", [1, 4, 11, 1100])
def test_a_closed_cycle_is_not_kept(size: int) -> None:
    projector = Projector()
    cycles = busy() * 100
    empty = kept(projector)
    closed = 0
    for start in range(0, len(cycles), size):
        part = cycles[start : start + size]
        closed += len(projector.feed(part, range(start, start + len(part))).cycles)
    assert closed == 200
    assert kept(projector) == empty


def test_feeding_nothing_keeps_nothing() -> None:
    projector = Projector()
    projector.feed((USER,), range(1))
    before = kept(projector)
    for _ in range(10):
        projector.feed((), range(1, 1))
    assert kept(projector) == before


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_position_is_held_once_however_often_its_run_was_cut(size: int) -> None:
    projector = Projector()
    between: list[Event] = [TEXT, BAD]
    log: list[Event] = [USER, *between * 250, DONE] * 2
    held: list[list[int]] = []
    for start in range(0, len(log), size):
        part = log[start : start + size]
        held += [cycle.items for _, cycle in projector.feed(part, range(start, start + len(part))).cycles]
    assert held == [list(range(1, 501, 2)), list(range(503, 1003, 2))]


class Counting(list[int]):
    """Counts what is added to it; whoever copies it has a plain list."""

    added = 0

    def __iadd__(self, more: Iterable[int]) -> Self:  # type: ignore[override,misc] # as list itself has it
        new = list(more)
        self.added += len(new)
        return super().__iadd__(new)


def test_a_batch_adds_its_own_positions_to_the_open_cycle_and_copies_none() -> None:
    projector = Projector()
    projector.state.places = places = Counting()
    log: list[Event] = [USER, *[TEXT] * 500]
    for at, event in enumerate(log):
        projector.feed((event,), range(at, at + 1))
    assert projector.state.places is places
    assert places.added == len(places) == 500


def test_the_oldest_that_can_still_be_named_is_a_root_or_a_waiting_message() -> None:
    projector = Projector()
    projector.feed((USER, call("a"), call("b"), result("a"), FOLLOW_UP, FOLLOW_UP), range(6))
    assert projector.oldest == 0
    projector.feed((DONE,), range(6, 7))
    assert projector.oldest == 4
    projector.feed((DONE, DONE), range(7, 9))
    assert projector.oldest is None


@pytest.mark.parametrize("seed", range(8))
def test_idle_sessions_are_forgotten_and_go_on_as_if_they_were_not(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = random.Random(seed)
    made: list[Callable[[str | None], Event]] = [
        lambda name: UserMessage(text="hi", session_id=name),
        lambda name: UserMessage(text="hi", delivery="steer", session_id=name),
        lambda name: AgentOutput(kind="tool-call", call_id="c", tool="t", session_id=name),
        lambda name: ToolResult(call_id="c", session_id=name),
        lambda name: RunStop(reason="completed", session_id=name),
        lambda name: RunStop(reason="interrupted", session_id=name),
        lambda name: RunStop(reason="error", session_id=name),
    ]
    policies = Policies(queue_after_interrupted="hold", queue_after_error="drop")
    events = [rng.choice(made)(rng.choice([None, *map(str, range(30))])) for _ in range(400)]
    batches = [Batch(tuple(events[at : at + 7]), range(at, min(at + 7, 400))) for at in range(0, 400, 7)]

    def told(known: int) -> tuple[object, int]:
        monkeypatch.setattr("turncheck.model.core.projection._KNOWN", known)
        sessions = LogProjector(policies)
        found: list[object] = []
        own = 0
        for batch in batches:
            found.append(sessions.feed(batch))
            own += len({*map(id, sessions.projectors.values())})
        kept = [(name, one.open_cycle(), one.dropped) for name, one in sessions.projectors.items()]
        return (found, sessions.ending(), kept), own

    every, many = told(1000)
    some, few = told(0)
    assert (some, few < many) == (every, True)
