"""Events, stimuli and what is awaited, each in one line."""

import pytest

from turncheck.model.core.stimuli import (
    Advance,
    Client,
    ModelAwaited,
    ModelOutput,
    Shown,
    Text,
    TimerAwaited,
    ToolAwaited,
    ToolCall,
    User,
)
from turncheck.model.rendering.words import WIDE, awaited_line, event_line, of_event, of_stimulus

ASKED = ModelAwaited(
    request_id="r1",
    session_id="a",
    input=(
        Shown(role="user", text="one"),
        Shown(role="assistant", call_id="c1", tool="read"),
        Shown(role="tool", call_id="c1", text="contents"),
    ),
)
RUNS = ToolAwaited(call_id="c1", execution="e1", tool="read", arguments={}, cancelled=True)


@pytest.mark.parametrize(
    ("awaited", "line", "whole"),
    [
        (ModelAwaited(request_id="r1"), "model r1", "model r1"),
        (ModelAwaited(request_id="r1", cancelled=True), "model r1 (cancelled)", "model r1 (cancelled)"),
        (
            ASKED,
            "session a: model r1",
            'session a: model r1: user "one" · assistant read c1 · tool result c1 "contents"',
        ),
        (RUNS, "tool c1 (e1, cancelled)", "tool c1 (e1, cancelled): read {}"),
        (TimerAwaited(due=0.25), "timer in 0.25 s", "timer in 0.25 s"),
    ],
)
def test_what_is_awaited_is_one_line(awaited, line, whole):
    assert (awaited_line(awaited), awaited_line(awaited, whole=True)) == (line, whole)


def test_an_event_is_its_type_and_its_fields():
    assert event_line({"type": "run-stop", "reason": "error"}) == 'run-stop      reason="error"'


def test_the_model_s_input_can_be_left_to_what_is_awaited():
    event = {"type": "model-request", "requestId": "r1", "input": []}
    assert event_line(event, without={"input"}) == 'model-request requestId="r1"'


def test_a_line_that_could_not_be_read_says_so():
    assert event_line(None) == "unreadable line"


def test_what_is_no_object_is_shown_as_it_is():
    assert event_line([7]) == "[7]"


def test_a_long_value_is_cut_and_its_length_is_told():
    assert event_line({"type": "native", "name": "x" * 2 * WIDE}).endswith("x … (322 characters)")


@pytest.mark.parametrize(
    ("stimulus", "brief"),
    [
        (User(id="u1", text="hello", delivery="steer"), "steer hello"),
        (User(id="u1", text=""), "sends"),
        (ModelOutput(item=Text(text="done")), "done"),
        (ModelOutput(item=ToolCall(call_id="c1", tool="read")), "call read c1"),
    ],
)
def test_what_is_said_speaks_for_itself_in_brief(stimulus, brief):
    assert of_stimulus(stimulus).brief == brief


@pytest.mark.parametrize("stimulus", [Advance(seconds=1), Client(client_id="k1", action="join")])
def test_what_nobody_tells_the_agent_has_one_party(stimulus):
    told = of_stimulus(stimulus)
    assert told.source == told.dest


def test_a_message_in_parts_is_told_by_their_texts():
    event = {"type": "user-message", "content": [{"type": "text", "text": "look"}, {"type": "image"}]}
    assert of_event(event).text == "look [image]"
