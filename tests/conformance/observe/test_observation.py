"""What is known of a running implementation, from what was observed of it alone."""

import pytest
from scripted import (
    ABORTS,
    BEGUN,
    CALLS,
    DONE,
    ENDED,
    REJECTED,
    SAYS,
    STOPS,
    TEXT,
    call,
    model,
    request,
    result,
    said,
    sent,
    step,
    tool,
)

from turncheck.conformance.observe.observation import Observation
from turncheck.model.core.stimuli import Step, TimerAwaited, Together


def after(*pairs, **policies):
    """An observation that followed these pairs of a stimulus and its step."""
    seen = Observation(policies)
    for stimulus, answer in pairs:
        seen.follow(answer, stimulus)
    return seen


ROOT = sent("u1"), BEGUN
CALLED = CALLS, step(call(), awaiting=[model()])
RUNS = STOPS, step(awaiting=[tool()])


# The situation


@pytest.mark.parametrize(
    ("pairs", "state"),
    [
        ((), "idle"),
        ((ROOT,), "inferring"),
        ((ROOT, CALLED, RUNS), "executing"),
        ((ROOT, (STOPS, ENDED)), "idle"),
        ((ROOT, (STOPS, step(awaiting=[TimerAwaited(due=1.0)]))), None),
    ],
    ids=("nothing yet", "a request waits", "a tool runs", "ended", "only a timer"),
)
def test_the_state_is_what_the_log_and_what_is_awaited_say(pairs, state):
    assert after(*pairs).state == state


@pytest.mark.parametrize("awaited", [model(cancelled=True), tool(cancelled=True)], ids=("a request", "a tool"))
def test_what_was_cancelled_is_awaited_but_is_no_situation(awaited):
    seen = after(ROOT, (SAYS, step(awaiting=[awaited])))
    assert (seen.awaiting, seen.models, seen.tools, seen.state) == ((awaited,), [], [], None)


@pytest.mark.parametrize(
    ("pairs", "source"), [((), "idle"), ((ROOT,), "inferring"), ((ROOT, CALLED, RUNS), "executing")]
)
def test_the_row_of_an_event_is_the_states(pairs, source):
    assert after(*pairs).row("follow-up").source == source


def test_no_row_fits_where_no_state_does():
    assert after(ROOT, (STOPS, step())).row("follow-up") is None


def test_the_row_of_an_event_changes_with_the_state():
    seen = after(ROOT)
    before = seen.row("follow-up")
    seen.follow(ENDED, STOPS)
    assert (before.source, seen.row("follow-up").source) == ("inferring", "idle")


# Cycles


def test_each_position_has_the_cycle_that_was_open_before_it():
    second = (sent("u2"), step(said("u2"), request("r2")))
    assert after(ROOT, (STOPS, ENDED), second).open_cycles == [-1, 0, 0, -1, 1, 1]


def test_an_event_that_is_no_object_has_its_position():
    seen = after((sent("u1"), step("rubbish", said("u1"))))
    assert (seen.log[0], seen.open_cycles) == ({}, [-1, -1, 0])


# Messages that wait


def test_a_follow_up_waits_until_it_is_promoted():
    waits = (sent("u2", "followUp"), step(said("u2", "followUp"), awaiting=[model()]))
    assert [*after(ROOT, waits).queue] == [2]
    assert [*after(ROOT, waits, (STOPS, step(DONE, request("r2"), awaiting=[model("r2")]))).queue] == []


def steered(*pairs):
    return after(ROOT, (sent("u2", "steer"), step(said("u2", "steer"), awaiting=[model()])), *pairs).steers


def test_a_steer_is_unread_until_a_request_shows_it():
    assert steered() == [2]
    assert steered((STOPS, step(request("r2", "u1", "u2"), awaiting=[model("r2")]))) == []


def test_a_steer_stays_unread_by_a_request_that_does_not_show_it():
    assert steered((STOPS, step(request("r2", "u1"), awaiting=[model("r2")]))) == [2]


def test_a_request_whose_input_is_not_seen_shows_every_steer_before_it():
    assert steered((STOPS, step(request("r2"), awaiting=[model("r2")]))) == []


def test_a_steer_after_the_request_of_its_step_is_unread():
    late = step(said("u2", "steer"), request("r2"), said("u3", "steer"), awaiting=[model("r2")])
    assert after(ROOT, (sent("u2", "steer"), late)).steers == [4]


def test_no_steer_outlives_its_run():
    assert steered((ABORTS, ENDED)) == []


# What a request shows


def shown(*entries):
    seen = after(ROOT, (sent("u2", "followUp"), step(said("u2", "followUp"), awaiting=[model()])))
    return seen.shown(entries)


def test_a_message_is_shown_by_its_id():
    assert shown({"role": "user", "text": "?", "ids": ["u9"]}) == ["u9"]


def test_a_message_without_id_is_known_by_its_text():
    assert shown({"role": "user", "text": "say u1"}) == ["u1"]


def test_joined_messages_are_taken_apart_in_their_order():
    assert shown({"role": "user", "text": "say u2\n\nsay u1"}) == ["u2", "u1"]


def test_a_text_that_was_not_sent_is_nobodys():
    assert shown({"role": "user", "text": "surprise"}) == ["nobody's: surprise"]


def test_only_users_messages_are_shown():
    assert shown({"role": "assistant", "text": "say u1"}) == []


# The response under way


def test_a_response_has_begun_when_the_model_said_something():
    assert (after().said, after(ROOT).said) == (False, False)
    assert after(ROOT, (SAYS, step(TEXT, awaiting=[model()]))).said


def test_the_next_request_begins_a_response_anew():
    seen = after(ROOT, CALLED, RUNS, (sent("t"), step(result(), request("r2"), awaiting=[model("r2")])))
    assert (seen.said, seen.made, seen.calls) == (False, 0, 0)


def test_calls_are_counted_while_they_are_made():
    seen = after(ROOT, CALLED, CALLED)
    assert (seen.made, seen.calls) == (2, 2)


def test_calls_that_wait_while_a_tool_runs_are_counted():
    assert after(ROOT, CALLED, CALLED, CALLED, RUNS).calls == 2


def test_a_call_that_runs_before_its_response_is_over_does_not_wait():
    assert after(ROOT, (CALLS, step(call(), awaiting=[tool()]))).calls == 0


def test_every_tool_that_runs_but_one_counts_as_one_that_waits():
    runs = (STOPS, step(awaiting=[tool("c1"), tool("c2")]))
    assert after(ROOT, CALLED, CALLED, runs).calls == 1


def test_a_call_that_is_answered_without_a_run_does_not_wait():
    seen = after(ROOT, CALLED, (CALLS, step(call("c2"), result("c2"), awaiting=[model()])))
    assert seen.calls == 1


def test_no_call_outlives_its_run():
    seen = after(ROOT, CALLED, (ABORTS, ENDED))
    assert (seen.calls, seen.made, seen.said) == (0, 0, False)


# Refusals


def test_a_refused_stimulus_did_not_take_place():
    assert not after(ROOT, (SAYS, Step(awaiting=(model(),), refused=REJECTED.refused))).said


def test_of_several_stimuli_at_once_each_counts_though_one_was_refused():
    both = Together(stimuli=(SAYS, CALLS))
    seen = after(ROOT, (both, Step((TEXT, call()), (model(),), REJECTED.refused)))
    assert (seen.said, seen.made) == (True, 1)
