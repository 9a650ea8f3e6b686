"""AG-UI's events as its fast loop knows them: as typed structures, and items as whole runs of lines.

The structures take only the shape that is known as good. An item that is written in another way than its pattern says
(another order of fields, another event in between) is read line by line.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal, Union

from msgspec import Struct, UnsetType, json

from ...formats.ag_ui_fields import FIELDS, structure
from ...formats.ag_ui_parts import ITEMS, SPANS, Item
from ..runs import PLAIN, STAMPS, TEXT, Style

_CUT: Final = "%"
_NUMBER: Final = r"[1-9][0-9]{0,17}+(?:\.[0-9]{1,9}+)?+"
_ID: Final = rf"{PLAIN}*+"
_CALL: Final = {"toolCallName": rf"(?P<tool>{_ID})", "parentMessageId": rf"(?P<parent>{_ID})"}
_GIVEN: Final[Mapping[str, Mapping[str, str]]] = {
    "TEXT_MESSAGE_START": {"role": "assistant"},
    "REASONING_MESSAGE_START": {"role": "reasoning"},
    "TOOL_CALL_START": _CALL,
}
"""Type → its fields that are looked at beside the id."""


def _line(name: str, values: Mapping[str, str], style: Style) -> str:
    """The pattern of an event: all required fields, and the optional ones that are given."""
    required, optional = (fields.split() for fields in FIELDS[name])
    given = {field: f'{style.comma}"{field}"{style.colon}"{values[field]}"' for field in values}
    needed = "".join(given[field] for field in required)
    more = "".join(f"(?:{given[field]})?" for field in optional if field in values)
    stamp = _stamp(style)
    return rf'{style.head}{name}"{stamp}{needed}{more}{stamp}\}}'


def _stamp(style: Style) -> str:
    """Fields of any event that mean nothing, and that vary: to look for them in vain takes 13 ns a line."""
    if not style.stamp:
        return ""
    return rf'(?:{style.comma}"(?:{"|".join(STAMPS)})"{style.colon}(?:{_NUMBER}|null))*+'


def _item(item: Item, between: str, style: Style) -> str:
    field, group = item.part.field, item.family
    begin = _line(item.part.begin, {field: rf"(?P<{group}_id>{_ID})", **_GIVEN.get(item.part.begin, {})}, style)
    same = {field: rf"(?P={group}_id)"}
    # What stands before a text is compared as one piece, or two around a stamp, which is twice as fast.
    stamp = _stamp(style)
    head, tail = f"{between}{_line(item.delta, {**same, 'delta': _CUT}, style)}".split(_CUT)
    pieces = head.split(stamp) if stamp else [head]
    first = stamp.join(f"(?P<{group}_{number}>{piece})" for number, piece in enumerate(pieces))
    again = stamp.join(f"(?P={group}_{number})" for number, _ in enumerate(pieces))
    deltas = rf"{first}(?!\"){TEXT}{tail}(?:{again}{TEXT}{tail})*+"
    return rf"(?P<{group}>{begin.removeprefix(style.head)}{deltas}{between}{_line(item.part.ends[0], same, style)})"


@cache
def item_pattern(between: str, style: Style) -> re.Pattern[bytes]:
    """Return what finds an item with all its lines in a *style*, each with what stands *between* lines before it.

    Its first delta is not empty. The last group is named after the item's family; the group ``…_id`` is its id.
    """
    items = "|".join(_item(item, between, style) for item in ITEMS)
    return re.compile(rf"{between}{style.head}(?:{items})(?={between}|\n?\Z)".encode())


class _Success(Struct, gc=False):
    type: Literal["success"]


SUCCESS: Final[Mapping[str, Any]] = {"outcome": {"type": "success"}}
"""All that the mapper reads of an end that says so."""
_ONLY: Final[Mapping[str, Any]] = {"subagentRunId": UnsetType, "outcome": _Success, "input": UnsetType}
"""Fields whose events are the mapper's: sub-agents, ends that are none of success, inputs that are repeated."""
_SAID: Final[Mapping[str, Any]] = {**_ONLY, "role": Literal["assistant"]}
"""A text of another role is no output of the model."""
NAMES: Final = (
    *(name for item in ITEMS for name in (item.delta, item.part.begin, *item.part.ends)),
    *(name for part in SPANS if part.field not in _ONLY for name in (part.begin, *part.ends)),
    *("TOOL_CALL_RESULT", "RUN_STARTED", "RUN_FINISHED"),
)
"""The types that the fast loop reads, the most frequent first of each part."""
STRUCTURES: Final = {name: structure(name, _SAID if name == "TEXT_MESSAGE_START" else _ONLY) for name in NAMES}
"""Type → its structure."""
DECODER: Final = json.Decoder[Any](Union[tuple(STRUCTURES.values())])  # noqa: UP007 - of a tuple
