"""Words with sub-agents: directed ones, and those that a seed draws."""

import pytest
from runtimes.delegating import Delegating

from turncheck.conformance.generation.lifecycle.agent_words import (
    Delegation,
    delegating,
    directed_delegations,
    drawn_delegation,
)
from turncheck.conformance.observe.driver import Driver
from turncheck.conformance.observe.parts.agent_parts import agent_parts
from turncheck.conformance.observe.parts.agents import children
from turncheck.model.core.stimuli import ResetOptions

ALL = frozenset(("tools", "sub-agents", "model-failure", "abort"))
DIRECTED = [*directed_delegations(ALL)]


def followed(word):
    driver = Driver(Delegating(tools="parallel"), delegating(ResetOptions()))
    Delegation(driver).follow(word)
    driver.close()
    return driver.trace()


@pytest.mark.parametrize("word", [*DIRECTED, *(drawn_delegation(seed, ALL) for seed in range(20))])
def test_each_agent_of_a_word_has_a_part(word):
    trace = followed(word)
    assert len(agent_parts(trace)) == 1 + len(children(trace)) >= 2


def test_sub_agents_end_in_each_way():
    ends = {child.reason for word in DIRECTED for child in children(followed(word))}
    assert ends == {"completed", "error", "interrupted"}


def test_without_an_abort_nothing_is_stopped():
    assert "halt" not in {deed.what for word in directed_delegations(ALL - {"abort"}) for deed in word}


def test_a_seed_draws_the_same_word_again():
    assert [drawn_delegation(seed, ALL) for seed in range(9)] == [drawn_delegation(seed, ALL) for seed in range(9)]


def test_two_sub_agents_work_at_once_where_tools_do():
    trace = followed(next(word for word in DIRECTED if word[2].what == "delegate"))
    first, second = children(trace)
    assert second.begin < (first.end or 0)
