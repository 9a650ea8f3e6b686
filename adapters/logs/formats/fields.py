"""Typed access to the fields of foreign events; an error names the field that does not fit."""

import json
from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar, cast

from msgspec import Raw

from turncheck.model.core.events import Delivery, Malformed, Source, UserMessage

Object: TypeAlias = Mapping[str, object]

_T = TypeVar("_T")
_OBJECT: Final[type[dict[str, object]]] = dict
_LIST: Final[type[list[object]]] = list


class MisfitError(ValueError):
    """A foreign event lacks what its mapping needs, or comes where it may not; the text says what."""


def no_event(value: object) -> Malformed:
    """Return the anomaly for a value without a string as its ``type``; None stands for an unreadable line."""
    if isinstance(value, dict):
        return Malformed("type is no string")
    return Malformed("unreadable line" if value is None else f"not an object: {type(value).__name__}")


def anything(event: Object, field: str) -> object:
    """Any value that is there; None where nothing is."""
    return event.get(field)


def text(event: Object, field: str) -> str:
    """A required string. Raises MisfitError."""
    return _required(event, field, str, "string")


def maybe_text(event: Object, field: str) -> str | None:
    """A string that may be absent or null. Raises MisfitError."""
    return None if event.get(field) is None else text(event, field)


def maybe_flag(event: Object, field: str) -> bool | None:
    """A boolean that may be absent or null. Raises MisfitError."""
    return None if event.get(field) is None else _required(event, field, bool, "boolean")


def number(event: Object, field: str) -> int:
    """A required integer. Raises MisfitError."""
    if isinstance(event.get(field), bool):
        raise MisfitError(f"{field} is no integer")
    return _required(event, field, int, "integer")


def record(event: Object, field: str) -> Object:
    """A required object. Raises MisfitError."""
    return _required(event, field, _OBJECT, "object")


def records(event: Object, field: str) -> list[Object]:
    """A required list of objects. Raises MisfitError."""
    values = items(event, field)
    if all(isinstance(value, dict) for value in values):
        return cast("list[Object]", values)
    raise MisfitError(f"{field} holds something that is no object")


def objects(value: object) -> list[Object]:
    """The objects of a list, without what is none; nothing where *value* is no list."""
    values = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Object", one) for one in values if isinstance(one, dict)]


def items(event: Object, field: str) -> list[object]:
    """A required list. Raises MisfitError."""
    return _required(event, field, _LIST, "list")


def user_message(
    message: Object, field: str, *, delivery: Delivery | None = None, source: Source | None = None
) -> UserMessage:
    """A user's message, given as a string or a list of parts in *field*. Raises MisfitError."""
    said = message.get(field)
    given = message.get("id")
    identity = given if isinstance(given, str) else None
    if isinstance(said, str):
        return UserMessage(text=said, id=identity, delivery=delivery, source=source)
    try:
        parts = [Raw(json.dumps(part).encode()) for part in items(message, field)]
    except RecursionError as error:  # writing takes more of the stack than reading took
        raise MisfitError(f"{field} is nested too deeply") from error
    return UserMessage(content=parts, id=identity, delivery=delivery, source=source)


def _required(event: Object, field: str, kind: type[_T], name: str) -> _T:
    value = event.get(field)
    if isinstance(value, kind):
        return value
    raise MisfitError(f"{field} is missing" if value is None else f"{field} is no {name}")
