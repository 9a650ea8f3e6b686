"""Completion in a shell: commands, options, targets, laws and machines; and it imports nothing heavy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from turncheck.adapters.targets.runtime_catalog import known
from turncheck.conformance.cli.group import COMMANDS, COMPLETE, turncheck
from turncheck.conformance.laws.registry import LAWS
from turncheck.model.machines.registry import MACHINES

HEAVY = ("hypothesis", "transitions", "jsonschema", "graphviz", "wasmtime", "rich", "pytest")
LIMIT = 60.0  # seconds; never waited for


def completed(*words):
    """Return the completions of the last of *words*."""
    *before, last = words
    return [item.value for item in ShellComplete(turncheck, {}, "turncheck", COMPLETE).get_completions(before, last)]


def test_commands_are_completed():
    assert completed("") == sorted(COMMANDS)


def test_options_of_a_command_are_completed():
    assert "--follow" in completed("check", "--f")


@pytest.mark.parametrize("command", ["explain", "laws"])
def test_laws_are_completed(command):
    assert completed(command, "opaque-") == ["opaque-ids", "opaque-texts"]


def test_laws_of_a_verification_are_completed():
    assert completed("verify", "--laws", "run-e") == ["run-ends-once"]


@pytest.mark.parametrize("command", ["verify", "smoke", "drive", "matrix"])
def test_known_runtimes_are_completed(command):
    assert completed(command, "pi@") == [name for name in known() if name.startswith("pi@")]


def test_reference_runtimes_are_completed():
    assert "reference:turn" in completed("verify", "reference")


def test_machines_are_completed():
    assert completed("diagrams", "") == list(MACHINES)


def test_a_law_is_completed_with_what_it_says():
    items = ShellComplete(turncheck, {}, "turncheck", COMPLETE).get_completions(["explain"], "run-ends-once")
    assert [item.help for item in items] == [LAWS["run-ends-once"].says]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_turncheck(invoke, tmp_path, shell):
    ran = invoke(tmp_path, "completion", shell)
    assert ran.code == 0
    assert f"{COMPLETE}={shell}_complete" in ran.out


def test_an_unknown_shell_is_refused(invoke, tmp_path):
    assert invoke(tmp_path, "completion", "tcsh").code == 2


def test_bash_completes_by_its_script(tmp_path):
    script = (
        f'PATH={Path(sys.executable).parent}:$PATH; eval "$(turncheck completion bash)"; '
        "COMP_WORDS=(turncheck explain opaque-i); COMP_CWORD=2; _turncheck_completion turncheck; echo ${COMPREPLY[@]}"
    )
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=LIMIT)
    assert ran.stdout.split() == ["opaque-ids"], ran.stderr


@pytest.mark.parametrize("words", ["turncheck explain o", "turncheck verify p", "turncheck diagrams t"])
def test_completing_imports_nothing_heavy(words):
    code = (
        "import sys\nfrom turncheck.conformance.cli.group import main\n"
        "try:\n    main([])\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    asked = os.environ | {COMPLETE: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "2"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=asked, timeout=LIMIT)
    assert (ran.stderr, bool(ran.stdout)) == ("[]\n", True)
