"""Laws on collations: each can fail, by a named wrong collation; and none alarms at the right one."""

import inspect

import pytest
from breaking import doubles
from event_flow import wrong
from event_flow.flows import CLASSIC, NUMBERED, flow, flows
from hypothesis import given, settings

from turncheck.conformance.laws.collation import Collation
from turncheck.conformance.laws.law import Finding, Witness
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.model.machines.blocks import Collator, collate

SETTINGS = settings(max_examples=40, deadline=None, database=None, derandomize=True)
FLOWS = (CLASSIC, NUMBERED)
ALL = [law for law in selected(["collator"]) if law.name != "blocks-hash-seed"]
"""The laws that one process can break; test_verifying_collators.py has the other one."""
DOUBLES = dict(doubles(wrong))
"""Wrong collation → the laws that it breaks with their clauses, the one that names its fault first."""
EVERY = [(name, law) for name, broken in DOUBLES.items() for law in broken if law != "blocks-hash-seed"]
SOURCE = ("LosesProviderFromTheSecondIteration", "DuplicatesBlocks")
"""The source's two faults."""


def by(collator):
    """Return a collator as a function."""

    def collated(frames):
        fed = collator()
        for frame in frames:
            fed.feed(frame)
        return fed.blocks

    return collated


def broken(collate_, frames):
    return {
        law.name for law in ALL if any(isinstance(item, Finding) for item in law.judge(Collation(frames, collate_)))
    }


def test_every_wrong_collation_is_listed():
    classes = {name for name, value in vars(wrong).items() if inspect.isclass(value) and issubclass(value, Collator)}
    assert classes - {"Collator", "_Telling"} == DOUBLES.keys()


@pytest.mark.parametrize(("double", "law"), EVERY)
def test_a_wrong_collation_breaks_the_law_of_its_fault(double, law):
    """So that the laws on EF-5 to EF-12, EF-D1, EF-D2 and EF-D5 can fail."""
    collate_ = by(getattr(wrong, double))
    assert law in set().union(*(broken(collate_, frames) for frames in FLOWS))


@pytest.mark.parametrize("double", SOURCE)
def test_the_sources_faults_are_caught_on_the_sources_own_story(double):
    assert broken(by(getattr(wrong, double)), CLASSIC) >= DOUBLES[double].keys()


@pytest.mark.parametrize("law", [law.name for law in ALL])
def test_every_law_has_a_collation_that_breaks_it(law):
    assert any(law in broken(by(getattr(wrong, double)), frames) for double in DOUBLES for frames in FLOWS)


@pytest.mark.parametrize("law", [law.name for law in ALL])
def test_every_law_finds_evidence(law):
    assert any(isinstance(item, Witness) for frames in FLOWS for item in LAWS[law].judge(Collation(frames, collate)))


@SETTINGS
@given(flows())
def test_no_law_alarms_at_the_right_collation(frames):
    """It keeps EF-5, EF-6, EF-7, EF-8, EF-9, EF-10, EF-12, EF-D1 and EF-D2 on flows of any shape."""
    assert broken(collate, frames) == set()


def test_an_empty_response_is_a_block_all_the_same():
    assert broken(collate, flow(([], 0))) == set()


@pytest.mark.parametrize("law", ALL, ids=[law.name for law in ALL])
def test_every_law_names_clauses_of_the_event_flow(law):
    assert {clause.partition("-")[0] for clause in law.clauses} <= {"EF", "X"}
