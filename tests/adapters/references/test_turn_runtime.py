"""The turn runtime: it keeps every law that its profile does not skip; bounds, bad input, keys, tools, memory."""

from functools import cache

import msgspec
import pytest

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.turn import TurnRuntime
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.smoke.life import Life
from turncheck.conformance.smoke.runtime import RUNTIME
from turncheck.conformance.smoke.stage import live
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Shown,
    Text,
    TimerAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = ({"name": "read", "schema": SCHEMA}, {"name": "deploy"})
TEXT, STOP = ModelOutput(item=Text(text="done.")), ModelStop(reason="end-turn")
ONE = User(id="u1", text="one")


def call(name="c1", tool="read", arguments=None):
    return ModelOutput(
        item=ToolCall(call_id=name, tool=tool, arguments={"path": "a"} if arguments is None else arguments)
    )


def told(*word, queue="collect", state=None, **options):
    """The events and the last step that *word* leads to."""
    runtime = TurnRuntime(queue=queue)
    step = runtime.reset(ResetOptions(tools=TOOLS, state_dir=state, **options))
    events = [*step.events]
    for stimulus in word:
        step = runtime.apply(stimulus)
        events += step.events
    runtime.close()
    return events, step


def end(*word, **options):
    """The last run-stop that *word* leads to."""
    return [event for event in told(*word, **options)[0] if event["type"] == "run-stop"][-1]


def results(*word, **options):
    return [event for event in told(*word, **options)[0] if event["type"] == "tool-result"]


# ---- the laws ----


@cache
def verified(queue):
    result, _ = verify_runtime(TurnRuntime(queue=queue), selected(["runtime"]), words=30, seed=1, hash_seed=7)
    return {law.law: (law.verdict, law.evidence.observed) for law in result.laws}, result.coverage


ABSENT = {
    *("abort", "approval", "client-tools", "clients", "compaction", "images", "store-faults", "sub-agents", "usage"),
    *("policy system", "policy backoff", "policy busy=concurrent"),
}
"""Capabilities and a policy that a turn does not have."""


@pytest.mark.parametrize("queue", ["collect", "steer"])
@pytest.mark.parametrize("law", [law.name for law in selected(["runtime"]) if not ABSENT.intersection(law.needs)])
def test_it_keeps_the_law_by_observed_evidence(law, queue):
    verdict, observed = verified(queue)[0][law]
    assert verdict == "pass"
    assert observed


@pytest.mark.parametrize("law", [law.name for law in selected(["runtime"]) if ABSENT.intersection(law.needs)])
def test_laws_on_what_a_turn_does_not_have_are_skipped(law):
    assert verified("collect")[0][law][0] == "skipped"


@pytest.mark.parametrize("queue", ["collect", "steer"])
def test_every_row_of_the_interaction_that_it_allows_was_taken(queue):
    assert verified(queue)[1]["missed"] == []


def test_it_lives_a_life():
    runtime = TurnRuntime()
    outcomes = [one for one in live(RUNTIME, Life(runtime), runtime.profile) if one.verdict not in {"pass", "skipped"}]
    assert outcomes == []


# ---- terminals ----


def test_a_completed_turn_says_so_under_its_id():
    """TM-2.6, TM-D1."""
    stop = {"type": "run-stop", "reason": "completed", "turnId": "u1", "status": "completed"}
    assert end(ONE, TEXT, STOP) == stop


@pytest.mark.parametrize(
    ("word", "options", "failure"),
    [
        ((User(id="u1", text="one", meta={"chatId": None}),), {}, "invalid_input"),
        ((User(id="u1", text="one", meta={"traceId": 7}),), {}, "invalid_input"),
        ((User(id="u1", text="one", meta={"idempotencyKey": ["k"]}),), {}, "invalid_input"),
        ((User(id="u1", text="one", meta={"correlationId": ""}),), {}, "invalid_input"),
        ((User(id="u1", text="x" * 11),), {"limits": {"maxTextPerMessage": 10}}, "invalid_input"),
        ((ONE, call(), STOP), {"policies": {"toolPolicy": [{"decision": "deny-turn"}]}}, "policy_denied"),
        (
            (ONE, call(), call("c2"), STOP, ToolReturn(call_id="c1")),
            {"limits": {"maxToolCallsPerTurn": 1}},
            "tool_runtime_error",
        ),
        ((ONE, call(), STOP, ToolReturn(call_id="c1")), {"limits": {"maxRounds": 1}}, "tool_runtime_error"),
        ((ONE, Advance(seconds=5)), {"limits": {"maxSecondsPerTurn": 5}}, "timeout"),
        ((ONE, call(), STOP, Advance(seconds=5)), {"limits": {"maxSecondsPerTurn": 5}}, "timeout"),
        ((ONE, ModelFail(failure="fatal")), {}, "provider_error"),
        (
            (ONE, TEXT, ModelStop(reason="end-turn", usage={"tokens": 11})),
            {"limits": {"maxTokensPerTurn": 10}},
            "provider_error",
        ),
        ((ONE, STOP), {}, "report_missing"),
    ],
)
def test_what_goes_wrong_ends_the_turn_with_its_class_a_reason_and_what_to_do(word, options, failure):
    """All six classes (TM-2.6, TM-6, TM-D1, TM-D3)."""
    stop = end(*word, **options)
    assert (stop["reason"], stop["detail"], stop["failure"]) == ("error", failure, failure)
    assert stop["status"] == ("denied" if failure == "policy_denied" else "failed")
    assert stop["why"]
    assert stop["nextAction"]


BOUNDS = {
    "maxToolCallsPerTurn": (1, (ONE, call(), call("c2"), STOP, ToolReturn(call_id="c1"))),
    "maxRounds": (1, (ONE, call(), STOP, ToolReturn(call_id="c1"))),
    "maxSecondsPerTurn": (5, (ONE, call(), STOP, Advance(seconds=5))),
    "maxSecondsPerTool": (5, (ONE, call(), STOP, Advance(seconds=5))),
    "maxTokensPerTurn": (10, (ONE, TEXT, ModelStop(reason="end-turn", usage={"tokens": 11}))),
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_that_is_reached_fails_the_turn_by_its_name_and_says_how_to_go_on(bound):
    """In number, time and tokens (TM-2.5, TM-3.3, TM-4.3, TM-D3)."""
    limit, word = BOUNDS[bound]
    stop = end(*word, limits={bound: limit})
    assert (stop["status"], stop["why"]) == ("failed", f"{bound} is reached")
    assert stop["nextAction"].startswith("go on in a new turn")


@pytest.mark.parametrize(
    ("turn", "bound"), [(6, "maxSecondsPerTool"), (5, "maxSecondsPerTurn"), (4, "maxSecondsPerTurn")]
)
def test_of_two_bounds_on_time_the_one_that_is_over_first_counts(turn, bound):
    """TM-2.5, TM-D3; the turn's where both are."""
    limits = {"maxSecondsPerTool": 5, "maxSecondsPerTurn": turn}
    assert end(ONE, call(), STOP, Advance(seconds=60), limits=limits)["why"] == f"{bound} is reached"


def test_each_run_of_a_tool_has_a_time_of_its_own():
    """TM-2.5."""
    word = (ONE, call(), call("c2"), STOP, Advance(seconds=4), ToolReturn(call_id="c1"), Advance(seconds=4))
    _, step = told(*word, limits={"maxSecondsPerTool": 5})
    assert [one.due for one in step.awaiting if isinstance(one, TimerAwaited)] == [1]


def test_the_model_takes_the_time_of_no_tool():
    _, step = told(ONE, call(), STOP, ToolReturn(call_id="c1"), Advance(seconds=60), limits={"maxSecondsPerTool": 5})
    assert not [one for one in step.awaiting if isinstance(one, TimerAwaited)]


def test_the_tokens_of_all_responses_of_a_turn_count_together():
    usage = ModelStop(reason="tool-use", usage={"inputTokens": 4, "outputTokens": 2})
    stop = end(ONE, call(), usage, ToolReturn(call_id="c1"), TEXT, usage, limits={"maxTokensPerTurn": 11})
    assert stop["why"] == "maxTokensPerTurn is reached"


def test_the_next_turn_has_bounds_of_its_own():
    limits = {"maxSecondsPerTurn": 5}
    _, step = told(ONE, Advance(seconds=5), User(id="u2", text="two"), Advance(seconds=4), limits=limits)
    assert [one.due for one in step.awaiting if isinstance(one, TimerAwaited)] == [1]


# ---- tools ----


@pytest.mark.parametrize(
    ("made", "failure"),
    [
        (call(tool="unknown"), "invalid_input"),
        (call(arguments={"path": 7}), "invalid_input"),
        (call(arguments={}), "invalid_input"),
        (call(arguments='{"path": '), "invalid_input"),
        (call(arguments="[]"), "invalid_input"),
        (call(tool="deploy", arguments={}), "policy_denied"),
    ],
)
def test_a_call_that_policy_or_schema_refuses_is_an_error_result_and_never_runs(made, failure):
    """TM-2.5, TM-4.1, TM-D1."""
    word = (ONE, made, STOP)
    policies = {"toolPolicy": [{"tool": "deploy", "decision": "deny-call"}]}
    _, step = told(*word, policies=policies)
    (result,) = results(*word, policies=policies)
    assert (result["output"]["failure"], result["isError"]) == (failure, True)
    assert [type(one).__name__ for one in step.awaiting] == ["ModelAwaited"]


def test_a_tools_failure_is_structured():
    """TM-4.2."""
    (result,) = results(ONE, call(), STOP, ToolFail(call_id="c1", message="broken"))
    assert result["output"] == {"failure": "tool_runtime_error", "message": "broken"}


def test_a_tools_result_goes_back_to_the_model():
    """TM-2.5."""
    _, step = told(ONE, call(), STOP, ToolReturn(call_id="c1", output="a"))
    assert step.awaiting[0].input[-1] == Shown(role="tool", call_id="c1", text="a")


@pytest.mark.parametrize(
    "stimulus", [ToolReturn(call_id="c9"), ToolReturn(call_id="c1", execution="e9"), TEXT, Abort()]
)
def test_what_nobody_asked_for_is_refused_and_logs_nothing(stimulus):
    before, _ = told(ONE, call(), STOP)
    events, step = told(ONE, call(), STOP, stimulus)
    assert step.refused.why in {"not-awaited", "unsupported"}
    assert events == before


# ---- messages during a turn ----


@pytest.mark.parametrize("queue", ["collect", "steer"])
def test_a_turn_in_which_a_message_comes_ends_with_its_own_terminal(queue):
    """TM-5.3; the terminal that follows, where there is one, is the other's."""
    events, _ = told(ONE, call(), STOP, User(id="u2", text="two"), ToolReturn(call_id="c1"), TEXT, STOP, queue=queue)
    assert [(event["turnId"], event["status"]) for event in events if event["type"] == "run-stop"] == [
        ("u1", "completed")
    ]


def test_a_steer_is_shown_after_the_whole_batch_and_before_the_next_inference():
    """TM-5.2."""
    word = (ONE, call(), call("c2"), STOP, User(id="u2", text="two"), ToolReturn(call_id="c1"))
    _, amid = told(*word, queue="steer")
    _, after = told(*word, ToolReturn(call_id="c2"), queue="steer")
    assert [type(one).__name__ for one in amid.awaiting] == ["ToolAwaited"]
    assert [entry.call_id or entry.text for entry in after.awaiting[0].input][-3:] == ["c1", "c2", "two"]


def test_messages_that_wait_are_a_turn_each():
    """TM-D7: they are never put together."""
    events, _ = told(ONE, User(id="u2", text="two"), User(id="u3", text="three"), *(TEXT, STOP) * 3)
    assert [event["turnId"] for event in events if event["type"] == "run-stop"] == ["u1", "u2", "u3"]


def test_an_event_that_comes_during_a_turn_is_checked_when_its_turn_comes():
    """TM-D2."""
    unfit = User(id="u2", text="two", meta={"chatId": None})
    events, _ = told(ONE, unfit, TEXT, STOP)
    assert [(event["turnId"], event.get("failure")) for event in events if event["type"] == "run-stop"] == [
        ("u1", None),
        ("u2", "invalid_input"),
    ]
    assert [event["type"] for event in told(ONE, unfit)[0]] == ["user-message", "model-request", "user-message"]


# ---- keys, senders, sessions ----


def test_a_key_that_comes_again_makes_one_turn():
    """TM-1.2."""
    keyed = User(id="u1", text="one", meta={"idempotencyKey": "k"})
    events, step = told(keyed, TEXT, STOP, msgspec.structs.replace(keyed, id="u2"))
    assert [event["type"] for event in events].count("user-message") == 1
    assert (step.events, step.awaiting, step.refused) == ((), (), None)


def test_a_key_is_known_after_a_restart_and_answered_with_the_first_terminal(tmp_path):
    """TM-D7."""
    keyed = User(id="u1", text="one", meta={"idempotencyKey": "k"})
    told(keyed, TEXT, STOP, state=str(tmp_path))
    runtime = TurnRuntime()
    runtime.reset(ResetOptions(state_dir=str(tmp_path)))
    assert runtime.apply(keyed).events == ()
    assert runtime._session(None).repeated == {"turnId": "u1", "status": "completed"}
    runtime.close()


def test_the_sender_changes_nothing_but_its_name_in_the_log():
    """TM-3.2."""
    logs = []
    for agent in ("a", "b"):
        events, _ = told(
            User(id="u1", text="one", sender={"agentId": agent}), call(), STOP, ToolReturn(call_id="c1"), TEXT, STOP
        )
        assert events[0].pop("sender") == {"agentId": agent}
        logs.append(events)
    assert logs[0] == logs[1]


def test_a_turn_carries_its_identity():
    """TM-1.1."""
    events, _ = told(User(id="u1", text="one", meta={"causationId": "x", "chatId": "chat"}))
    assert events[0]["turn"] == {
        "turnId": "u1",
        "sessionId": "main",
        "chatId": "chat",
        "traceId": "u1",
        "correlationId": "u1",
        "causationId": "x",
    }


@pytest.mark.parametrize("name", ["a", "../up", "main"])
def test_a_session_lives_in_a_folder_of_its_own_and_comes_back(tmp_path, name):
    told(User(id="u1", text="one", session_id=name), TEXT, STOP, state=str(tmp_path))
    _, step = told(User(id="u2", text="two", session_id=name), state=str(tmp_path))
    assert [entry.text for entry in step.awaiting[0].input[1:]] == ["one", "done.", "two"]
    assert [folder.parent for folder in tmp_path.glob("*")] == [tmp_path]


# ---- memory ----


def test_a_turn_loads_contracts_memory_pointers_and_recent_messages(tmp_path):
    """TM-2.3; the messages are an earlier process's."""
    told(ONE, TEXT, STOP, state=str(tmp_path))
    policies = {"contracts": ["answer in English"], "memoryPointers": ["notes/2026.md"]}
    _, step = told(User(id="u2", text="two"), state=str(tmp_path), policies=policies)
    assert [(entry.role, entry.text) for entry in step.awaiting[0].input] == [
        ("system", "answer in English"),
        ("system", "notes/2026.md"),
        ("system", "objective: answer the message within 16 tool calls, 16 model requests"),
        ("user", "one"),
        ("assistant", "done."),
        ("user", "two"),
    ]


def test_a_turns_objective_names_each_bound(tmp_path):
    """TM-2.3."""
    names = ("maxToolCallsPerTurn", "maxRounds", "maxTokensPerTurn", "maxSecondsPerTurn", "maxSecondsPerTool")
    _, step = told(ONE, limits={name: number for number, name in enumerate(names, 2)}, state=str(tmp_path))
    said = "objective: answer the message within 2 tool calls, 3 model requests, 4 tokens, 5 s, 6 s per tool"
    assert step.awaiting[0].input[0].text == said


def test_the_journal_is_a_log_of_the_core(tmp_path):
    events, _ = told(ONE, call(), STOP, ToolReturn(call_id="c1", output="a"), TEXT, STOP, state=str(tmp_path))
    journal = [msgspec.json.decode(line) for line in (tmp_path / "main" / "journal.jsonl").read_bytes().splitlines()]
    assert journal == [{key: value for key, value in event.items() if key != "input"} for event in events]


def test_the_checkpoint_says_how_far_the_journal_is_settled(tmp_path):
    """TM-2.7."""
    told(ONE, TEXT, STOP, User(id="u2", text="two"), state=str(tmp_path))
    journal = (tmp_path / "main" / "journal.jsonl").read_bytes()
    checkpoint = msgspec.json.decode((tmp_path / "main" / "checkpoint.json").read_bytes())
    assert checkpoint == {"offset": journal.index(b'{"type":"user-message","id":"u2"'), "lines": 4, "turns": 1}


def test_an_invalid_event_leaves_the_turn_lock_alone(tmp_path):
    """TM-D2."""
    runtime = TurnRuntime()
    runtime.reset(ResetOptions(state_dir=str(tmp_path)))
    runtime.apply(User(id="u1", text="one", meta={"chatId": None}))
    assert not (tmp_path / "main" / "turn.lock").exists()
    runtime.close()


def test_what_waited_is_served_after_a_restart(tmp_path):
    """TM-7.1."""
    told(ONE, User(id="u2", text="two"), state=str(tmp_path))
    events, step = told(state=str(tmp_path))
    assert [event["type"] for event in events] == ["run-stop", "model-request"]
    assert [entry.text for entry in step.awaiting[0].input[1:]] == ["one", "two"]


def test_a_killed_runtime_has_to_be_reset(tmp_path):
    runtime = TurnRuntime()
    runtime.reset()
    runtime.kill()
    with pytest.raises(TargetError, match="reset first"):
        runtime.apply(ONE)
