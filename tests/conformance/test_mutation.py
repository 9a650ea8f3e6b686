"""What finds an edited row: the short form of `make mutants`, whose figures stand in docs/mutants.md."""

import json

import pytest

from turncheck.adapters.references.interaction.runtime import PROFILE
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.mutation.faces import MachineProjector, declared, judged
from turncheck.conformance.mutation.killing import kills
from turncheck.conformance.mutation.view import views_of
from turncheck.conformance.mutation.words import accesses, generated
from turncheck.conformance.situations import rows_for
from turncheck.conformance.verifying import verify
from turncheck.model.claims import CLAIMS
from turncheck.model.interaction import SPEC as SPEC_OF_RUNTIMES
from turncheck.model.mutants import mutants
from turncheck.model.request_cycle import SPEC

FLOW = views_of(CLAIMS["event_flow"])[0]


def called(machine, source, event, edit, *, hidden=False):
    """A mutant by what it says."""
    return next(
        one
        for one in mutants(CLAIMS[machine].machine)
        if (one.row.source, one.row.event, one.edit, one.hidden) == (source, event, edit, hidden)
    )


@pytest.fixture(scope="module")
def sample():
    return [found for _, found in kills("event_flow", part=(0, 9))]


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


def test_generation_takes_every_row_that_can_be_taken():
    reachable = set(FLOW.right.rows.values())
    assert set(accesses(FLOW)) == reachable


def test_one_seed_generates_the_same_words_again():
    assert [*generated(FLOW, examples=30, seed=7)] == [*generated(FLOW, examples=30, seed=7)]


def test_another_seed_generates_other_words():
    assert [*generated(FLOW, examples=30, seed=7)] != [*generated(FLOW, examples=30, seed=8)]


def test_the_rows_as_they_are_break_no_law_as_a_projector():
    result, _ = verify(MachineProjector(SPEC), selected(["projector"]), examples=20)
    assert [law.law for law in result.laws if law.verdict == "fail"] == []


def test_a_row_that_promotes_nobody_breaks_a_law_on_projectors():
    (found,) = judged(called("request_cycle", "active", "run-stop", "without promote"), examples=20)
    assert "follow-up-fifo" in found.laws


def test_every_row_that_can_be_caused_can_be_taken_under_some_declared_policies():
    capabilities = frozenset(PROFILE.capabilities)
    rows = [row for row in SPEC_OF_RUNTIMES.rows() if row.effects != ("not_awaited",)]
    assert [row.label for row in rows if row not in rows_for(capabilities, declared(row))] == []


def test_a_row_that_forgets_to_ask_breaks_a_law_on_runtimes():
    (found,) = judged(called("interaction", "idle", "user", "without ask"), examples=0)
    assert "run-never-stuck" in found.laws


def test_the_command_says_what_was_killed(invoke, tmp_path):
    ran = invoke(tmp_path, "mutants", "event_flow", "--every", "211", "--examples", "20", "--json")
    assert ({rate["method"] for rate in json.loads(ran.out)["rates"]} >= {"tour", "k=0", "k=1"}, ran.code) == (True, 0)
