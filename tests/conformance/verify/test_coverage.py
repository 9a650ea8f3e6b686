"""The coverage that a run reports, as shares of the whole model."""

import msgspec
import pytest
from inprocess import InProcess
from runtimes.right import Right

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.verify.outcome.coverage import Coverage, _by_default, merged
from turncheck.conformance.verify.outcome.results import Evidence, Input, LawResult
from turncheck.conformance.verify.verification import verify_projector, verify_runtime
from turncheck.model.core.policies import DEFAULT


def of_projector(name="plain:steps_only", laws=("o*",), examples=0):
    return verify_projector(InProcess(f"projectors.{name}"), selected(["projector"], laws), examples=examples)[
        0
    ].coverage


def of_runtime(laws=("run-ends-once",), **policies):
    return verify_runtime(Right(**policies), selected(["runtime"], laws), words=0, hash_seed=4321)[0].coverage


def shares(coverage):
    return {share.what: share for share in coverage["shares"]}


def judged(law, verdict, observed=0, adapter=0):
    clauses = LAWS[law].clauses
    return LawResult(law, "log", clauses, verdict, Evidence(observed, adapter))


def clauses_of(*laws):
    return shares(Coverage().figures(laws))["clauses"]


@pytest.mark.parametrize("coverage", [of_projector, of_runtime])
def test_a_run_says_how_many_states_rows_clauses_and_policy_values_it_exercised(coverage):
    assert list(shares(coverage()))[:4] == ["states", "rows", "clauses", "policy values"]


@pytest.mark.parametrize("coverage", [of_projector, of_runtime])
def test_what_was_exercised_and_what_was_missed_is_all_there_is(coverage):
    assert [share for share in coverage()["shares"] if share.exercised + len(share.missed) != share.total] == []


def test_nothing_was_exercised_where_nothing_was_run():
    assert {share.exercised for share in Coverage().figures()["shares"]} == {0}


def test_an_empty_log_takes_one_row():
    coverage = Coverage()
    coverage.add(Input([], DEFAULT))
    found = shares(coverage.figures())
    assert (found["states"].missed, found["rows"].exercised) == (("active",), 1)


def test_a_row_that_was_not_taken_is_named():
    coverage = Coverage()
    coverage.add(Input([], DEFAULT))
    assert "idle: run-stop / reject outside run" in shares(coverage.figures())["rows"].missed


def test_a_clause_is_exercised_where_its_law_saw_evidence():
    assert clauses_of(judged("one-root", "pass", observed=1)).missed == ()


@pytest.mark.parametrize(
    "law",
    [judged("one-root", "inconclusive"), judged("one-root", "inconclusive", adapter=9), judged("one-root", "error")],
    ids=["no evidence", "inferred", "broken target"],
)
def test_a_clause_is_not_exercised_without_evidence(law):
    assert clauses_of(law).missed == LAWS["one-root"].clauses


def test_a_clause_is_exercised_where_its_law_broke():
    assert clauses_of(judged("one-root", "fail")).missed == ()


def test_the_clauses_of_a_law_that_does_not_apply_are_not_counted():
    assert clauses_of(judged("one-root", "skipped")).total == 0


def test_a_clause_that_two_laws_name_counts_once():
    assert clauses_of(judged("one-root", "pass", 1), judged("one-root", "pass", 1)).total == len(
        LAWS["one-root"].clauses
    )


def test_the_policies_that_a_projector_was_told_are_exercised():
    coverage = Coverage()
    coverage.add(Input([], msgspec.structs.replace(DEFAULT, while_active="steer")))
    coverage.add(Input([], DEFAULT))
    assert [value for value in shares(coverage.figures())["policy values"].missed if "promote" in value] == []
    assert shares(coverage.figures())["policy values"].exercised == 4


def test_a_target_with_policies_of_its_own_misses_the_other_values():
    assert str(shares(of_projector("plain:own_policies"))["policy values"]) == "3/8"


def test_rows_that_the_policies_of_a_projector_rule_out_are_no_gap():
    rows = shares(of_projector("plain:own_policies", examples=40))["rows"]
    assert (str(rows), str(shares(Coverage(DEFAULT).figures())["rows"])) == ("25/25", "0/23")


def test_the_rows_of_a_projector_that_takes_any_policies_are_all_rows():
    assert shares(of_projector())["rows"].total == 25


def test_what_becomes_of_a_queue_that_is_not_declared_is_exercised_by_default():
    declared = {"busy": "followUp"}
    assert _by_default(Profile(("runtime",), ("follow-up",), policies=declared)) == {
        "queueAfterInterrupted=promote",
        "queueAfterError=promote",
    }


def test_what_becomes_of_a_queue_is_not_exercised_where_there_is_none():
    assert _by_default(Profile(("runtime",), ("abort",))) == set()


def test_the_policies_that_a_runtime_declares_are_exercised():
    missed = shares(of_runtime(busy="steer"))["policy values"].missed
    assert [value for value in missed if value.startswith("busy")] == [
        "busy=reject",
        "busy=followUp",
        "busy=concurrent",
    ]


def test_a_policy_that_a_word_chose_is_exercised():
    parallel = {value for value in shares(of_runtime(tools="parallel"))["policy values"].missed if "tools" in value}
    assert parallel == set()


def test_a_target_in_two_roles_has_the_shares_of_both():
    whole = merged([of_projector(), of_runtime()])
    assert [share.role for share in whole["shares"]] == ["projector"] * 4 + ["runtime"] * 5


def test_the_short_figures_are_those_of_the_shares():
    coverage = of_runtime()
    assert (coverage["rows"], coverage["missed"]) == (str(shares(coverage)["rows"]), [])


@pytest.fixture(scope="module")
def shown(invoke, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    return invoke(folder, "verify", "python:projectors.plain:own_policies", "--examples", "0", "--laws", "one-root").out


def test_text_says_each_share_on_a_line(shown):
    assert "covered by the projector: states 2/2\n" in shown


def test_text_names_what_was_not_exercised(shown):
    assert "policy values 3/8\n  not taken: whileActive=" in shown
