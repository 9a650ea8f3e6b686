"""``turncheck prove`` and ``turncheck export``."""

import json

import pytest
from click.testing import CliRunner, Result

from turncheck.conformance.cli.commands import export, prove
from turncheck.model.machines.registry import PROOF_ROLES

OWN = """
from dataclasses import replace
from turncheck.model.machines.registry import PROOF_ROLES
right = PROOF_ROLES["conversation"]
rows = [[*row[:5], [one for one in row[5] or () if one != "skip"]] for row in right.machine.table]
WRONG = replace(right, machine=replace(right.machine, table=rows))
PARTIAL = replace(right, machine=replace(right.machine, table=[row for row in rows if row[0] != "join"]))
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(prove.command, arguments)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module whose machine skips no call when it is cancelled."""
    (tmp_path / "own_machine.py").write_text(OWN, "utf-8")
    monkeypatch.chdir(tmp_path)
    return "own_machine:WRONG"


def test_a_theorem_stands_with_its_method_and_how_far():
    ran = run("engine", "-t", "calls-answered", "-t", "promises-hold")
    assert ran.exit_code == 0
    assert ran.output.splitlines() == [
        "engine",
        "  calls-answered           proved    z3           any size",
        "  promises-hold            explored  exploration  sizes to 3, 1,308 states",
    ]


def test_a_vacuous_theorem_says_what_the_machine_lacks():
    assert (
        "rounds-bounded           vacuous   z3           it has no bounds of rounds"
        in run("conversation", "-t", "rounds-bounded").output
    )


def test_seconds_are_shown_on_request():
    timed, plain = (run("engine", "-t", "no-message-lost", *more).output for more in (["--timings"], []))
    assert timed.rstrip().endswith(" s")
    assert not plain.rstrip().endswith(" s")


def test_a_refutation_exits_1_and_shows_a_word_that_can_be_replayed(own):
    ran = run(own, "-t", "calls-answered")
    assert ran.exit_code == 1
    assert "every call is answered before the stop" in ran.output
    word = next(line for line in ran.output.splitlines() if line.startswith("    word")).split(maxsplit=1)[1]
    replayed = run(own, "--word", word)
    assert replayed.exit_code == 0
    assert "◂ stop(interrupted, cancelled)" in replayed.output
    assert "◂ skip" not in replayed.output


def test_json_has_one_object_per_theorem(own):
    ran = run(own, "-t", "calls-answered", "-t", "rounds-bounded", "--json")
    found = [json.loads(line) for line in ran.output.splitlines()]
    assert [(one["theorem"], one["standing"]) for one in found] == [
        ("rounds-bounded", "vacuous"),
        ("calls-answered", "refuted"),
    ]
    assert found[1]["word"][-1] == "cancel"


def test_the_theorems_are_listed():
    listed = run("--list", "--method", "spin").output
    assert listed.startswith("every-run-ends")
    assert "X-5" in listed


def test_without_spin_termination_is_not_run_and_nothing_is_claimed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run("request_cycle", "-t", "every-run-ends")
    assert ran.exit_code == 2
    assert "not run   spin         spin is missing" in ran.output


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["turm"], "no machine is named 'turm'; there are: request_cycle"),
        (["no_module:ROLES"], "cannot be imported"),
        (["turncheck.model.machines.turn:SPEC"], "is no ProofRoles, but Machine"),
        (["turn", "-t", "all"], "no theorem is named 'all'; there are: one-terminal"),
        (["--word", "user"], "--word needs a MACHINE"),
        (["turn", "--word", "laugh"], "no letter 'laugh' here; it has: inbound"),
        (["turn", "--word", "", "--tables", "9"], "the machine has 2 tables"),
    ],
)
def test_what_cannot_be_done_says_why(given, says):
    ran = run(*given)
    assert ran.exit_code != 0
    assert says in " ".join(ran.output.split())


def test_a_machine_that_misses_rows_is_refused_with_the_first_one(own):
    name = own.replace("WRONG", "PARTIAL")
    ran = run(name, "-t", "calls-answered")
    assert ran.exit_code == 2
    assert "cannot be stepped: event 'join' in state 'idle': no row" in " ".join(ran.output.split())


def exported(*arguments: str) -> Result:
    return CliRunner().invoke(export.command, arguments)


@pytest.mark.parametrize("machine", PROOF_ROLES)
def test_every_machine_is_exported_as_json(machine):
    found = json.loads(exported("json", machine).output)
    assert len(found["rows"]) == len(PROOF_ROLES[machine].machine.rows)


def test_a_guard_is_exported_as_nested_objects():
    found = json.loads(exported("json", "turn").output)["guards"]["calls_left"]
    assert [found["kind"], found["subject"]] == ["Less", {"kind": "Register", "name": "calls"}]


def test_promela_and_dot_are_exported():
    assert "proctype m_engine" in exported("promela", "engine").output
    assert exported("dot", "engine").output.startswith("digraph engine {")


def test_an_export_can_be_written_to_a_file(tmp_path):
    assert exported("json", "turn", "--out", str(tmp_path / "turn.json")).output == ""
    assert json.loads((tmp_path / "turn.json").read_text("utf-8"))["name"] == "turn"
