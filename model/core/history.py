"""A history as the model is shown it: its entries, in the arrangement that a runtime declares, and long results cut.

What stands in a history, the machine ``interaction`` says; what may differ beyond that is only how it is shown.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec.structs import replace

from .stimuli import Shown

ItemOrder: TypeAlias = Literal["as-said", "texts-first", "texts-last"]
"""A response's items: as the model said them; its texts before its calls, or behind these and their results."""
ResultOrder: TypeAlias = Literal["as-ended", "as-called", "paired", "at-once"]
"""A response's results, behind its items: as the tools ended, or as they were called (those that a pause put off behind
the others); or each right after its call, or where its tool ended, amid the response too."""
Adjacent: TypeAlias = Literal["apart", "merged"]
"""Texts of one role that stand side by side: an entry each, or one for some or all of them."""
Failures: TypeAlias = Literal["marked", "told", "own-words"]
"""A tool's failure: marked as one, or told in its text alone, as where a provider's messages have no mark; or told in
the runtime's own words, which hide the tool's: marked where the log marks it."""

ARRANGEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "itemOrder": get_args(ItemOrder),
    "resultOrder": get_args(ResultOrder),
    "adjacent": get_args(Adjacent),
    "failures": get_args(Failures),
}
"""Policy → its values, the default first."""
Handover: TypeAlias = Literal["one", "all"]
"""The messages that a request is the first to show, where several wait: the oldest alone, or all of them."""
CompactionFails: TypeAlias = Literal["keep", "drop-prefix"]
"""The history where a compaction failed: all of it stays, or what was to be compacted is dropped (RS-3.2)."""
STEER_HANDOVER: Final = "steerHandover"
FOLLOW_UP_HANDOVER: Final = "followUpHandover"
HANDOVERS: Final[Mapping[str, tuple[str, ...]]] = {
    STEER_HANDOVER: get_args(Handover),
    FOLLOW_UP_HANDOVER: get_args(Handover),
}
"""Policy → its values. There is no default: the sources leave the choice open."""
OWN_WORDS: Final = "the tool failed"
"""A failure in a reference runtime's own words; a law compares none."""
CUT: Final = "maxResultCharacters"
"""The policy that says how many characters of a longer result are shown: its first ones, its last ones, or both."""


class Entry(NamedTuple):
    """A part of the history, and the number of its response, as an item of it or a call's result. -1: a message.

    ``place`` orders what was said and what tools returned, where a tool may end before its response does. ``pauses`` is
    how many pauses came before a result: what they put off stands behind what they did not.
    """

    shown: Shown
    response: int = -1
    place: int = -1
    pauses: int = 0


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
    if chosen["failures"] == "own-words":
        found = [replace(one, text=OWN_WORDS) if one.is_error and one.text is not None else one for one in found]
    return joined(found) if chosen["adjacent"] == "merged" else found


def cut(shown: Iterable[Shown], most: int | None) -> list[Shown]:
    """Return the entries with the first *most* characters of each result; whole results where it is None.

    >>> [one.text for one in cut([Shown(role="tool", call_id="c1", text="a long result")], 6)]
    ['a long']
    """
    return [replace(one, text=one.text[:most]) if one.role == "tool" and one.text else one for one in shown]


class Summarised(NamedTuple):
    """A history as a compaction may leave it: of its first *most* entries, at least *least* are gone.

    A *summary* stands in their place, or nothing where it is None.
    """

    summary: str | None = None
    least: int = 0
    most: int = 0

    def left(self, entries: Sequence[Entry]) -> Iterator[tuple[int, Sequence[Entry]]]:
        """Yield what may be left of *entries*, the longest first, each with how many of them are gone.

        >>> shown = [Entry(Shown(role="user", text=text)) for text in ("one", "two")]
        >>> [[one.shown.text for one in left] for _, left in Summarised("They counted.", 0, 1).left(shown)]
        [['one', 'two'], ['two']]
        """
        for gone in range(self.least, min(self.most, len(entries)) + 1):
            yield gone, entries[gone:]


def characters_of(text: str, shown: str) -> int:
    """Return how many of a text's characters *shown* shows: its first, its last, or both, with other words around.

    >>> [characters_of("abcdefgh", shown) for shown in ("abcdefgh", "It said: abc", "abc [...] gh", "none")]
    [8, 3, 5, 0]
    """
    if text in shown:
        return len(text)
    first = _most(text, lambda size: text[:size] in shown)
    behind = shown[shown.find(text[:first]) + first :]
    both = first + _most(text[first:], lambda size: behind.find(text[len(text) - size :]) >= 0)
    return max(both, _most(text, lambda size: text[len(text) - size :] in shown))


def _most(text: str, shows: Callable[[int], bool]) -> int:
    """The largest size up to that of *text* at which *shows* is true, where it is true of all smaller ones."""
    return bisect_left(range(len(text)), True, key=lambda size: not shows(size + 1))  # noqa: FBT003 - a key's value


def _response(entry: Entry) -> int:
    return entry.response


def _block(entries: Sequence[Entry], chosen: Mapping[str, str]) -> list[Entry]:
    """The entries of one response, or messages."""
    if chosen["resultOrder"] == "at-once":
        return _texts_at(sorted(entries, key=lambda one: one.place), chosen["itemOrder"])
    results = [one for one in entries if one.shown.role == "tool"]
    items = [one for one in entries if one.shown.role != "tool"]
    if chosen["itemOrder"] == "texts-first":
        items.sort(key=lambda one: one.shown.call_id is not None)
    if chosen["itemOrder"] == "texts-last":
        texts = [one for one in items if one.shown.call_id is None]
        calls = [one for one in items if one.shown.call_id is not None]
        return _answered(calls, results, chosen["resultOrder"]) + texts
    return _answered(items, results, chosen["resultOrder"])


def _texts_at(entries: list[Entry], order: str) -> list[Entry]:
    """The entries with a response's texts where *order* says."""
    texts = [one for one in entries if one.shown.role != "tool" and one.shown.call_id is None]
    others = [one for one in entries if one not in texts]
    return {"as-said": entries, "texts-first": texts + others, "texts-last": others + texts}[order]


def _answered(items: list[Entry], results: list[Entry], order: str) -> list[Entry]:
    """The items with the results of their calls."""
    if order == "as-ended":
        return items + results
    calls = [one.shown.call_id for one in items]
    known = [one for one in results if one.shown.call_id in calls]
    known.sort(key=lambda one: calls.index(one.shown.call_id))
    lost = [one for one in results if one.shown.call_id not in calls]
    if order == "as-called":
        return items + sorted(known, key=lambda one: one.pauses) + lost
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
