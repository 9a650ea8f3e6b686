"""An adapter whose session has several runs at once: what commands make of it, from the outside."""

import json
import shlex
import sys
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[2] / "adapters" / "kit" / "concurrent_runtime.py"
TARGET = "cmd:" + shlex.join([sys.executable, str(RUNTIME)])


@pytest.mark.parametrize(("variant", "broken"), [("merges", []), ("last-writer-wins", ["no-update-lost"])])
def test_a_lost_update_is_told_and_nothing_else(invoke, tmp_path, variant, broken):
    options = ("--variant", variant, "--examples", "10", "--json")
    ran = invoke(tmp_path, "verify", TARGET, *options)
    laws = json.loads(ran.out)["laws"]
    assert [law["law"] for law in laws if law["verdict"] == "fail"] == broken
    assert {law["law"] for law in laws if law["verdict"] == "pass"} >= {"runs-begin-at-once", "runs-kept-apart"}


def test_smoke_finds_a_run_beside_the_open_one(invoke, tmp_path):
    ran = invoke(tmp_path, "smoke", TARGET, "--json", "--timeout", "20")
    outcomes = {one["step"]: one["verdict"] for one in map(json.loads, ran.out.splitlines())}
    assert (ran.code, outcomes["follows its policy for a message while it is busy"]) == (0, "pass")


def test_drive_answers_the_run_that_is_named(invoke, tmp_path):
    word = ["user a", "user b", '{"kind": "model-stop", "reason": "end-turn", "requestId": "r2"}']
    ran = invoke(tmp_path, "drive", TARGET, "--timeout", "20", stdin="\n".join(word).encode())
    assert (ran.code, 'run-stop      reason="completed"  runId="run2"' in ran.out) == (0, True)


def test_a_suite_is_refused_for_its_model_has_one_run(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", TARGET, "--variant", "merges", "--suite", "n-complete")
    assert ran.code != 0
    assert "the model of a suite has one run at a time" in ran.err
