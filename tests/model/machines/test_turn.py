"""The machine ``turn``: its rows by clause, all of it explored to a bound, and the theorem of X-1 with its teeth."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.observe.projector_trace import ProjectorTrace
from turncheck.model.checking.alphabet import alphabet
from turncheck.model.checking.explore import explore
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.declaration.lint import lint
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.turn import DEFAULTS, SPEC
from turncheck.model.machines.turn_log import OUTCOMES, refine

SETTINGS = settings(max_examples=60, deadline=None, database=None, derandomize=True)
SMALL = dict(DEFAULTS, max_calls=1, max_rounds=1, token_bound=2)
"""Bounds that an exploration reaches."""
FIELDS = dict.fromkeys(
    ("id", "text", "delivery", "key", "call_id", "tool", "arguments", "decision", "output", "failure", "message")
)
READY = ("inbound", "valid", "locked", "loaded")
"""How a turn comes to its first inference."""
CLOSED = ("responded", "recorded")


def told(**given):
    return SimpleNamespace(**FIELDS | {"tokens": 0} | given)


class Driven:
    """A machine with all its inputs and all its outputs."""

    def __init__(self, spec=SPEC, **tables):
        self.machine = Stepper(spec, {**DEFAULTS, **tables})
        self.told, self.outputs, self.path = {}, [], ["idle"]

    def tell(self, symbol, **given):
        at = len(self.told)
        self.told[at] = told(**given)
        self.machine.take(symbol, self.told[at], at)
        self.outputs += self.machine.outputs
        if self.machine.state != self.path[-1]:
            self.path.append(self.machine.state)
        return self

    def tells(self, *symbols):
        for symbol in symbols:
            self.tell(symbol)
        return self

    @property
    def names(self):
        return [output.name for output in self.outputs]

    @property
    def log(self):
        return refine(self.outputs, self.told)

    @property
    def outcome(self):
        return next((output.arguments[0] for output in self.outputs if output.name == "finish"), None)


def asked(**tables):
    return Driven(**tables).tells(*READY)


def called(*calls, **tables):
    turn = asked(**tables)
    for call in calls:
        turn.tell("call", call_id=call, tool="read")
    return turn.tell("model-stop")


# ---- the declaration ----


def test_the_rows_are_sound():
    assert lint(SPEC) == []


def test_every_failure_class_of_the_source_has_an_outcome():
    """And there is no other one (TM-6)."""
    assert {end.failure for end in OUTCOMES.values()} == {
        *("invalid_input", "policy_denied", "tool_runtime_error", "timeout", "provider_error", "report_missing"),
        None,
    }


@pytest.mark.parametrize("name", [name for name in OUTCOMES if name != "completed"])
def test_what_is_not_completed_says_why_and_what_to_do(name):
    """TM-2.6."""
    assert OUTCOMES[name].reason
    assert OUTCOMES[name].next_action


# ---- one turn ----


def test_a_turn_takes_the_six_steps_in_order():
    """TM-2.1, TM-2.2: the lock is waited for after the check."""
    turn = called("c1").tells("approved", "tool-return", "text", "model-stop", *CLOSED)
    assert turn.path == [
        *("idle", "receive", "lock", "understand", "decide", "approve", "execute", "decide", "respond", "record"),
        "idle",
    ]
    assert turn.outcome == "completed"


@pytest.mark.parametrize(
    ("word", "output", "outcome"),
    [
        (("loaded", "text", "model-stop"), "respond", "completed"),
        (("loaded", "call", "model-stop"), "approve", -1),
    ],
    ids=["answer", "tools"],
)
def test_a_decision_is_a_direct_answer_or_tools(word, output, outcome):
    """TM-2.4."""
    turn = Driven().tells("inbound", "valid", "locked", *word)
    assert (turn.names[-1], turn.machine.context.registers["outcome"]) == (output, outcome)


def test_a_record_is_appended_then_checkpointed_then_the_lock_is_released():
    """TM-2.7."""
    names = asked().tells("text", "model-stop", *CLOSED).names
    assert names[-4:] == ["append", "checkpoint", "release", "finish"]


def test_no_turn_is_seen_closed_before_its_record_is_durable():
    """TM-3.4."""
    assert all(row.event == "recorded" for row in SPEC.rows if "finish" in row.effects)


def test_an_invalid_event_never_takes_the_lock_and_is_recorded():
    """TM-2.2, TM-D2."""
    turn = Driven().tells("inbound", "invalid", *CLOSED)
    assert not {"lock", "release"} & set(turn.names)
    assert [event["type"] for event in turn.log] == ["user-message", "run-stop"]
    assert turn.log[-1]["detail"] == "invalid_input"


def test_an_invalid_event_without_a_text_is_logged_with_an_empty_one():
    """TM-D2."""
    turn = Driven().tell("inbound", text=7).tells("invalid", *CLOSED)
    assert turn.log[0] == {"type": "user-message", "text": ""}


def test_a_turn_is_denied_in_decide_and_nowhere_else():
    """TM-2.4."""
    denials = {(row.source, row.event) for row in SPEC.rows if "deny" in row.effects}
    assert denials == {("decide", "model-stop")}


@pytest.mark.parametrize("calls", [["c1"], ["c1", "c2"], ["c2", "c1"]])
def test_a_denied_turn_runs_none_of_its_calls_and_answers_each(calls):
    """TM-2.4, TM-D1: also those that are allowed, and those that came first."""
    turn = asked()
    for call in calls:
        turn.tell("call", call_id=call, tool="read", decision="deny-turn" if call == "c1" else "allow")
    turn.tells("model-stop", *CLOSED)
    assert not {"approve", "run"} & set(turn.names)
    assert [event["callId"] for event in turn.log if event["type"] == "tool-result"] == calls
    assert (turn.outcome, turn.log[-1]["detail"]) == ("denied", "policy_denied")


def test_the_turn_behind_a_denied_one_is_not_denied():
    turn = asked().tell("inbound", id="u2").tell("call", call_id="c1", tool="read", decision="deny-turn")
    turn.tells("model-stop", *CLOSED, *READY[1:], "text", "model-stop", *CLOSED)
    assert [output.arguments for output in turn.outputs if output.name == "finish"] == [("denied",), ("completed",)]


def test_a_response_without_a_reply_is_a_missing_report():
    """TM-D3."""
    assert asked().tells("reasoning", "model-stop", *CLOSED).outcome == "no reply"


def test_a_failing_model_ends_the_turn_and_its_calls_are_answered():
    turn = asked().tell("call", call_id="c1", tool="read").tells("model-failure", *CLOSED)
    assert [event.get("synthetic") for event in turn.log if event["type"] == "tool-result"] == [True]
    assert turn.log[-1]["detail"] == "provider_error"


@pytest.mark.parametrize("place", ["valid", "locked", "loaded", "model-stop", "approved"])
def test_time_ends_a_turn_wherever_it_waits(place):
    """TM-3.3."""
    path = ("inbound", "valid", "locked", "loaded")
    turn = Driven()
    for symbol in path:
        turn.tell(symbol)
        if symbol == place:
            break
    if place in {"model-stop", "approved"}:
        turn.tell("call", call_id="c1", tool="read").tells("model-stop", *(["approved"] if place == "approved" else []))
    assert turn.tells("timeout", *CLOSED).outcome == "too much time"


# ---- bounds ----


def test_a_call_beyond_the_bound_is_answered_and_ends_the_turn():
    turn = called("c1", "c2", max_calls=1).tells("approved", "tool-return", *CLOSED)
    results = [(event["callId"], event.get("synthetic")) for event in turn.log if event["type"] == "tool-result"]
    assert results == [("c1", None), ("c2", True)]
    assert turn.outcome == "too many calls"


def test_a_turn_asks_the_model_no_more_often_than_its_bound():
    """TM-3.3."""
    turn = called("c1", max_rounds=1).tells("approved", "tool-return", *CLOSED)
    assert turn.names.count("request") == 1
    assert turn.outcome == "too many rounds"


@pytest.mark.parametrize(("tokens", "outcome"), [(9, "completed"), (10, "too many tokens")])
def test_the_first_token_too_many_ends_a_turn(tokens, outcome):
    """TM-3.3."""
    turn = asked(token_bound=10).tell("text").tell("model-stop", tokens=tokens).tells(*CLOSED)
    assert turn.outcome == outcome


# ---- tools ----


@pytest.mark.parametrize("row", [row for row in SPEC.rows if "run" in row.effects])
def test_no_tool_runs_but_when_it_is_approved(row):
    """TM-2.5, TM-4.1."""
    assert (row.source, row.event) == ("approve", "approved")


def test_a_refused_call_is_an_error_result_and_the_model_is_asked():
    """TM-4.1, TM-D1."""
    turn = called("c1").tell("refused", failure="policy_denied", message="no")
    assert "run" not in turn.names
    assert turn.log[-2] == {
        "type": "tool-result",
        "callId": "c1",
        "output": {"failure": "policy_denied", "message": "no"},
        "isError": True,
    }
    assert turn.machine.state == "decide"


def test_a_failing_tool_is_an_error_result_and_the_model_is_asked():
    """TM-4.2."""
    turn = called("c1").tell("approved").tell("tool-failure", failure="tool_runtime_error", message="broken")
    assert turn.log[-2]["output"] == {"failure": "tool_runtime_error", "message": "broken"}
    assert turn.machine.state == "decide"


def test_calls_run_one_after_the_other_in_the_order_in_which_they_were_made():
    turn = called("c1", "c2").tells("approved", "tool-return", "approved", "tool-return")
    assert [turn.told[one.arguments[0]].call_id for one in turn.outputs if one.name == "run"] == ["c1", "c2"]


def test_a_call_id_that_comes_twice_in_a_turn_is_one_call():
    turn = called("c1", "c1")
    assert [event.get("callId") for event in turn.log if event["type"] == "agent-output"] == ["c1"]


# ---- messages during a turn ----


def test_what_comes_during_a_turn_waits_for_the_next():
    """TM-5.1."""
    turn = asked().tell("inbound", id="u2").tells("text", "model-stop", *CLOSED)
    assert turn.names[-2:] == ["finish", "check"]
    assert turn.machine.state == "receive"


def test_a_steer_joins_at_the_next_inference():
    """TM-5.2."""
    turn = called("c1", while_active="steer").tell("inbound", id="u2").tells("approved", "tool-return")
    assert not turn.machine.context.registers["steers"]
    assert turn.names[-1] == "request"


def test_a_steer_during_the_last_inference_leads_to_one_more():
    turn = asked(while_active="steer").tell("inbound").tells("text", "model-stop")
    assert turn.names.count("request") == 2


def test_a_steer_that_comes_after_the_terminal_waits_and_the_log_says_so():
    turn = asked(while_active="steer").tells("text", "model-stop").tell("inbound", id="u2")
    assert turn.log[-1] == {"type": "user-message", "id": "u2", "delivery": "followUp", "text": ""}


@pytest.mark.parametrize("state", ["idle", "decide", "record"])
def test_a_key_that_comes_again_makes_no_turn_and_logs_nothing(state):
    """TM-1.2, TM-D7."""
    turn = Driven().tell("inbound", key="k").tells(*READY[1:])
    turn.tells(
        *{"idle": ("text", "model-stop", *CLOSED), "decide": (), "record": ("text", "model-stop", "responded")}[state]
    )
    assert turn.machine.state == state
    before = turn.log
    turn.tell("inbound", key="k")
    assert turn.outputs[-1].name == "repeat"
    assert turn.outputs[-1].arguments == (0,)
    assert turn.log == before


# ---- crashes ----


def test_a_restart_answers_the_calls_and_closes_the_turn_as_a_recovered_failure():
    """TM-7.1, TM-D6."""
    turn = called("c1", "c2").tells("approved", "crash", "restart", *CLOSED)
    results = [(event["callId"], event["synthetic"]) for event in turn.log if event["type"] == "tool-result"]
    assert results == [("c1", True), ("c2", True)]
    assert turn.outcome == "recovered"
    assert turn.log[-1] == {"type": "run-stop", "reason": "error"}


@pytest.mark.parametrize("crashes", [1, 2, 3])
def test_a_crash_during_recovery_changes_nothing(crashes):
    """TM-D5."""
    turn = called("c1")
    for _ in range(crashes):
        turn.tells("crash", "restart")
    assert turn.tells(*CLOSED).log == called("c1").tells("crash", "restart", *CLOSED).log


def test_a_terminal_that_reached_the_journal_before_the_crash_stands():
    turn = asked().tells("text", "model-stop", "responded", "crash", "recorded", "restart")
    assert (turn.outcome, turn.machine.state) == ("completed", "idle")
    assert turn.names.count("finish") == 1


def test_what_waited_is_served_after_a_restart():
    """TM-7.1."""
    turn = asked().tell("inbound", id="u2").tells("crash", "restart", *CLOSED)
    assert turn.machine.state == "receive"


# ---- all of it ----


def core(value, row, outputs, *_):
    """The core as it sees the refined log: whether a run is open, how many calls are, and how many messages wait."""
    active, calls, waiting = value
    for output in outputs:
        match output.name:
            case "message" | "late-message":
                waiting += active and "keep_steer" not in row.effects
                active = True
            case "request" | "text" | "reasoning" | "call" | "result" | "failure" | "refusal" if not active:
                raise ValueError(f"outside-run: {output.name}")
            case "call":
                calls += 1
            case "result" | "failure" | "refusal":
                calls -= 1
            case "skip":
                calls -= (output.arguments[0] >= 0) + len(output.arguments[1])
            case "finish":
                if not active:
                    raise ValueError("outside-run: finish")
                if calls:
                    raise ValueError("unanswered-call")
                active, waiting = waiting > 0, max(waiting - 1, 0)
        if calls < 0:
            raise ValueError("unknown-call")
    return active, calls, waiting


def explored(spec=SPEC, bound=2):
    letters = [one for one in alphabet(spec, SMALL) if getattr(one.event, "key", None) != "blue"]
    return explore(spec, SMALL, bound=bound, letters=letters, beside=core, start=(False, 0, 0))


@cache
def everything():
    return explored()


def test_nothing_that_a_machine_is_told_breaks_a_promise_or_the_core():
    """A second terminal of a turn would (TM-3.1), and a call without its result."""
    assert everything().violation is None


def test_the_exploration_is_of_the_stated_size():
    assert (everything().states, everything().transitions) == (3605, 100940)


@pytest.mark.parametrize("name", SPEC.sometimes)
def test_what_sometimes_holds_occurs(name):
    assert name in everything().seen


def edited(event, source, change):
    """The machine with the effects of some rows changed."""

    def effects(row):
        fits = row[0] == event and source in SPEC.sources(row[1])
        return [*row[:5], change(row[5])] if fits else row

    return replace(SPEC, table=[effects(row) for row in SPEC.table])


def rerouted(effect, dest, then):
    """The machine with another end of the rows that have *effect*."""
    rows = [[*row[:2], dest, *row[3:5], then] if effect in (row[5] or ()) else row for row in SPEC.table]
    return replace(SPEC, table=rows)


DOUBLES = {
    "a turn ends twice": edited("recorded", "record", lambda then: [*then, "finish"]),
    "a recovery leaves calls unanswered": edited(
        "restart", "down", lambda then: [one for one in then if one != "skip"]
    ),
    "a timeout leaves calls unanswered": edited(
        "timeout", "execute", lambda then: [one for one in then if one != "skip"]
    ),
    "a waiting message is dropped": edited("inbound", "decide", lambda then: [one for one in then if one != "collect"]),
    "a result comes twice": edited("tool-return", "execute", lambda then: ["answer", *then]),
    "a turn works without the lock": edited("locked", "lock", lambda then: ["load"]),
    "a denied turn goes on to run its calls": rerouted("deny", "approve", ["take_call", "count_call", "approve"]),
    "a turn goes on after its terminal": edited("responded", "respond", lambda then: [*then, "finish"]),
}


@pytest.mark.parametrize("name", sorted(set(DOUBLES) - {"a waiting message is dropped"}))
def test_a_wrong_row_is_found(name):
    assert explored(DOUBLES[name], bound=1).violation is not None


# ---- X-1 on long runs ----

WORK = ("valid", "locked", "loaded", "text", "call", "model-stop", "approved", "tool-return", *CLOSED)
SYMBOLS = st.one_of(
    st.sampled_from(WORK), st.sampled_from([*WORK, "inbound", "inbound"]), st.sampled_from(sorted(SPEC.events))
)
NEXT = {
    "receive": "valid",
    "lock": "locked",
    "understand": "loaded",
    "approve": "approved",
    "execute": "tool-return",
    "respond": "responded",
    "record": "recorded",
    "down": "restart",
    "torn": "restart",
}


def long_run(spec, data, while_active):
    """A run in which every other event is the one that is waited for, and its refined log."""
    turn = Driven(spec, while_active=while_active, max_calls=3, max_rounds=3, token_bound=50)
    for _ in range(data.draw(st.integers(0, 60))):
        awaited = NEXT.get(turn.machine.state)
        symbol = awaited if awaited and data.draw(st.booleans()) else data.draw(SYMBOLS)
        number = str(len(turn.told))
        turn.tell(
            symbol,
            id=number,
            text=f"text {number}",
            delivery=data.draw(st.sampled_from([None, None, "steer", "followUp"])),
            key=data.draw(st.sampled_from([None, None, "k", "l"])),
            call_id=data.draw(st.sampled_from(["a", "b", "c"])),
            tool="read",
            decision=data.draw(st.sampled_from(["allow", "allow", "allow", "deny-call", "deny-turn"])),
            tokens=data.draw(st.sampled_from([0, 1, 50])),
        )
    return turn


def broken(turn, while_active):
    """The anomalies of the refined log and the laws that it breaks; ``truncated`` is no fault while the run goes on."""
    policies = Policies(while_active=while_active)
    events = tuple(map(judge, turn.log))
    seen = project(events, policies)
    anomalies = [one.kind for one in seen.anomalies if one.kind != "truncated"]
    trace = ProjectorTrace(events, policies, seen, seen)
    laws = [
        law.name
        for law in selected(["projector"])
        if law.kind == "log"
        for found in law.judge(trace)
        if isinstance(found, Finding)
    ]
    return anomalies + laws


@pytest.mark.parametrize("while_active", ["followUp", "steer"])
def test_every_log_that_the_machine_can_emit_is_accepted_by_the_core(while_active):
    @SETTINGS
    @given(st.data())
    def go(data):
        assert broken(long_run(SPEC, data, while_active), while_active) == []

    go()


def test_a_message_that_is_dropped_is_found_in_what_the_core_still_holds():
    @settings(SETTINGS, phases=[Phase.generate])  # that it is found counts, not the shortest run
    @given(st.data())
    def go(data):
        turn = long_run(DOUBLES["a waiting message is dropped"], data, "followUp")
        waiting = project(tuple(map(judge, turn.log)), Policies()).queued
        assert len(waiting) == len(turn.machine.context.registers["queue"])

    with pytest.raises(AssertionError):
        go()
