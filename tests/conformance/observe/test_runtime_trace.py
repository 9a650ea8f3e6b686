"""A runtime's trace: steps and their log, and what laws ask of them."""

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

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.observe.driver import Recorder
from turncheck.conformance.observe.fields import input_entries
from turncheck.conformance.observe.runtime_trace import flat, projection_policies
from turncheck.model.core.stimuli import (
    ModelFail,
    ModelStop,
    Refusal,
    ResetOptions,
    Step,
    Together,
    ToolFail,
    ToolReturn,
)


def trace(*pairs, limits=None, **policies):
    recorder = Recorder(ResetOptions(limits=limits or {}), Profile(("runtime",), (), None, policies))
    for stimulus, answer in pairs:
        recorder.observe(stimulus, answer)
    return recorder.trace()


ROOT, END = (sent("u1"), BEGUN), (STOPS, ENDED)
SECOND = sent("u2"), step(said("u2"), request("r2", "u1", "u2"), awaiting=[model("r2")])
NEXT = ModelStop(reason="end-turn", request_id="r2"), ENDED
SAID = SAYS, step(TEXT, awaiting=[model()])


# A step


@pytest.mark.parametrize(
    ("why", "figures"),
    [(None, (True, False)), ("rejected", (False, True)), ("unsupported", (False, False))],
)
def test_a_refused_stimulus_did_not_take_place(why, figures):
    (one,) = trace((sent("u1"), Step(refused=None if why is None else Refusal(why)))).steps
    assert (one.took_place, one.rejected) == figures


def test_the_oldest_request_is_the_one_that_waited():
    two = step(awaiting=[tool(), model("r1"), model("r2")])
    assert trace((sent("u1"), two), SAID).steps[1].model_before == model("r1")


def test_cancelled_runs_of_tools_are_left_out():
    awaiting = [tool("c1", cancelled=True), model(), tool("c2")]
    assert trace((sent("u1"), step(awaiting=awaiting))).steps[0].tools() == [tool("c2")]


# Cycles


def test_a_root_and_a_stop_belong_to_their_cycle():
    seen = trace(ROOT, END, SECOND)
    assert [seen.cycle_at(at) for at in range(5)] == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("at", [-1, 9])
def test_a_position_outside_the_log_is_in_no_cycle(at):
    assert trace(ROOT).cycle_at(at) == -1


def test_the_end_of_a_log_is_in_the_cycle_that_is_open():
    assert (trace(ROOT).cycle_at(2), trace(ROOT, END).cycle_at(3)) == (0, -1)


def test_a_step_knows_the_cycles_before_and_after_it():
    seen = trace(ROOT, END, SECOND)
    assert [(seen.cycle_before(one), seen.cycle_after(one)) for one in seen.steps] == [(-1, 0), (0, -1), (-1, 1)]


def test_a_step_closes_the_cycles_that_stop_within_it():
    both = (STOPS, step(DONE, said("u2"), DONE))
    seen = trace(ROOT, both)
    assert [seen.stops_within(one) for one in seen.steps] == [[], [0, 1]]


def test_the_stop_of_a_cycle_is_its_event():
    seen = trace(ROOT, END, SECOND)
    assert (seen.stop_of(0).reason, seen.stop_of(1)) == ("completed", None)


def test_an_event_is_inferred_where_the_adapter_says_so():
    seen = trace((sent("u1"), step(said("u1", source="adapter"), said("u2"))))
    assert [seen.inferred(at) for at in (0, 1, 2, None)] == [True, False, False, False]


@pytest.mark.parametrize(
    ("before", "last", "after"),
    [
        ([], STOPS, "an empty response"),
        ([SAID], STOPS, "a response"),
        ([], ABORTS, "an abort"),
        ([], ModelFail(failure="fatal"), "a failure of the model"),
    ],
)
def test_what_came_before_an_inferred_end_is_told(before, last, after):
    seen = trace(ROOT, *before, (last, step(DONE | {"source": "adapter"})))
    assert [seen.inferred_after(at) for at in (0, len(seen.log) - 1)] == ["", after]


def test_cycles_are_projected_under_the_declared_policies():
    waits = (sent("u2"), step(said("u2"), awaiting=[model()]))
    assert [len(trace(ROOT, waits, END, busy=busy).cycles) for busy in ("steer", "followUp")] == [1, 2]


# Requests and their bound


def test_a_request_has_its_place_its_input_and_its_cycle():
    (one,) = trace(ROOT).requests
    assert (one.at, one.id, one.input, one.cycle) == (1, "r1", [{"role": "user", "text": "say u1", "ids": ["u1"]}], 0)


def test_the_bound_is_the_options_or_else_the_policies():
    bounds = [trace(limits=limits, maxRounds=3).bound for limits in ({"maxRounds": 2}, {})]
    assert (bounds, trace().bound) == ([2, 3], None)


@pytest.mark.parametrize(("bound", "at", "used"), [(1, 2, True), (1, 1, False), (2, 2, False), (None, 2, False)])
def test_the_bound_is_used_up_by_the_requests_before_a_position(bound, at, used):
    assert trace(ROOT, limits={} if bound is None else {"maxRounds": bound}).used_up(0, at) is used


def test_the_requests_of_other_cycles_use_up_no_bound():
    assert not trace(ROOT, END, (sent("u2"), step(said("u2"))), limits={"maxRounds": 1}).used_up(1, 4)


# Messages


def test_each_accepted_message_has_its_place_and_its_cycle():
    waits = (sent("u3", "followUp"), step(said("u3", "followUp")))
    steers = (sent("u4", "steer"), step(said("u4", "steer")))
    seen = trace(ROOT, END, SECOND, waits, steers)
    assert seen.messages == {"u1": 0, "u2": 3, "u3": 5, "u4": 6}
    assert seen.message_cycles == {"u1": 0, "u2": 1, "u3": -1, "u4": 1}


def test_a_message_that_was_sent_is_known_though_it_was_refused():
    assert trace((sent("u1"), REJECTED)).sent == {"u1": sent("u1")}


def test_messages_that_were_sent_at_once_are_known():
    assert [*trace((Together(stimuli=(sent("u1"), ABORTS, sent("u2"))), step())).sent] == ["u1", "u2"]


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ({"role": "user", "text": "say u1", "ids": ["u7", "u8"]}, ["u7", "u8"]),
        ({"role": "user", "text": "say u1"}, ["u1"]),
        ({"role": "user", "text": "surprise"}, ["?"]),
        ({"role": "assistant", "text": "say u1"}, []),
    ],
    ids=("by its ids", "by its text", "by neither", "no user"),
)
def test_a_request_shows_messages(entry, names):
    seen = trace(ROOT)
    assert seen.shown(seen.requests[0]._replace(input=[entry])) == names


def test_a_request_whose_input_is_not_seen_shows_nothing():
    seen = trace((sent("u1"), step(said("u1"), request())))
    assert seen.shown(seen.requests[0]) == []


# Responses


def test_a_response_has_its_items_and_its_end():
    seen = trace(ROOT, SAID, END)
    assert [(one.request, one.asked, one.end) for one in seen.responses] == [("r1", 1, seen.steps[2])]
    assert seen.responses[0].items == [(seen.steps[1], SAYS)]


def test_a_response_under_way_has_no_end():
    assert trace(ROOT, SAID).responses[0].end is None


def test_a_response_without_a_name_answers_the_oldest_request():
    asked = [request("r1"), request("r2")]
    waits = (sent("u1"), step(said("u1"), *asked, awaiting=[model("r2"), model("r1")]))
    assert [one.request for one in trace(waits, SAID).responses] == ["r2"]


def test_requests_of_one_name_have_responses_of_their_own():
    again = (sent("u2"), step(said("u2"), request("r1"), awaiting=[model("r1")]))
    assert [one.asked for one in trace(ROOT, END, again, END).responses] == [1, 4]


def test_a_request_that_is_not_logged_has_no_place():
    assert trace((sent("u1"), step(said("u1"), awaiting=[model()])), END).responses[0].asked == -1


def test_what_was_refused_or_answers_no_request_is_no_response():
    refused = (SAYS, Step(awaiting=(model(),), refused=REJECTED.refused))
    assert trace((SAYS, step()), ROOT, refused).responses == []


def test_a_response_is_whole_where_the_model_stopped():
    fails = (ModelFail(failure="fatal"), ENDED)
    assert [one.request for one in trace(ROOT, fails, SECOND, NEXT).whole_responses()] == ["r2"]


# Steps of a kind


def test_steps_of_a_kind_are_those_that_took_place():
    seen = trace(ROOT, (sent("u2"), REJECTED))
    assert [*seen.of(type(sent("u1")))] == [seen.steps[0]]


def test_an_abort_hits_the_cycle_that_is_open():
    seen = trace((ABORTS, step()), ROOT, END, SECOND, (ABORTS, ENDED))
    assert [*seen.aborts()] == [(seen.steps[4], 1)]


def test_the_ends_of_a_calls_runs_are_found_by_its_id():
    runs = (STOPS, step(awaiting=[tool()]))
    returns, fails = ToolReturn(call_id="c1", output="result"), ToolFail(call_id="c2", message="no")
    seen = trace(ROOT, (CALLS, step(call())), runs, (returns, step(result())), (fails, step()))
    assert seen.returned == {"c1": [(seen.steps[3], returns)], "c2": [(seen.steps[4], fails)]}


# Functions


def test_stimuli_that_came_together_are_taken_apart():
    assert (flat(SAYS), flat(Together(stimuli=(SAYS, STOPS)))) == ((SAYS,), (SAYS, STOPS))


@pytest.mark.parametrize(
    ("declared", "active"),
    [
        ({}, "followUp"),
        ({"busy": "steer"}, "steer"),
        ({"busy": "reject"}, "followUp"),
        ({"busy": "followUp", "whileActive": "steer"}, "steer"),
    ],
)
def test_a_message_while_active_goes_where_busy_sends_it(declared, active):
    assert projection_policies(declared).while_active == active


@pytest.mark.parametrize("name", ["Interrupted", "Error"])
def test_the_fate_of_the_queue_is_the_declared_one(name):
    fate = projection_policies({f"queueAfter{name}": "drop"}).queue_fate()
    assert fate["interrupted" if name == "Interrupted" else "error"] == "drop"
    assert sorted(fate.values()).count("drop") == 1


@pytest.mark.parametrize(
    ("given", "entries"), [(None, None), ("text", None), ([{"role": "user"}, 5], [{"role": "user"}])]
)
def test_the_entries_of_an_input_are_its_objects(given, entries):
    assert input_entries(given) == entries
