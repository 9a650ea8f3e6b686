"""`turncheck laws` from the outside."""

import json

import pytest

from turncheck.conformance.laws.registry import LAWS
from turncheck.model.clauses import catalogue


def test_every_law_is_listed_with_its_clauses(invoke, tmp_path):
    listed = {line.split()[0]: line for line in invoke(tmp_path, "laws").out.splitlines()}
    assert list(listed) == list(LAWS)
    assert [law.name for law in LAWS.values() if ", ".join(law.clauses) not in listed[law.name]] == []


def test_every_law_names_a_clause():
    assert [law.name for law in LAWS.values() if not law.clauses] == []


def test_every_clause_of_a_law_exists():
    assert {clause for law in LAWS.values() for clause in law.clauses} <= catalogue().keys()


@pytest.mark.parametrize("name", list(LAWS))
def test_a_law_is_shown_with_the_text_of_its_clauses(invoke, tmp_path, name):
    ran = invoke(tmp_path, "laws", name)
    assert ran.code == 0
    assert [clause for clause in LAWS[name].clauses if catalogue()[clause].says not in ran.out] == []


def test_a_law_is_shown_with_what_it_needs(invoke, tmp_path):
    assert "needs        steps, rounds" in invoke(tmp_path, "laws", "views-agree").out


@pytest.mark.parametrize(("name", "command"), [("truncated", "check"), ("one-root", "verify")])
def test_a_law_is_shown_with_the_command_that_judges_it(invoke, tmp_path, name, command):
    assert f"judged by    {command}" in invoke(tmp_path, "laws", name).out


def test_an_unknown_law_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "laws", "no-such-law")
    assert (ran.code, ran.out) == (2, "")
    assert "no law is called 'no-such-law'" in ran.err


@pytest.mark.parametrize("command", [("laws",), ("explain",), ("verify", "reference", "--laws")])
@pytest.mark.parametrize("mistyped", ["fifo", "folow-up-fifo"])
def test_who_mistyped_a_law_is_told_the_nearest(invoke, tmp_path, command, mistyped):
    assert "perhaps follow-up-fifo" in invoke(tmp_path, *command, mistyped).err


def test_json_is_one_array_of_all_laws(invoke, tmp_path):
    assert [law["name"] for law in json.loads(invoke(tmp_path, "laws", "--json").out)] == list(LAWS)


def test_json_of_one_law_is_an_array_too(invoke, tmp_path):
    (law,) = json.loads(invoke(tmp_path, "laws", "order", "--json").out)
    assert list(law) == ["name", "kind", "clauses", "says", "subject", "evidence", "needs", "suite"]
