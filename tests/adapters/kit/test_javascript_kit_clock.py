"""The JavaScript kit's clock: virtual, and the same in every word."""

from pathlib import Path

import pytest
from python_client import Client, says, stops, user

FAKES = Path(__file__).parent / "js" / "fakes.mjs"


def fake(name, *patience):
    return Client("node", str(FAKES), name, *patience)


def notes(step):
    return [event["text"] for event in step["events"] if event["type"] == "native"]


def first_step(name, **options):
    with fake(name) as client:
        client.reset(**options)
        return client.run(user("go"))[0]


def test_a_timer_fires_by_itself_while_nothing_is_awaited():
    assert notes(first_step("timer")) == ["after 5000 ms"]


def test_timers_fire_in_due_order_and_equal_ones_as_they_were_set():
    assert notes(first_step("timers")) == ["10/1", "20/2", "20/3", "30/0"]


def test_a_cleared_timer_does_not_fire_whatever_it_was_cleared_by():
    assert notes(first_step("cleared timers")) == []


def test_timers_are_virtual_wherever_they_are_imported_from():
    assert notes(first_step("imported timers")) == ["node:timers", "node:timers/promises", "promisify 5000", "tick"]


def test_a_sleep_is_ended_by_its_signal():
    assert notes(first_step("aborted sleep")) == ["AbortError"]


def test_the_timeout_of_a_signal_comes_by_the_virtual_clock():
    assert notes(first_step("signal of a timeout")) == ["TimeoutError"]


def test_an_interval_fires_until_it_is_cleared():
    assert notes(first_step("interval")) == ["at 1000", "at 2000", "at 3000"]


def test_an_interval_that_leads_to_no_event_does_not_keep_the_step_from_ending():
    step = first_step("housekeeping")

    assert step == {"events": [], "awaiting": [{"kind": "timer", "in": 60}]}


def test_an_interval_that_goes_on_logging_is_unsettled():
    with fake("chatty interval", "0.1") as client:
        client.reset()

        assert client.run(user("go"))[0]["unsettled"]


def test_a_timer_without_a_reference_waits_for_the_clock_to_pass_it():
    with fake("unreferenced timer") as client:
        client.reset()
        quiet, passed = client.run(user("go"), {"kind": "advance", "seconds": 1})

    assert quiet == {"events": [], "awaiting": []}
    assert notes(passed) == ["swept"]


def test_while_a_model_is_awaited_only_advance_fires_a_timer():
    with fake("timer beside a request") as client:
        client.reset()
        begun, sooner, due = client.run(
            user("go"), {"kind": "advance", "seconds": 3}, {"kind": "advance", "seconds": 2}
        )

    assert begun["awaiting"][1:] == [{"kind": "timer", "in": 5}]
    assert (notes(sooner), sooner["awaiting"][1:]) == ([], [{"kind": "timer", "in": 2}])
    assert (notes(due), due["awaiting"][1:]) == (["late"], [])


def test_once_the_model_has_answered_the_timer_fires_by_itself():
    with fake("timer beside a request") as client:
        client.reset()
        steps = client.run(user("go"), says("hi"), stops())

    assert [notes(step) for step in steps] == [["at once"], [], ["late"]]


def test_a_timer_of_no_delay_is_a_turn_of_the_loop_and_no_time():
    assert notes(first_step("timer beside a request", clock="manual")) == ["at once"]


def test_a_manual_clock_fires_nothing_by_itself():
    step = first_step("timer", clock="manual")

    assert step == {"events": [], "awaiting": [{"kind": "timer", "in": 5}]}


def test_time_passes_by_the_sum_of_the_advances():
    with fake("timer") as client:
        client.reset(clock="manual")
        advances = [{"kind": "advance", "seconds": seconds} for seconds in (2, 7)]
        _, _, fired = client.run(user("go"), *advances)
        later = client.run(user("again"), {"kind": "advance", "seconds": 5})[1]

    assert notes(fired) == ["after 5000 ms"]
    assert notes(later) == ["after 14000 ms"]


def test_a_reset_sets_the_clock_to_zero_and_forgets_its_timers():
    with fake("timer") as client:
        client.reset(clock="manual")
        client.run(user("go"), {"kind": "advance", "seconds": 3})
        client.reset()

        assert notes(client.run(user("go"))[0]) == ["after 5000 ms"]


def test_dates_are_of_the_virtual_clock_and_still_dates():
    assert notes(first_step("dates")) == ["2026-01-01T00:00:00.000Z", "0,true,true", "Mine"]


def test_a_timer_keeps_the_asynchronous_context_in_which_it_was_set():
    assert notes(first_step("context of a timer")) == ["kept"]


@pytest.mark.parametrize("how", ["after a reset", "in a fresh process"])
def test_random_values_are_the_same(how):
    with fake("random") as client:
        client.reset()
        one = client.run(user("go"))
        if how == "after a reset":
            client.reset()
            assert client.run(user("go")) == one
    with fake("random") as client:
        client.reset()
        assert client.run(user("go")) == one


def test_random_values_differ_within_a_word():
    with fake("random") as client:
        client.reset()
        one, other = client.run(user("go"), user("again"))

    assert notes(one) != notes(other)
