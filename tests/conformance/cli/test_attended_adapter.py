"""An adapter with several clients: what commands make of it, from the outside."""

import json
import shlex
import sys
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[2] / "adapters" / "kit" / "attended_runtime.py"
TARGET = "cmd:" + shlex.join([sys.executable, str(RUNTIME)])


@pytest.mark.parametrize(("variant", "broken"), [("resumes", []), ("replays", ["returning-client-misses-nothing"])])
def test_a_text_that_is_told_twice_is_found(invoke, tmp_path, variant, broken):
    ran = invoke(tmp_path, "verify", TARGET, "--variant", variant, "--examples", "5", "--json")
    laws = {law["law"]: law["verdict"] for law in json.loads(ran.out)["laws"]}
    assert [law for law, verdict in laws.items() if verdict == "fail"] == broken
    assert {laws[name] for name in ("joining-client-caught-up", "clients-see-the-same", "leaving-changes-nothing")} == {
        "pass"
    }


def test_smoke_compares_what_its_clients_show(invoke, tmp_path):
    ran = invoke(tmp_path, "smoke", TARGET, "--json", "--timeout", "20")
    outcomes = {one["step"]: one["verdict"] for one in map(json.loads, ran.out.splitlines())}
    assert outcomes["tells clients that come and go the same"] == "pass"


def test_drive_gives_who_comes_back_the_cursor_that_it_was_told_last(invoke, tmp_path):
    word = ["join", "user a", "leave", "text b", "join", "join k2"]
    ran = invoke(tmp_path, "drive", TARGET, "--timeout", "20", stdin="\n".join(word).encode())
    again = ran.out.partition("> leave")[2]
    assert ran.code == 0
    assert (again.count('k1 is told {"type":"agent-output"'), again.count("k1 is told"), again.count("k2 is told")) == (
        1,
        1,
        2,
    )
