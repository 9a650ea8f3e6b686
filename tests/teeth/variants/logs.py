"""One conversation as other formats stream it: in deltas of any size, and with unrelated events."""

import io
import json

from turncheck.conformance.check.judge import check

TEXTS = ("I look at 😀 it.", "Both\nwere read.")
CALLS = (("c1", "read", {"path": "a"}), ("c2", "bash", {"command": "ls"}))
WHOLE = 10**6


def pieces(text, size):
    """Return the deltas of a text."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def ag_ui(size, *, noise=False):
    """Yield AG-UI events: a text, two calls with their results, a text."""
    yield {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    yield from _ag_ui_text("m1", TEXTS[0], size)
    for name, tool, arguments in CALLS:
        yield {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": tool, "parentMessageId": "m1"}
        for piece in pieces(json.dumps(arguments), size):
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": name, "delta": piece}
            if noise:
                yield {"type": "CUSTOM", "name": "progress", "value": 5}
        yield {"type": "TOOL_CALL_END", "toolCallId": name}
    for name, _, _ in reversed(CALLS):
        yield {"type": "TOOL_CALL_RESULT", "messageId": f"r-{name}", "toolCallId": name, "content": "ok"}
        if noise:
            yield {"type": "STATE_DELTA", "delta": []}
    yield from _ag_ui_text("m2", TEXTS[1], size)
    yield {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def _ag_ui_text(name, text, size):
    yield {"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant"}
    for piece in pieces(text, size):
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": piece}
    yield {"type": "TEXT_MESSAGE_END", "messageId": name}


def ai_sdk(size, *, noise=False):
    """Yield the parts of the AI SDK's UI message stream for the same."""
    yield {"type": "start"}
    yield {"type": "start-step"}
    yield from _ai_sdk_text("t1", TEXTS[0], size)
    for name, tool, arguments in CALLS:
        yield {"type": "tool-input-start", "toolCallId": name, "toolName": tool}
        for piece in pieces(json.dumps(arguments), size):
            yield {"type": "tool-input-delta", "toolCallId": name, "inputTextDelta": piece}
            if noise:
                yield {"type": "data-progress", "data": 5}
        yield {"type": "tool-input-available", "toolCallId": name, "toolName": tool, "input": arguments}
    for name, _, _ in reversed(CALLS):
        yield {"type": "tool-output-available", "toolCallId": name, "output": "ok"}
    yield {"type": "finish-step"}
    yield {"type": "start-step"}
    yield from _ai_sdk_text("t2", TEXTS[1], size)
    yield {"type": "finish-step"}
    yield {"type": "finish", "finishReason": "stop"}


def _ai_sdk_text(name, text, size):
    yield {"type": "text-start", "id": name}
    for piece in pieces(text, size):
        yield {"type": "text-delta", "id": name, "delta": piece}
    yield {"type": "text-end", "id": name}


LOGS = {"ag-ui": ag_ui, "ai-sdk": ai_sdk}
SIZES = {"deltas of one character": 1, "deltas of five": 5, "one delta an item": WHOLE}


def checked(format_name, size, *, noise=False):
    """Return the result of `check` on the log."""
    lines = "".join(json.dumps(value) + "\n" for value in LOGS[format_name](size, noise=noise))
    return check(format_name, io.BytesIO(lines.encode()), format_name=format_name)
