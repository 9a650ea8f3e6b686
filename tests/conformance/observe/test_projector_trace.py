"""A projector's trace: one log beside the projection observed of it."""

import pytest

from turncheck.conformance.observe.projector_trace import (
    ProjectorTrace,
    blocks_of,
    calls_of,
    positions_of,
    steers_of,
)
from turncheck.model.core.events import AgentOutput, Malformed, RunStop, ToolResult, UserMessage
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project

USER, TEXT, DONE = UserMessage(text="red"), AgentOutput(kind="assistant", text="blue"), RunStop(reason="completed")
STEER, FOLLOW_UP = UserMessage(text="red", delivery="steer"), UserMessage(text="red", delivery="followUp")
READ, WRITE = (AgentOutput(kind="tool-call", call_id=tool, tool=tool) for tool in ("read", "write"))


def trace(*events, policies=Policies()):  # noqa: B008 - they are frozen
    found = project(events, policies)
    return ProjectorTrace(events, policies, found, found)


def test_an_event_is_named_by_its_letter():
    assert [trace(USER, TEXT).symbol(at) for at in (0, 1)] == ["user-message", "text"]


@pytest.mark.parametrize("at", [-1, 2])
def test_a_position_outside_the_log_is_nothing(at):
    assert trace(USER, DONE).symbol(at) == "nothing"


def test_an_anomaly_that_only_remarks_rejects_no_event():
    seen = trace(TEXT, USER, READ, Malformed("bad"), DONE)
    assert {one.kind for one in seen.observed.anomalies} == {"outside-run", "malformed", "unanswered-call"}
    assert seen.rejected == {0, 3}


def test_a_direct_cycle_runs_from_its_root_to_its_stop():
    assert [(one.begin, one.end) for one in trace(USER, DONE, USER, TEXT, DONE).stretches] == [(0, 1), (2, 4)]


def test_a_promoted_cycle_runs_from_the_stop_before_it():
    assert [(one.begin, one.end) for one in trace(USER, FOLLOW_UP, DONE, TEXT, DONE).stretches] == [(0, 2), (2, 4)]


def test_an_open_cycle_runs_to_the_end_of_the_log():
    (stretch,) = trace(USER, TEXT).stretches
    assert stretch.end == 2


def test_neither_the_root_nor_the_stop_is_inside_a_cycle():
    seen = trace(USER, TEXT, STEER, DONE)
    assert seen.inside(seen.stretches[0]) == range(1, 3)


def test_a_stretch_that_a_projector_made_up_stays_within_the_log():
    seen = trace(USER, DONE)
    assert seen.inside(seen.stretches[0]._replace(begin=-5, end=9)) == range(2)


@pytest.mark.parametrize(("steers", "found"), [(True, [1, 4]), (False, [2])])
def test_a_message_counts_by_its_delivery_or_else_by_the_policy(steers, found):
    seen = trace(USER, STEER, FOLLOW_UP, TEXT, USER, DONE, policies=Policies(while_active="steer"))
    assert [*seen.messages(seen.stretches[0], steers=steers)] == found


def test_an_incomplete_message_is_none():
    seen = trace(USER, UserMessage(delivery="steer"), DONE)
    assert [*seen.messages(seen.stretches[0], steers=True)] == []


@pytest.mark.parametrize(("reason", "fate"), [("completed", "promote"), ("error", "drop"), (None, None)])
def test_the_fate_of_the_queue_is_the_policies(reason, fate):
    assert trace(policies=Policies(queue_after_error="drop")).fate(reason) == fate


class TestAViewOfACycle:
    """Of a cycle with a steer, two blocks and two calls, one answered."""

    cycle = trace(USER, TEXT, READ, WRITE, ToolResult(call_id="read"), STEER, TEXT, DONE).observed.cycles[0]

    def test_has_its_steers(self):
        assert steers_of(self.cycle) == [5]

    def test_has_its_blocks(self):
        assert [block.text for block in blocks_of(self.cycle)] == [1, 6]

    def test_has_the_calls_of_all_groups(self):
        assert [(call.at, call.result) for call in calls_of(self.cycle)] == [(2, 4), (3, None)]

    def test_shows_a_result_where_its_call_is(self):
        assert positions_of(self.cycle, "steps") == [0, 1, 2, 4, 3, 5, 6]

    def test_shows_of_each_round_what_was_fed_and_then_what_was_made(self):
        assert positions_of(self.cycle, "rounds") == [
            at for one in self.cycle.rounds for at in (*one.inputs, *one.outputs)
        ]
        assert positions_of(self.cycle, "rounds") == [0, 1, 2, 3, 4, 5, 6]

    def test_without_text_shows_its_calls_alone(self):
        assert positions_of(trace(USER, READ, DONE).observed.cycles[0], "steps") == [0, 1]
