"""AG-UI's items as whole runs of lines: how one looks that came undisturbed, from its beginning to its end.

An item that is written in another way (another order of fields, another event in between) is read line by line.
"""

import re
from collections.abc import Mapping
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
    """The pattern of a line with its line feed before it: all required fields, and the optional ones that are given."""
    required, optional = (fields.split() for fields in FIELDS[name])
    needed = "".join(f',"{field}":"{values[field]}"' for field in required)
    more = "".join(f'(?:,"{field}":"{values[field]}")?' for field in optional if field in values)
    return rf'{HEAD}{name}"{needed}{more}\}}'


def _item(item: Item) -> str:
    field, group = item.part.field, item.family
    begin = _line(item.part.begin, {field: rf"(?P<{group}_id>{_ID})", **_GIVEN.get(item.part.begin, {})})
    same = {field: rf"(?P={group}_id)"}
    # Deltas differ in their texts alone: what stands before a text is compared as one piece, which is twice as fast.
    head, tail = _line(item.delta, {**same, "delta": "|"}).split("|")
    deltas = rf"(?P<{group}_delta>{head})(?!\"){TEXT}{tail}(?:(?P={group}_delta){TEXT}{tail})*+"
    return rf"(?P<{group}>{begin.removeprefix(HEAD)}{deltas}{_line(item.part.ends[0], same)})"


ITEM: Final = re.compile(rf"{HEAD}(?:{'|'.join(map(_item, ITEMS))})(?=\n)".encode())
"""An item with all its lines, each with the line feed before it; its first delta is not empty.

The last group is named after the item's family; the group ``…_id`` is its id."""
