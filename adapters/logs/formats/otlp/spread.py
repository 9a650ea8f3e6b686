"""The keys of attributes over which OpenInference spreads messages: ``llm.input_messages.0.message.role`` ….

In comes a key; out goes its place: a message, and a leaf of that.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

import msgspec

Field: TypeAlias = Literal["role", "content", "answered", "type", "text", "call", "tool", "other"]
Number: TypeAlias = tuple[int, str]
"""A number as it is written, with its length first: so they are ordered as they count, and none is too long to read."""
Leaf: TypeAlias = tuple[Field, Number]
"""A field of a message, and the number of the content or call that it is of."""
Spread: TypeAlias = dict[Number, dict[Leaf, Any]]
"""Messages by their numbers: what is given of each."""

ALONE: Final[Number] = (0, "")
"""The number of a field that a message has once; it is less than that of any message."""
ROLE: Final[Leaf] = ("role", ALONE)
CONTENT: Final[Leaf] = ("content", ALONE)
ANSWERED: Final[Leaf] = ("answered", ALONE)


class Place(msgspec.Struct, frozen=True, gc=False):
    """The place of an attribute: a leaf of a message that the model was asked with, or that it *made*."""

    made: bool
    message: Number
    leaf: Leaf


_KEY: Final = re.compile(r"llm\.(input|output)_messages\.(\d+)\.(.+)", re.DOTALL)
_LISTED: Final = re.compile(r"message\.(?:contents|tool_calls)\.(\d+)\.(.+)", re.DOTALL)
_OF_MESSAGE: Final[dict[str, Leaf]] = {
    "message.role": ROLE,
    "message.content": CONTENT,
    "message.tool_call_id": ANSWERED,
}
_OF_ONE: Final[dict[str, Field]] = {
    "message.contents.message_content.type": "type",
    "message.contents.message_content.text": "text",
    "message.tool_calls.tool_call.id": "call",
    "message.tool_calls.tool_call.function.name": "tool",
}
"""Path without its number → the field of a content or a call."""
OTHER: Final[Leaf] = ("other", ALONE)
_LENGTH: Final = 128
_MOST: Final = 8192
"""Characters of a key, and keys of messages, that are remembered: some 3 MB. 1,000 messages have some 5,000 keys."""
_OTHERS: Final = 256
"""Keys of no message that are remembered: spans have some ten kinds of them. One that is not takes 150 ns, not 25."""


class Places(dict[str, Place | None]):
    """Key → place, each found once; keys of no message, which may have any name, leave those of messages room."""

    def __init__(self) -> None:
        super().__init__()
        self._others = 0

    def __missing__(self, key: str) -> Place | None:
        place = _place(key)
        other = place is None
        if len(key) <= _LENGTH and (self._others < _OTHERS if other else len(self) - self._others < _MOST):
            self._others += other
            self[key] = place
        return place


PLACES: Final = Places()
"""Key of an attribute → its place, None where it is of no message.

>>> PLACES["llm.output_messages.0.message.tool_calls.12.tool_call.id"]
Place(made=True, message=(1, '0'), leaf=('call', (2, '12')))
"""


def _place(key: str) -> Place | None:
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    side, number, path = found.groups()
    return Place(side == "output", (len(number), number), _OF_MESSAGE.get(path) or _of_one(path))


def _of_one(path: str) -> Leaf:
    found = _LISTED.fullmatch(path)
    if found is None:
        return OTHER
    number, rest = found.groups()
    field = _OF_ONE.get(f"{path[: found.start(1)]}{rest}")
    return OTHER if field is None else (field, (len(number), number))


def in_order(spread: Spread) -> Iterable[dict[Leaf, Any]]:
    """Return the messages in the order of their numbers."""
    return [one for _, one in sorted(spread.items(), key=lambda item: item[0])] if len(spread) > 1 else spread.values()
