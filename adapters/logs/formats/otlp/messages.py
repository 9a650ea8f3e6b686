"""The messages of a model's span in both dialects, as one structure: who says it, and which parts it has."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, cast

import msgspec

from .wire import Attributes

_THOUGHTS: Final = frozenset(("reasoning", "thinking"))
_CALLS: Final = frozenset(("tool_call", "server_tool_call"))
_ANSWERS: Final = frozenset(("tool_call_response", "server_tool_call_response"))
_MADE: Final = ("assistant", "model", "ai")
"""Roles whose messages the model made."""


class Part(msgspec.Struct, frozen=True):
    """A text, a thought, a call, or the answer to a call; ``text`` is None where the content was not captured."""

    kind: Literal["text", "thought", "call", "answer"]
    text: str | None = None
    call_id: str = ""
    tool: str = ""


class Message(msgspec.Struct, frozen=True):
    """A message."""

    role: str
    parts: tuple[Part, ...]
    finish: str | None = None


def genai_messages(attributes: Attributes, key: str) -> tuple[Message, ...] | None:
    """Return the messages of a GenAI attribute: JSON in a string, or structured. None where there are none to read.

    A string that is no JSON was cut by the limit that an SDK sets to attributes: then nothing was captured.
    """
    given = attributes.get(key)
    if isinstance(given, str):
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
    if not isinstance(given, list):
        return None
    found = [cast("Mapping[str, Any]", one) for one in cast("list[object]", given) if isinstance(one, dict)]
    return tuple(
        Message(_text(one.get("role")) or "", tuple(_genai_parts(one)), _text(one.get("finish_reason")))
        for one in found
    )


def _genai_parts(message: Mapping[str, Any]) -> Iterator[Part]:
    parts = message.get("parts")
    for part in cast("list[object]", parts) if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        given = cast("Mapping[str, Any]", part)
        kind, own = given.get("type"), _text(given.get("id"))
        if kind == "text":
            yield Part("text", _text(given.get("content")))
        elif kind in _THOUGHTS:
            yield Part("thought", _text(given.get("content")))
        elif kind in _CALLS and own:
            yield Part("call", None, own, _text(given.get("name")) or "unnamed")
        elif kind in _ANSWERS and own:
            yield Part("answer", None, own)


def openinference_messages(attributes: Attributes, prefix: str) -> tuple[Message, ...] | None:
    """Return the messages that OpenInference spreads over attributes, ``llm.output_messages.0.message.role`` ….

    >>> openinference_messages({"llm.output_messages.0.message.content": "hi"}, "llm.output_messages")
    (Message(role='', parts=(Part(kind='text', text='hi', call_id='', tool=''),), finish=None),)
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(prefix) and key[len(prefix) : len(prefix) + 1] == ".":
            _put(tree, key[len(prefix) + 1 :].split("."), value)
    found = [_record(one, "message") for one in _numbered(tree)]
    return tuple(Message(_text(one.get("role")) or "", tuple(_spread_parts(one))) for one in found) or None


def _spread_parts(message: dict[str, Any]) -> Iterator[Part]:
    answered = _text(message.get("tool_call_id"))
    if answered:
        yield Part("answer", None, answered)
        return
    if said := _text(message.get("content")):
        yield Part("text", said)
    for one in _numbered(_record(message, "contents")):
        content = _record(one, "message_content")
        kind = "thought" if content.get("type") in _THOUGHTS else "text"
        if (said := _text(content.get("text"))) is not None:
            yield Part(cast("Any", kind), said)
    for one in _numbered(_record(message, "tool_calls")):
        call = _record(one, "tool_call")
        if own := _text(call.get("id")):
            yield Part("call", None, own, _text(_record(call, "function").get("name")) or "unnamed")


def _put(tree: dict[str, Any], path: list[str], value: object) -> None:
    for name in path[:-1]:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        tree = cast("dict[str, Any]", inner)
    tree.setdefault(path[-1], value)


def _numbered(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects of a list that is spread over fields, in the order of their numbers."""
    numbers = sorted((name for name in tree if name.isdecimal()), key=lambda name: (len(name), name))
    return [tree[name] for name in numbers if isinstance(tree[name], dict)]


def _record(tree: dict[str, Any], name: str) -> dict[str, Any]:
    found = tree.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def new_of(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return what an input has behind the model's last message: what is new in this request."""
    made = [index for index, message in enumerate(messages) if message.role in _MADE]
    return messages[made[-1] + 1 :] if made else messages
