"""A session as a person reads it."""

from turncheck.conformance.cli.printing.transcript import projected, session_lines
from turncheck.model.core.policies import Policies

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
            'anomaly: unanswered-call at agent-output  kind="tool-call"  callId="c2"  tool="read"  sessionId="a"',
        ],
        "b": ["session b", "cycle 1  direct, still open", '└─ non-steer [{"type": "image"}]'],
    }


def test_what_was_dropped_is_shown():
    assert 'dropped  "two"' in lines(Policies(queue_after_interrupted="drop"))["a"]
