"""The committed generator of streams in the formats that products write: 20 deltas a text, 6 a call, two rounds a run.

Each function yields the lines of one run, number *n*, as its format has them. Frozen as ``synthetic.py`` is.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Event = Mapping[str, Any]

WORDS = ["I will ", "read the ", "log and ", "then say "] * 5
PIECES = ['{"pa', 'th": ', '"src/', "modu", "le.p", 'y"}']
RESULT = "42 lines, 3 of them changed, no error"


def ag_ui(n: int) -> Iterator[Event]:
    """A run of AG-UI: a text, a call with its result, a text."""
    yield {"type": "RUN_STARTED", "threadId": "t", "runId": f"r{n}"}
    for turn in (1, 2):
        message = {"messageId": f"m{n}-{turn}"}
        yield {"type": "TEXT_MESSAGE_START", **message, "role": "assistant"}
        yield from ({"type": "TEXT_MESSAGE_CONTENT", **message, "delta": piece} for piece in WORDS)
        yield {"type": "TEXT_MESSAGE_END", **message}
        if turn == 1:
            call = {"toolCallId": f"c{n}"}
            yield {"type": "TOOL_CALL_START", **call, "toolCallName": "read", "parentMessageId": f"m{n}-1"}
            yield from ({"type": "TOOL_CALL_ARGS", **call, "delta": piece} for piece in PIECES)
            yield {"type": "TOOL_CALL_END", **call}
            yield {"type": "TOOL_CALL_RESULT", "messageId": f"x{n}", **call, "content": RESULT, "role": "tool"}
    yield {"type": "RUN_FINISHED", "threadId": "t", "runId": f"r{n}"}


def ai_sdk(n: int) -> Iterator[Event]:
    """The same as steps of a UI message stream of the AI SDK."""
    for turn in (1, 2):
        yield {"type": "start-step"}
        yield {"type": "text-start", "id": f"t{turn}"}
        yield from ({"type": "text-delta", "id": f"t{turn}", "delta": piece} for piece in WORDS)
        yield {"type": "text-end", "id": f"t{turn}"}
        if turn == 1:
            call = {"toolCallId": f"c{n}"}
            yield {"type": "tool-input-start", **call, "toolName": "read"}
            yield from ({"type": "tool-input-delta", **call, "inputTextDelta": piece} for piece in PIECES)
            yield {"type": "tool-input-available", **call, "toolName": "read", "input": {"path": "src/module.py"}}
            yield {"type": "tool-output-available", **call, "output": RESULT}
        yield {"type": "finish-step"}


def openai_chat(n: int) -> Iterator[Event]:
    """One response: a text and a call."""

    def chunk(finish: str | None = None, **delta: object) -> Event:
        choice: Event = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        head = {"id": f"chatcmpl-{n}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        return {**head, "choices": [choice]}

    yield chunk(role="assistant", content="")
    yield from (chunk(content=piece) for piece in WORDS)
    function = {"name": "read", "arguments": ""}
    yield chunk(tool_calls=[{"index": 0, "id": f"c{n}", "type": "function", "function": function}])
    yield from (chunk(tool_calls=[{"index": 0, "function": {"arguments": piece}}]) for piece in PIECES)
    yield chunk("tool_calls")


def openai_responses(n: int) -> Iterator[Event]:
    """One response: a text and a call."""

    def numbered() -> Iterator[Event]:
        yield {"type": "response.created", "response": {"id": f"r{n}"}}
        message = {"type": "message", "id": f"m{n}", "role": "assistant"}
        place = {"output_index": 0, "item_id": f"m{n}"}
        yield {"type": "response.output_item.added", "output_index": 0, "item": message}
        yield from ({"type": "response.output_text.delta", **place, "delta": piece} for piece in WORDS)
        yield {"type": "response.output_item.done", "output_index": 0, "item": message}
        call = {"type": "function_call", "id": f"f{n}", "call_id": f"c{n}", "name": "read"}
        place = {"output_index": 1, "item_id": f"f{n}"}
        yield {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}}
        yield from ({"type": "response.function_call_arguments.delta", **place, "delta": piece} for piece in PIECES)
        yield {"type": "response.output_item.done", "output_index": 1, "item": {**call, "arguments": "".join(PIECES)}}
        yield {"type": "response.completed", "response": {"id": f"r{n}", "status": "completed"}}

    yield from ({**event, "sequence_number": number} for number, event in enumerate(numbered()))


def anthropic(n: int) -> Iterator[Event]:
    """One response: a text and a call."""

    def delta(index: int, **given: object) -> Event:
        return {"type": "content_block_delta", "index": index, "delta": given}

    yield {"type": "message_start", "message": {"id": f"m{n}", "type": "message", "role": "assistant", "content": []}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield from (delta(0, type="text_delta", text=piece) for piece in WORDS)
    yield {"type": "content_block_stop", "index": 0}
    call: Event = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {}}
    yield {"type": "content_block_start", "index": 1, "content_block": call}
    yield from (delta(1, type="input_json_delta", partial_json=piece) for piece in PIECES)
    yield {"type": "content_block_stop", "index": 1}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}}
    yield {"type": "message_stop"}


def pi(n: int) -> Iterator[Event]:
    """The same run as `pi --mode json` 0.87.1 prints it, with the usage on each update."""
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": cost}
    model = {"api": "openai-completions", "provider": "openai", "model": "scripted", "usage": usage}
    asked = {"role": "user", "content": [{"type": "text", "text": "please look"}], "timestamp": 1767225600000}
    call = {"type": "toolCall", "id": f"c{n}", "name": "read", "arguments": {"path": "src/module.py"}}
    text = {"type": "text", "text": "".join(WORDS)}
    said = [{"type": "text", "text": RESULT}]
    result = {"role": "toolResult", "toolCallId": f"c{n}", "toolName": "read", "content": said, "isError": False}
    added: list[Event] = [asked]

    def update(kind: str, index: int, **given: object) -> Event:
        told = {"type": kind, "contentIndex": index, **given}
        return {"type": "message_update", "usage": usage, "assistantMessageEvent": told}

    def message(**given: object) -> Iterator[Event]:
        yield {"type": "message_start", "message": given}
        yield {"type": "message_end", "message": given}

    yield {"type": "agent_start"}
    yield {"type": "turn_start"}
    yield from message(**asked)
    for turn in (1, 2):
        if turn == 2:
            yield {"type": "turn_start"}
        content = [text, call] if turn == 1 else [text]
        answer = {"role": "assistant", "content": content, **model, "stopReason": "toolUse" if turn == 1 else "stop"}
        yield {"type": "message_start", "message": {**answer, "content": []}}
        yield update("text_start", 0)
        yield from (update("text_delta", 0, delta=piece) for piece in WORDS)
        yield update("text_end", 0, content=text["text"])
        if turn == 1:
            yield update("toolcall_start", 1, id=f"c{n}", toolName="read")
            yield from (update("toolcall_delta", 1, delta=piece) for piece in PIECES)
            yield update("toolcall_end", 1, toolCall=call)
        yield {"type": "message_end", "message": answer}
        added.append(answer)
        if turn == 1:
            named = {"toolCallId": f"c{n}", "toolName": "read"}
            yield {"type": "tool_execution_start", **named, "args": call["arguments"]}
            yield {"type": "tool_execution_end", **named, "result": {"content": said}, "isError": False}
            yield from message(**result)
            added.append(result)
        yield {"type": "turn_end", "message": answer, "toolResults": [result] if turn == 1 else []}
    yield {"type": "agent_end", "messages": added, "willRetry": False}
    yield {"type": "agent_settled"}


STREAMS: Mapping[str, Callable[[int], Iterator[Event]]] = {
    "ag-ui": ag_ui,
    "ai-sdk": ai_sdk,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "pi": pi,
}
"""Format → the lines of a run."""
_ONE: Mapping[str, tuple[Event, Event]] = {
    "ai-sdk": ({"type": "start", "messageId": "m"}, {"type": "finish", "finishReason": "stop"}),
}
"""Format whose log is one run → the lines before and behind its steps."""


def log(name: str, count: int) -> bytes:
    """A log of *count* lines or a few more, of whole runs."""
    before, behind = ([event] for event in _ONE[name]) if name in _ONE else ([], [])
    events = [*before]
    number = 0
    while len(events) < count:
        number += 1
        events += STREAMS[name](number)
    return b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in (*events, *behind))


def sent(data: bytes) -> bytes:
    """The same log as server-sent events, one a line of *data*."""
    return b"".join(map(_sent, data.splitlines()))


def spaced(data: bytes) -> bytes:
    """The same log as Python's ``json.dumps`` writes it."""
    return b"".join(json.dumps(json.loads(line)).encode() + b"\n" for line in data.splitlines())


def stamped(data: bytes) -> bytes:
    """The same log with a time in each event, behind its type: as pydantic-ai sends AG-UI."""
    lines = enumerate(data.splitlines())
    events = ({"type": None, "timestamp": 1767225600000 + 9 * at, **json.loads(line)} for at, line in lines)
    return b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events)


def _each(frame: Callable[[int, bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(frame(at, line) for at, line in enumerate(data.splitlines()))


SENT_AS: Mapping[str, Callable[[bytes], bytes]] = {
    "spaced": spaced,
    "lines, `\\r\\n`": _each(lambda _, line: line + b"\r\n"),
    "sent, `\\r\\n`": _each(lambda _, line: b"data: " + line + b"\r\n\r\n"),
    "sent, `data:`": _each(lambda _, line: b"data:" + line + b"\n\n"),
    "sent, names": _each(
        lambda _, line: b"event: " + json.loads(line).get("type", "chunk").encode() + b"\n" + _sent(line)
    ),
    "sent, a comment per 200": _each(lambda at, line: (b"" if at % 200 else b": ping\n\n") + _sent(line)),
}
"""How servers write a log, other than in the rows of the gate → what writes it so."""


def _sent(line: bytes) -> bytes:
    return b"data: " + line + b"\n\n"
