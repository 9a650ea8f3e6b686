"""`turncheck learn`, from the outside."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from turncheck.conformance.schemas.json_schemas import schemas

TESTS = Path(__file__).parents[2]
RIGHT = "reference:interaction"
CHANCE = "cmd:" + shlex.join([sys.executable, str(TESTS / "conformance/doubles/answers_by_chance.py")])
RUN = ("-a", "user red", "-a", "model-stop", "-a", "abort")
VALID = Draft202012Validator(schemas()["learn.json"])


@pytest.fixture(scope="module")
def shown(invoke, tmp_path_factory):
    return invoke(tmp_path_factory.mktemp("shown"), "learn", RIGHT, *RUN)


@pytest.fixture(scope="module")
def chance(invoke, tmp_path_factory):
    return invoke(tmp_path_factory.mktemp("chance"), "learn", CHANCE, "-a", "user*", "-a", "model-stop")


@pytest.fixture(scope="module")
def compared(invoke, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    options = ("--diff", "reference:conversation", "-a", "user red", "-a", "text", "-a", "model-stop")
    return folder, invoke(folder, "learn", RIGHT, *options, "--svg", "both.svg")


def test_a_machine_that_was_learned_exits_with_0(shown):
    assert shown.code == 0, shown.err


def test_each_state_is_shown_with_the_letters_that_lead_there(shown):
    assert "  1  awaits model; after user red\n" in shown.out


def test_what_a_letter_leads_to_is_shown_with_the_next_state(shown):
    assert "abort              stop interrupted → nothing  (0)" in shown.out


def test_the_assumptions_are_said(shown):
    assert "if it is deterministic, can be reset, and has at most 3 states" in shown.out


def test_two_answers_exit_with_1(chance):
    assert chance.code == 1, chance.err


def test_two_answers_are_shown_with_the_word_and_the_clause(chance):
    assert chance.out.startswith("✗ not deterministic: the same stimuli had two answers of cmd:")
    assert (
        chance.out.index("→ user red") < chance.out.index("first") < chance.out.index("then") < chance.out.index("X-2")
    )


def test_a_difference_exits_with_1(compared):
    assert compared[1].code == 1, compared[1].err


def test_a_difference_is_shown_by_its_shortest_letters(compared):
    assert compared[1].out.startswith(
        "  1  user red, text\n       missing  quiet → model\n       extra    text → model\n"
    )


def test_the_picture_is_written(compared):
    folder, _ = compared
    assert "reference:interaction over reference:conversation" in (folder / "both.svg").read_text()


@pytest.mark.parametrize("more", [(), ("--diff", RIGHT)], ids=["a machine", "two"])
def test_the_json_is_as_its_schema_says(invoke, tmp_path, more):
    ran = invoke(tmp_path, "learn", RIGHT, *RUN, *more, "--json")
    assert [error.message for error in VALID.iter_errors(json.loads(ran.out))] == []


def test_a_machine_over_itself_exits_with_0(invoke, tmp_path):
    assert invoke(tmp_path, "learn", RIGHT, *RUN, "--diff", RIGHT).code == 0


def test_diff_alone_means_the_interaction_machine_under_the_declared_policies(invoke, tmp_path):
    ran = invoke(tmp_path, "learn", RIGHT, "-a", "user red", "-a", "model-stop", "--policy", "busy=followUp", "--diff")
    assert (ran.code, "no difference" in ran.out) == (0, True)


def test_a_letter_that_is_none_exits_with_2_and_names_the_letters(invoke, tmp_path):
    ran = invoke(tmp_path, "learn", RIGHT, "-a", "sing")
    assert (ran.code, "no letter of this target fits 'sing'; it has: user red" in ran.err) == (2, True)


def test_a_projector_cannot_be_learned(invoke, tmp_path):
    ran = invoke(tmp_path, "learn", "reference")
    assert (ran.code, "not a runtime: reference is a projector" in ran.err) == (2, True)
