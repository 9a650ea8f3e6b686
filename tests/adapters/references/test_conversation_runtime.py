"""``reference:conversation`` as a runtime: it keeps every law; and its behaviour that no law can see from outside."""

import sqlite3
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from turncheck.adapters.references.conversation import SPAWN, SUBMIT, ConversationTarget
from turncheck.adapters.references.conversation import store as stores
from turncheck.adapters.references.conversation.core import durable
from turncheck.adapters.references.conversation.shell import RECENT, SUB_AGENT_SECONDS
from turncheck.adapters.targets.registry import Target
from turncheck.conformance.generation.situations import TOOLS
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.smoke.walk import walk
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Client,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Text,
    Together,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)

SKIPPED = {
    *("steers-in-their-run", "follow-ups-in-turn", "handed-over-as-declared", "queue-as-declared", "rounds-bounded"),
    *("store-faults", "system-shown"),
    *(
        law.name
        for law in selected(["runtime"])
        if {"approval", "client-tools", "compaction", "policy busy=concurrent"} & {*law.needs}
    ),
}
GO = User(id="u1", text="go")
END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
SPAWNING = ResetOptions(tools=(*TOOLS, {"name": SPAWN}))


def say(text, agent=None):
    return ModelOutput(item=Text(text=text), agent_id=agent)


def call(name, tool="read", agent=None, **arguments):
    return ModelOutput(item=ToolCall(call_id=name, tool=tool, arguments=arguments), agent_id=agent)


@cache
def verified():
    with ConversationTarget() as runtime:
        return verify_runtime(runtime, selected(["runtime"]), words=30, hash_seed=1)


@pytest.mark.parametrize("law", [law.name for law in selected(["runtime"]) if law.name not in SKIPPED])
def test_it_keeps_the_law_and_was_seen_to(law) -> None:
    (found,) = [one for one in verified()[0].laws if one.law == law]
    assert (found.verdict, found.why) == ("pass", None)
    assert found.evidence.observed


def test_the_laws_that_are_skipped_are_those_it_has_no_policy_for() -> None:
    assert {one.law for one in verified()[0].laws if one.verdict == "skipped"} == SKIPPED


def test_all_rows_of_the_interaction_are_taken() -> None:
    assert verified()[0].coverage["missed"] == []


# ---- what the model is shown ----


@pytest.fixture
def runtime():
    with ConversationTarget() as target:
        target.reset(ResetOptions(tools=TOOLS))
        yield target


def shown_to_the_model(step):
    """Return the texts, else the calls, of the one request that waits."""
    (asked,) = step.awaiting
    return [entry.text or entry.call_id for entry in asked.input]


def test_the_message_is_what_the_model_gets(runtime) -> None:  # BED-002b
    assert shown_to_the_model(runtime.apply(GO)) == ["go"]


def test_the_model_gets_all_results(runtime) -> None:  # BED-004d
    returned = (ToolReturn(call_id="a", output="red"), ToolReturn(call_id="b", output="blue"))
    step = runtime.run([GO, call("a"), call("b"), CALLED, *returned])[-1]
    assert shown_to_the_model(step) == ["go", "a", "b", "red", "blue"]


def test_after_a_cancel_the_model_is_shown_all_that_was_and_the_synthetic_results(runtime) -> None:  # BED-005k
    on = User(id="u2", text="on")
    step = runtime.run([GO, call("a"), call("b"), CALLED, ToolReturn(call_id="a", output="red"), Abort(), on])[-1]
    assert shown_to_the_model(step) == ["go", "a", "b", "red", "cancelled while it ran", "on"]


def test_after_an_error_the_conversation_goes_on_where_it_was(runtime) -> None:  # BED-006h, BED-006i
    step = runtime.run(
        [GO, say("yes"), END, User(id="u2", text="on"), ModelFail(failure="fatal"), User(id="u3", text="and")]
    )[-1]
    assert shown_to_the_model(step) == ["go", "yes", "on", "and"]


# ---- stale answers, retries, time ----


def test_a_busy_agent_says_that_the_operation_can_be_cancelled(runtime) -> None:  # BED-002c, BED-002d
    first, second = runtime.run([GO, User(id="u2", text="and")])
    assert first.refused is None
    assert second.refused.message == "agent is busy; the operation under way can be cancelled"


def test_an_answer_of_a_model_that_ignored_the_cancel_changes_nothing(runtime) -> None:
    runtime.reset(ResetOptions(deaf_model=True))
    asked = runtime.apply(GO).awaiting[0].request_id
    runtime.run([Abort(), User(id="u2", text="again")])
    for stimulus in (say("late"), END):
        assert runtime.apply(stimulus).events == ()
    assert asked not in [one.request_id for one in runtime.apply(say("now")).awaiting]


def test_retries_wait_on_the_virtual_clock_twice_as_long_each_time(runtime) -> None:  # BED-006a, BED-D1
    runtime.reset(ResetOptions(clock="manual"))
    runtime.apply(GO)
    waits = []
    for _ in range(3):
        (timer,) = runtime.apply(ModelFail(failure="retryable")).awaiting
        waits.append(timer.due)
        assert runtime.apply(Advance(seconds=timer.due - 0.5)).events == ()
        assert [event["type"] for event in runtime.apply(Advance(seconds=0.5)).events] == ["model-request"]
    assert waits == [1, 2, 4]


def test_a_retry_that_waits_is_shown(runtime) -> None:  # BED-006c
    notices = [
        event for event in runtime.run([GO, ModelFail(failure="retryable")])[1].events if event["type"] == "native"
    ]
    assert notices == [{"type": "native", "name": "retrying", "value": 1}]


def test_a_cancel_ends_the_wait_for_a_retry(runtime) -> None:
    runtime.reset(ResetOptions(clock="manual"))
    assert runtime.run([GO, ModelFail(failure="retryable"), Abort()])[-1].awaiting == ()


def test_usage_near_the_limit_is_told(runtime) -> None:  # BED-012b
    runtime.reset(ResetOptions(limits={"contextWindow": 100}))
    steps = runtime.run([GO, ModelStop(reason="end-turn", usage={"inputTokens": 60, "outputTokens": 20})])
    assert {"type": "native", "name": "context-limit", "value": 80} in steps[-1].events


def test_the_context_is_as_full_as_the_last_usage_says(runtime) -> None:  # BED-012a
    for number, tokens in ((1, 60), (2, 70)):
        stop = ModelStop(reason="end-turn", usage={"inputTokens": tokens, "outputTokens": 9})
        runtime.run([User(id=f"u{number}", text="go"), stop])
        assert runtime.shell.agents[""].core.registers["used"] == tokens + 9


@pytest.mark.parametrize("usage", [None, "many", [], {"input": "x"}])
def test_usage_that_is_ill_typed_is_no_fault(runtime, usage) -> None:
    assert runtime.run([GO, ModelStop(reason="end-turn", usage=usage)])[-1].events[-1]["reason"] == "completed"


# ---- bad input ----


@pytest.mark.parametrize("tool", ["unknown", SUBMIT, SPAWN])
def test_a_tool_that_is_not_there_is_an_error_result(runtime, tool) -> None:
    step = runtime.run([GO, call("c1", tool), CALLED])[-1]
    (result,) = [event for event in step.events if event["type"] == "tool-result"]
    assert (result["isError"], result["output"]) == (True, f"there is no tool {tool!r} here")


@pytest.mark.parametrize(
    "stimulus",
    [ToolReturn(call_id="c9", output="x"), say("x"), END, ModelFail(failure="fatal")],
    ids=lambda it: type(it).__name__,
)
def test_an_answer_that_nobody_waits_for_is_refused(runtime, stimulus) -> None:
    assert runtime.apply(stimulus).refused.why == "not-awaited"


def test_of_messages_at_once_the_second_finds_a_busy_agent(runtime) -> None:
    assert runtime.apply(Together(stimuli=(GO, User(id="u2", text="too")))).refused.why == "rejected"


# ---- sub-agents ----


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


# ---- clients ----


def test_a_client_that_joins_gets_the_state_and_recent_messages_then_the_news(runtime) -> None:  # BED-011c
    runtime.apply(GO)
    heard: list[Any] = []
    runtime.shell.join("", heard.append)
    assert heard == [
        {
            "conversation": "",
            "state": "awaiting",
            "known": 1,
            "events": [{"type": "user-message", "id": "u1", "text": "go"}],
        }
    ]
    runtime.run([say("yes"), END])
    assert [(news["state"], len(news["events"])) for news in heard[1:]] == [("idle", 2)]


def test_what_a_client_that_joins_is_sent_is_bounded(runtime) -> None:
    for number in range(RECENT):
        runtime.run([User(id=f"u{number}", text=f"{number}"), say("yes"), END])
    heard: list[Any] = []
    runtime.shell.join("", heard.append)
    assert len(heard[0]["events"]) == RECENT


def test_every_client_hears_of_every_change(runtime) -> None:  # BED-011a
    one: list[Any] = []
    other: list[Any] = []
    runtime.shell.clients += [one.append, other.append]
    runtime.run([GO, call("a"), CALLED, ToolReturn(call_id="a", output="red"), END])
    assert [news["state"] for news in one] == ["awaiting", "executing", "awaiting", "idle"]
    assert other == one


def test_a_message_is_streamed_before_anything_else_is_done(runtime, monkeypatch) -> None:  # BED-011b
    order: list[str] = []
    runtime.shell.clients.append(lambda news: order.extend(event["type"] for event in durable(news["events"])))
    monkeypatch.setattr(runtime.shell, "_begin", lambda *_: order.append("begins"))
    runtime.run([GO, say("yes"), call("a"), CALLED])
    assert order == ["user-message", "agent-output", "agent-output", "begins"]


# ---- persistence ----


@pytest.mark.parametrize(
    ("word", "types"),
    [
        ([], ["user-message", "run-stop"]),
        ([say("half")], ["user-message", "run-stop"]),
        ([say("yes"), END], ["user-message", "agent-output", "run-stop"]),
        ([call("a"), CALLED], ["user-message", "agent-output", "tool-result", "run-stop"]),
    ],
    ids=["asked", "partial", "done", "executing"],
)
def test_a_restart_finds_the_whole_history_and_an_idle_agent(tmp_path, word, types) -> None:  # BED-003b, BED-007b
    with ConversationTarget() as runtime:
        options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.run([GO, *word])
        runtime.kill()
        step = runtime.reset(options)
        assert step.awaiting == ()
        agent = runtime.shell.agents[""]
        assert ([event["type"] for event in agent.core.log], agent.core.state) == (types, "idle")
        assert runtime.apply(User(id="u2", text="on")).refused is None


def test_a_restart_finds_the_history_as_it_was(tmp_path) -> None:  # BED-007c, BED-013b
    seen = User(id="u1", text="see", content=[{"type": "text", "text": "see"}, {"type": "image", "path": "shot.png"}])
    with ConversationTarget() as runtime:
        options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.run([seen, call("a", path="x"), CALLED, ToolReturn(call_id="a", output={"red": 1}), say("yes"), END])
        before = durable(runtime.shell.agents[""].core.log)
        runtime.kill()
        runtime.reset(options)
        assert runtime.shell.agents[""].core.log == before


def test_a_conversation_stays_in_its_directory_wherever_the_runtime_is_next(tmp_path) -> None:  # BED-010a
    options = ResetOptions(state_dir=str(tmp_path / "state"))
    for place in ("one", "other"):
        with ConversationTarget(directory=str(tmp_path / place)) as runtime:
            runtime.reset(options)
            runtime.apply(User(id=place, text="go"))
            assert runtime.shell.agents[""].directory == str(tmp_path.resolve() / "one")


def test_a_restart_again_adds_nothing(tmp_path) -> None:
    with ConversationTarget() as runtime:
        options = ResetOptions(state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.apply(GO)
        assert [len(runtime.reset(options).events) for _ in range(3)] == [1, 0, 0]


def test_sub_agents_are_idle_after_a_restart_and_still_not_listed(tmp_path) -> None:  # BED-007b, BED-009e
    with ConversationTarget() as runtime:
        options = ResetOptions(tools=SPAWNING.tools, state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.run([GO, call("a", SPAWN, task="red"), CALLED])
        runtime.reset(options)
        assert {agent.core.state for agent in runtime.shell.agents.values()} == {"idle"}
        assert runtime.shell.listed() == [""]


def test_the_state_is_durable_before_its_effects(tmp_path, monkeypatch) -> None:  # BED-007a
    order = []
    monkeypatch.setattr(stores.Database, "save", lambda *_: order.append("save"))
    with ConversationTarget() as runtime:
        runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))
        monkeypatch.setattr(runtime.shell, "_begin", lambda *_: order.append("begin"))
        runtime.run([GO, call("a"), CALLED])
    assert order == ["save", "save", "begin"]


def test_the_state_is_durable_before_a_client_hears_of_it(tmp_path, monkeypatch) -> None:  # BED-007a
    order = []
    monkeypatch.setattr(stores.Database, "save", lambda *_: order.append("save"))
    with ConversationTarget() as runtime:
        runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))
        runtime.shell.clients.append(lambda _: order.append("heard"))
        runtime.run([GO, say("yes"), END])
    assert order == ["save", "heard", "save", "heard"]


class CrashError(Exception):
    """The process ends here."""


WHOLE = [
    *(GO, call("a"), call("b"), CALLED),
    *(ToolReturn(call_id="a", output="red"), ToolReturn(call_id="b", output="blue"), say("yes"), END),
]
SAVES = 5
"""That the whole word asks for: a message, a response with calls, two results, and the end."""


def crashing(number, *, committed):
    """Return a ``save`` that ends the process at the given call, before or after its commit."""
    save, saves = stores.Database.save, iter(range(SAVES))

    def crash(*arguments):
        last = next(saves) == number
        if committed or not last:
            save(*arguments)
        if last:
            raise CrashError

    return crash


@pytest.mark.parametrize("committed", [False, True], ids=["before its commit", "after it"])
@pytest.mark.parametrize("number", range(SAVES))
def test_a_crash_at_any_save_leaves_a_history_that_the_core_accepts(tmp_path, monkeypatch, number, committed) -> None:
    options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
    with ConversationTarget() as runtime:
        runtime.reset(options)
        with monkeypatch.context() as patch:
            patch.setattr(stores.Database, "save", crashing(number, committed=committed))
            with pytest.raises(CrashError):
                runtime.run(WHOLE)
        runtime.reset(options)
        agent = runtime.shell.open("")
        assert agent.core.state == "idle"
        assert project(tuple(map(judge, agent.core.log)), Policies()).anomalies == ()
        assert len(agent.core.log) >= number


def test_a_disk_that_takes_nothing_stops_the_effects(tmp_path, monkeypatch) -> None:  # BED-007a
    with ConversationTarget() as runtime:
        runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))

        def full(*_):
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(stores.Database, "save", full)
        with pytest.raises(sqlite3.OperationalError):
            runtime.apply(GO)
        assert runtime.shell.agents[""].request is None


def test_all_that_its_profile_declares_is_there() -> None:
    with ConversationTarget() as runtime:
        outcomes = list(walk(Target(runtime=runtime)))
    assert [one for one in outcomes if one.verdict not in {"pass", "skipped"}] == []
