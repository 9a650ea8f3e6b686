"""Runs of one session side by side: whose each stimulus and event is, and each run's own part of a word."""

from typing import Any

import pytest
from scripted import ENDED, call, model, request, result, said, sent, step, tool

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.observe.driver import Recorder
from turncheck.conformance.observe.parts.overlapping import overlaps
from turncheck.conformance.observe.parts.run_parts import parts
from turncheck.model.core.stimuli import (
    Abort,
    ModelOutput,
    ModelStop,
    Refusal,
    ResetOptions,
    Step,
    Text,
    Together,
    ToolCall,
    ToolReturn,
)

DONE = {"type": "run-stop", "reason": "completed"}


def of(run, *events):
    return tuple({**event, "runId": run} for event in events)


def trace(*pairs, busy="concurrent"):
    recorder = Recorder(ResetOptions(), Profile(("runtime",), (), None, {"busy": busy}))
    for stimulus, answer in pairs:
        recorder.observe(stimulus, answer)
    return recorder.trace()


def begins(name, run, *awaiting):
    return sent(name), step(*of(run, said(name), request(f"r{name}", name)), awaiting=[*awaiting, model(f"r{name}")])


def stops(name, run, *awaiting):
    return ModelStop(reason="end-turn", request_id=f"r{name}"), step(*of(run, DONE), awaiting=[*awaiting])


A, B = begins("u1", "a"), begins("u2", "b", model("ru1"))
SAYS_B = (
    ModelOutput(item=Text(text="answer"), request_id="ru2"),
    step(
        *of("b", {"type": "agent-output", "kind": "assistant", "text": "answer"}), awaiting=[model("ru1"), model("ru2")]
    ),
)
WORD = A, B, SAYS_B, stops("u1", "a", model("ru2")), stops("u2", "b")


def stimuli(part):
    return [one.stimulus for one in part.trace.steps]


def test_a_message_beside_an_open_run_overlaps_only_where_the_policy_says_so():
    assert [overlaps(trace(*WORD, busy=busy)) for busy in ("concurrent", "followUp")] == [True, False]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (B, True),
        ((B[0], Step(refused=Refusal("rejected"))), False),
        ((sent("u2", "followUp"), step(said("u2", "followUp"), awaiting=[model("ru1")])), False),
    ],
    ids=["accepted", "refused", "that waits"],
)
def test_a_message_that_is_refused_or_waits_overlaps_nothing(second, expected):
    assert overlaps(trace(A, second)) is expected


def test_two_messages_at_once_overlap():
    both = Together(stimuli=(A[0], B[0]))
    assert overlaps(trace((both, Step((*A[1].events, *B[1].events), B[1].awaiting))))


def test_each_run_has_its_own_stimuli_and_events():
    first, second = parts(trace(*WORD))
    assert stimuli(first) == [A[0], WORD[3][0]]
    assert stimuli(second) == [B[0], SAYS_B[0], WORD[4][0]]
    assert ([*first.places], [*second.places]) == ([0, 1, 5], [2, 3, 4, 6])
    assert [one.trace.cycles[0].reason for one in (first, second)] == ["completed", "completed"]


def test_a_part_awaits_nothing_of_the_others():
    first, second = parts(trace(*WORD))
    awaited = [{one for step in part.trace.steps for one in step.answer.awaiting} for part in (first, second)]
    assert awaited == [{model("ru1")}, {model("ru2")}]


def test_a_position_of_a_part_is_one_of_the_whole_log():
    second = parts(trace(*WORD))[1]
    assert [second.place(at) for at in (0, 3, 4, None)] == [2, 6, 6, None]


def test_a_result_is_the_run_s_that_called():
    calls = (
        ModelOutput(item=ToolCall(call_id="c1", tool="read"), request_id="ru1"),
        step(*of("a", call()), awaiting=[model("ru1"), model("ru2")]),
    )
    runs = ModelStop(reason="tool-use", request_id="ru1"), step(awaiting=[tool(), model("ru2")])
    returns = (
        ToolReturn(call_id="c1"),
        step(*of("a", result(), request("r9", "u1")), awaiting=[model("ru2"), model("r9")]),
    )
    first, second = parts(trace(A, B, calls, runs, returns))
    assert (len(first.trace.steps), len(second.trace.steps)) == (4, 1)
    assert [*first.trace.returned] == ["c1"]


def test_what_comes_while_another_run_is_answered_belongs_to_the_last_stimulus_of_its_own():
    late: Any = (WORD[3][0], step(*of("a", DONE), *of("b", DONE)))
    _, second = parts(trace(A, B, SAYS_B, late))
    assert second.trace.steps[-1].stimulus == SAYS_B[0]
    assert second.trace.log[-1]["type"] == "run-stop"


@pytest.mark.parametrize(
    "more",
    [(Abort(), ENDED), (ModelStop(reason="end-turn", request_id="ru1"), step(DONE))],
    ids=["an abort", "an event without a name"],
)
def test_what_is_no_run_s_own_leaves_no_part(more):
    assert parts(trace(A, B, more)) == []
