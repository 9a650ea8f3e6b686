"""Fields of objects that an implementation sent: each is of its kind, or left out."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

_NAMES: Final = ("role", "callId", "tool")
"""Fields of an entry of a request's input that name something."""


def input_entries(given: Any) -> list[Mapping[str, Any]] | None:
    """Return the entries of a request's logged input, None where it is not seen."""
    if not isinstance(given, list):
        return None
    entries = [named(entry, _NAMES) for entry in cast("Sequence[Any]", given) if isinstance(entry, dict)]
    return [entry if _are_names(entry.get("ids", [])) else {**entry, "ids": []} for entry in entries]


def named(given: Any, names: Collection[str]) -> dict[str, Any]:
    """An object in which each of the fields *names* is text, or left out: laws look others up by them.

    What is no object has no fields.
    """
    if not isinstance(given, dict):
        return {}
    fields = cast("dict[str, Any]", given)
    for (
        name
    ) in names:  # each event of each log comes through here: one expression over all names takes several times as long
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            break
    else:
        return fields
    return {field: value for field, value in fields.items() if field not in names or isinstance(value, str | None)}


def _are_names(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(name, str) for name in cast("Sequence[Any]", given))
