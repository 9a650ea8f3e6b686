"""Spin finds that every run that is answered ends, of every declared machine; and it finds those that do not."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from turncheck.conformance.automata.proving import BUDGET
from turncheck.conformance.automata.spin import ProgramMissingError, Verified, verified
from turncheck.model.checking.promela import promela
from turncheck.model.declaration.machine import NativeRow
from turncheck.model.declaration.proof_roles import ProofRoles
from turncheck.model.machines.registry import PROOF_ROLES


def spun(text: str) -> Verified:
    """Verify a Promela text. Fails the test where Spin or a C compiler is missing."""
    try:
        return verified(text)
    except ProgramMissingError as error:
        pytest.fail(str(error))


def edited(name: str, rows: Iterator[NativeRow]) -> ProofRoles:
    roles = PROOF_ROLES[name]
    return replace(roles, machine=replace(roles.machine, table=list(rows)))


def without(name: str, event: str, effect: str) -> ProofRoles:
    """A machine whose rows of an event leave out an effect."""
    table = PROOF_ROLES[name].machine.table
    return edited(
        name,
        ([*row[:5], [one for one in row[5] or () if one != effect]] if row[0] == event else row for row in table),
    )


@pytest.mark.parametrize("name", PROOF_ROLES)
def test_every_run_that_is_answered_ends(name: str) -> None:
    found = spun(promela(PROOF_ROLES[name], BUDGET))
    assert not found.endless
    assert found.untaken == frozenset()


@pytest.mark.parametrize("name", ["interaction", "conversation"])
def test_a_retry_without_end_is_refuted(name: str) -> None:
    assert spun(promela(without(name, "retryable-failure", "try_again"))).endless


def test_a_promotion_that_takes_nothing_from_the_queue_is_refuted() -> None:
    assert spun(promela(without("request_cycle", "run-stop", "promote"))).endless


def test_a_run_that_nothing_leads_out_of_is_refuted() -> None:
    table = PROOF_ROLES["turn"].machine.table
    deaf = edited("turn", ([*row[:2], "record", *row[3:]] if row[0] == "recorded" else row for row in table))
    assert spun(promela(deaf)).endless


@pytest.mark.parametrize(
    ("name", "event", "counts"),
    [("event_flow", "tool-result", "next_iteration"), ("engine", "stream-end", "count_round")],
)
def test_a_round_that_is_not_counted_is_refuted(name: str, event: str, counts: str) -> None:
    """The model calls a tool in each round: that costs the environment nothing."""
    assert spun(promela(without(name, event, counts))).endless


def test_rounds_of_a_turn_are_bounded_by_its_calls_as_well() -> None:
    uncounted = without("turn", "tool-return", "count_round")
    assert not spun(promela(uncounted)).endless
    rows = uncounted.machine.table
    neither = ([*row[:5], [one for one in row[5] or () if one not in {"count_call", "count_round"}]] for row in rows)
    assert spun(promela(replace(uncounted, machine=replace(uncounted.machine, table=[*neither])))).endless


def test_an_added_round_that_is_not_counted_is_refuted() -> None:
    """A failed tool is tried again: a new row asks the model, and counts nothing."""
    table = PROOF_ROLES["event_flow"].machine.table
    again: NativeRow = ["tool-failure", "executing", "streaming", [], ["unseen", "answered", "waiting"]]
    effects = ["answer_call", "failure", "number_request", "request"]
    rows = [row for row in table if row[0] != "tool-failure" or "waiting" not in (row[4] or [])]
    assert spun(promela(edited("event_flow", iter([*rows, [*again, effects]])))).endless


def test_an_environment_that_falls_silent_is_refuted() -> None:
    roles = PROOF_ROLES["engine"]
    answers = {state: events for state, events in roles.run.answers.items() if state != "executing"}
    silent = replace(roles, run=replace(roles.run, answers=answers))
    assert spun(promela(silent)).endless


def test_all_that_is_no_answer_is_paid_for() -> None:
    commands = [line for line in promela(PROOF_ROLES["request_cycle"]).splitlines() if ":: atomic" in line]
    answers = [line for line in commands if '"close' in line]
    assert answers
    assert all(("budget--" in line) is (line not in answers) for line in commands)


def test_a_missing_spin_fails_and_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="apt-get install spin"):
        spun("")


def test_the_text_names_no_keyword_of_promela() -> None:
    text = promela(PROOF_ROLES["interaction"])
    declared = re.findall(r"^(?:int|chan|byte) (\w+)", text, re.MULTILINE)
    assert declared
    assert {name for name in declared if not re.match(r"[rt]_|state|budget|calls", name)} == set()
