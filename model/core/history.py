"""A history as the model is shown it: its entries, in the arrangement that a runtime declares.

What stands in a history, the machine ``interaction`` says; what may differ beyond that is only how it is arranged.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec.structs import replace

from .stimuli import Shown

ItemOrder: TypeAlias = Literal["as-said", "texts-first", "texts-last"]
"""A response's items: as the model said them; its texts before its calls, or behind these and their results."""
ResultOrder: TypeAlias = Literal["as-ended", "as-called", "paired"]
"""A response's results, behind its items: as the tools ended, or as they were called; or each right after its call."""
Adjacent: TypeAlias = Literal["apart", "merged"]
"""Texts of one role that stand side by side: an entry each, or one for some or all of them."""
Failures: TypeAlias = Literal["marked", "told"]
"""A tool's failure: marked as one, or told in its text alone, as where a provider's messages have no mark."""

ARRANGEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "itemOrder": get_args(ItemOrder),
    "resultOrder": get_args(ResultOrder),
    "adjacent": get_args(Adjacent),
    "failures": get_args(Failures),
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
    found = [entry.shown for _, block in groupby(entries, _response) for entry in _block([*block], chosen)]
    if chosen["failures"] == "told":
        found = [replace(one, is_error=False) if one.is_error else one for one in found]
    return joined(found) if chosen["adjacent"] == "merged" else found


def _response(entry: Entry) -> int:
    return entry.response


def _block(entries: Sequence[Entry], chosen: Mapping[str, str]) -> list[Entry]:
    """The entries of one response, or messages."""
    results = [one for one in entries if one.shown.role == "tool"]
    items = [one for one in entries if one.shown.role != "tool"]
    if chosen["itemOrder"] == "texts-first":
        items.sort(key=lambda one: one.shown.call_id is not None)
    if chosen["itemOrder"] == "texts-last":
        texts = [one for one in items if one.shown.call_id is None]
        calls = [one for one in items if one.shown.call_id is not None]
        return _answered(calls, results, chosen["resultOrder"]) + texts
    return _answered(items, results, chosen["resultOrder"])


def _answered(items: list[Entry], results: list[Entry], order: str) -> list[Entry]:
    """The items with the results of their calls."""
    if order == "as-ended":
        return items + results
    calls = [one.shown.call_id for one in items]
    known = [one for one in results if one.shown.call_id in calls]
    known.sort(key=lambda one: calls.index(one.shown.call_id))
    lost = [one for one in results if one.shown.call_id not in calls]
    if order == "as-called":
        return items + known + lost
    return [one for item in items for one in (item, *(end for end in known if _answers(end, item)))] + lost


def _answers(end: Entry, item: Entry) -> bool:
    return item.shown.call_id == end.shown.call_id


def joined(shown: Iterable[Shown]) -> list[Shown]:
    """Join adjacent texts of one role, a line each."""
    found: list[Shown] = []
    for one in shown:
        if found and one.role == found[-1].role != "tool" and one.call_id is found[-1].call_id is None:
            last = found.pop()
            found.append(replace(last, text=f"{last.text}\n{one.text}", ids=(*last.ids, *one.ids)))
        else:
            found.append(one)
    return found
