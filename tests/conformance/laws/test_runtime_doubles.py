"""Every law on a runtime can fail: wrong runtimes, each with the law that names its fault."""

import inspect

import pytest
from breaking import doubles
from runtimes import wrong
from runtimes.doubles import MODULES
from runtimes.held import ALL, verified

from turncheck.conformance.laws.registry import selected

WORDS = 300  # the command's own number of generated words

TOLD = {name: (module, broken) for module in MODULES for name, broken in doubles(module)}
"""Wrong runtime → its module, and the laws that it breaks with their clauses, the one that names its fault first."""
EVERY = [(name, law) for name, (_, broken) in TOLD.items() for law in broken if law != "equals-model"]

NO_VERDICT = {"Unsettled", "Dies", "EverySeventhRunEndsTwice"}
"""Not a law's business alone: test_verifying_runs.py has them."""

SHORT = 6
LONG = {
    "EighthItemIsLost": 10,
    "HistoryHasTenPlaces": 10,
    "AutoApprovesTheSecond": 7,
    "KeepsAResultWithoutItsCall": 7,
    "SumsUpTheNewAlone": 10,
}
"""How many stimuli a counterexample may have; a fault at depth needs its depth."""


@pytest.mark.parametrize(("name", "law"), EVERY)
def test_the_fault_breaks_the_law_that_names_it_in_a_short_word(name, law):
    module, _ = TOLD[name]
    runtime = getattr(module, name)()
    result, counterexamples = verified(runtime, selected(["runtime"], [law]), words=WORDS, fail_fast=True)
    assert [found.verdict for found in result.laws] == ["fail"]
    assert len(counterexamples[law].word.stimuli) <= LONG.get(name, SHORT)


def test_every_law_has_a_double():
    assert {law.name for law in ALL} == {law for _, law in EVERY}


def test_every_wrong_runtime_is_held_to_its_law():
    own = {name for name, value in vars(wrong).items() if inspect.isclass(value) and value.__module__ == wrong.__name__}
    assert own - {"Late"} == {*dict(doubles(wrong)), *NO_VERDICT}


def test_every_wrong_runtime_says_its_symptom():
    assert [name for name, _ in doubles(wrong) if not vars(wrong)[name].__doc__] == []
