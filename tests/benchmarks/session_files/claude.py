"""Claude Code: a turn of a session file, and of ``stream-json``."""

from collections.abc import Iterator
from itertools import count

from .contents import ASK, SAID, THOUGHT, TIME, TOOLS, Line, identity, output

_USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 512,
    "cache_read_input_tokens": 20480,
    "output_tokens": 128,
    "service_tier": "standard",
}


def claude_code(n: int) -> Iterator[Line]:
    """A turn of a session file of Claude Code, a content block a line, with what it keeps between them."""
    numbers = count(1)
    tail = {
        "userType": "external",
        "entrypoint": "cli",
        "cwd": "/home/user/project",
        "sessionId": identity(0, 1),
        "version": "2.1.330",
        "gitBranch": "main",
    }

    def entry(kind: str, **given: object) -> Line:
        k = next(numbers)
        head: Line = {"parentUuid": identity(n, k - 1), "isSidechain": False}
        named = {"type": kind, **given} if kind == "user" else {**given, "type": kind}  # as the program writes them
        return {**head, **named, "uuid": identity(n, k), "timestamp": TIME, **tail}

    def block(part: Line, stop: str) -> Line:
        message = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        rest = {"stop_reason": stop, "stop_sequence": None, "usage": _USAGE}
        return entry("assistant", message={**message, "content": [part], **rest}, requestId=f"req_{n}")

    yield {"type": "file-history-snapshot", "messageId": identity(n, 0), "snapshot": {"trackedFileBackups": {}}}
    yield entry("user", message={"role": "user", "content": ASK}, permissionMode="default")
    yield entry("attachment", attachment={"type": "environment"}, rendered=[], renderedRole="system")
    yield block({"type": "thinking", "thinking": THOUGHT, "signature": "c2ln" * 64}, "tool_use")
    yield block({"type": "text", "text": SAID}, "tool_use")
    for call, tool in enumerate(TOOLS):
        own = f"toolu_{n}_{call}"
        yield block(
            {"type": "tool_use", "id": own, "name": tool, "input": {"file_path": "/home/user/a.py"}}, "tool_use"
        )
        made = output(n, call)
        result = {"tool_use_id": own, "type": "tool_result", "content": made, "is_error": False}
        yield entry(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult={"stdout": made, "stderr": "", "interrupted": False, "isImage": False},
            sourceToolAssistantUUID=identity(n, 4),
        )
    yield block({"type": "text", "text": SAID}, "end_turn")
    yield {"type": "last-prompt", "lastPrompt": ASK, "leafUuid": identity(n, 9), "sessionId": identity(0, 1)}


def claude_stream(n: int) -> Iterator[Line]:
    """The same as ``stream-json``."""
    numbers = count(1)

    def line(kind: str, **given: object) -> Line:
        tail = {"parent_tool_use_id": None, "session_id": identity(0, 1), "uuid": identity(n, next(numbers))}
        return {"type": kind, **given, **tail, "timestamp": TIME}

    def block(part: Line) -> Line:
        message = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        rest = {"stop_reason": None, "stop_sequence": None, "usage": _USAGE, "context_management": None}
        return line("assistant", message={**message, "content": [part], **rest})

    yield {
        "type": "system",
        "subtype": "init",
        "cwd": "/home/user/project",
        "session_id": identity(0, 1),
        "tools": ["Task", "Bash", "Read", "Edit", "Write", "Glob", "Grep"] * 3,
        "model": "claude-sonnet-4-5",
        "permissionMode": "default",
        "apiKeySource": "none",
        "output_style": "default",
        "agents": [],
        "skills": [],
    }
    yield block({"type": "thinking", "thinking": THOUGHT, "signature": "c2ln" * 64})
    yield block({"type": "text", "text": SAID})
    for call, tool in enumerate(TOOLS):
        own = f"toolu_{n}_{call}"
        yield block({"type": "tool_use", "id": own, "name": tool, "input": {"file_path": "/home/user/a.py"}})
        made = output(n, call)
        result = {"tool_use_id": own, "type": "tool_result", "content": made, "is_error": False}
        yield line(
            "user",
            message={"role": "user", "content": [result]},
            tool_use_result={"stdout": made, "stderr": "", "interrupted": False, "isImage": False},
        )
    yield block({"type": "text", "text": SAID})
    yield {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 4200,
        "num_turns": 4,
        "result": SAID,
        "stop_reason": "end_turn",
        "session_id": identity(0, 1),
        "total_cost_usd": 0.1,
        "usage": _USAGE,
        "modelUsage": {},
        "permission_denials": [],
        "terminal_reason": "completed",
        "uuid": identity(n, 99),
    }
