"""A run as spans, in OTLP JSON: of the GenAI conventions, and of OpenInference."""

import json
from collections.abc import Iterator, Mapping

from .contents import ASK, SAID, Line, identity, output


def _attributes(given: Mapping[str, object]) -> list[Line]:
    kinds = {str: "stringValue", int: "intValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in given.items()
    ]


def _span(n: int, k: int, name: str, parent: int | None, times: tuple[int, int], given: Mapping[str, object]) -> Line:
    start, end = (str(1_767_225_600_000_000_000 + 1_000_000 * (100 * n + time)) for time in times)
    above = {} if parent is None else {"parentSpanId": f"{n:08x}{parent:08x}"}
    span = {
        "traceId": f"{n:032x}",
        "spanId": f"{n:08x}{k:08x}",
        **above,
        "flags": 256,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "attributes": _attributes(given),
        "status": {},
    }
    resource = {"attributes": _attributes({"service.name": "builder", "telemetry.sdk.language": "python"})}
    scope = {"scope": {"name": "agents", "version": "1.0.0"}, "spans": [span]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def otlp(n: int) -> Iterator[Line]:
    """A run as spans of the GenAI conventions, with its content: each request has all messages before it."""
    own = {"gen_ai.agent.name": "builder", "gen_ai.conversation.id": identity(n, 1), "gen_ai.provider.name": "openai"}
    messages: list[Line] = [{"role": "user", "parts": [{"type": "text", "content": ASK}]}]
    for turn in range(4):
        part = {"type": "tool_call", "id": f"c{n}_{turn}", "name": "read", "arguments": {"path": "src/parser.py"}}
        last = [part] if turn < 3 else []
        said: Line = {"role": "assistant", "parts": [{"type": "text", "content": SAID}, *last]}
        asked = {
            "gen_ai.operation.name": "chat",
            **own,
            "gen_ai.request.model": "gpt-5",
            "gen_ai.input.messages": json.dumps(messages),
            "gen_ai.output.messages": json.dumps([{**said, "finish_reason": "stop" if turn == 3 else "tool_call"}]),
            "gen_ai.usage.input_tokens": 2048,
            "gen_ai.usage.output_tokens": 128,
        }
        yield _span(n, 4 * turn + 2, "chat gpt-5", 1, (10 * turn + 1, 10 * turn + 4), asked)
        if last:
            made = output(n, turn)
            ran = {
                "gen_ai.operation.name": "execute_tool",
                **own,
                "gen_ai.tool.name": "read",
                "gen_ai.tool.call.id": f"c{n}_{turn}",
                "gen_ai.tool.call.arguments": '{"path":"src/parser.py"}',
                "gen_ai.tool.call.result": made,
            }
            yield _span(n, 4 * turn + 3, "execute_tool read", 1, (10 * turn + 5, 10 * turn + 8), ran)
            answer = {"type": "tool_call_response", "id": f"c{n}_{turn}", "result": made}
            messages += [said, {"role": "tool", "parts": [answer]}]
    run = {"gen_ai.operation.name": "invoke_agent", **own, "gen_ai.output.messages": json.dumps([said])}
    yield _span(n, 1, "invoke_agent builder", None, (0, 60), run)


def openinference(n: int) -> Iterator[Line]:
    """The same run as spans of OpenInference, whose messages are spread over attributes."""
    messages: list[Mapping[str, str]] = [{"role": "user", "content": ASK}]

    def spread(prefix: str, said: list[Mapping[str, str]]) -> dict[str, object]:
        return {
            f"{prefix}.{number}.message.{field}": text for number, one in enumerate(said) for field, text in one.items()
        }

    for turn in range(4):
        said: dict[str, str] = {"role": "assistant", "content": SAID}
        if turn < 3:
            said["tool_calls.0.tool_call.id"] = f"c{n}_{turn}"
            said["tool_calls.0.tool_call.function.name"] = "read"
            said["tool_calls.0.tool_call.function.arguments"] = '{"path":"src/parser.py"}'
        asked = {
            "openinference.span.kind": "LLM",
            "session.id": identity(n, 1),
            "llm.model_name": "gpt-5",
            "input.value": json.dumps(messages),
            "input.mime_type": "application/json",
            **spread("llm.input_messages", messages),
            **spread("llm.output_messages", [said]),
            "llm.token_count.prompt": 2048,
            "llm.token_count.completion": 128,
        }
        yield _span(n, 4 * turn + 2, "ChatCompletion", 1, (10 * turn + 1, 10 * turn + 4), asked)
        if turn < 3:
            made = output(n, turn)
            ran = {
                "openinference.span.kind": "TOOL",
                "session.id": identity(n, 1),
                "tool.name": "read",
                "tool_call.id": f"c{n}_{turn}",
                "input.value": '{"path":"src/parser.py"}',
                "output.value": made,
            }
            yield _span(n, 4 * turn + 3, "read", 1, (10 * turn + 5, 10 * turn + 8), ran)
            messages += [said, {"role": "tool", "tool_call_id": f"c{n}_{turn}", "content": made}]
    run = {
        "openinference.span.kind": "AGENT",
        "session.id": identity(n, 1),
        "input.value": ASK,
        "output.value": SAID,
        "output.mime_type": "text/plain",
    }
    yield _span(n, 1, "builder", None, (0, 60), run)
