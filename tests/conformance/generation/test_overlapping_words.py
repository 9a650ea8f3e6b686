"""Words in which runs overlap: directed ones, and those that a seed draws."""

import pytest
from runtimes.lifecycle.concurrent import Concurrent
from runtimes.right import Right

from turncheck.conformance.generation.lifecycle.overlapping_words import (
    Letter,
    Overlap,
    directed_overlaps,
    drawn_overlap,
)
from turncheck.conformance.generation.rare_words import rare_words
from turncheck.conformance.observe.driver import Driver
from turncheck.conformance.observe.parts.overlapping import overlaps
from turncheck.conformance.observe.parts.run_parts import parts
from turncheck.model.core.stimuli import ModelStop, ResetOptions, User

ALL = frozenset(("tools", "model-failure", "abort", "together", "model-input"))
DIRECTED = [*directed_overlaps(ALL)]


def followed(word, runtime):
    driver = Driver(runtime, ResetOptions())
    return Overlap(driver).follow(word), driver


@pytest.mark.parametrize("word", [*DIRECTED, *(drawn_overlap(seed, ALL) for seed in range(20))])
def test_a_word_is_applied_to_the_end_and_its_runs_overlap(word):
    whole, driver = followed(word, Concurrent())
    assert (whole, overlaps(driver.trace())) == (True, True)
    assert len(parts(driver.trace())) == len({letter.run for letter in word})


def test_the_second_run_ends_within_the_first_and_behind_it():
    last = {word[-1].run for word in DIRECTED}
    assert last == {0, 1}


def test_a_seed_draws_the_same_word_again():
    assert drawn_overlap(7, ALL) == drawn_overlap(7, ALL)
    assert len({drawn_overlap(seed, ALL) for seed in range(20)}) > 10


def test_what_is_not_declared_is_in_no_word():
    whats = {letter.what for word in directed_overlaps(frozenset()) for letter in word}
    assert whats == {"user", "text", "stop"}


def test_an_answer_names_the_request_of_its_run():
    _, driver = followed((Letter(0, "user"), Letter(1, "user"), Letter(1, "text"), Letter(1, "stop")), Concurrent())
    stop = driver.steps[-1].stimulus
    assert isinstance(stop, ModelStop)
    assert stop.request_id == "r2"


def test_a_word_ends_where_its_runtime_has_no_such_run():
    whole, driver = followed(DIRECTED[0], Right())
    assert (whole, len([one for one in driver.steps if isinstance(one.stimulus, User)])) == (False, 2)


def test_no_abort_comes_where_several_runs_may_be_open():
    names = {busy: {rare.name for rare in rare_words(ALL, {"busy": busy})} for busy in ("reject", "concurrent")}
    assert {"an abort and a message at once", "a message and an abort at once"} <= names["reject"] - names["concurrent"]
    assert "an abort twice" in names["concurrent"]
