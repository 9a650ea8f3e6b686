"""The messages of a model's span in both dialects, as one structure: who says it, and which parts it has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, cast

import msgspec

from .wire import Attributes

_THOUGHTS: Final = frozenset(("reasoning", "thinking"))
_CALLS: Final = frozenset(("tool_call", "server_tool_call"))
_ANSWERS: Final = frozenset(("tool_call_response", "server_tool_call_response"))
MADE: Final = ("assistant", "model", "ai")
"""Roles whose messages the model made."""


class Part(msgspec.Struct, frozen=True):
    """A text, a thought, a call, or the answer to a call; ``text`` is None where the content was not captured."""

    kind: Literal["text", "thought", "call", "answer"]
    text: str | None = None
    call_id: str = ""
    tool: str = ""


class Message(Protocol):
    """A message. Its parts are made when they are asked for: most inputs repeat what earlier requests had."""

    @property
    def role(self) -> str | None:
        """Who says it."""
        ...

    @property
    def finish_reason(self) -> str | None:
        """Why the model ended it."""
        ...

    def made(self) -> Iterator[Part]:
        """Yield its parts, in order."""
        ...


class _WirePart(msgspec.Struct, gc=False):
    type: str | None = None
    content: str | None = None
    id: str | None = None
    name: str | None = None


class _Whole(msgspec.Struct, gc=False):
    """A message of the GenAI conventions."""

    role: str | None = None
    parts: list[_WirePart] | None = None
    finish_reason: str | None = None

    def made(self) -> Iterator[Part]:
        for part in self.parts or ():
            kind, own = part.type, part.id
            if kind == "text":
                yield Part("text", part.content)
            elif kind in _THOUGHTS:
                yield Part("thought", part.content)
            elif kind in _CALLS and own:
                yield Part("call", None, own, part.name or "unnamed")
            elif kind in _ANSWERS and own:
                yield Part("answer", None, own)


_decode: Final = msgspec.json.Decoder(tuple[_Whole, ...]).decode


def genai_messages(attributes: Attributes, key: str) -> Sequence[Message] | None:
    """Return the messages of a GenAI attribute: JSON in a string, or structured. None where there are none to read.

    A string that is no JSON was cut by the limit that an SDK sets to attributes: then nothing was captured.
    """
    given = attributes.get(key)
    if isinstance(given, str):
        try:
            return _decode(given)
        except msgspec.ValidationError:
            pass  # it is JSON, of which something is of another type
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
    if not isinstance(given, list):
        return None
    found = [cast("Mapping[str, Any]", one) for one in cast("list[object]", given) if isinstance(one, dict)]
    return [_whole(one) for one in found]


def _whole(message: Mapping[str, Any]) -> Message:
    """Return a message of which what has another type than it should counts as absent."""
    parts = message.get("parts")
    listed = cast("list[object]", parts) if isinstance(parts, list) else []
    found = [cast("Mapping[str, Any]", part) for part in listed if isinstance(part, dict)]
    return _Whole(
        _text(message.get("role")),
        [_WirePart(*(_text(part.get(field)) for field in ("type", "content", "id", "name"))) for part in found],
        _text(message.get("finish_reason")),
    )


def openinference_messages(attributes: Attributes, prefix: str) -> Sequence[Message] | None:
    """Return the messages that OpenInference spreads over attributes, ``llm.output_messages.0.message.role`` ….

    >>> [message] = openinference_messages({"llm.output_messages.0.message.content": "hi"}, "llm.output_messages.")
    >>> [*message.made()]
    [Part(kind='text', text='hi', call_id='', tool='')]
    """
    found: dict[str, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, path = key[len(prefix) :].partition(".")
            if number.isdecimal() and path:
                found.setdefault(number, {})[path] = value
    return [_Spread(_text(one.get("message.role")), one) for one in _in_order(found)] or None


class _Spread(msgspec.Struct, gc=False):
    """A message of OpenInference: path within it → value."""

    role: str | None
    given: dict[str, Any]
    finish_reason: None = None

    def made(self) -> Iterator[Part]:
        tree: dict[str, Any] = {}
        for path, value in self.given.items():
            _put(tree, path.split("."), value)
        return _spread_parts(_record(tree, "message"))


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
    return _in_order({name: one for name, one in tree.items() if name.isdecimal() and isinstance(one, dict)})


def _in_order(numbered: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    names = sorted(numbered, key=lambda name: (len(name), name)) if len(numbered) > 1 else numbered
    return [numbered[name] for name in names]


def _record(tree: dict[str, Any], name: str) -> dict[str, Any]:
    found = tree.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def new_of(messages: Sequence[Message]) -> Sequence[Message]:
    """Return what an input has behind the model's last message: what is new in this request."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role in MADE:
            return messages[index + 1 :]
    return messages
