"""Sub-agents of ``reference:conversation``: their task, their result, their end, and what they are not given."""

from copy import deepcopy

import pytest
from conversing import CALLED, GO, SPAWNING, call, say

from turncheck.adapters.references.conversation import SPAWN, SUBMIT
from turncheck.adapters.references.conversation.shell import SUB_AGENT_SECONDS
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Client,
    ModelAwaited,
    ModelFail,
    ModelStop,
    ResetOptions,
    ToolAwaited,
    User,
)


@pytest.fixture
def parent(runtime):
    """A parent whose two sub-agents have begun; their conversations' names."""
    runtime.reset(SPAWNING)
    step = runtime.run([GO, call("a", SPAWN, task="red"), call("b", SPAWN, task="blue"), CALLED])[-1]
    return [one.agent_id for one in step.awaiting if isinstance(one, ModelAwaited)]


def submit(agent, text):
    return (call("s", SUBMIT, agent, result=text), ModelStop(reason="tool-use", agent_id=agent))


def ends(agent):
    return ModelStop(reason="end-turn", agent_id=agent)


def test_each_sub_agent_is_a_conversation_of_its_own(runtime, parent) -> None:  # BED-008a
    texts = [[event.get("text") for event in runtime.shell.agents[name].core.log[:1]] for name in ("", *parent)]
    assert texts == [["go"], ["red"], ["blue"]]


def test_what_a_sub_agent_does_leaves_the_others_as_they_were(runtime, parent) -> None:  # BED-009a
    red, *_ = parent

    def others():
        return {
            name: deepcopy((one.core.saved(), one.core.log))
            for name, one in runtime.shell.agents.items()
            if name != red
        }

    before = others()
    runtime.run([ModelFail(failure="retryable", agent_id=red), say("yes", red), call("c", agent=red)])
    runtime.apply(ModelStop(reason="tool-use", usage=7, agent_id=red))
    assert others() == before


def test_a_sub_agent_is_marked_as_not_started_by_the_user(runtime, parent) -> None:  # BED-009d
    assert [runtime.shell.agents[name].core.kind for name in ("", *parent)] == ["user", "sub-agent", "sub-agent"]


@pytest.mark.parametrize(("tool", "refused"), [(SUBMIT, False), ("read", False), (SPAWN, True), ("unknown", True)])
def test_a_sub_agent_has_submission_and_the_standard_tools_only(runtime, parent, tool, refused) -> None:  # BED-009c
    red, _ = parent
    step = runtime.run([call("c", tool, red), ModelStop(reason="tool-use", agent_id=red)])[-1]
    assert any(event.get("isError", False) for event in step.events) is refused


@pytest.mark.parametrize("tool", ["ls", "read", "grep", "find", "write", "edit", "bash"])
def test_a_sub_agent_has_every_standard_tool_of_its_parent(runtime, tool) -> None:  # BED-009c
    runtime.reset(ResetOptions(tools=({"name": tool}, {"name": SPAWN})))
    agent = runtime.run([GO, call("a", SPAWN, task="red"), CALLED])[-1].awaiting[0].agent_id
    step = runtime.run([call("c", tool, agent), ModelStop(reason="tool-use", agent_id=agent)])[-1]
    assert [(one.call_id, one.agent_id) for one in step.awaiting if isinstance(one, ToolAwaited)] == [("c", agent)]


def test_sub_agents_run_side_by_side_and_know_their_task_alone(runtime, parent) -> None:  # BED-008b, BED-009a
    awaited = [
        one for one in runtime.apply(Client(client_id="k1", action="join")).awaiting if isinstance(one, ModelAwaited)
    ]
    assert [[entry.text for entry in one.input or ()] for one in awaited] == [["red"], ["blue"]]


def test_the_parent_gets_all_results_when_all_have_submitted(runtime, parent) -> None:  # BED-008d, BED-008e, BED-008f
    red, blue = parent
    runtime.run([*submit(blue, "B"), ends(blue)])
    assert [one for one in runtime.run(submit(red, "A"))[-1].events if "agentId" not in one] == []
    events = [event for event in runtime.apply(ends(red)).events if "agentId" not in event]
    assert [(event.get("callId"), event.get("output")) for event in events[:2]] == [("b", "B"), ("a", "A")]
    assert events[-1]["type"] == "model-request"


def test_a_sub_agent_that_submits_nothing_is_a_failure_in_the_aggregate(runtime, parent) -> None:  # BED-008c, BED-008g
    red, blue = parent
    runtime.run([*submit(red, "A"), ends(red), say("only said", blue)])
    events = [event for event in runtime.apply(ends(blue)).events if event["type"] == "tool-result"]
    assert events[-1]["output"] == "the sub-agent ended without a result: completed"
    assert events[-1]["isError"]


def test_sub_agents_time_out(runtime, parent) -> None:  # BED-008g
    step = runtime.apply(Advance(seconds=SUB_AGENT_SECONDS))
    results = [event["output"] for event in step.events if event["type"] == "tool-result" and "agentId" not in event]
    assert results == ["the sub-agent timed out after 600 s"] * 2


def test_the_parents_model_deals_with_what_failed(runtime, parent) -> None:  # BED-008h
    red, _ = parent
    runtime.run([*submit(red, "A"), ends(red)])
    (asked,) = runtime.apply(Advance(seconds=SUB_AGENT_SECONDS)).awaiting
    assert [(entry.text, entry.is_error) for entry in asked.input if entry.role == "tool"] == [
        ("A", None),
        ("the sub-agent timed out after 600 s", True),
    ]


def test_a_cancel_of_the_parent_cancels_its_sub_agents(runtime, parent) -> None:
    step = runtime.apply(Abort())
    stops = [(event.get("agentId"), event["reason"]) for event in step.events if event["type"] == "run-stop"]
    assert sorted(stops, key=str) == [(parent[0], "interrupted"), (parent[1], "interrupted"), (None, "interrupted")]
    assert step.awaiting == ()


def test_a_sub_agent_cannot_spawn(runtime, parent) -> None:  # BED-009b
    step = runtime.run([call("x", SPAWN, parent[0], task="more"), ModelStop(reason="tool-use", agent_id=parent[0])])[-1]
    assert any(event.get("output") == f"there is no tool {SPAWN!r} here" for event in step.events)


def test_a_sub_agent_is_not_listed(runtime, parent) -> None:  # BED-009e
    assert runtime.shell.listed() == [""]


def test_a_sub_agent_is_named_by_its_call_in_the_log(runtime, parent) -> None:  # L-S1
    names = [(event["agentId"], event["parentCallId"]) for event in runtime.apply(ends(parent[0])).events]
    assert names == [(parent[0], "a")] * len(names)


def test_requests_of_all_agents_have_names_of_their_own(runtime, parent) -> None:
    names = [
        one.request_id
        for one in runtime.apply(Client(action="join", client_id="a")).awaiting
        if isinstance(one, ModelAwaited)
    ]
    assert len({*names, "r0"}) == 3


def test_a_sub_agent_ends_before_the_cancelled_run_of_its_parent(runtime, parent) -> None:  # L-S2, BED-D8
    stops = [event.get("agentId") for event in runtime.apply(Abort()).events if event["type"] == "run-stop"]
    assert stops == [*parent, None]


def test_a_sub_agent_that_is_cancelled_is_a_failure_of_its_call(runtime, parent) -> None:  # L-S3
    red, blue = parent
    runtime.run([*submit(blue, "B"), ends(blue)])
    results = [event for event in runtime.apply(Abort(agent_id=red)).events if event["type"] == "tool-result"]
    assert [(one["callId"], one.get("isError")) for one in results] == [("b", None), ("a", True)]


def test_a_sub_agent_that_works_takes_no_message_and_one_that_has_ended_goes_on(runtime, parent) -> None:  # L-S4
    red, _ = parent
    more = User(id="more", text="more", agent_id=red)
    assert runtime.apply(more).refused.why == "rejected"
    runtime.apply(ends(red))
    asked = next(one for one in runtime.apply(more).awaiting if one.agent_id == red)
    assert [entry.text for entry in asked.input or ()] == ["red", "more"]


def test_a_message_to_a_sub_agent_that_never_was_is_refused(runtime, parent) -> None:  # L-S4
    assert runtime.apply(User(id="more", text="more", agent_id="nobody")).refused.why == "not-awaited"
