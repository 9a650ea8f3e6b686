"""Words with sub-agents: directed ones, and those that a seed draws."""

from functools import cache

from runtimes.lifecycle.delegating import Delegating

from turncheck.conformance.generation.lifecycle.agent_words import (
    Delegation,
    delegating,
    directed_delegations,
    drawn_delegation,
    open_delegations,
)
from turncheck.conformance.observe.driver import Driver
from turncheck.conformance.observe.parts.agent_parts import agent_parts
from turncheck.conformance.observe.parts.agents import callers, children, told_to_children
from turncheck.model.core.stimuli import Abort, ModelAwaited, ModelFail, ResetOptions, ToolAwaited, ToolFail, User

ALL = frozenset(("tools", "sub-agents", "model-failure", "abort", "tool-failure"))
DEPTH = 2
DIRECTED = [*directed_delegations(ALL, DEPTH)]
KILLED = [*open_delegations(ALL | {"persistence"}, DEPTH)]


@cache
def followed(word):
    driver = Driver(Delegating(tools="parallel", subAgentDepth=DEPTH), delegating(ResetOptions()))
    Delegation(driver).follow(word)
    driver.close()
    return driver.trace()


WORDS = [*DIRECTED, *(drawn_delegation(seed, ALL, DEPTH) for seed in range(20))]


def test_each_agent_of_a_word_has_a_part_but_those_that_took_a_message():
    for word in WORDS:
        trace = followed(word)
        took = {message.agent_id for step, message in told_to_children(trace) if step.took_place}
        assert len(agent_parts(trace)) == 1 + len(children(trace)) - len(took) >= 1


def where(child, at, awaited):
    """Where a sub-agent is at a position: its model is asked, its tool runs, or its own sub-agent, or none."""
    if child.end is not None and child.end < at:
        return "over"
    waits = next((type(one) for one in awaited if one.agent_id == child.name), None)
    return {ModelAwaited: "infers", ToolAwaited: "executes", None: "calls"}[waits]


def what(stimulus, child, above):
    own = stimulus.agent_id == child.name
    match stimulus:
        case Abort():
            return "is stopped" if own else "its caller is stopped" if stimulus.agent_id in above else None
        case ModelFail():
            return "its model fails" if own else "another model fails"
        case ToolFail():
            return "its tool fails" if own else "another tool fails"
        case User():
            return "is told" if own else "its caller is told" if stimulus.agent_id == above[0] else None
    return None


def pairs(word):
    trace = followed(word)
    known = children(trace)
    for step in trace.steps:
        for child in known if not step.closing else ():
            if child.begin < step.first:
                yield where(child, step.first, step.before), what(step.stimulus, child, callers(child, known))


def test_whatever_a_sub_agent_does_each_thing_comes_amid_it():
    found = {pair for word in DIRECTED for pair in pairs(word)}
    both, told = {"is stopped", "its caller is stopped"}, {"is told", "its caller is told"}
    expected = {
        "infers": {*both, *told, "its model fails", "another tool fails"},
        "executes": {*both, *told, "its tool fails"},
        "calls": {*both, *told, "another model fails", "another tool fails"},
        "over": {*told, "its caller is stopped", "another model fails", "another tool fails"},
    }
    assert {(place, one) for place, several in expected.items() for one in several} - found == set()


def cut(word):
    """Where each sub-agent of a word is when the runtime is killed behind it."""
    trace = followed(word)
    last = [step for step in trace.steps if not step.closing][-1]
    return {where(child, last.end, last.answer.awaiting) for child in children(trace) if child.begin < last.end}


def test_whatever_a_sub_agent_does_a_kill_comes_behind_it():
    assert {place for word in KILLED for place in cut(word)} == {"infers", "executes", "calls", "over"}


def test_nothing_is_killed_where_a_runtime_does_not_outlive_it():
    assert [*open_delegations(ALL, DEPTH)] == []


def test_a_message_is_sent_to_a_sub_agent_that_never_was():
    sent = [one for word in DIRECTED for one in told_to_children(followed(word)) if one[1].agent_id == "nobody"]
    assert [step.took_place for step, _ in sent] == [False]


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
