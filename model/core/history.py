"""A history as the model is shown it: its entries, in the arrangement that a runtime declares.

What stands in a history, the machine ``interaction`` says; what may differ beyond that is only how it is arranged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec.structs import replace

from .stimuli import Shown

ItemOrder: TypeAlias = Literal["as-said", "texts-first"]
"""A response's items: as the model said them, or its texts before its calls, as most providers' messages have them."""
ResultOrder: TypeAlias = Literal["as-ended", "as-called", "paired"]
"""A response's results, behind its items: as the tools ended, or as they were called; or each right after its call."""
Adjacent: TypeAlias = Literal["apart", "merged"]
"""Texts of one role that stand side by side: an entry each, or one."""

ARRANGEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "itemOrder": get_args(ItemOrder),
    "resultOrder": get_args(ResultOrder),
    "adjacent": get_args(Adjacent),
}
"""Policy → its values, the default first."""


class Entry(NamedTuple):
    """What is shown, and the number of the response that it belongs to: its item, or a call's result. -1: a message."""

    shown: Shown
    response: int = -1


def arranged(entries: Iterable[Entry], policies: Mapping[str, Any]) -> list[Shown]:
    """Return what a request shows, arranged by *policies* (those of ``ARRANGEMENTS``, each with its default).

    >>> call, text = Shown(role="assistant", call_id="c1"), Shown(role="assistant", text="I look.")
    >>> [one.text for one in arranged([Entry(call, 1), Entry(text, 1)], {"itemOrder": "texts-first"})]
    ['I look.', None]
    """
    chosen = {name: policies.get(name) or values[0] for name, values in ARRANGEMENTS.items()}
    found = [shown for _, block in groupby(entries, _response) for shown in _block([*block], chosen)]
    return found if chosen["adjacent"] == "apart" else [*_merged(found)]


def _response(entry: Entry) -> int:
    return entry.response


def _block(entries: Sequence[Entry], chosen: Mapping[str, str]) -> list[Shown]:
    """The entries of one response, or messages."""
    shown = [entry.shown for entry in entries]
    results = [one for one in shown if one.role == "tool"]
    items = [one for one in shown if one.role != "tool"]
    if chosen["itemOrder"] == "texts-first":
        items.sort(key=lambda one: one.call_id is not None)
    if chosen["resultOrder"] == "as-ended" or not results:
        return items + results
    calls = [one.call_id for one in items if one.call_id is not None]
    results.sort(key=lambda one: calls.index(one.call_id) if one.call_id in calls else len(calls))
    if chosen["resultOrder"] == "as-called":
        return items + results
    paired = [one for item in items for one in (item, *_of(item, results))]
    return paired + [one for one in results if one.call_id not in calls]


def _of(item: Shown, results: Sequence[Shown]) -> list[Shown]:
    return [one for one in results if item.call_id is not None and one.call_id == item.call_id]


def _merged(shown: Iterable[Shown]) -> Iterator[Shown]:
    """Join adjacent texts of one role, a line each."""
    last: Shown | None = None
    for one in shown:
        if last is not None and one.role == last.role and _is_text(one) and _is_text(last):
            last = replace(last, text=f"{last.text}\n{one.text}", ids=(*last.ids, *one.ids))
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _is_text(shown: Shown) -> bool:
    return shown.role != "tool" and shown.call_id is None
