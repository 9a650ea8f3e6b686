"""What clients keep: a prompt over ACP, a run of a session file of pi, a saved list of messages."""

from collections.abc import Iterator
from itertools import count

from .contents import ASK, SAID, THOUGHT, TIME, Line, identity, output


def acp(n: int) -> Iterator[Line]:
    """A prompt over ACP: texts in pieces of some words, calls with an update while they run."""
    session = identity(0, 1)

    def update(name: str, **given: object) -> Line:
        params = {"sessionId": session, "update": {"sessionUpdate": name, **given}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    def chunks(kind: str, said: str) -> Iterator[Line]:
        pieces = [said[at : at + 24] for at in range(0, 20 * 24, 24)]
        return (update(kind, content={"type": "text", "text": piece}) for piece in pieces if piece)

    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": ASK}]}
    yield {"jsonrpc": "2.0", "id": n, "method": "session/prompt", "params": prompt}
    yield from chunks("agent_thought_chunk", THOUGHT)
    yield from chunks("agent_message_chunk", SAID)
    for call in range(3):
        own, made = f"call_{n}_{call}", output(n, call)
        place = [{"path": "/home/user/project/src/parser.py", "line": 1}]
        yield update(
            "tool_call",
            toolCallId=own,
            title="Read parser.py",
            kind="read",
            status="pending",
            locations=place,
            rawInput={"command": ["/bin/bash", "-lc", "sed -n 1,200p src/parser.py"], "cwd": "/home/user"},
        )
        yield update("tool_call_update", toolCallId=own, status="in_progress")
        yield update(
            "tool_call_update",
            toolCallId=own,
            status="completed",
            rawOutput={"stdout": made, "exit_code": 0},
            content=[{"type": "content", "content": {"type": "text", "text": made}}],
        )
    yield from chunks("agent_message_chunk", SAID)
    yield {"jsonrpc": "2.0", "id": n, "result": {"stopReason": "end_turn"}}


def pi_session(n: int) -> Iterator[Line]:
    """A run of a session file of pi: a response a line."""
    numbers = count(8 * n)  # the first run is number 1

    def entry(**message: object) -> Line:
        k = next(numbers)
        head = {"type": "message", "id": f"{k:08x}", "parentId": None if k == 8 else f"{k - 1:08x}"}
        return {**head, "timestamp": TIME, "message": {**message, "timestamp": 1767225600000}}

    cost = {"input": 0.1, "output": 0.1, "cacheRead": 0, "cacheWrite": 0, "total": 0.2}
    usage = {"input": 12, "output": 128, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 140, "cost": cost}
    model = {"api": "openai-responses", "provider": "openai", "model": "gpt-5", "usage": usage}

    yield entry(role="user", content=[{"type": "text", "text": ASK}])
    thought = {"type": "thinking", "thinking": THOUGHT, "thinkingSignature": "c2ln" * 64}
    for call in range(3):
        own = f"call_{n}_{call}"
        part = {"type": "toolCall", "id": own, "name": "read", "arguments": {"path": "src/parser.py"}}
        content = [thought, {"type": "text", "text": SAID}, part]
        yield entry(role="assistant", content=content, **model, stopReason="toolUse")
        made = [{"type": "text", "text": output(n, call)}]
        yield entry(role="toolResult", toolCallId=own, toolName="read", content=made, details={}, isError=False)
    yield entry(role="assistant", content=[{"type": "text", "text": SAID}], **model, stopReason="stop")


def messages(n: int) -> Iterator[Line]:
    """The same run as OpenAI's chat messages, one a line."""
    yield {"role": "user", "content": ASK}
    for call in range(3):
        function = {"name": "read", "arguments": '{"path": "src/parser.py"}'}
        made = [{"id": f"c{n}_{call}", "type": "function", "function": function}]
        yield {"role": "assistant", "content": SAID, "tool_calls": made}
        yield {"role": "tool", "tool_call_id": f"c{n}_{call}", "content": output(n, call)}
    yield {"role": "assistant", "content": SAID}
