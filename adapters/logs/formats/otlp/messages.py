"""The messages of a model's span in both dialects, as one structure: who says it, and which parts it has."""

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

import msgspec

from ..fields import Object, objects
from .spread import ALONE, ANSWERED, CONTENT, ROLE, Leaf, Number, Spread, in_order

PartKind: TypeAlias = Literal["text", "thought", "call", "answer"]

_THOUGHTS: Final = frozenset(("reasoning", "thinking"))
_CALLS: Final = frozenset(("tool_call", "server_tool_call"))
_ANSWERS: Final = frozenset(("tool_call_response", "server_tool_call_response"))
MADE: Final = ("assistant", "model", "ai")
"""Roles whose messages the model made."""
_UNREADABLE: Final = (msgspec.DecodeError, ValueError, RecursionError)


class Part(msgspec.Struct, frozen=True, gc=False):
    """A text, a thought, a call, or the answer to a call; ``text`` is None where the content was not captured."""

    kind: PartKind
    text: str | None = None
    call_id: str = ""
    tool: str = ""


class Message(Protocol):
    """A message. Its parts are made when they are asked for: most inputs repeat what earlier requests had."""

    @property
    def role(self) -> str | None:
        """The one who says it."""
        ...

    @property
    def finish_reason(self) -> str | None:
        """Why the model ended it."""
        ...

    def made(self) -> Sequence[Part]:
        """Return its parts, in order."""
        ...


class Asked(msgspec.Struct, frozen=True, gc=False):
    """The news of an input: the user's ``texts`` behind the model's last message, and the ``answers`` there.

    The answers are the ids of the calls that they answer.
    """

    texts: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def said(self) -> str | None:
        """The user's texts as one, None where there is none."""
        return "\n".join(self.texts) if self.texts else None


NOTHING: Final = Asked()


class _WirePart(msgspec.Struct, gc=False):
    type: str | None = None
    content: str | None = None
    id: str | None = None
    name: str | None = None


class Written(msgspec.Struct, gc=False):
    """A message of the GenAI conventions."""

    role: str | None = None
    parts: tuple[_WirePart, ...] | None = None
    finish_reason: str | None = None

    def made(self) -> Sequence[Part]:
        """Return its parts, in order."""
        found: list[Part] = []
        for part in self.parts or ():
            kind = part.type
            if kind == "text":
                found.append(Part("text", part.content))
            elif kind in _CALLS:
                if part.id:
                    found.append(Part("call", None, part.id, part.name or "unnamed"))
            elif kind in _ANSWERS:
                if part.id:
                    found.append(Part("answer", None, part.id))
            elif kind in _THOUGHTS:
                found.append(Part("thought", part.content))
        return found


decode_messages: Final = msgspec.json.Decoder(tuple[Written, ...]).decode
"""Read the messages of a text. Raises ValidationError where one, or something of it, is of another type."""


def genai_messages(given: object) -> Sequence[Message] | None:
    """Return the messages of a GenAI attribute: JSON in a string, or structured. None where there are none to read.

    A string that is no JSON was cut by the limit that an SDK sets to attributes: then nothing was captured.
    """
    if isinstance(given, str):
        try:
            return decode_messages(given)
        except msgspec.ValidationError:
            pass  # it is JSON, of which something is of another type
        except _UNREADABLE:
            return None
        try:
            given = msgspec.json.decode(given)
        except _UNREADABLE:
            return None
    return [_written(one) for one in objects(cast("object", given))] if isinstance(given, list) else None


def _written(message: Object) -> Message:
    """Return a message of which what has another type than it should counts as absent."""
    parts = [
        _WirePart(*(_text(part.get(field)) for field in ("type", "content", "id", "name")))
        for part in objects(message.get("parts"))
    ]
    return Written(_text(message.get("role")), tuple(parts), _text(message.get("finish_reason")))


def spread_messages(spread: Spread) -> Sequence[Message] | None:
    """Return the messages that OpenInference spreads over attributes, None where there are none.

    >>> from .spread import CONTENT
    >>> [message] = spread_messages({(1, "0"): {CONTENT: "hi"}})
    >>> message.made()
    [Part(kind='text', text='hi', call_id='', tool='')]
    """
    return [_Spread(_text(one.get(ROLE)), one) for one in in_order(spread)] or None


class _Spread(msgspec.Struct, gc=False):
    """A message of OpenInference."""

    role: str | None
    given: dict[Leaf, Any]
    finish_reason: None = None

    def made(self) -> Sequence[Part]:
        """Return its parts, in order."""
        given = self.given
        answered, said = _text(given.get(ANSWERED)), _text(given.get(CONTENT))
        if answered:
            return [Part("answer", None, answered)]
        found = [Part("text", said)] if said else []
        texts: list[tuple[Number, str]] = []
        calls: list[tuple[Number, str]] = []
        for (field, number), value in given.items():
            if number is not ALONE and isinstance(value, str):
                if field == "text":
                    texts.append((number, value))
                elif field == "call" and value:
                    calls.append((number, value))
        for number, text in sorted(texts):
            thought = _text(given.get(("type", number))) in _THOUGHTS
            found.append(Part("thought" if thought else "text", text))
        for number, own in sorted(calls):
            found.append(Part("call", None, own, _text(given.get(("tool", number))) or "unnamed"))
        return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def asked_of(messages: Sequence[Message], before: Asked = NOTHING) -> Asked:
    """Return the news of an input: the user's texts and the answers behind the model's last message.

    The input has other messages before these; *before* is the news of those.
    """
    new: Sequence[Message] = messages
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role in MADE:
            new, before = messages[index + 1 :], NOTHING
            break
    texts: list[str] = []
    answers: list[str] = []
    for message in new:
        says = message.role == "user"
        for part in message.made():
            if part.kind == "answer":
                answers.append(part.call_id)
            elif says and part.kind == "text":
                texts.append(part.text or "")
    if before is NOTHING:
        return Asked(tuple(texts), tuple(answers))
    return Asked((*before.texts, *texts), (*before.answers, *answers))
