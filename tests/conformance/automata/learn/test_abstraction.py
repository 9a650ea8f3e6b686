"""A runtime through a finite alphabet: the stimulus of each letter, and the output of a step."""

import pytest
from runtimes import unlearnable, wrong
from runtimes.right import Right

from turncheck.conformance.automata.learn.abstraction import (
    BEYOND,
    LETTERS,
    NOT_AWAITED,
    Abstracted,
    Bounds,
    letter_named,
    letters_of,
)
from turncheck.conformance.observe.driver import UnsettledError


def outputs(runtime, letters, bounds=Bounds(), **options):  # noqa: B008 - frozen
    system = Abstracted(runtime, bounds, **options)
    system.reset()
    return [str(system.step(letter_named(letter))) for letter in letters]


def last(runtime, *letters, **options):
    return outputs(runtime, letters, **options)[-1]


def test_a_runtime_with_every_capability_can_be_told_every_letter():
    assert letters_of([*Right().profile.capabilities, "clients"]) == LETTERS


@pytest.mark.parametrize(("lacks", "letters"), [("steer", {"steer red", "steer blue"}), ("clients", {"join", "leave"})])
def test_a_runtime_without_a_capability_has_no_letter_for_it(lacks, letters):
    told = letters_of([one for one in (*Right().profile.capabilities, "clients") if one != lacks])
    assert {*map(str, set(LETTERS) - set(told))} == letters


def test_a_request_shows_the_colour_of_the_message_that_is_new_in_it():
    assert last(Right(), "user blue") == "user blue, request(blue) → model"


def test_what_was_shown_before_is_not_new():
    word = ("user blue", "tool-call", "model-stop", "tool-return")
    assert last(Right(), *word) == "result ok, request() → model"


def test_messages_show_in_the_order_in_which_the_model_is_shown_them():
    word = ("user red", "steer blue", "steer red", "model-stop")
    assert last(Right(), *word, bounds=Bounds(messages=2)) == "request(blue, red) → model"


def test_a_step_that_says_nothing_is_quiet():
    assert last(Right(), "abort") == "quiet → nothing"


def test_a_refusal_is_an_output():
    assert last(Right(busy="reject"), "user red", "user blue") == "refused → model"


@pytest.mark.parametrize("letter", ["text", "tool-call", "model-stop", "fatal-failure", "tool-return"])
def test_a_letter_that_nobody_waits_for_is_answered_without_asking(letter):
    system = Abstracted(Right())
    system.reset()
    assert (system.step(letter_named(letter)), system.applied) == (NOT_AWAITED, ())


def test_a_second_waiting_message_is_beyond_a_bound_of_one():
    assert last(Right(), "user red", "follow-up red", "follow-up blue") == str(BEYOND)


def test_a_message_that_was_taken_makes_room_for_the_next():
    word = ("user red", "follow-up red", "model-stop", "follow-up blue")
    assert last(Right(), *word) == "follow-up blue → model"


def test_a_runtime_that_rejects_is_asked_whatever_waits():
    assert last(Right(busy="reject"), "user red", "follow-up red", "user blue") == "refused → model"


def test_a_runtime_that_accepts_what_it_declares_to_reject_is_asked_once():
    assert last(unlearnable.AcceptsWhatItRejects(), "user red", "user red", "user blue") == str(BEYOND)


def test_steers_and_follow_ups_have_a_bound_each():
    assert last(Right(), "user red", "follow-up red", "steer blue") == "steer blue → model"


def test_a_second_call_is_beyond_a_bound_of_one():
    assert last(Right(), "user red", "tool-call", "tool-call") == str(BEYOND)


def test_results_are_told_apart_by_the_place_of_their_calls():
    word = ("user red", "tool-call", "tool-call", "model-stop", "tool-return", "abort")
    assert outputs(Right(), word, Bounds(calls=2))[-2:] == [
        "result 1 ok → tool",
        "result 2 synthetic, stop interrupted → nothing",
    ]


def test_several_tools_that_run_side_by_side_are_counted():
    word = ("user red", "tool-call", "tool-call", "model-stop")
    assert last(Right(tools="parallel"), *word, bounds=Bounds(calls=2)) == "quiet → 2 tools"


def test_a_retryable_failure_after_a_text_breaks_the_stream_off():
    assert last(Right(retries=1), "user red", "text", "retryable-failure") == "stop error → nothing"


def test_a_request_with_an_unanswered_call_is_ill_formed():
    word = ("user red", "tool-call", "tool-call", "model-stop", "tool-return", "tool-return")
    runtime = wrong.LosesTheSecondResult(tools="parallel")
    assert last(runtime, *word, bounds=Bounds(calls=2)) == "request() ill-formed → model"


def test_policies_are_those_of_the_reset():
    assert last(Right(), "user red", "user blue", policies={"busy": "reject"}) == "refused → model"


def test_an_unsettled_step_is_raised_and_the_word_is_over():
    system = Abstracted(unlearnable.NoQuietAfterATool())
    system.reset()
    for letter in ("user red", "tool-call", "model-stop"):
        system.step(letter_named(letter))
    with pytest.raises(UnsettledError):
        system.step(letter_named("tool-return"))
    with pytest.raises(RuntimeError, match="reset first"):
        system.step(letter_named("abort"))
