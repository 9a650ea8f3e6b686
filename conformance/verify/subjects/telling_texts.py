"""Texts that tell the events of a log apart: where every message reads "red", nobody sees which one is lost."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any, Final, cast

_WORDS: Final = (
    "red",
    "blue",
    "green",
    "yellow",
    "black",
    "white",
    "brown",
    "orange",
    "pink",
    "grey",
    "violet",
    "gold",
)
_FIELDS: Final[Mapping[Any, str]] = {"user-message": "text", "agent-output": "text", "tool-result": "output"}
"""Type of an event → its field that holds what a person or a program said."""


def told_apart(events: Sequence[Any]) -> list[Any]:
    """Return the events with another text for each that stands in an earlier one; a first text stays.

    A message that also has ``content`` stays as it is: its text stands there again.

    >>> message = {"type": "user-message", "text": "red"}
    >>> told_apart([message, message])[1]
    {'type': 'user-message', 'text': 'blue'}
    """
    taken = {text for event in events if (text := _text(event)) is not None}
    fresh = (word for word in chain(_WORDS, (f"text {number}" for number in count(1))) if word not in taken)
    return [*_renamed(events, fresh)]


def _renamed(events: Sequence[Any], fresh: Iterator[str]) -> Iterator[Any]:
    seen: set[str] = set()
    for event in events:
        text = _text(event)
        if text in seen:
            yield {**event, _FIELDS[event["type"]]: next(fresh)}
        else:
            yield event
        seen |= set() if text is None else {text}


def _text(event: Any) -> str | None:
    if not isinstance(event, dict):
        return None
    fields = cast("dict[str, Any]", event)
    kind = fields.get("type")
    name = _FIELDS.get(kind) if isinstance(kind, str) and "content" not in fields else None
    text = None if name is None else fields.get(name)
    return text if isinstance(text, str) else None
