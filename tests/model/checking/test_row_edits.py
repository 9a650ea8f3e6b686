"""Edited rows, each a wrong machine: a proof refutes it, and a word shows it, or the exploration finds it."""

import pytest
from row_edits import EDITS, Edit

from turncheck.model.checking.alphabet import letters
from turncheck.model.checking.explore import explore
from turncheck.model.checking.proofs import PROOFS
from turncheck.model.checking.theorems.theorem import prove
from turncheck.model.checking.witness import steps, witness
from turncheck.model.declaration.lint import lint
from turncheck.model.machines.registry import PROOF_ROLES

PROVED = [edit for edit in EDITS if edit.by in PROOFS]
EXPLORED = [edit for edit in EDITS if edit.by not in PROOFS]


def named(edit: Edit) -> str:
    return f"{edit.machine}: {edit.name}"


def test_most_edits_are_refuted_by_a_proof() -> None:
    assert (len(PROVED), len(EDITS)) == (27, 29)


@pytest.mark.parametrize("edit", EDITS, ids=named)
def test_an_edited_machine_is_one_that_the_lint_lets_pass(edit: Edit) -> None:
    """Else the proofs would not be needed; what a row no longer uses is all that the lint sees."""
    assert [fault for fault in lint(edit.roles.machine) if "no row uses it" not in fault] == []


@pytest.mark.parametrize("edit", PROVED, ids=named)
def test_a_proof_refutes_the_edit_and_a_word_shows_it(edit: Edit) -> None:
    roles = edit.roles
    found = prove(PROOFS[edit.by], roles)
    assert found.standing == "refuted"
    shown = next((one for refuted in found.refutations if (one := witness(roles, refuted))), None)
    assert shown is not None
    *_, last = steps(roles, shown.word, shown.tables)
    assert last.row.event == edit.event


@pytest.mark.parametrize("edit", EXPLORED, ids=named)
def test_the_exploration_finds_the_edit(edit: Edit) -> None:
    roles = edit.roles
    found = explore(
        roles.machine,
        roles.tables[0],
        bound=roles.bound,
        letters=letters(roles, roles.tables[0]),
        unbounded_counters=roles.unbounded_counters,
    )
    assert found.violation is not None
    assert found.violation.promise == edit.by


@pytest.mark.parametrize("edit", EXPLORED, ids=named)
def test_no_proof_refutes_what_is_left_to_the_exploration(edit: Edit) -> None:
    assert [name for name, claim in PROOFS.items() if prove(claim, edit.roles).standing == "refuted"] == []


def test_a_word_with_a_letter_that_the_machine_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="no letter 'laugh' here; it has: user"):
        list(steps(PROOF_ROLES["interaction"], ["laugh"]))
