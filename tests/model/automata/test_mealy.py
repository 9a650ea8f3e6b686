"""Mealy machines as tables: minimal ones, identifiers that separate, the shortest difference."""

import random
from itertools import combinations

import pytest

from turncheck.model.automata.mealy import Mealy, difference, minimal, without_prefixes


def drawn(seed, states=6, letters=3, outputs=2):
    """A machine made at random."""
    chosen = random.Random(seed)
    row = lambda: tuple((chosen.randrange(states), f"o{chosen.randrange(outputs)}") for _ in range(letters))  # noqa: E731
    return Mealy(tuple(f"l{number}" for number in range(letters)), tuple(row() for _ in range(states)))


MACHINES = [minimal(drawn(seed)) for seed in range(20)]
DOUBLED = Mealy(("a",), (((1, "x"),), ((0, "x"),)))
"""Two states that do the same."""


def test_states_that_do_the_same_are_one():
    assert minimal(DOUBLED).table == (((0, "x"),),)


@pytest.mark.parametrize("seed", range(20))
def test_a_minimal_machine_answers_like_the_machine(seed):
    assert difference(drawn(seed), MACHINES[seed], 3) is None


@pytest.mark.parametrize("machine", MACHINES)
def test_any_two_states_share_an_identifier_on_which_they_differ(machine):
    """Harmonised: a common prefix of words of both states distinguishes them."""
    begins = [{word[:size] for word in words for size in range(1, len(word) + 1)} for words in machine.identifiers]
    for one, other in combinations(range(len(machine.table)), 2):
        common = begins[one] & begins[other]
        assert any(machine.run(word, one) != machine.run(word, other) for word in common)


@pytest.mark.parametrize("machine", MACHINES)
def test_each_state_is_covered_by_a_word_that_leads_there(machine):
    assert [machine.after(word) for word in machine.cover] == [*range(len(machine.table))]


def test_one_state_is_identified_by_every_letter():
    assert minimal(DOUBLED).identifiers == (((0,),),)


def test_the_difference_is_the_shortest():
    right = Mealy(("a", "b"), (((1, "x"), (0, "x")), ((1, "x"), (0, "x"))))
    wrong = Mealy(("a", "b"), (((1, "x"), (0, "x")), ((1, "x"), (0, "y"))))
    assert difference(right, wrong, 2) == (0, 1)


def test_a_word_that_another_begins_with_is_dropped_and_the_shortest_come_first():
    assert without_prefixes({(0,), (0, 1), (2,), (0, 1, 1)}) == ((2,), (0, 1, 1))
