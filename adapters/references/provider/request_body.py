"""The body of a request: a conversation's log as the messages of a chat completion, images as pixels (BED-013)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias

from ..history import as_text
from .images import Limits, encoded
from .port import Question, Settings

Object: TypeAlias = dict[str, Any]
_NO_SCHEMA: Final = {"type": "object"}


def body(question: Question, settings: Settings, limits: Limits) -> Object:
    """Return the body: a stream with its usage is asked for. Images are read and fitted here.

    Raises MissingExtraError for an image without the extra ``images``.
    """
    tools = [_declared(tool) for tool in question.tools]
    given = {"temperature": settings.temperature, "max_tokens": settings.max_tokens, "tools": tools or None}
    return {
        "model": settings.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [*messages(question.log, Path(question.directory), limits)],
        **{name: value for name, value in given.items() if value is not None},
    }


def messages(log: Iterable[Mapping[str, Any]], directory: Path, limits: Limits) -> Iterator[Object]:
    """Yield the messages; the outputs of one response are one message. Reasoning and observations are left out.

    >>> [*messages([{"type": "user-message", "id": "u1", "text": "go"}], Path(), Limits(100, 1000))]
    [{'role': 'user', 'content': 'go'}]
    """
    for response, group in groupby(filter(_is_shown, log), key=_response):
        events = [*group]
        if response is not None:
            yield _assistant(events)
            continue
        for event in events:
            if event["type"] == "tool-result":
                yield {"role": "tool", "tool_call_id": event["callId"], "content": _result(event)}
            elif "content" in event:
                parts = [_part(part, directory, limits) for part in event["content"]]
                yield {"role": "user", "content": parts}
            else:
                yield {"role": "user", "content": event.get("text") or ""}


def _is_shown(event: Mapping[str, Any]) -> bool:
    return event["type"] in {"user-message", "tool-result"} or event.get("kind") in {"assistant", "tool-call"}


def _response(event: Mapping[str, Any]) -> str | None:
    """Return the response of an output; None for what the model is fed."""
    return event["responseId"] if event["type"] == "agent-output" else None


def _assistant(events: Sequence[Mapping[str, Any]]) -> Object:
    texts = [event["text"] for event in events if event["kind"] == "assistant"]
    calls = [_call(event) for event in events if event["kind"] == "tool-call"]
    said: Object = {"role": "assistant", "content": "\n".join(texts) if texts else None}
    return said | ({"tool_calls": calls} if calls else {})


def _call(event: Mapping[str, Any]) -> Object:
    arguments = event.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": event["callId"], "type": "function", "function": {"name": event["tool"], "arguments": text}}


def _result(event: Mapping[str, Any]) -> str:
    """Return a result's text; the protocol has no field for an error (BED-004e), so the text says it."""
    text = as_text(event.get("output"))
    return f"error: {text}" if event.get("isError") else text


def _part(part: Any, directory: Path, limits: Limits) -> Object:
    """Return a part as the provider takes it. An image that cannot be read is told in words: the turn goes on."""
    match part:
        case {"type": "image"}:
            try:
                image = encoded(part, directory, limits)
            except (OSError, ValueError) as error:
                return {"type": "text", "text": f"[an image that cannot be shown: {error}]"}
            url = f"data:{image['mediaType']};base64,{image['data']}"
            return {"type": "image_url", "image_url": {"url": url}}
        case {"text": str(text)}:
            return {"type": "text", "text": text}
        case _:
            return {"type": "text", "text": as_text(part)}


def _declared(tool: Mapping[str, Any]) -> Object:
    described = {"description": tool["description"]} if "description" in tool else {}
    function = {"name": tool["name"], **described, "parameters": tool.get("schema") or _NO_SCHEMA}
    return {"type": "function", "function": function}
