"""Spans of a small agent, whose root is span 1, as OTLP JSON."""

import json
from typing import Any, Final

Span = dict[str, Any]


def line(*spans: Span) -> dict[str, Any]:
    """A line of the collector's file exporter."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}


def span(own: int, parent: int | None, start: int, end: int, attributes: dict[str, Any], trace: str = "t1") -> Span:
    """A span with the attributes, which are strings or lists of strings."""
    above = {} if parent is None else {"parentSpanId": f"s{parent}"}
    pairs = [{"key": key, "value": _value(value)} for key, value in attributes.items() if value is not None]
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    return {"traceId": trace, "spanId": f"s{own}", **above, **times, "attributes": pairs}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [*map(_value, value)]}}
    return {"stringValue": value}


def agent(
    start: int, end: int, *, error: str | None = None, output: str | None = None, trace: str = "t1",
    conversation: str | None = None, own: int = 1, parent: int | None = None,
) -> Span:  # fmt: skip
    """An agent's span; with an *error* its status says so too."""
    given = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": conversation, "error.type": error}
    found = span(own, parent, start, end, {**given, "final_result": output}, trace)
    return found if error is None else {**found, "status": {"code": 2}}


def model(
    own: int, start: int, end: int, *, text: str | None = None, calls: str = "", answers: str | None = None,
    trace: str = "t1", parent: int | None = 1,
) -> Span:  # fmt: skip
    """A request to a model. Each letter of *calls* and *answers* is an id; without text and calls none is captured."""
    parts = [] if text is None else [{"type": "text", "content": text}]
    parts += [{"type": "tool_call", "id": call, "name": "read"} for call in calls]
    given: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    if parts:
        finish = "tool_call" if calls else "stop"
        given["gen_ai.output.messages"] = json.dumps([{"role": "assistant", "parts": parts, "finish_reason": finish}])
    if answers is not None:
        brought = [{"type": "tool_call_response", "id": call, "response": "alpha"} for call in answers]
        made = {"role": "assistant", "parts": []}
        given["gen_ai.input.messages"] = json.dumps([made, {"role": "tool", "parts": brought}])
    return span(own, parent, start, end, given, trace)


def openinference_model(own: int, start: int, end: int, text: str, call: str) -> Span:
    """A request to a model as OpenInference writes it: a text and a call, in two messages."""
    said, called = (f"llm.output_messages.{number}.message" for number in (0, 1))
    made = f"{called}.tool_calls.0.tool_call"
    given = {"openinference.span.kind": "LLM", f"{said}.role": "assistant", f"{said}.content": text}
    return span(own, 1, start, end, {**given, f"{made}.id": call, f"{made}.function.name": "read"})


def tool(own: int, call: str | None, start: int, end: int, *, trace: str = "t1", parent: int | None = 1) -> Span:
    """A tool's span, with its call's id or without."""
    given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "gen_ai.tool.call.id": call}
    return span(own, parent, start, end, given, trace)


SPEC: Final = (model(2, 1, 2, calls="a"), tool(3, "a", 3, 4), model(4, 5, 6, text="blue", answers="a"), agent(0, 7))
"""The spans of a whole run, in the order in which they ended."""
