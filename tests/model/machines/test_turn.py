"""The machine ``turn``: its rows, by clause."""

import pytest
from driven_turn import CLOSED, READY, Driven

from turncheck.model.declaration.lint import lint
from turncheck.model.machines.turn import SPEC
from turncheck.model.machines.turn_log import OUTCOMES


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
