"""Learning: the machine that is there, no more and no less, the same under every hash seed; and what differs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtimes import unlearnable, wrong
from runtimes.right import Right

from turncheck.adapters.protocol.errors import TargetError
from turncheck.conformance.automata.learn.abstraction import (
    BEYOND,
    LOCAL,
    NOT_AWAITED,
    Abstracted,
    Bounds,
    letter_named,
)
from turncheck.conformance.automata.learn.learned import compare, learn_runtime
from turncheck.conformance.automata.learn.learning import NondeterministicError, NoQuietError, Teacher, pumped
from turncheck.conformance.report.learned_diagram import comparison_svg, machine_svg
from turncheck.model.automata.mealy import Mealy
from turncheck.model.automata.suites import wp_words

TESTS = Path(__file__).parents[3]
MESSAGES = ("user red", "follow-up red", "follow-up blue", "model-stop")
ONE_COLOUR = ("user red", "follow-up red", "model-stop")
RETRIES = ("user red", "model-stop", "retryable-failure", "abort")
TWO = Bounds(messages=2)


def learned(runtime, letters, bounds=TWO, extra=1, **options):
    return learn_runtime(
        runtime,
        [*map(letter_named, letters)],
        bounds=bounds,
        policies={},
        limits=options.pop("limits", {}),
        extra=extra,
        **options,
    )


# ---- what is learned ----


def test_a_queue_of_two_in_two_colours_has_eight_states():
    """Idle, and the queues of up to two: one, two of one message, four of two."""
    assert len(learned(Right(), MESSAGES).states) == 1 + (1 + 2 + 4)


def test_in_one_colour_it_has_four():
    assert len(learned(Right(), ONE_COLOUR).states) == 1 + 3


def test_three_retries_are_told_apart():
    """Idle and four attempts: a counter lies deeper than one extra state reaches."""
    assert len(learned(Right(retries=3, busy="reject"), RETRIES).states) == 1 + 4


def test_every_state_answers_every_letter():
    found = learned(Right(), MESSAGES)
    assert len(found.transitions) == len(found.states) * len(MESSAGES)


def test_the_initial_state_awaits_nothing_and_the_next_one_the_model():
    found = learned(Right(), MESSAGES)
    assert [(state.access, state.awaits) for state in found.states[:2]] == [((), "nothing"), (("user red",), "model")]


def test_what_was_learned_to_the_end_says_what_is_claimed():
    found = learned(Right(), ONE_COLOUR)
    assert found.cut is None
    assert "at most 5 states" in (found.claim or "")


def test_a_bound_on_rounds_is_seen_where_the_limit_is_given():
    letters = ("user red", "tool-call", "model-stop", "tool-return")
    found = learned(Right(), letters, limits={"maxRounds": 1})
    assert "result ok, stop error → nothing" in {one.output for one in found.transitions}


# ---- how it is tested ----


def test_a_machine_of_one_state_is_tested_with_words_of_three_letters():
    """With a single state, every letter identifies it; AALpy's own suite ends after one."""
    one = Mealy(("a", "b"), (((0, "x"), (0, "x")),))
    assert {len(word) for word in wp_words(one, 1)} == {1, 2, 3}


def test_a_runtime_whose_first_conjecture_has_one_state_is_learned_whole():
    found = learned(Right(busy="reject"), ("user red", "abort"))
    assert (len(found.states), found.figures.rounds) == (2, 2)


def test_the_suite_goes_no_further_after_a_letter_that_is_answered_without_asking():
    table = (((0, "x"), (0, NOT_AWAITED)), ((1, "y"), (1, BEYOND)))[:1]
    words = [*wp_words(Mealy(("a", "b"), table), 1, still=LOCAL)]
    assert all(1 not in word[:-1] for word in words)


def test_every_cycle_is_gone_five_times():
    loop = Mealy(("a",), (((0, "x"),),))
    assert (0,) * 6 in {*pumped(loop)}


def test_a_word_that_is_known_is_not_played_again():
    teacher = Teacher(Abstracted(Right(), TWO), [*map(letter_named, MESSAGES)], stimuli=100, deadline=float("inf"))
    teacher.ask((0, 1, 2))
    teacher.ask((0, 1))
    assert teacher.figures.words == 1


# ---- what ends it ----


def test_two_answers_end_it_with_the_word_and_both():
    with pytest.raises(NondeterministicError) as error:
        learned(unlearnable.RefusesByChance(), MESSAGES)
    assert error.value.letters[0] == "user red"
    assert {error.value.first, error.value.then} <= {
        f"{said} → model" for said in ("refused", "user red", "follow-up red", "follow-up blue")
    }


def test_no_quiet_ends_it_with_the_word():
    with pytest.raises(NoQuietError) as error:
        learned(unlearnable.NeverQuiet(), MESSAGES)
    assert error.value.letters[0] == "user red"


def test_a_used_up_budget_leaves_a_conjecture_and_no_claim():
    found = learned(Right(), MESSAGES, stimuli=60)
    assert (found.claim, found.cut) == (None, "the budget of 60 stimuli was used up")


def test_a_budget_too_small_for_a_conjecture_is_an_error():
    with pytest.raises(TargetError, match="nothing was learned"):
        learned(Right(), MESSAGES, stimuli=1)


# ---- hash seeds ----

SCRIPT = """
import sys, msgspec
from runtimes.right import Right
from turncheck.conformance.automata.learn.abstraction import Bounds, letters_of
from turncheck.conformance.automata.learn.learned import learn_runtime
runtime = Right()
letters = [one for one in letters_of(runtime.profile.capabilities) if one.kind != "steer"]
found = learn_runtime(runtime, letters, bounds=Bounds(), policies={}, limits={}, extra=1)
sys.stdout.buffer.write(msgspec.json.encode(found))
"""


def test_another_hash_seed_gives_the_same_bytes():
    def bytes_of(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)}
        return subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, check=True, capture_output=True, timeout=120
        ).stdout

    first = bytes_of("1")
    assert b'"states"' in first
    assert bytes_of("2") == first


# ---- differences ----


def difference(runtime, letters, bounds=TWO):
    return compare(learned(runtime, letters, bounds), learned(Right(), letters, bounds)).differences


def test_a_machine_agrees_with_itself():
    assert difference(Right(), MESSAGES) == ()


def test_last_in_first_out_differs_after_the_shortest_word():
    first = difference(wrong.LastInFirstOut(), MESSAGES)[0]
    assert (first.word, first.expected, first.observed) == (
        ("user red", "user red", "follow-up blue", "model-stop"),
        "stop completed, request(red) → model",
        "stop completed, request(blue) → model",
    )


def test_without_colours_last_in_first_out_passes():
    assert difference(wrong.LastInFirstOut(), ONE_COLOUR) == ()


@pytest.fixture(scope="module")
def wrong_abort():
    letters, policies = ("user red", "abort"), {"busy": "reject"}
    return compare(learned(wrong.AbortCompletes(**policies), letters), learned(Right(**policies), letters))


def test_a_step_that_differs_is_one_missing_and_one_extra_transition(wrong_abort):
    assert wrong_abort.counts == {"agreed": 3, "missing": 1, "extra": 1}


def test_what_is_missing_is_drawn_dashed_and_what_is_extra_heavy(wrong_abort):
    svg = comparison_svg(wrong_abort)
    assert (svg.count('stroke-dasharray="5,2"'), svg.count('stroke-width="3"')) == (1, 2)  # its arrow is heavy too


def test_machines_over_different_letters_cannot_be_compared():
    with pytest.raises(ValueError, match="different letters"):
        compare(learned(Right(), MESSAGES), learned(Right(), ONE_COLOUR))


# ---- pictures ----


def test_states_that_are_images_by_the_colours_are_drawn_once():
    found = learned(Right(), ("user red", "user blue", "follow-up red", "follow-up blue", "model-stop"), Bounds())
    svg = machine_svg(found)
    assert (len(found.states), svg.count('class="node"')) == (4, 3)


def test_a_machine_without_that_symmetry_is_drawn_whole():
    found = learned(Right(), MESSAGES)
    assert machine_svg(found).count('class="node"') == len(found.states)
