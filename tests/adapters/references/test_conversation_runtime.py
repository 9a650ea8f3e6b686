"""``reference:conversation`` as a runtime: it keeps every law; and its behaviour that no law can see from outside."""

from functools import cache
from typing import Any

import pytest
from conversing import CALLED, END, GO, call, say, shown_to_the_model

from turncheck.adapters.references.conversation import SPAWN, SUBMIT, ConversationTarget
from turncheck.adapters.references.conversation.core import durable
from turncheck.adapters.references.conversation.shell import RECENT
from turncheck.adapters.targets.registry import Target
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.smoke.walk import walk
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import Abort, Advance, ModelFail, ModelStop, ResetOptions, Together, ToolReturn, User

SKIPPED = {
    *("steers-in-their-run", "follow-ups-in-turn", "handed-over-as-declared", "queue-as-declared", "rounds-bounded"),
    *("store-faults", "system-shown"),
    *(
        law.name
        for law in selected(["runtime"])
        if {"approval", "client-tools", "compaction", "policy busy=concurrent"} & {*law.needs}
    ),
}


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


def test_all_that_its_profile_declares_is_there() -> None:
    with ConversationTarget() as runtime:
        outcomes = list(walk(Target(runtime=runtime)))
    assert [one for one in outcomes if one.verdict not in {"pass", "skipped"}] == []
