"""`turncheck verify --suite n-complete`, from the outside."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from turncheck.conformance.schemas.json_schemas import schemas

TESTS = Path(__file__).parents[2]
WRONG = "cmd:" + shlex.join([sys.executable, str(TESTS / "conformance/doubles/ends_twice.py")])
RIGHT = "reference:interaction"
SUITE = ("--suite", "n-complete", "--laws", "run-ends-once")
RUN = ("--letters", "user red", "--letters", "model-stop", "--letters", "abort")
VALID = Draft202012Validator(schemas()["verify.json"])


@pytest.fixture(scope="module")
def right(invoke, tmp_path_factory):
    return invoke(tmp_path_factory.mktemp("right"), "verify", RIGHT, *SUITE, *RUN, "-k", "2")


@pytest.fixture(scope="module")
def wrong(invoke, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    return folder, invoke(folder, "verify", WRONG, *SUITE, *RUN, "--out", ".")


@pytest.fixture(scope="module")
def told(invoke, tmp_path_factory):
    return json.loads(invoke(tmp_path_factory.mktemp("told"), "verify", RIGHT, *SUITE, *RUN, "--json").out)


@pytest.fixture(scope="module")
def cut(invoke, tmp_path_factory):
    # Some ten seconds of words on the machine that this was written on, and a third of a second to know the model.
    letters = [
        part
        for name in ("user*", "steer*", "follow-up*", "text", "model-stop", "abort")
        for part in ("--letters", name)
    ]
    return invoke(tmp_path_factory.mktemp("cut"), "verify", RIGHT, *SUITE, *letters, "-k", "2", "--budget", "2")


def test_a_target_that_is_as_the_model_exits_with_0(right):
    assert right.code == 0, right.err


def test_size_and_time_are_said_before_it_runs(right):
    first, second, *_ = right.err.splitlines()
    assert first.startswith("suite hsi, k=2: ")
    assert first.endswith(" stimuli")
    assert second.startswith("about ")


def test_the_guarantee_says_its_assumptions(right):
    assert "if it is deterministic, can be reset, and has at most 4 states over them (2 + 2)." in right.out


def test_the_guarantee_says_what_is_not_covered(right):
    assert "not covered: payloads beyond two colours; more than 1 waiting of a kind" in right.out


def test_the_guarantee_names_the_letters(right):
    assert "letters: user red, model-stop, abort\n" in right.out


def test_a_wrong_target_exits_with_1_and_gets_no_guarantee(wrong):
    assert (wrong[1].code, "no guarantee: the target differs from the model" in wrong[1].out) == (1, True)


def test_the_shortest_word_is_shown_with_both_outputs(wrong):
    shown = wrong[1].out[wrong[1].out.index("✗ equals-model: ") :]
    assert shown.index("→ user") < shown.index("→ abort") < shown.index('expected  "stop interrupted → nothing"')


def test_the_counterexample_is_replayed(invoke, wrong):
    folder, _ = wrong
    (file,) = folder.glob("*.equals-model.json")
    assert invoke(folder, "replay", file, "--run").out.splitlines()[-1].startswith("STILL FAILS: ")


def test_the_counterexample_is_fixed_in_the_reference(invoke, wrong):
    folder, _ = wrong
    (file,) = folder.glob("*.equals-model.json")
    assert invoke(folder, "replay", file, "--target", RIGHT).out.splitlines()[-1].startswith("FIXED")


def test_a_cut_suite_prints_no_guarantee(cut):
    assert ("guarantee:\n" in cut.out, "words were applied: the time budget was used up" in cut.out) == (False, True)


def test_the_json_has_the_suite(told):
    suite = told["coverage"]["suite"]
    assert {name: suite[name] for name in ("method", "k", "n", "letters", "complete")} == {
        "method": "hsi",
        "k": 1,
        "n": 2,
        "letters": ["user red", "model-stop", "abort"],
        "complete": True,
    }
    assert suite["guarantee"][0].startswith("over these 3 letters")


def test_the_json_is_as_its_schema_says(told):
    assert [error.message for error in VALID.iter_errors(told)] == []


def test_without_a_suite_its_law_is_not_judged(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", RIGHT, "--laws", "equals-model")
    assert (ran.code, "no law on a projector or a runtime" in ran.err or "no law on a runtime" in ran.err) == (2, True)


def test_a_projector_has_no_suite(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference", *SUITE)
    assert (ran.code, "a suite is for runtimes, and this target is a projector" in ran.err) == (2, True)


def test_a_letter_that_is_none_names_the_letters(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", RIGHT, *SUITE, "--letters", "sing")
    assert (ran.code, "no letter of this target fits 'sing'; it has: user red" in ran.err) == (2, True)
