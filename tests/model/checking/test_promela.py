"""Spin finds that every run that is answered ends, of every declared machine; and it finds those that do not."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from turncheck.model.checking.promela import promela
from turncheck.model.declaration.machine import NativeRow
from turncheck.model.declaration.proof_roles import ProofRoles
from turncheck.model.machines.registry import PROOF_ROLES

BUDGET = 5
"""Whims of the environment. Measured: Spin stores 55,000 states at most (interaction), in 0.1 s; each machine takes
about 1 s to compile on a busy core."""


@dataclass(frozen=True)
class Verified:
    """Spin's result: whether a run goes on without end, the states stored, and the rows never taken."""

    endless: bool
    states: int
    untaken: set[str]


def verified(text: str, folder: Path) -> Verified:
    """Verify a Promela text. Fails the test where Spin or a C compiler is missing."""
    for tool, package in (("spin", "spin"), ("gcc", "gcc")):
        if shutil.which(tool) is None:
            pytest.fail(f"{tool} is missing: on Debian and Ubuntu, apt-get install {package}")
    (folder / "machine.pml").write_text(text, encoding="utf-8")
    for command in (["spin", "-a", "machine.pml"], ["gcc", "-w", "-o", "pan", "pan.c"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    found = subprocess.run(
        ["./pan", "-a", "-m100000"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    errors = re.search(r"errors: (\d+)", found.stdout)
    states = re.search(r"(\d+) states, stored", found.stdout)
    assert errors is not None, found.stdout + found.stderr
    endless = "acceptance cycle" in found.stdout
    assert endless == (errors[1] != "0"), found.stdout  # else it is another fault, of the export
    assert states is not None
    assert "max search depth too small" not in found.stdout
    unreached = {int(line) for line in re.findall(r"machine\.pml:(\d+), state", found.stdout)}
    commands = [
        (number, line.partition("/* ")[2]) for number, line in enumerate(text.splitlines(), 1) if ":: atomic" in line
    ]
    taken = {row for number, row in commands if number not in unreached}
    return Verified(endless, int(states[1]), {row for _, row in commands} - taken)


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
def test_every_run_that_is_answered_ends(name: str, tmp_path: Path) -> None:
    found = verified(promela(PROOF_ROLES[name], BUDGET), tmp_path)
    assert not found.endless
    assert found.untaken == set()


@pytest.mark.parametrize("name", ["interaction", "conversation"])
def test_a_retry_without_end_is_refuted(name: str, tmp_path: Path) -> None:
    assert verified(promela(without(name, "retryable-failure", "try_again")), tmp_path).endless


def test_a_promotion_that_takes_nothing_from_the_queue_is_refuted(tmp_path: Path) -> None:
    assert verified(promela(without("request_cycle", "run-stop", "promote")), tmp_path).endless


def test_a_run_that_nothing_leads_out_of_is_refuted(tmp_path: Path) -> None:
    table = PROOF_ROLES["turn"].machine.table
    deaf = edited("turn", ([*row[:2], "record", *row[3:]] if row[0] == "recorded" else row for row in table))
    assert verified(promela(deaf), tmp_path).endless


def test_an_environment_that_falls_silent_is_refuted(tmp_path: Path) -> None:
    roles = PROOF_ROLES["engine"]
    answers = {state: events for state, events in roles.run.answers.items() if state != "executing"}
    silent = replace(roles, run=replace(roles.run, answers=answers))
    assert verified(promela(silent), tmp_path).endless


def test_all_that_is_no_answer_is_paid_for() -> None:
    commands = [line for line in promela(PROOF_ROLES["request_cycle"]).splitlines() if ":: atomic" in line]
    answers = [line for line in commands if '"close' in line]
    assert answers
    assert all(("budget--" in line) is (line not in answers) for line in commands)


def test_a_missing_spin_fails_and_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="apt-get install spin"):
        verified("", tmp_path)


def test_the_text_names_no_keyword_of_promela() -> None:
    text = promela(PROOF_ROLES["interaction"])
    declared = re.findall(r"^(?:int|chan|byte) (\w+)", text, re.MULTILINE)
    assert declared
    assert {name for name in declared if not re.match(r"[rt]_|state|budget", name)} == set()
