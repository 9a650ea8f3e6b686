"""OpenAI's chat completions, from the model's side: requests as the contract's entries, items as chunks or whole."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from turncheck.model.core.stimuli import Item, Reasoning, Shown, Text, ToolCall

from ..jsons import Object, as_list, as_object, as_text

FINISH: Final = {"end-turn": "stop", "tool-use": "tool_calls", "length": "length"}
"""Reason of a stop → ``finish_reason``."""
STATUS: Final = {"retryable": 503, "fatal": 400}
"""Class of a failure → HTTP status: clients retry 503 by themselves, and never 400."""
RETRY_HEADERS: Final = {"retry-after-ms": "1", "retry-after": "0"}
"""Seconds to wait before a retry: clients that would wait (OpenAI's own 0.5 to 8 s) do not, for time is simulated."""

_ORDER: Final = (Reasoning, Text, ToolCall)


class StreamOptions(msgspec.Struct):
    """The options of a stream; ``include_usage`` asks for the usage in its own chunk."""

    include_usage: bool = False


class ChatRequest(msgspec.Struct):
    """The fields of a request's body that are read."""

    messages: list[Object]
    model: str = "scripted"
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    @property
    def wants_usage(self) -> bool:
        """True if a stream ends with a chunk that has the usage."""
        return self.stream_options is not None and self.stream_options.include_usage


def shown(messages: Sequence[Object]) -> tuple[Shown, ...]:
    """Return the context that the model is shown, one entry per item."""
    return tuple(entry for message in messages for entry in _entries(message))


def _entries(message: Object) -> Iterator[Shown]:
    text = _text(message.get("content"))
    match message.get("role"):
        case "user":
            yield Shown("user", text or "")
        case "assistant":
            if text:
                yield Shown("assistant", text)
            for call in as_list(message.get("tool_calls")):
                match call:
                    case {"id": str(call_id), "function": {"name": str(tool)}}:
                        yield Shown("assistant", call_id=call_id, tool=tool)
                    case _:
                        yield Shown("assistant", as_text(call))
        case "tool":
            answered = message.get("tool_call_id")
            yield Shown("tool", text or "", call_id=answered if isinstance(answered, str) else None)
        case _:
            yield Shown("system", text or "")


def _text(content: Any) -> str | None:
    """Return the text of a content; of a list of parts, the texts joined."""
    if content is None or isinstance(content, str):
        return content
    return "".join(str(as_object(part).get("text", "")) for part in as_list(content))


def misfit(items: Sequence[Item], item: Item) -> str | None:
    """Say why *item* cannot follow *items* in one completion; None if it can.

    A completion's message has one reasoning text, one text, and calls, in this order only.
    """
    last = items[-1] if items else None
    rank = _ORDER.index(type(item))
    if last is None or rank > _ORDER.index(type(last)) or isinstance(item, ToolCall):
        return None
    return "a chat completion has at most one reasoning text, then at most one text, then calls, in this order"


class Completion:
    """The answer to one request, as a stream of chunks or whole."""

    def __init__(self, request: ChatRequest, request_id: str) -> None:
        self._request = request
        self._id = f"chatcmpl-{request_id}"

    def chunks(self, item: Item, calls_before: int) -> Iterator[Object]:
        """Return the chunks of *item*, its text in two deltas. *calls_before* counts the calls before it."""
        match item:
            case Text(text=text):
                yield from (self._chunk({"content": piece}) for piece in _halves(text))
            case Reasoning(text=text):
                yield from (self._chunk({"reasoning_content": piece}) for piece in _halves(text))
            case ToolCall():
                call = _call(item)
                arguments = call["function"]["arguments"]
                call["function"]["arguments"] = ""
                yield self._chunk({"tool_calls": [{"index": calls_before, **call}]})
                for piece in _halves(arguments):
                    yield self._chunk({"tool_calls": [{"index": calls_before, "function": {"arguments": piece}}]})

    def last_chunks(self, finish: str, usage: Any) -> Iterator[Object]:
        """Return the chunks that end a stream."""
        yield self._chunk({}, finish)
        if self._request.wants_usage:
            yield {**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(usage)}

    def whole(self, items: Sequence[Item], finish: str, usage: Any) -> Object:
        """Return the answer in one piece."""
        message: Object = {"role": "assistant", "content": None}
        for item in items:
            match item:
                case Text(text=text):
                    message["content"] = text
                case Reasoning(text=text):
                    message["reasoning_content"] = text
                case ToolCall():
                    message.setdefault("tool_calls", []).append(_call(item))
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], "usage": _usage(usage)}

    def _chunk(self, delta: Object, finish: str | None = None) -> Object:
        delta = {"role": "assistant", **delta} if finish is None else delta
        return {
            **self._head("chat.completion.chunk"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
        }

    def _head(self, kind: str) -> Object:
        return {"id": self._id, "object": kind, "created": 0, "model": self._request.model}


def failure(failed: str) -> Object:
    """Return the body of an error."""
    kind = "server_error" if failed == "retryable" else "invalid_request_error"
    message = f"the model failed ({failed}), as the stimulus says"
    return {"error": {"message": message, "type": kind, "param": None, "code": failed}}


def _call(item: ToolCall) -> Object:
    raw = item.arguments
    arguments = raw if isinstance(raw, str) else json.dumps({} if raw is None else raw, ensure_ascii=False)
    return {"id": item.call_id, "type": "function", "function": {"name": item.tool, "arguments": arguments}}


def _halves(text: str) -> Iterator[str]:
    middle = len(text) // 2
    yield from (piece for piece in (text[:middle], text[middle:]) if piece)


def _usage(usage: Any) -> Mapping[str, Any]:
    """Return the stimulus's usage, under its own names, over an empty one in OpenAI's."""
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return {**none, **as_object(usage)}
