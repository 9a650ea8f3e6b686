"""`turncheck verify` and `replay` of a runtime, from the outside."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]


def program(path):
    return "cmd:" + shlex.join([sys.executable, str(TESTS / path)])


RIGHT = program("adapters/kit/null_runtime.py")
WRONG = program("conformance/doubles/ends_twice.py")
PARTLY = program("conformance/doubles/infers_aborts.py")
BREAKS = "breaks the law: a run-stop while no run is open: the run has ended already"


@pytest.fixture(scope="module")
def right(invoke, tmp_path_factory):
    return invoke(tmp_path_factory.mktemp("right"), "verify", RIGHT, "--examples", "10", "--json")


@pytest.fixture(scope="module")
def wrong(invoke, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    return folder, invoke(folder, "verify", WRONG, "--examples", "0", "--out", ".")


@pytest.fixture(scope="module")
def file(wrong):
    folder, _ = wrong
    (path,) = folder.glob("*.run-ends-once.json")
    return path


def test_a_conforming_runtime_exits_with_0(right):
    assert right.code == 0, right.out


def test_the_result_counts_words_stimuli_and_rows(right):
    coverage = json.loads(right.out)["coverage"]
    assert coverage["words"] >= 10
    assert coverage["stimuli"] > coverage["words"]
    assert coverage["missed"] == []


def test_a_pass_that_rests_on_the_adapter_in_part_says_so(invoke, tmp_path):
    out = invoke(tmp_path, "verify", PARTLY, "--laws", "run-ends-once", "--examples", "0").out
    assert re.search(
        r"^✓ run-ends-once +pass +[\d,]+ times, and [\d,]+ more inferred by the adapter, [^\n]*after an? ",
        out,
        re.MULTILINE,
    )


def test_a_wrong_runtime_exits_with_1_and_shows_the_shortest_word(wrong):
    _, ran = wrong
    assert ran.code == 1
    shown = ran.out[ran.out.index("✗ run-ends-once: ") :]
    assert shown.index("→ user") < shown.index("→ abort") < shown.index("▶") < shown.index("X-3")


def test_the_counterexample_holds_a_message_and_an_abort(file):
    assert [stimulus["kind"] for stimulus in json.loads(file.read_text())["word"]["stimuli"]] == ["user", "abort"]


def test_what_is_stored_is_judged_without_starting_anything(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", file)
    assert (ran.code, ran.out.splitlines()[-1]) == (1, f"STILL FAILS: what the file stores {BREAKS}")


def test_the_word_is_applied_again_with_run(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", file, "--run")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, f"STILL FAILS: {WRONG} {BREAKS}")


def test_another_runtime_may_have_it_fixed(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", file, "--target", RIGHT)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"FIXED: {RIGHT} keeps the law")


def test_a_projector_cannot_replay_a_word(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", file, "--target", "reference")
    assert ran.code == 2
    assert "not a runtime" in ran.err


def test_a_dry_run_says_what_would_be_judged_in_each_role(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", RIGHT, "--dry-run", "--laws", "*ends-once", "--laws", "total")
    assert ran.code == 0
    assert "if the target is a runtime" in ran.out
    assert "1 laws on 300 generated words of up to 20 stimuli with seed 0" in ran.out


def test_a_law_of_another_role_is_no_law_of_the_target(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", RIGHT, "--laws", "follow-up-fifo", "--examples", "0")
    assert ran.code == 2
    assert "no law on a runtime is called 'follow-up-fifo'" in ran.err


def test_causes_are_counted_and_the_root_comes_first(wrong):
    _, ran = wrong
    assert re.search(r"^cause 1 of \d: run-ends-once", ran.out, re.MULTILINE)
    assert re.search(r"^\d causes?, \d laws; ", ran.out, re.MULTILINE)


def test_json_names_each_counterexample_of_a_cause(invoke, tmp_path):
    result = json.loads(invoke(tmp_path, "verify", WRONG, "--examples", "0", "--json").out)
    files = [one["counterexample"] for cause in result["causes"] for one in cause["failures"]]
    assert [file for file in files if not (tmp_path / file).is_file()] == []
    assert {law["counterexample"] for law in result["laws"] if law["verdict"] == "fail"} <= set(files)
