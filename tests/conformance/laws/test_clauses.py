"""Every clause of the sources is judged by a law, a row or a test: a clause that nothing judges fails here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from static.broken_clauses import table
from static.broken_logs import CLAUSES
from static.teaching_examples import LINES

from turncheck.conformance.laws.clauses import BROKEN, broken, traced
from turncheck.conformance.laws.registry import LAWS
from turncheck.model.clauses import catalogue
from turncheck.model.machines.registry import MACHINES

TESTS = Path(__file__).parents[2]
TRACED = {clause.name: clause for clause in traced(TESTS)}


def judged_by(*ways):
    return pytest.mark.parametrize("name", [name for name, clause in catalogue().items() if clause.judged in ways])


@judged_by("log", "run", "relation")
def test_a_clause_of_a_law_is_reported_by_one(name):
    """The law falls where a double breaks the clause: test_doubles, test_runtime_doubles and test_collation show it."""
    assert TRACED[name].laws


@pytest.mark.parametrize("law", LAWS)
def test_a_law_reports_the_clauses_whose_doubles_make_it_fall_and_no_others(law):
    assert {*LAWS[law].clauses} == {clause for clause, laws in broken().items() if law in laws}


def test_the_table_of_doubles_is_in_step_with_what_stands_beside_them():
    assert BROKEN.read_text("utf-8") == table()


def test_every_log_of_a_law_on_logs_says_which_clauses_it_breaks():
    assert CLAUSES.keys() == LINES.keys()


@judged_by("reference")
def test_a_clause_of_a_reference_runtime_is_named_by_a_test(name):
    assert TRACED[name].tests


@judged_by("review")
def test_a_clause_that_is_reviewed_says_why(name):
    assert TRACED[name].reason


def test_nothing_else_is_reviewed():
    assert [name for name, one in catalogue().items() if (one.reason is not None) != (one.judged == "review")] == []


def test_every_clause_of_a_machines_event_exists():
    stated = {name for machine in MACHINES.values() for names in machine.events.values() for name in names}
    assert stated - catalogue().keys() == set()


def test_clauses_are_not_read_before_they_are_asked_for():
    code = (
        "import turncheck.conformance.cli, turncheck.conformance.check.judge; from turncheck.model.clauses import *; "
    )
    code += "print(catalogue.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"


def test_every_clause_is_listed_once_in_the_catalogues_order(invoke, tmp_path):
    listed = json.loads(invoke(tmp_path, "laws", "--clauses", "--json").out)
    assert [clause["name"] for clause in listed] == list(catalogue())


def test_the_text_shows_what_judges_a_clause(invoke, tmp_path):
    shown = invoke(tmp_path, "laws", "--clauses").out
    clause = shown[shown.index("X-6 ") : shown.index("X-7 ")]
    assert "calls-answered" in clause
    assert "Every tool call has exactly one result" in clause


def test_a_clause_is_not_named_by_a_longer_one(tmp_path):
    (tmp_path / "test_one.py").write_text('"""TM-10 and BED-005ab, X-1.2"""\n')
    found = {clause.name: clause.tests for clause in traced(tmp_path)}
    assert found["X-1"] == found["BED-005a"] == ()
