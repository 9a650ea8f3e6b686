"""Mutants: one edited row each, of every kind; hidden ones are right once."""

from collections import Counter

import pytest

from turncheck.model.automata.distinguish import DistinguishingWords
from turncheck.model.automata.finite import bounded, views
from turncheck.model.automata.mealy import difference, flattened
from turncheck.model.automata.mutants import OPERATORS, behaviour, mutants
from turncheck.model.machines.registry import PROOF_ROLES

FLOW = PROOF_ROLES["event_flow"]
MUTANTS = [*mutants(FLOW.machine)]
RIGHT = bounded(FLOW, *views(FLOW)[0])
flattened(RIGHT)  # visits every state


def told(mutant):
    """Return the shortest word that distinguishes a mutant from the machine, under the first table."""
    right = bounded(FLOW, *views(FLOW)[0])
    word = difference(right, behaviour(mutant, right), len(right.letters))
    return None if word is None else [right.letters[letter].symbol for letter in word]


def named(row, edit, *, hidden=False):
    (found,) = [
        one
        for one in MUTANTS
        if f"{one.row.source}: {one.row.label}".startswith(row) and one.edit == edit and one.hidden == hidden
    ]
    return found


def test_every_operator_has_mutants():
    assert {one.operator for one in MUTANTS} == {*OPERATORS}


def test_each_first_order_mutant_has_a_hidden_one():
    assert Counter(one.operator for one in MUTANTS if one.hidden) == Counter(
        one.operator for one in MUTANTS if not one.hidden
    )


def test_no_two_mutants_have_one_name():
    assert len({one.name for one in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS[::97], ids=lambda one: one.name)
def test_an_edit_leaves_the_other_rows_as_they_are(mutant):
    theirs = [row for row in mutant.edited.rows if (row.event, row.source) != (mutant.row.event, mutant.row.source)]
    ours = [row for row in FLOW.machine.rows if (row.event, row.source) != (mutant.row.event, mutant.row.source)]
    assert theirs == ours


def test_a_first_order_mutant_is_told_by_the_first_visit():
    assert told(named("idle: chat", "without request")) == ["chat"]


def test_a_hidden_mutant_is_told_by_the_second_visit():
    assert told(named("idle: chat", "without request", hidden=True)) == ["chat", "response-end", "chat"]


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.hidden][::41], ids=lambda one: one.name)
def test_a_hidden_mutant_as_rows_does_what_it_does_as_a_table(mutant):
    """The mutant that runs as an implementation is the one examined here."""
    view = views(FLOW)[0]
    right = bounded(FLOW, *view)
    assert (
        difference(behaviour(mutant, right), bounded(FLOW, *view, machine=mutant.machine), len(right.letters)) is None
    )


def test_swapping_two_effects_that_do_not_meet_is_equivalent():
    assert told(named("executing: tool-result [waiting", "take before result")) is None


@pytest.mark.parametrize("mutant", MUTANTS[::23], ids=lambda one: one.name)
def test_what_is_looked_for_around_a_row_is_what_bisimulation_finds(mutant):
    found = DistinguishingWords(RIGHT).word(mutant)
    every = difference(RIGHT, behaviour(mutant, RIGHT), len(RIGHT.letters))
    assert (found is None, len(found or ())) == (every is None, len(every or ()))


@pytest.mark.parametrize("mutant", MUTANTS[::23], ids=lambda one: one.name)
def test_the_word_that_is_found_tells_the_mutant(mutant):
    word = DistinguishingWords(RIGHT).word(mutant)
    wrong = bounded(FLOW, *views(FLOW)[0], machine=mutant.machine)
    assert word is None or wrong.run(word) != RIGHT.run(word)
