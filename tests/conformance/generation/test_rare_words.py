"""Situations that no row makes: what capabilities and policies allow, and what counts as made."""

# mypy: disable-error-code="misc, has-type"
import pytest
from runtimes.right import Right
from runtimes.target import CAPABILITIES

from turncheck.conformance.generation.rare_words import rare_words
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import (
    Abort,
    Approve,
    ClientResult,
    Compact,
    Deny,
    ModelFail,
    Together,
    ToolFail,
    User,
)

LASTING = ("approval", "client-tools", "compaction", "persistence")


def names(capabilities, **policies):
    return [rare.name for rare in rare_words(frozenset(capabilities), policies)]


def situations(runtime):
    result, _ = verify_runtime(runtime, selected(["runtime"], ["run-ends-once"]), words=0)
    return next((one for one in result.coverage["shares"] if one.what == "situations"), None)


def test_every_situation_has_a_name_of_its_own():
    every = names(CAPABILITIES, tools="parallel", retries=1)
    assert len(every) == len({*every})


def test_a_runtime_that_can_do_nothing_but_answer_has_none():
    assert (names(()), situations(Right(without=CAPABILITIES))) == ([], None)


def test_nothing_comes_at_once_where_that_is_not_declared():
    able = frozenset(CAPABILITIES) - {"together"}
    words = [rare.word for rare in rare_words(able, {"tools": "parallel"})]
    assert not [one for word in words for one in word if isinstance(one, Together)]


@pytest.mark.parametrize(("retries", "waits"), [(0, 0), (1, 3)])
def test_a_retry_waits_for_the_clock_where_retries_are_declared(retries, waits):
    manual = [
        rare for rare in rare_words(frozenset(CAPABILITIES), {"retries": retries}) if rare.options.clock == "manual"
    ]
    assert len(manual) == waits


def test_all_situations_are_made_where_a_runtime_conforms():
    share = situations(Right(tools="parallel", retries=1))
    assert (share.missed, share.total) == ((), len(names(CAPABILITIES, tools="parallel", retries=1)))


class RefusesWhatLooksAlike(Right):
    """It has room for one call at a time."""

    def tool(self, stimulus, output, **flags):
        if stimulus.call_id == "C5":
            self.refuse("not-awaited", "no such call")
        else:
            super().tool(stimulus, output, **flags)


def test_a_situation_that_the_runtime_does_not_come_to_is_named():
    assert situations(RefusesWhatLooksAlike(tools="parallel")).missed == ("call ids that look alike",)


OTHERS = {"an abort": Abort, "a model's failure": ModelFail, "a tool's failure": ToolFail, "a message": User}
LIFECYCLE = {"an approval": Approve, "a denial": Deny, "a client's result": ClientResult, "a compaction": Compact}


def kinds(rare):
    """The events of a word, by the tables; a message counts from the second on."""
    there = [type(one) for one in rare.word]
    found = {name for name, kind in {**LIFECYCLE, **OTHERS}.items() if kind in there}
    if there.count(User) < 2:
        found.discard("a message")
    return found | ({"a restart"} if rare.killed else set())


def test_decisions_compactions_and_restarts_meet_aborts_failures_restarts_and_messages():
    every = rare_words(frozenset((*CAPABILITIES, *LASTING)), {})
    met = {(one, other) for rare in every for one in kinds(rare) for other in kinds(rare)}
    wanted = {(one, other) for one in (*LIFECYCLE, "a restart") for other in (*OTHERS, "a restart") if one != other}
    assert wanted - met == set()
