"""An addition to a copy of the model must declare itself completely, and nothing else has to change."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "model"

LINT = """
from turncheck.model.declaration.lint import lint
from turncheck.model.machines.registry import PROOF_ROLES
for name, roles in PROOF_ROLES.items():
    for fault in lint(roles.machine, roles.tables):
        print(f"{name}: {fault}")
"""

UPLOAD = """
from ..declaration.machine import Machine
from ..declaration.proof_roles import MessageRoles, ProofRoles, RunRoles
from ..declaration.vocabulary import Const, Emit, Increment, Less, Register, Set

TRIES = Register("tries")
SPEC = Machine(
    name="upload",
    title="Upload",
    states=("idle", "sending"),
    initial="idle",
    final=("idle",),
    events={"send": (), "done": (), "fail": ()},
    table=[
        ["send", "idle", "sending", [], [], ["start", "begin", "request"]],
        ["send", "sending", None, [], [], ["busy"]],
        ["done", "sending", "idle", [], [], ["finish"]],
        ["fail", "sending", None, ["first"], [], ["count", "request"]],
        ["fail", "sending", "idle", [], ["first"], ["give_up"]],
    ],
    guards={"first": Less(TRIES, Const(1))},
    effects={
        "start": Set(TRIES, Const(0)),
        "begin": Emit("begin"),
        "count": Increment(TRIES),
        "request": Emit("request"),
        "busy": Emit("busy"),
        "finish": Emit("finished"),
        "give_up": Emit("gave-up"),
        "ignore": Emit("ignore"),
    },
    registers={"tries": "number"},
    always={"one retry at most": lambda state, data: data["tries"] <= 1},
    sometimes={"a retry is under way": lambda state, data: data["tries"] == 1},
    ignored=("ignore",),
)
ROLES = ProofRoles(
    SPEC,
    run=RunRoles(
        active=("sending",), begins=("begin",), ends=("finish", "give_up"), answers={"sending": ("done", "fail")}
    ),
    messages=MessageRoles(taken={"send": ("begin", "busy")}),
)
"""

LOOK = {
    "lint": """
from turncheck.model.declaration.lint import lint
print(lint(roles.machine, roles.tables))
""",
    "diagram": """
from turncheck.model.rendering.state_diagram import to_dot
print("fail" in to_dot(roles.machine))
""",
    "exploration": """
from turncheck.model.checking.explore import explore
found = explore(roles.machine, {})
print(found.states, found.violation, *found.seen)
""",
    "proofs": """
from turncheck.model.checking.proofs import PROOFS
from turncheck.model.checking.theorems.theorem import prove
print([refuted for claim in PROOFS.values() for refuted in prove(claim, roles).refutations])
""",
    "promela": """
from turncheck.model.checking.promela import promela
print("proctype m_upload" in promela(roles))
""",
    "mutants": """
from turncheck.model.automata.mutants import OPERATORS, mutants
print({one.operator for one in mutants(roles.machine)} == {*OPERATORS})
""",
}
SEEN = {
    "lint": "[]",
    "diagram": "True",
    "exploration": "5 None a retry is under way",
    "proofs": "[]",
    "promela": "True",
    "mutants": "True",
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the model, which ``said`` imports instead of the real one."""
    copy = tmp_path / "turncheck" / "model"
    shutil.copytree(MODEL, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), encoding="utf-8")


def said(model: Path, code: str) -> list[str]:
    """Return the output of *code* with *model* as the model."""
    run = f"import sys; sys.path.insert(0, {str(model.parents[1])!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_copy_is_sound(model: Path) -> None:
    assert said(model, LINT) == []


def test_a_stop_reason_that_no_policy_is_about_is_a_fault(model: Path) -> None:
    change(model / "core/events.py", '"interrupted", "error"]', '"interrupted", "error", "paused"]')
    assert said(model, LINT) == [
        "request_cycle: table 'queue_fate': None for 'paused' is none of promote | hold | drop"
    ]


def test_a_stop_reason_that_no_policy_is_about_is_a_type_error(model: Path) -> None:
    change(model / "core/events.py", '"interrupted", "error"]', '"interrupted", "error", "paused"]')
    check = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--namespace-packages"]
    done = subprocess.run(
        [*check, "--explicit-package-bases", "--follow-imports=silent", "turncheck/model/core/policies.py"],
        cwd=model.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"core/policies.py:\d+: error: Missing return statement", done.stdout)


@pytest.mark.parametrize(
    ("path", "before", "after", "places"),
    [
        (
            "core/policies.py",
            '"hold", "drop"]',
            '"hold", "drop", "archive"]',
            {
                "request_cycle: event 'run-stop' in state 'active'",
                "interaction: event 'retryable-failure' in state 'inferring'",
                "interaction: event 'fatal-failure' in state 'inferring'",
                "interaction: event 'abort' in state 'inferring'",
                "interaction: event 'abort' in state 'executing'",
                "interaction: event 'abort' in state 'paused'",
                *(f"interaction: event 'leave' in state '{state}'" for state in ("inferring", "executing", "paused")),
            },
        ),
        (
            "core/policies.py",
            '"followUp", "reject"]',
            '"followUp", "reject", "merge"]',
            {
                "interaction: event 'user' in state 'inferring'",
                "interaction: event 'user' in state 'executing'",
                "interaction: event 'user' in state 'paused'",
            },
        ),
    ],
    ids=["queue fate", "busy"],
)
def test_a_policy_value_that_no_row_is_about_is_a_fault_wherever_it_is_asked_for(
    model: Path, path: str, before: str, after: str, places: set[str]
) -> None:
    change(model / path, before, after)
    faults = said(model, LINT)
    assert all("no row for the case" in fault for fault in faults)
    assert {fault.partition(": no row")[0] for fault in faults} == places


def test_an_event_that_no_row_is_about_is_a_fault_in_every_state(model: Path) -> None:
    change(model / "machines/turn.py", '    "restart": ("TM-7.1"', '    "pause": (),\n    "restart": ("TM-7.1"')
    states = "idle receive lock understand decide approve execute respond record down torn"
    assert said(model, LINT) == [
        f"turn: event 'pause' in state '{state}': no row for the case (always): the guards are not complete"
        for state in states.split()
    ]


@pytest.mark.parametrize("what", LOOK)
def test_a_new_machine_touches_its_file_and_the_registry_and_has_everything(model: Path, what: str) -> None:
    (model / "machines/upload.py").write_text(UPLOAD, encoding="utf-8")
    registry = model / "machines/registry.py"
    change(registry, "request_cycle, turn\n", "request_cycle, turn, upload\n")
    change(registry, "collation, interaction)\n", "collation, interaction, upload)\n")
    roles = 'from turncheck.model.machines.registry import PROOF_ROLES\nroles = PROOF_ROLES["upload"]\n'
    assert said(model, roles + LOOK[what]) == [SEEN[what]]
