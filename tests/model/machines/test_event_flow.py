"""The event flow's two machines: the core accepts the backend's log (X-1), and the UI's blocks are its rounds."""

from dataclasses import replace
from functools import cache

import msgspec
import pytest
from event_flow.flows import CLASSIC, DELTAS, flow
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.references.event_flow.backend import Backend
from turncheck.model.checking.alphabet import alphabet
from turncheck.model.checking.explore import explore
from turncheck.model.checking.refinement import Core, acceptance
from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project
from turncheck.model.declaration.lint import lint
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines import collation
from turncheck.model.machines.blocks import Collator, collate
from turncheck.model.machines.chat_log import Heard, refine
from turncheck.model.machines.event_flow import SPEC, tables

SETTINGS = settings(max_examples=50, deadline=None, database=None, derandomize=True)
ALWAYS_COMPLETES = tables(max_tool_iterations=2, always_completes=True)
WITH_CALLS = tables(max_tool_iterations=2, always_completes=False)
BOUND = 2
STATES, TRANSITIONS = 650, 12_350
UI_STATES, UI_TRANSITIONS = 557, 16_710
ACCEPTED = acceptance(SPEC, lambda outputs, _: refine(outputs))


@cache
def explored(*, always=True):
    return explore(SPEC, ALWAYS_COMPLETES if always else WITH_CALLS, bound=BOUND, beside=ACCEPTED, start=Core())


@cache
def explored_ui():
    letters = alphabet(collation.SPEC, {}, {"index": [0, 1, 2], "call_id": ["c1", "c2"], "seq": [0, 1]})
    return explore(collation.SPEC, {}, bound=BOUND, letters=letters)


def backend(**options):
    return Stepper(SPEC, tables(**({"max_tool_iterations": 2, "always_completes": True} | options)))


def heard(*events, **options):
    """The outputs of *events*: names, or names with what is heard."""
    stepper, outputs = backend(**options), []
    for at, event in enumerate(events):
        name, fields = event if isinstance(event, tuple) else (event, {})
        stepper.take(name, Heard(**fields), at)
        outputs += stepper.outputs
    return outputs


CHAT = ("chat", {"id": "u1", "text": "one"})
HI = ("delta", {"text": "hi", "begins": 1})
CALL = ("tool-call", {"call_id": "c1", "tool": "read", "arguments": {}})
OTHER = ("tool-call", {"call_id": "c2", "tool": "read", "arguments": {}})
RESULT = ("tool-result", {"call_id": "c1", "output": "text"})
OTHERS = ("tool-result", {"call_id": "c2", "output": "text"})


def names(outputs):
    return [output.name for output in outputs]


def stops(*events, **options):
    return [event["reason"] for event in refine(heard(*events, **options)) if event["type"] == "run-stop"]


# ---- the machines as a whole ----


@pytest.mark.parametrize("spec", [SPEC, collation.SPEC], ids=lambda spec: spec.name)
def test_the_machine_is_sound(spec):
    assert lint(spec) == []


@pytest.mark.parametrize("always", [True, False])
def test_every_log_is_accepted_by_the_core(always):
    assert explored(always=always).violation is None


def test_the_exploration_is_as_large_as_it_was():
    assert (explored().states, explored().transitions) == (STATES, TRANSITIONS)


@pytest.mark.parametrize("row", SPEC.rows, ids=lambda row: f"{row.source}: {row.label}")
def test_every_row_is_taken(row):
    assert row in explored().rows | explored(always=False).rows


@pytest.mark.parametrize("name", SPEC.sometimes)
def test_what_sometimes_holds_occurs(name):
    assert name in explored().seen


def test_the_uis_exploration_is_as_large_as_it_was():
    assert (explored_ui().states, explored_ui().transitions) == (UI_STATES, UI_TRANSITIONS)


@pytest.mark.parametrize("row", collation.SPEC.rows, ids=lambda row: f"{row.source}: {row.label}")
def test_every_row_of_the_ui_is_taken(row):
    assert row in explored_ui().rows


def test_what_always_holds_of_the_ui_holds():
    assert explored_ui().violation is None


@pytest.mark.parametrize("name", collation.SPEC.sometimes)
def test_what_sometimes_holds_of_the_ui_occurs(name):
    assert name in explored_ui().seen


@SETTINGS
@given(st.lists(st.sampled_from(alphabet(SPEC, ALWAYS_COMPLETES)), min_size=60, max_size=120))
def test_long_runs_are_accepted_by_the_core(letters):
    stepper, events = backend(max_tool_iterations=6), []
    for at, letter in enumerate(letters):
        stepper.take(letter.symbol, letter.event, at)
        events += refine(stepper.outputs)
        assert all(holds(stepper.state, stepper.context.registers) for holds in SPEC.always.values())
    assert {anomaly.kind for anomaly in project(list(map(judge, events))).anomalies} <= {"truncated"}


def without(effect):
    return lambda effects: [one for one in effects if one != effect]


FAULTS = {
    "a second terminal": ("provider-failure", "streaming", lambda effects: [*effects, "end_completed"]),
    "calls left open": ("abort", "executing", without("skip_calls")),
    "a result that is lost": ("tool-result", "executing", without("result")),
    "calls are never forgotten": ("abort", "streaming", without("forget_calls")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_row_is_refuted(fault):
    event, source, change = FAULTS[fault]
    rows = [
        [*row[:5], change(row[5])] if row[0] == event and source in SPEC.sources(row[1]) else row for row in SPEC.table
    ]
    found = explore(replace(SPEC, table=rows), ALWAYS_COMPLETES, bound=BOUND, beside=ACCEPTED, start=Core())
    assert found.violation is not None


# ---- the backend ----


def test_only_the_first_iteration_is_announced():
    """It begins with that (EF-2)."""
    outputs = names(heard(CHAT, CALL, "response-end", RESULT))
    assert [place for place, name in enumerate(outputs) if name == "llm-request"] == [outputs.index("accept") + 1]
    assert outputs.count("request") == 2


def test_an_iteration_is_deltas_response_and_the_complete_message():
    """EF-3."""
    assert names(heard(CHAT, HI, "response-end"))[3:] == [
        "say",
        "delta",
        "say",
        "llm-response",
        "message-complete",
        "end",
    ]


def test_without_calls_the_complete_message_may_be_missing():
    """EF-3."""
    assert "message-complete" not in names(heard(CHAT, HI, "response-end", always_completes=False))


def test_with_calls_the_message_is_completed_before_they_start():
    """EF-3, EF-4."""
    outputs = names(heard(CHAT, CALL, "response-end", always_completes=False))
    assert outputs[-2:] == ["message-complete", "tool-call-start"]


def test_calls_run_one_by_one_in_order():
    """EF-4."""
    outputs = heard(CHAT, CALL, OTHER, "response-end", RESULT, OTHERS)
    assert [(output.name, output.arguments[0]) for output in outputs if output.name.startswith("tool-call-")] == [
        ("tool-call-start", "c1"),
        ("tool-call-result", "c1"),
        ("tool-call-start", "c2"),
        ("tool-call-result", "c2"),
    ]


def test_the_bound_ends_the_loop_as_error():
    """EF-1, EF-D3."""
    assert stops(CHAT, CALL, "response-end", RESULT, max_tool_iterations=1) == ["error"]


def test_without_a_call_the_last_iteration_completes():
    """EF-1, EF-D3."""
    assert stops(CHAT, HI, "response-end", max_tool_iterations=1) == ["completed"]


def test_a_call_that_is_cut_has_a_synthetic_result():
    log = refine(heard(CHAT, CALL, OTHER, "response-end", "abort"))
    assert [event["callId"] for event in log if event.get("synthetic")] == ["c1", "c2"]


def test_a_broken_call_and_one_that_comes_twice_are_dropped():
    outputs = heard(CHAT, ("broken-call", {"call_id": "c1"}), CALL, OTHER, OTHER)
    assert names(outputs)[3:] == ["drop", "drop", "say", "call", "drop"]


# ---- the blocks are the rounds (EF-D3) ----


@SETTINGS
@given(st.lists(st.tuples(DELTAS, st.integers(1, 3)), max_size=3), DELTAS)
def test_each_block_is_a_round(iterations, last):
    """Text and calls of block n are the outputs of round n, and its results are what the next round was fed
    (EF-D3)."""
    chat = Backend(max_tool_iterations=9)
    chat.hear("chat", Heard(id="u1", text="one"))
    for number, (deltas, calls) in enumerate([*iterations, ([*last, "end"], 0)]):
        for delta in deltas:
            chat.hear("delta", Heard(text=delta, begins=1))
        for call in range(calls):
            chat.hear("tool-call", Heard(call_id=f"c{number}.{call}", tool="read"))
        chat.hear("response-end")
        for call in range(calls):
            chat.hear("tool-result", Heard(call_id=f"c{number}.{call}", output=f"result {number}.{call}"))
    (cycle,) = project(list(map(judge, chat.log))).cycles
    rounds = [[chat.log[at] for at in one.outputs] for one in cycle.rounds]
    told = [
        ("".join(one.get("text", "") for one in made), [one["callId"] for one in made if "callId" in one])
        for made in rounds
    ]
    assert [(block.text, [use.call_id for use in block.calls]) for block in collate(chat.frames)] == told


# ---- the collation ----


def test_the_sources_story_is_three_blocks_with_their_tools():
    """EF-5, EF-7."""
    assert [(block.text, len(block.calls)) for block in collate(CLASSIC)] == [
        ("I look.", 1),
        ("haha", 2),
        ("all well", 0),
    ]


def test_each_result_is_at_its_call():
    """EF-7."""
    results = [use.result for block in collate(CLASSIC) for use in block.calls]
    assert results == ["result of c0.0", "result of c1.0", "result of c1.1"]


def test_a_result_that_comes_when_the_next_block_is_open_hangs_on_its_own_block_alone():  # EF-7
    frames = [frame for frame in CLASSIC if (frame["type"], frame.get("id")) != ("tool_call_result", "c0.0")]
    (late,) = [frame for frame in CLASSIC if frame not in frames]
    asked = [[(use.call_id, use.result) for use in block.calls] for block in collate([*frames, late])]
    assert asked == [[(use.call_id, use.result) for use in block.calls] for block in collate(CLASSIC)]
    assert asked[0] == [("c0.0", "result of c0.0")]


def test_the_finish_reason_is_read_from_the_records():
    """Each block's from its own (EF-12)."""
    assert [block.finish_reason for block in collate(CLASSIC)] == ["tool_calls", "tool_calls", "stop"]


@pytest.mark.parametrize("tells_record", [False, True])
def test_both_dialects_give_the_same_blocks_but_for_the_request(tells_record):
    """As the backend speaks them (EF-D1)."""
    story = (["I look."], 1), (["all ", "well"], 0)
    nested, top = (
        collate(flow(*story, nested=records == "nested", tells_record=tells_record))
        for records in ("nested", "top-level")
    )
    assert [msgspec.structs.replace(one, request=None) for one in nested] == [
        msgspec.structs.replace(one, request=None) for one in top
    ]
    assert nested != top


@pytest.mark.parametrize("place", range(len(CLASSIC) + 1))
def test_at_no_time_is_there_a_block_too_many(place):
    """EF-8."""
    calls = 1 + sum(frame["type"] == "llm_response" for frame in CLASSIC[:place])
    assert len(collate(CLASSIC[:place])) <= calls


def test_who_joins_amid_an_iteration_does_not_see_it_twice():
    """The deltas that came first are taken for the first iteration's, until the response says whose they are
    (EF-8)."""
    second = next(at for at, frame in enumerate(CLASSIC) if frame.get("content") == "ha")
    assert [block.iteration for block in collate(CLASSIC[second:])] == [2, 3]


def test_a_delta_that_is_equal_to_the_one_before_is_text():
    """EF-D2."""
    assert collate([{"type": "delta", "content": "ha"}] * 2)[0].text == "haha"


def test_a_delta_that_comes_again_with_its_number_is_not():
    """EF-D2."""
    assert collate([{"type": "delta", "content": "ha", "seq": 1}] * 2)[0].text == "ha"


def test_a_complete_message_without_records_belongs_to_the_newest_block():
    """EF-9."""
    message = {"type": "message_complete", "role": "assistant", "content": "hi", "tool_calls": []}
    assert len(collate([{"type": "delta", "content": "hi"}, message])) == 1


def test_an_empty_complete_message_does_not_take_the_text():
    """EF-10."""
    message = {"type": "message_complete", "role": "assistant", "content": None, "tool_calls": None}
    assert collate([{"type": "delta", "content": "hi"}, message])[0].text == "hi"


@pytest.mark.parametrize("nested", [False, True])
def test_who_missed_the_response_reads_who_answered_from_the_record_alone(nested):
    """EF-10."""
    completed = [frame for frame in flow((["hi"], 0), nested=nested) if frame["type"] == "message_complete"]
    (block,) = collate(completed)
    assert (block.provider, block.model) == ("openai", "gpt")


@pytest.mark.parametrize("frame", [{}, {"type": None}, {"type": "ping"}, {"type": "tool_call_result", "id": "c9"}])
def test_what_is_nobodys_shows_nothing(frame):
    assert collate([frame]) == ()


@SETTINGS
@given(st.lists(st.sampled_from(CLASSIC), max_size=20))
def test_whatever_comes_the_blocks_are_one_an_iteration_in_order(frames):
    collator = Collator()
    for frame in frames:
        collator.feed(frame)
    iterations = [block.iteration for block in collator.blocks]
    assert iterations == sorted(set(iterations))
