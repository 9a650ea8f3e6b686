"""The methods that find an edited row: the short form of `make mutants`, whose figures stand in docs/mutants.md."""

import json
from itertools import combinations, islice, product

import pytest

from turncheck.conformance.automata.mutation.applied import Probed, Words
from turncheck.conformance.automata.mutation.killing import Kills, kills
from turncheck.conformance.automata.mutation.mutants_as_targets import Judged, MachineProjector, judged
from turncheck.conformance.automata.mutation.report import reported
from turncheck.conformance.automata.mutation.view import paired, views_of
from turncheck.conformance.automata.mutation.words import accesses, generated, twice
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_projector
from turncheck.model.automata.mutants import behaviour, mutants
from turncheck.model.automata.suites import hsi
from turncheck.model.machines.registry import PROOF_ROLES
from turncheck.model.machines.request_cycle import SPEC

FLOW = views_of(PROOF_ROLES["event_flow"])[0]
POLICIES = PROOF_ROLES["interaction"].tables[0]


def called(machine, source, event, edit, *, hidden=False):
    """Return a mutant by its description."""
    return next(
        one
        for one in mutants(PROOF_ROLES[machine].machine)
        if (one.row.source, one.row.event, one.edit, one.hidden) == (source, event, edit, hidden)
    )


def told_by(wrong, words):
    """Return whether one of the words, each from the initial state, kills the mutant that behaves as *wrong*."""
    return any(answers(wrong, word) != FLOW.machine.run(word) for word in words)


def answers(machine, word):
    state, said = 0, []
    for letter in word:
        state, output = machine.step(state, letter)
        said.append(output)
    return tuple(said)


@pytest.fixture(scope="module")
def sample():
    return [found for _, found in kills("event_flow", every=9)]


def test_every_first_order_mutant_that_is_not_equivalent_is_killed_by_k0(sample):
    assert [one.name for one in sample if not one.equivalent and not one.hidden and not one.by["k=0"]] == []


def test_every_hidden_mutant_that_is_not_equivalent_is_killed_by_k1(sample):
    assert [one.name for one in sample if not one.equivalent and one.hidden and not one.by["k=1"]] == []


def test_hypothesis_kills_its_share_at_the_default_budget(sample):
    """The targets: 95 % of the first-order ones, 80 % of the hidden ones."""
    shares = []
    for hidden in (False, True):
        told = [one.by["hypothesis, seed 0"] for one in sample if not one.equivalent and one.hidden == hidden]
        shares.append(sum(told) / len(told))
    assert (shares[0] >= 0.95, shares[1] >= 0.8) == (True, True)


@pytest.mark.parametrize("hidden", [False, True])
def test_words_that_do_not_come_to_the_edited_place_would_not_have_told_it(hidden):
    claims = PROOF_ROLES["event_flow"]
    view = views_of(claims)[0]  # its own: wrong machines leave states of theirs in it
    suite = hsi(view.machine, 0)
    plain, probed = Words(view, lambda: suite), Probed(view, lambda: suite)
    told, found = [], []
    for mutant in islice((one for one in mutants(claims.machine) if one.hidden == hidden), 0, None, 7):
        wrong = behaviour(mutant, view.right)
        told.append([told_by(wrong, suite), told_by(wrong, [view.probed(word) for word in suite])])
        found.append([plain.kill(mutant, wrong), probed.kill(mutant, wrong)])
    assert [found, {True, False} - {one for pair in told for one in pair}] == [told, set()]


def test_generation_takes_every_row_that_can_be_taken():
    reachable = set(FLOW.right.rows.values())
    assert set(accesses(FLOW)) == reachable


def test_a_row_is_taken_twice_on_purpose():
    word = {row.effects: word for row, word in zip(accesses(FLOW), twice(FLOW, accesses(FLOW)), strict=False)}
    assert all(len(again) > 1 for again in word.values())


def test_the_tables_are_so_many_that_any_two_values_meet():
    choices = [dict(zip("abc", values, strict=True)) for values in product((1, 2, 3), (4, 5), (6, 7, 8))]
    met = {pair for choice in paired(choices) for pair in combinations(choice.items(), 2)}
    assert (met, len(paired(choices))) == ({pair for one in choices for pair in combinations(one.items(), 2)}, 9)


def test_the_parts_together_have_every_mutant():
    parts = [found.name for part in range(3) for _, found in kills("event_flow", every=60, examples=0, part=(part, 3))]
    assert sorted(parts) == sorted(found.name for _, found in kills("event_flow", every=60, examples=0))


def test_a_law_that_looks_at_everything_leaves_another_alone():
    mutant = called("request_cycle", "active", "run-stop", "without promote")
    told = Kills(0, mutant.name, mutant.operator, hidden=False, row="", edit="", difference=("a",))
    told.by = dict.fromkeys(("tour", "k=0", "k=1", "hypothesis, seed 0"), True)
    verdict = Judged(mutant.name, ("one-root", "equals-reference"), whole=True)
    laws = reported("request_cycle", [told], {mutant.name: [verdict]}, [0]).laws
    assert {law.law: law.alone for law in laws} == {"one-root": 1, "equals-reference": 0}


def test_one_seed_generates_the_same_words_again():
    assert [*generated(FLOW, examples=30, seed=7)] == [*generated(FLOW, examples=30, seed=7)]


def test_another_seed_generates_other_words():
    assert [*generated(FLOW, examples=30, seed=7)] != [*generated(FLOW, examples=30, seed=8)]


def test_the_rows_as_they_are_break_no_law_as_a_projector():
    result, _ = verify_projector(MachineProjector(SPEC), selected(["projector"]), examples=20)
    assert [law.law for law in result.laws if law.verdict == "fail"] == []


def test_a_row_that_promotes_nobody_breaks_a_law_on_projectors():
    (found,) = judged(called("request_cycle", "active", "run-stop", "without promote"), {}, examples=20)
    assert "follow-up-fifo" in found.laws


def test_a_row_that_forgets_to_ask_breaks_a_law_on_runtimes():
    (found,) = judged(called("interaction", "idle", "user", "without ask"), POLICIES, examples=0)
    assert "run-never-stuck" in found.laws


def test_the_command_says_what_was_killed(invoke, tmp_path):
    ran = invoke(tmp_path, "mutants", "event_flow", "--every", "211", "--examples", "20", "--json")
    assert ({rate["method"] for rate in json.loads(ran.out)["rates"]} >= {"tour", "k=0", "k=1"}, ran.code) == (True, 0)
