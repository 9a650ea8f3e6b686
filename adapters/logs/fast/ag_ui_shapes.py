"""AG-UI's items as whole runs of lines: how one looks that came undisturbed, from its beginning to its end.

An item that is written in another way (another order of fields, another event in between) is read line by line.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from ..formats.ag_ui_fields import FIELDS
from ..formats.ag_ui_parts import ITEMS, Item
from .runs import HEAD, PLAIN, TEXT

_ID: Final = rf"{PLAIN}*+"
_CALL: Final = {"toolCallName": rf"(?P<tool>{_ID})", "parentMessageId": rf"(?P<parent>{_ID})"}
_GIVEN: Final[Mapping[str, Mapping[str, str]]] = {
    "TEXT_MESSAGE_START": {"role": "assistant"},
    "REASONING_MESSAGE_START": {"role": "reasoning"},
    "TOOL_CALL_START": _CALL,
}
"""Type → its fields that are looked at beside the id."""


def _line(name: str, values: Mapping[str, str]) -> str:
    """The pattern of an event: all required fields, and the optional ones that are given."""
    required, optional = (fields.split() for fields in FIELDS[name])
    needed = "".join(f',"{field}":"{values[field]}"' for field in required)
    more = "".join(f'(?:,"{field}":"{values[field]}")?' for field in optional if field in values)
    return rf'{HEAD}{name}"{needed}{more}\}}'


def _item(item: Item, between: str) -> str:
    field, group = item.part.field, item.family
    begin = _line(item.part.begin, {field: rf"(?P<{group}_id>{_ID})", **_GIVEN.get(item.part.begin, {})})
    same = {field: rf"(?P={group}_id)"}
    # Deltas differ in their texts alone: what stands before a text is compared as one piece, which is twice as fast.
    head, tail = f"{between}{_line(item.delta, {**same, 'delta': '|'})}".split("|")
    deltas = rf"(?P<{group}_delta>{head})(?!\"){TEXT}{tail}(?:(?P={group}_delta){TEXT}{tail})*+"
    return rf"(?P<{group}>{begin.removeprefix(HEAD)}{deltas}{between}{_line(item.part.ends[0], same)})"


@cache
def item_pattern(between: str) -> re.Pattern[bytes]:
    """Return what finds an item with all its lines, each with what stands *between* lines before it.

    Its first delta is not empty. The last group is named after the item's family; the group ``…_id`` is its id.
    """
    return re.compile(
        rf"{between}{HEAD}(?:{'|'.join(_item(item, between) for item in ITEMS)})(?={between}|\n?\Z)".encode()
    )
