"""A session as a person reads it."""

import pytest

from turncheck.conformance.cli.transcript import WIDE, awaited_line, event_line, projected, session_lines
from turncheck.model.core.policies import Policies
from turncheck.model.core.stimuli import ModelAwaited, Shown, TimerAwaited, ToolAwaited

LOG = [
    {"type": "user-message", "text": "one", "sessionId": "a"},
    {"type": "agent-output", "kind": "reasoning", "text": "hm", "sessionId": "a"},
    {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "bash", "arguments": "ls", "sessionId": "a"},
    {"type": "user-message", "content": [{"type": "image"}], "sessionId": "b"},
    {"type": "tool-result", "callId": "c1", "output": "no such file", "isError": True, "sessionId": "a"},
    {"type": "agent-output", "kind": "tool-call", "callId": "c2", "tool": "read", "sessionId": "a"},
    {"type": "user-message", "text": "two", "delivery": "followUp", "sessionId": "a"},
    {"type": "run-stop", "reason": "interrupted", "sessionId": "a"},
]


def lines(policies):
    sessions = projected(LOG, policies)
    return {name: list(session_lines(LOG, name, projection)) for name, projection in sessions.items()}


def test_each_session_has_its_cycles_with_their_content_and_what_waits():
    assert lines(Policies(queue_after_interrupted="hold")) == {
        "a": [
            "session a",
            "cycle 1  direct, interrupted",
            '├─ non-steer "one"',
            '└─ ai-block (reasoning) "hm"',
            '      bash-group: bash "ls" → error "no such file"',
            "      read-group: read null → no result",
            'queued  "two"',
            'anomaly: unanswered-call at agent-output  kind="tool-call" callId="c2" tool="read" sessionId="a"',
        ],
        "b": ["session b", "cycle 1  direct, still open", '└─ non-steer [{"type": "image"}]'],
    }


def test_what_was_dropped_is_shown():
    assert 'dropped  "two"' in lines(Policies(queue_after_interrupted="drop"))["a"]


@pytest.mark.parametrize(
    ("awaited", "line"),
    [
        (ModelAwaited(request_id="r1"), "model r1"),
        (
            ModelAwaited(
                request_id="r1",
                session_id="a",
                input=(
                    Shown(role="user", text="one"),
                    Shown(role="assistant", call_id="c1", tool="read"),
                    Shown(role="tool", call_id="c1", text="contents"),
                ),
            ),
            'session a: model r1, shown: user "one" · assistant read c1 · tool result c1 "contents"',
        ),
        (
            ToolAwaited(call_id="c1", execution="e1", tool="read", arguments={}, cancelled=True),
            "tool read {} for call c1, e1, cancelled",
        ),
        (TimerAwaited(due=0.25), "timer in 0.25 s"),
    ],
)
def test_what_is_awaited_is_one_line(awaited, line):
    assert awaited_line(awaited) == line


def test_the_model_s_input_is_left_to_what_is_awaited():
    assert event_line({"type": "model-request", "requestId": "r1", "input": []}) == 'model-request requestId="r1"'


def test_what_is_no_object_is_shown_as_it_is():
    assert event_line(None) == "no event: null"


def test_a_long_value_is_cut():
    assert event_line({"type": "native", "name": "x" * 2 * WIDE}).endswith("x…")
