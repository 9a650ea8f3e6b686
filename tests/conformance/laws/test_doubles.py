"""Every law can fail: wrong projectors, each with the law that names its fault. No right projector fails."""

import inspect

import pytest
from breaking import doubles
from inprocess import InProcess
from projectors import agents, wrong
from projectors.plain import Plain

from turncheck.adapters.targets.registry import open_projector
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.projector import ProjectorSubject
from turncheck.conformance.verify.verification import verify_projector

DOUBLES = dict(doubles(wrong))
OF_AGENTS = dict(doubles(agents))
"""Wrong projector → the laws that it breaks with their clauses, the one that names its fault first."""
EVERY = [(name, law) for name, broken in {**DOUBLES, **OF_AGENTS}.items() for law in broken]

BESIDE = {"ChangesWhatItIsFed": ["chunking"]}
"""Laws that must be judged too, for the fault to be seen at all: nothing else feeds."""

FEW = 20  # enough for the right ones: every row is taken, and each law has found its evidence

IN_A_WORKER = {"HashOrder", "CountsItsCalls"}
"""Faults of a whole process: they need one of their own."""

BROKEN = {"hangs", "dies", "rubbish"}
"""No law's verdict: test_verifying.py has them."""


def opened(name):
    text = f"projectors.{'agents' if name in OF_AGENTS else 'wrong'}:{name}"
    return open_projector(f"python:{text}", timeout=10) if name in IN_A_WORKER else InProcess(text)


@pytest.mark.parametrize(("name", "law"), EVERY)
def test_the_fault_breaks_the_law_that_names_it(name, law, monkeypatch):
    monkeypatch.setattr(ProjectorSubject, "shrink_work", 1_000)  # that it is found is the point
    with opened(name) as target:
        result, counterexamples = verify_projector(
            target, selected(["projector"], [law, *BESIDE.get(name, [])]), fail_fast=True
        )
    assert law in counterexamples
    assert next(found.verdict for found in result.laws if found.law == law) == "fail"


def test_every_law_has_a_double():
    assert {law.name for law in selected(["projector"])} == {law for _, law in EVERY}


def test_every_wrong_projector_is_held_to_its_law():
    own = [(name, value) for name, value in vars(wrong).items() if getattr(value, "__module__", "") == wrong.__name__]
    named = {name for name, value in own if inspect.isclass(value) or inspect.isfunction(value)}
    assert named - {"Tolerant"} == {*DOUBLES, *BROKEN}


def test_every_wrong_projector_says_its_symptom():
    assert all(vars(wrong)[name].__doc__ != Plain.__doc__ for name in DOUBLES)


@pytest.mark.parametrize("name", ["Agents", "ProjectsWhenAsked"])
def test_the_right_projector_passes_every_law_on_evidence(name):
    right = InProcess(f"projectors.agents:{name}")
    result, counterexamples = verify_projector(right, selected(["projector"]), examples=FEW)
    assert counterexamples == {}
    assert [law.law for law in result.laws if law.verdict != "pass" or not law.evidence.observed] == []


def test_a_projector_without_sub_agents_is_held_to_all_but_their_law():
    result, counterexamples = verify_projector(
        InProcess("projectors.plain:Plain"), selected(["projector"]), examples=FEW
    )
    assert counterexamples == {}
    assert [law.law for law in result.laws if law.verdict != "pass"] == ["agents-kept-apart"]


@pytest.mark.parametrize("name", ["steps_only", "rounds_only", "no_views", "own_policies"])
def test_who_claims_less_and_keeps_it_breaks_no_law(name):
    result, counterexamples = verify_projector(
        InProcess(f"projectors.plain:{name}"), selected(["projector"]), examples=FEW
    )
    assert counterexamples == {}
    assert {law.verdict for law in result.laws} <= {"pass", "skipped", "inconclusive"}


def test_whose_input_is_always_valid_is_held_to_all_but_anomalies():
    result, counterexamples = verify_projector(
        InProcess("projectors.plain:BehindAValidatingServer"), selected(["projector"]), examples=FEW
    )
    assert counterexamples == {}
    laws = (law for law in result.laws if law.law != "agents-kept-apart")  # it has no sub-agents
    skipped = {law.law: law.why for law in laws if law.verdict != "pass"}
    assert (skipped, result.exit_code) == ({"anomalies-exact": "declared: input valid"}, 0)
    assert [row for row in result.coverage["missed"] if "/ reject" in row] == []


def test_without_that_declaration_invalid_input_breaks_it():
    _, counterexamples = verify_projector(
        InProcess("projectors.plain:Trusting"), selected(["projector"], ["total", "anomalies-exact"]), examples=20
    )
    assert {"total", "anomalies-exact"} == {*counterexamples}


def test_a_fault_on_valid_input_is_found_all_the_same(monkeypatch):
    monkeypatch.setattr(wrong.LastInFirstOut, "profile", {"input": "valid"}, raising=False)
    _, counterexamples = verify_projector(
        InProcess("projectors.wrong:LastInFirstOut"), selected(["projector"], ["follow-up-fifo"]), examples=20
    )
    assert [*counterexamples] == ["follow-up-fifo"]
