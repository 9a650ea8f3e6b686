"""No law alarms at a variant that the sources allow: a short form of ``make variants``."""

import os
from pathlib import Path

import pytest

from turncheck.model.clauses import catalogue
from variants.holding import combined, held, logged
from variants.logs import LOGS, SIZES
from variants.registry import CHOICES, MACHINES, PROJECTORS, RUNTIMES, combinations

WORDS = 3


@pytest.fixture(autouse=True)
def _workers_find_the_variants(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, Path(__file__).parents[1:3])))


EVERY = list(enumerate(combinations()))
SOME = EVERY[::283]  # coprime to the number of any one policy's choices


@pytest.mark.parametrize("name", RUNTIMES)
def test_no_law_alarms_at_a_runtime_that_conforms(name):
    assert held("runtime", name, WORDS).findings == ()


@pytest.mark.parametrize("name", PROJECTORS)
def test_no_law_alarms_at_a_projector_that_conforms(name):
    assert held("projector", name, WORDS).findings == ()


@pytest.mark.parametrize(("number", "policies"), SOME, ids=[str(number) for number, _ in SOME])
def test_no_law_alarms_at_a_combination_of_policies(number, policies):
    assert combined(number, policies, WORDS).findings == ()


def test_every_choice_of_a_policy_is_among_the_combinations_that_are_tried():
    tried = {(name, value) for _, policies in SOME for name, value in policies.items()}
    assert {(name, value) for name, some in CHOICES.items() for value in some} | {
        ("machine", machine) for machine in MACHINES
    } == tried


@pytest.mark.parametrize("noise", [False, True], ids=["", "events in between"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("format_name", LOGS)
def test_no_law_alarms_at_a_log_however_it_is_cut_into_deltas(format_name, size, noise):
    assert logged(format_name, size, noise=noise).findings == ()


@pytest.mark.parametrize("variant", (RUNTIMES | PROJECTORS).values(), ids=(RUNTIMES | PROJECTORS).keys())
def test_a_variant_says_what_it_does(variant):
    assert variant.says


def test_the_clauses_that_variants_name_are_clauses():
    import re

    named = {
        name
        for one in (RUNTIMES | PROJECTORS).values()
        for name in re.findall(r"\b(?:RC|TM|EF|BED|RS|X)-\w[\w.]*\b", one.says)
    }
    assert named - set(catalogue()) == set()
