"""Sub-agents of a word: whose each stimulus and event is, and each agent's own part of the word."""

from typing import Any

import pytest
from msgspec.structs import replace
from scripted import DONE, call, model, request, result, said, sent, step

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.observe.driver import Recorder
from turncheck.conformance.observe.parts.agent_parts import agent_parts
from turncheck.conformance.observe.parts.agents import children, has_children
from turncheck.model.core.stimuli import (
    Abort,
    ModelOutput,
    ModelStop,
    ResetOptions,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)

HALTED = {"type": "run-stop", "reason": "interrupted"}


def of(*events):
    return tuple({**event, "agentId": "a", "parentCallId": "c1"} for event in events)


def trace(*pairs, children="awaited"):
    recorder = Recorder(ResetOptions(), Profile(("runtime",), ("sub-agents",), None, {"subAgents": children}))
    for stimulus, answer in pairs:
        recorder.observe(stimulus, answer)
    return recorder.trace()


BEGINS = sent("u1"), step(said("u1"), request("r1", "u1"), awaiting=[model("r1")])
CALLS = ModelOutput(item=ToolCall(call_id="c1", tool="read"), request_id="r1"), step(call(), awaiting=[model("r1")])
SPAWNS: Any = (
    ModelStop(reason="tool-use", request_id="r1"),
    step(*of(said("t1"), request("r2", "t1")), awaiting=[replace(model("r2"), agent_id="a")]),
)
ENDS: Any = (
    ModelStop(reason="end-turn", request_id="r2"),
    step(*of(DONE), result(), request("r3", "u1"), awaiting=[model("r3")]),
)
STOPS = ModelStop(reason="end-turn", request_id="r3"), step(DONE)
WORD = BEGINS, CALLS, SPAWNS, ENDS, STOPS


def stimuli(part):
    return [one.stimulus for one in part.trace.steps]


def test_a_sub_agent_has_its_call_and_its_end():
    (child,) = children(trace(*WORD))
    assert (child.name, child.call, child.begin, child.end, child.reason) == ("a", "c1", 3, 5, "completed")


def test_a_word_without_sub_agents_has_none():
    assert not has_children(trace(BEGINS, CALLS))


def test_the_run_of_the_session_is_its_own_agent_s():
    whole = trace(*WORD)
    assert [(cycle.root, cycle.stop) for cycle in whole.cycles] == [(0, 8)]
    assert [step.active for step in whole.steps] == [True, True, True, True, False]


def test_to_its_caller_a_sub_agent_is_a_tool_that_runs():
    own, _ = agent_parts(trace(*WORD))
    awaited = own.trace.steps[2].answer.awaiting
    assert awaited == (ToolAwaited(call_id="c1", execution="agent a", tool="read", arguments={}),)
    assert stimuli(own)[3] == ToolReturn(call_id="c1", output="result")


def test_to_a_sub_agent_its_task_is_a_message():
    _, child = agent_parts(trace(*WORD))
    assert stimuli(child) == [User(id="t1", text="say t1"), ENDS[0]]


def test_a_part_has_the_places_of_its_own_events():
    assert [[*part.places] for part in agent_parts(trace(*WORD))] == [[0, 1, 2, 6, 7, 8], [3, 4, 5]]


def test_an_abort_of_the_run_is_one_of_its_sub_agents():
    halts = Abort(), step(*of(HALTED), {**result(), "synthetic": True}, HALTED)
    own, child = agent_parts(trace(BEGINS, CALLS, SPAWNS, halts))
    assert (stimuli(own)[-1], stimuli(child)[-1]) == (Abort(), Abort())


def test_an_abort_of_a_sub_agent_is_a_failure_of_its_call():
    failed = {**result(), "output": "stopped", "isError": True}
    halts = Abort(agent_id="a"), step(*of(HALTED), failed, request("r3", "u1"), awaiting=[model("r3")])
    own, child = agent_parts(trace(BEGINS, CALLS, SPAWNS, halts))
    assert (stimuli(own)[-1].message, stimuli(child)[-1]) == ("stopped", Abort())


def test_a_call_that_does_not_await_its_sub_agent_leaves_its_caller_no_part():
    assert [part.run for part in agent_parts(trace(*WORD, children="detached"))] == ["a"]


@pytest.mark.parametrize(
    "more",
    [
        (Abort(), step({**HALTED, "agentId": "b"})),
        (ModelStop(reason="end-turn"), step(request("r9"), *of(DONE), {"type": "native", "agentId": "b"})),
    ],
    ids=["an end without a begin", "an event of another"],
)
def test_an_agent_that_does_not_begin_with_its_task_leaves_no_part(more):
    assert agent_parts(trace(BEGINS, CALLS, SPAWNS, more)) == []
