"""The engine's machine: sound, explored to a bound, and every log that it can make is accepted by the core (X-1)."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.model.checking.alphabet import alphabet
from turncheck.model.checking.explore import explore
from turncheck.model.checking.refinement import Core, acceptance
from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project
from turncheck.model.declaration.lint import lint
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import ANSWERED
from turncheck.model.machines.chat_log import Heard, refine
from turncheck.model.machines.engine import SPEC, tables

TABLES = tables(max_tool_rounds=2, max_history_messages=3, compactor=True)
CUTS = tables(max_tool_rounds=2, max_history_messages=3, compactor=False)
BOUND = 2
"""Of deltas, calls, rounds and requests, each is explored up to this many (requests are counted from 0)."""
STATES, TRANSITIONS = 615, 20_295
ACCEPTED = acceptance(SPEC, lambda outputs, _: refine(outputs))


@cache
def explored(*, compactor=True):
    return explore(SPEC, TABLES if compactor else CUTS, bound=BOUND, beside=ACCEPTED, start=Core())


def engine(**options):
    """A machine at its beginning."""
    bounds = {"max_tool_rounds": 2, "max_history_messages": 3, "compactor": True}
    return Stepper(SPEC, tables(**(bounds | options)))


def heard(stepper, *events):
    """The outputs of *events*: names, or names with what is heard."""
    outputs = []
    for at, event in enumerate(events):
        name, fields = event if isinstance(event, tuple) else (event, {})
        stepper.take(name, Heard(**fields), at)
        outputs += stepper.outputs
    return outputs


BEGUN = (("message", {"id": "u1", "text": "one"}), ("session-loaded", {"messages": 0}))
HI = ("text", {"text": "hi", "begins": 1})
CALL = ("tool-call", {"call_id": "c1", "tool": "read", "arguments": {}})
OTHER = ("tool-call", {"call_id": "c2", "tool": "read", "arguments": {}})
OUTPUT = ("tool-output", {"call_id": "c1", "output": "text"})
ERROR = ("stream-error", {"message": "reset"})


def names(outputs):
    return [output.name for output in outputs]


def told(outputs, name):
    return [output.arguments for output in outputs if output.name == name]


def log(*events, **options):
    return refine(heard(engine(**options), *events))


def stops(*events, **options):
    return [event.get("detail") or event["reason"] for event in log(*events, **options) if event["type"] == "run-stop"]


# ---- the machine as a whole ----


def test_the_machine_is_sound():
    assert lint(SPEC) == []


@pytest.mark.parametrize("compactor", [True, False])
def test_every_log_is_accepted_by_the_core(compactor):
    assert explored(compactor=compactor).violation is None


def test_the_exploration_is_as_large_as_it_was():
    assert (explored().states, explored().transitions) == (STATES, TRANSITIONS)


@pytest.mark.parametrize("row", SPEC.rows, ids=lambda row: f"{row.source}: {row.label}")
def test_every_row_is_taken(row):
    assert row in explored().rows | explored(compactor=False).rows


@pytest.mark.parametrize("name", SPEC.sometimes)
def test_what_sometimes_holds_occurs(name):
    assert name in explored().seen


@settings(max_examples=50, deadline=None, database=None, derandomize=True)
@given(st.lists(st.sampled_from(alphabet(SPEC, TABLES)), min_size=60, max_size=120))
def test_long_runs_are_accepted_by_the_core(letters):
    stepper, events = engine(max_tool_rounds=6), []
    for at, letter in enumerate(letters):
        stepper.take(letter.symbol, letter.event, at)
        events += refine(stepper.outputs)
        assert all(holds(stepper.state, stepper.context.registers) for holds in SPEC.always.values())
    assert {anomaly.kind for anomaly in project(list(map(judge, events))).anomalies} <= {"truncated"}


def edited(event, source, change):
    """The machine with the effects of some rows changed."""
    rows = [
        [*row[:5], change(row[5])] if row[0] == event and source in SPEC.sources(row[1]) else row for row in SPEC.table
    ]
    return replace(SPEC, table=rows)


FAULTS = {
    "a second terminal": ("provider-error", "inferring", lambda effects: [*effects, "done_completed"]),
    "a call left open": ("client-gone", "executing", lambda effects: [one for one in effects if one != "skip_call"]),
    "a result before its call": ("tool-call", "inferring", lambda effects: ["result", *effects]),
    "no terminal": ("stream-end", "inferring", lambda effects: [one for one in effects if "done" not in one]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_row_is_refuted(fault):
    assert explore(edited(*FAULTS[fault]), TABLES, bound=BOUND, beside=ACCEPTED, start=Core()).violation is not None


# ---- the clauses ----


def test_the_session_is_loaded_before_anything_else():
    """RS-1."""
    assert names(heard(engine(), BEGUN[0])) == ["accept", "load"]


def test_the_users_message_is_pushed_first():
    """RS-2."""
    assert names(heard(engine(), *BEGUN))[2] == "push-user"


def test_a_message_while_a_run_is_open_is_refused():
    assert names(heard(engine(), *BEGUN, BEGUN[0]))[-1] == "refuse"


@pytest.mark.parametrize(("messages", "output"), [(2, "request"), (3, "compact")])
def test_a_history_is_compacted_when_the_message_makes_it_too_long(messages, output):
    """RS-3.1."""
    assert names(heard(engine(), BEGUN[0], ("session-loaded", {"messages": messages})))[-1] == output


def test_without_a_compactor_the_prefix_is_dropped():
    """RS-3.2; after the push, before the request (RS-8)."""
    outputs = heard(engine(compactor=False), BEGUN[0], ("session-loaded", {"messages": 3}))
    assert names(outputs)[2:] == ["push-user", "truncate", "request"]


def test_a_failed_compaction_is_a_warning_and_tells_the_client_nothing():
    """RS-3.2, RS-D0."""
    outputs = heard(engine(), BEGUN[0], ("session-loaded", {"messages": 3}), "compaction-failed")
    assert names(outputs)[-3:] == ["warn", "truncate", "request"]


def test_each_delta_is_sent_at_once():
    """RS-4.2."""
    assert told(heard(engine(), *BEGUN, HI, ("text", {"text": " there"})), "text") == [("hi",), (" there",)]


def test_deltas_of_one_item_are_logged_as_one_text():
    assert [event.get("text") for event in log(*BEGUN, HI, ("text", {"text": " there"}), "stream-end")][2] == "hi there"


def test_two_items_are_two_texts():
    assert [event["text"] for event in log(*BEGUN, HI, HI, "stream-end") if "kind" in event] == ["hi", "hi"]


def test_the_text_of_a_round_is_pushed_at_its_end():
    """RS-4.4."""
    outputs = heard(engine(), *BEGUN, HI, CALL, OUTPUT, HI, "stream-end")
    assert told(outputs, "push-text") == [(("hi", "hi"),)]


def test_a_call_is_told_executed_and_answered_in_order():
    """RS-4.3."""
    outputs = heard(engine(), *BEGUN, CALL, ("tool-output", {"call_id": "c1", "data": 1, "metadata": {}}))
    assert names(outputs)[4:] == [
        *("say", "tool-status", "call", "execute"),
        *("data", "merge-metadata", "result", "tool-status"),
    ]


def test_a_call_that_cannot_be_executed_is_not():
    outputs = heard(engine(), *BEGUN, ("broken-call", {"call_id": "c1", "tool": "read", "message": "no JSON"}))
    assert told(outputs, "execute") == []


def test_a_call_id_that_comes_twice_is_not_executed_again():
    assert len(told(heard(engine(), *BEGUN, CALL, OUTPUT, CALL), "execute")) == 1


def test_a_late_result_of_another_call_is_ignored():
    outputs = heard(engine(), *BEGUN, CALL, OUTPUT, OTHER, OUTPUT)
    assert names(outputs)[-1] == "ignore"


def test_a_round_with_a_call_is_followed_by_another():
    """RS-4.1."""
    assert len(told(heard(engine(), *BEGUN, CALL, OUTPUT, "stream-end"), "request")) == 2


def test_a_round_without_a_call_completes_the_run():
    """RS-4.1, RS-D1."""
    assert stops(*BEGUN, HI, "stream-end") == ["completed"]


def test_a_failing_provider_ends_the_run_as_error():
    """RS-5.1."""
    assert stops(*BEGUN, ("provider-error", {"message": "down"})) == ["llm_error"]


def test_a_broken_stream_ends_the_run_where_no_call_was_handled():
    """RS-5.2."""
    assert stops(*BEGUN, HI, ERROR) == ["stream_error"]


def test_a_broken_stream_is_followed_by_a_round_where_a_call_was_handled():
    """RS-5.2."""
    assert len(told(heard(engine(), *BEGUN, CALL, OUTPUT, ERROR), "request")) == 2


def test_a_call_of_an_earlier_round_does_not_carry_a_broken_stream():
    """RS-5.2."""
    assert stops(*BEGUN, CALL, OUTPUT, "stream-end", ERROR) == ["stream_error"]


def test_the_partial_text_of_a_broken_stream_is_pushed():
    """RS-D0."""
    assert told(heard(engine(), *BEGUN, HI, ERROR), "push-text") == [(("hi",),)]


def test_a_tools_failure_goes_to_the_model_as_the_tools_output():
    """RS-5.3."""
    (result,) = told(heard(engine(), *BEGUN, CALL, ("tool-error", {"call_id": "c1", "message": "no file"})), "result")
    assert result == ("c1", "no file", "error")


def test_at_the_bound_the_calls_of_the_last_round_are_run_and_the_run_ends_as_error():
    """RS-5.4, RS-D0."""
    assert stops(*BEGUN, CALL, OUTPUT, "stream-end", max_tool_rounds=1) == ["max_tool_rounds"]


@pytest.mark.parametrize(("last", "codes"), [("stream-end", []), (ERROR, ["stream_error"])])
def test_the_bound_is_told_as_an_error_of_its_own_behind_a_broken_stream_too(last, codes):
    """RS-5.4."""
    told_errors = told(heard(engine(max_tool_rounds=1), *BEGUN, CALL, OUTPUT, last), "error")
    assert [code for code, _ in told_errors] == [*codes, "max_tool_rounds"]


def test_without_a_call_the_last_round_completes():
    """RS-D0."""
    assert stops(*BEGUN, "stream-end", max_tool_rounds=1) == ["completed"]


def test_when_the_client_goes_the_running_call_has_a_synthetic_result():
    (result,) = [event for event in log(*BEGUN, CALL, "client-gone") if event["type"] == "tool-result"]
    assert result["synthetic"]


@pytest.mark.parametrize("events", [(), (HI,), (CALL,), (CALL, OUTPUT)], ids=["asked", "said", "called", "answered"])
def test_when_the_client_goes_the_run_is_interrupted(events):
    """RS-D1."""
    assert stops(*BEGUN, *events, "client-gone") == ["client gone"]


def test_an_error_is_an_observation_and_never_the_terminal():
    """RS-D2."""
    assert [event["type"] for event in log(*BEGUN, ERROR)][-2:] == ["fault", "run-stop"]


ENDS = {
    "completed": ("stream-end",),
    "llm_error": (("provider-error", {"message": "down"}),),
    "stream_error": (ERROR,),
    "max_tool_rounds": (CALL, OUTPUT, "stream-end"),
    "client gone": ("client-gone",),
}


@pytest.mark.parametrize("end", ENDS)
def test_every_path_ends_by_touching_the_session_then_done_then_save(end):
    """RS-1, RS-6, RS-8."""
    assert names(heard(engine(max_tool_rounds=1), *BEGUN, *ENDS[end]))[-3:] == ["touch", "done", "save"]


@pytest.mark.parametrize("end", ENDS)
def test_an_end_is_an_error_exactly_when_an_error_ended_the_loop(end):
    """RS-D1."""
    outputs = heard(engine(max_tool_rounds=1), *BEGUN, *ENDS[end])
    ((reason, detail, *_),) = told(outputs, "done")
    assert (reason == "error") == (detail in {code for code, _ in told(outputs, "error")})


def test_a_run_after_another_has_requests_of_its_own():
    log_ = log(*BEGUN, "stream-end", *BEGUN)
    assert [event["requestId"] for event in log_ if event["type"] == "model-request"] == ["r0", "r1"]


def test_all_calls_that_are_answered_are_so_by_their_entry():
    stepper = engine()
    heard(stepper, *BEGUN, CALL, OUTPUT)
    assert stepper.context.registers["calls"] == {"c1": ANSWERED}


def test_the_abstract_alphabet_is_what_the_engine_hears():
    letters = [letter.event for letter in alphabet(SPEC, TABLES)]
    assert {name for event in letters if isinstance(event, SimpleNamespace) for name in vars(event)} <= {
        *Heard.__struct_fields__
    }
