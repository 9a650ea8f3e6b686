"""``reference:interaction``: it keeps every law under every policy; and what an edited machine makes of it."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, get_args

import pytest

from turncheck.adapters.protocol.messages import HISTORY_POLICIES, RUNTIME_POLICIES
from turncheck.adapters.references.interaction import InteractionRuntime
from turncheck.conformance.automata.mutation.view import paired
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.subject import missing
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.policies import Busy, Fate, SteerLands
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    ResetOptions,
    Text,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.declaration.vocabulary import Record, Retract, Settle
from turncheck.model.machines.interaction import CONCURRENT, SPEC, STATES

LAWS = [law for law in selected(["runtime"]) if not missing(law, InteractionRuntime.profile)]
WORDS = 30
"""Generated words: with this seed each law has found its evidence from 20 on. Directed words alone take every row."""
FATES = get_args(Fate)
FIRST, LAST = User(id="u1", text="one"), User(id="u9", text="nine")
STEER = User(id="u2", text="two", delivery="steer")
FOLLOW_UP = User(id="u3", text="three", delivery="followUp")
TEXT, THOUGHT = ModelOutput(item=Text(text="all well")), ModelOutput(item=Reasoning(text="hm"))
END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")


def call(name="c1", arguments=None):
    return ModelOutput(item=ToolCall(call_id=name, tool="read", arguments=arguments))


def returned(name="c1"):
    return ToolReturn(call_id=name, output="text")


def driven(*stimuli, machine=SPEC, **policies):
    runtime = InteractionRuntime(machine, policies)
    return runtime, runtime.run(stimuli)


def logged(runtime, name, *fields):
    found = [[event.get(field) for field in fields] for event in runtime.log if event["type"] == name]
    return [values[0] for values in found] if len(fields) == 1 else found


def shown(runtime):
    """Return the input of the request that waits, text by text; a call by its id."""
    return [entry.text or entry.call_id for entry in runtime.request.input]


# ---- the laws ----


@cache
def verified():
    return verify_runtime(InteractionRuntime(), LAWS, words=WORDS, hash_seed=1)[0]


@pytest.mark.parametrize("law", [law.name for law in LAWS])
def test_it_keeps_every_law_with_evidence(law):
    (found,) = [one for one in verified().laws if one.law == law]
    assert (found.verdict, found.evidence.observed > 0) == ("pass", True)


def test_what_it_does_not_declare_is_a_bound_a_prompt_delays_another_machine_six_capabilities_and_runs_side_by_side():
    assert {law.name for law in selected(["runtime"])} - {law.name for law in LAWS} == {
        *("rounds-bounded", "aborted-text-dropped", "system-shown"),
        *("images-shown", "usage-told", "sessions-independent"),
        *("retries-back-off", "context-limit-told"),
        *("runs-begin-at-once", "events-name-their-run", "runs-kept-apart", "no-update-lost"),
        *("events-name-their-agent", "children-end-first", "children-answered-once", "stop-reaches-children"),
        *("failed-child-is-a-result", "agents-no-deeper", "child-messages-taken-or-refused", "child-messages-reach"),
        "restart-reaches-children",
    }


def test_every_row_is_taken():
    assert verified().coverage["missed"] == []


CHOICES = {
    "busy": get_args(Busy),
    "steerLands": get_args(SteerLands),
    "retries": (0, 2),
    "queueAfterError": FATES,
    "queueAfterInterrupted": FATES,
}
PAIRED = paired([dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())])
"""Policies in which any two values of two of them meet: 20 of 192 combinations, each of which takes a second."""


@pytest.mark.parametrize("policies", PAIRED, ids=lambda one: "-".join(map(str, one.values())))
def test_under_any_two_policies_it_breaks_no_law_and_every_row_is_taken(policies):
    laws = [law for law in LAWS if law.kind == "run"]
    result = verify_runtime(InteractionRuntime(policies=policies), laws, words=0, hash_seed=1)[0]
    broken = [law.law for law in result.laws if law.verdict in {"fail", "error"}]
    assert (broken, result.coverage["missed"]) == ([], [])


@cache
def broken(**policies):
    """The laws on single runs that it breaks under *policies*."""
    laws = [law for law in LAWS if law.kind == "run"]
    result = verify_runtime(InteractionRuntime(policies=policies), laws, words=20, hash_seed=1)[0]
    return [law.law for law in result.laws if law.verdict == "fail"]


@pytest.mark.parametrize("policy", HISTORY_POLICIES)
def test_under_every_policy_on_a_history_it_breaks_no_law(policy):
    own = InteractionRuntime.profile.policies
    given = [{} if own.get(policy) == value else {policy: value} for value in HISTORY_POLICIES[policy]]
    assert [broken(retries=1, **one) for one in given] == [[] for _ in given]


RECORDS = [name for name, effect in SPEC.effects.items() if isinstance(effect, Record | Settle | Retract)]


@pytest.mark.parametrize("name", RECORDS)
def test_a_history_without_one_of_its_effects_breaks_a_law_on_what_is_shown(name):
    table: list[Any] = [[*row[:5], [one for one in row[5] or () if one != name]] for row in SPEC.table]
    fates = {"queueAfterInterrupted": "join"} if name in {"put_off_queue", "record_joined"} else {}
    fates |= {"abortedResponse": "drop-with-calls"} if name == "retract" else {}
    unread = "later" if name in {"put_off_unread", "record_late"} else "keep"
    machine = replace(SPEC, table=table)
    runtime = InteractionRuntime(machine, {"retries": 1, "steerLands": "after-call", "unread": unread, **fates})
    laws = selected(["runtime"], ["history-whole", "input-well-formed"])
    result = verify_runtime(runtime, laws, words=20, hash_seed=1, fail_fast=True, shrink=False)[0]
    assert "fail" in [law.verdict for law in result.laws]


# ---- what it does ----


def test_a_steer_lands_after_the_batch():
    runtime, steps = driven(FIRST, call("c1"), call("c2"), CALLED, STEER, returned("c1"))
    assert [type(one) for one in steps[-1].awaiting] == [ToolAwaited]
    runtime.apply(returned("c2"))
    assert shown(runtime) == ["one", "c1", "c2", "text", "text", "two"]


def test_a_steer_lands_after_the_call_and_those_that_wait_are_skipped():
    runtime, _ = driven(FIRST, call("c1"), call("c2"), CALLED, STEER, returned("c1"), steerLands="after-call")
    assert logged(runtime, "tool-result", "callId", "synthetic") == [["c1", None], ["c2", True]]
    assert shown(runtime)[-1] == "two"


def test_an_option_goes_before_the_profile():
    runtime = InteractionRuntime(policies={"busy": "reject"})
    runtime.reset(ResetOptions(policies={"busy": "followUp"}))
    steps = runtime.run([FIRST, LAST])
    assert steps[-1].refused is None


def test_a_steer_that_the_model_did_not_come_to_is_not_lost():
    runtime, _ = driven(FIRST, STEER, Abort(), LAST)
    assert shown(runtime) == ["one", "two", "nine"]


def test_an_abort_answers_the_call_that_runs_and_then_those_that_wait():
    runtime, _ = driven(FIRST, call("c1"), call("c2"), CALLED, Abort())
    assert logged(runtime, "tool-result", "callId", "output") == [
        ["c1", "cancelled while it ran"],
        ["c2", "not executed: the run went on without it"],
    ]


def test_a_retry_answers_the_calls_of_the_response_that_broke():
    runtime, _ = driven(FIRST, call(), ModelFail(failure="retryable"), retries=1)
    assert shown(runtime) == ["one", "c1", "not executed: the run went on without it"]


def test_thoughts_are_logged_and_not_shown_again():
    runtime, _ = driven(FIRST, THOUGHT, TEXT, END, LAST)
    assert logged(runtime, "agent-output", "kind") == ["reasoning", "assistant"]
    assert shown(runtime) == ["one", "all well", "nine"]


def test_calls_that_cannot_be_executed_fail_one_after_the_other_however_many():
    many = 2_000  # deeper than Python's stack
    runtime, steps = driven(FIRST, *(call(f"c{n}", '{"path": ') for n in range(many)), CALLED)
    assert len(logged(runtime, "tool-result", "callId")) == many
    assert steps[-1].awaiting == (runtime.request,)


def test_a_call_id_that_comes_again_gets_a_mark():
    runtime, _ = driven(FIRST, call("c1"), call("c1"), call("c1~"))
    assert logged(runtime, "agent-output", "callId") == ["c1", "c1~", "c1~~"]


def test_time_that_passes_changes_nothing():
    assert driven(FIRST, Advance(seconds=5))[1][-1].events == ()


def test_what_it_has_not_is_unsupported():
    assert driven(User(id="u1", text="one", content=[]))[1][-1].refused.why == "unsupported"


@pytest.mark.parametrize("stimulus", [TEXT, END, returned()], ids=["text", "end", "result"])
def test_what_nobody_waits_for_is_not_awaited(stimulus):
    assert driven(stimulus)[1][-1].refused.why == "not-awaited"


# ---- an edited machine ----


def edited(event, source, then, dest=...):
    """The machine with other effects (or another destination) in the rows of an event and a source."""
    table = [
        [*row[:2], row[2] if dest is ... else dest, *row[3:5], then(row[5])]
        if row[0] == event and source in SPEC.sources(row[1])
        else row
        for row in SPEC.table
    ]
    assert table != SPEC.table
    return replace(SPEC, table=table)


def without(*names):
    return lambda effects: [name for name in effects if name not in names]


def test_the_machine_and_the_protocol_know_the_same_values_of_a_policy():
    assert set(RUNTIME_POLICIES["busy"]) == {*get_args(Busy), CONCURRENT}
    assert set(RUNTIME_POLICIES["steerLands"]) == set(get_args(SteerLands))


WRONG = {
    "run-never-stuck": edited("tool-return", "executing", without("ask")),
    "run-ends-once": edited("model-stop", "inferring", lambda effects: [*effects, "complete"]),
    "model-failure-survived": edited("retryable-failure", "inferring", without("try_again")),
    "cut-calls-answered": edited("fatal-failure", "inferring", without("skip_calls")),
    "calls-answered": edited("abort", "executing", without("skip_calls")),
    "messages-consumed": edited("model-stop", "inferring", without("open_next")),
    "steers-in-their-run": edited("model-stop", "inferring", without("read_steers")),
    "queue-as-declared": edited("abort", "inferring", without("promote", "open_next", "ask"), "idle"),
    "items-conserved": edited("text", "inferring", without("say")),
    "history-whole": edited("tool-return", "executing", without("record")),
}


@pytest.mark.parametrize("law", WRONG)
def test_an_edited_row_breaks_a_law(law):
    runtime = InteractionRuntime(WRONG[law], {"retries": 1})
    result = verify_runtime(runtime, selected(["runtime"], [law]), words=20, hash_seed=1, shrink=False)[0]
    assert [one.verdict for one in result.laws] == ["fail"]


def tables():
    """Edited tables, sound or not: rows that are missing, lead elsewhere, or ask for nonsense."""
    whole: list[Any] = list(SPEC.table)
    for place, (*key, dest, conditions, unless, then) in enumerate(whole):
        elsewhere = STATES[place % len(STATES)] if dest is None else None
        changed = [[*key, dest, conditions, unless, effects] for effects in (then * 2, [*SPEC.effects])]
        changed.append([*key, elsewhere, conditions, unless, then[::-1]])
        yield from ([*whole[:place], *rows, *whole[place + 1 :]] for rows in ([], *([one] for one in changed)))


FOURTH, AGAIN = User(id="u4", text="four"), User(id="u5", text="five", delivery="steer")
FAILED, RETRY, BROKEN = (ModelFail(failure=name) for name in ("fatal", "retryable", "stream"))
LIFE = (
    *(FIRST, STEER, FOLLOW_UP, call("c1"), call("c1", "{"), TEXT, CALLED, FOURTH, returned("c1"), END, Abort(), LAST),
    *(call("c1"), call("c2"), CALLED, AGAIN, ToolFail(call_id="c1~~", message="no"), returned("c2"), FOLLOW_UP, RETRY),
    *(FAILED, END, Abort(), END, FIRST, THOUGHT, BROKEN, END, LAST),
)


def test_an_edited_machine_may_ask_for_nonsense_and_the_runtime_goes_on():
    ends = Counter[tuple[int, bool]]()
    for table in tables():
        runtime, steps = driven(*LIFE, machine=replace(SPEC, table=table), retries=1, steerLands="after-call")
        ends[len(steps), len(runtime.log) < 1_000] += 1
    assert ends.keys() == {(len(LIFE), True)}
