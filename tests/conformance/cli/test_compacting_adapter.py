"""An adapter that compacts its history: what commands make of it, from the outside."""

import json
import shlex
import sys
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[2] / "adapters" / "kit" / "compacting_runtime.py"
TARGET = "cmd:" + shlex.join([sys.executable, str(RUNTIME)])


@pytest.mark.parametrize(
    ("variant", "broken"), [("keeps", []), ("forgets", ["compaction-keeps-the-rest", "abort-amid-compaction"])]
)
def test_a_history_that_is_lost_amid_a_compaction_is_told(invoke, tmp_path, variant, broken):
    ran = invoke(tmp_path, "verify", TARGET, "--variant", variant, "--examples", "10", "--json")
    laws = {law["law"]: law["verdict"] for law in json.loads(ran.out)["laws"]}
    assert {*broken} <= {law for law, verdict in laws.items() if verdict == "fail"}
    assert laws["compaction-is-no-run"] == "pass"
    assert broken or "fail" not in laws.values()


def test_smoke_finds_the_summary(invoke, tmp_path):
    ran = invoke(tmp_path, "smoke", TARGET, "--json", "--timeout", "20")
    outcomes = {one["step"]: one["verdict"] for one in map(json.loads, ran.out.splitlines())}
    assert (ran.code, outcomes["compacts its history"]) == (0, "pass")


def test_drive_asks_for_a_compaction(invoke, tmp_path):
    word = ["user a", "text b", "stop", "compact", "text they said b", "stop", "user c"]
    ran = invoke(tmp_path, "drive", TARGET, "--timeout", "20", stdin="\n".join(word).encode())
    assert (ran.code, 'purpose="compaction"' in ran.out, "[summary] they said b" in ran.out) == (0, True, True)
