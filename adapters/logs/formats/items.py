"""A reorder buffer: items open with a first delta, gather the others, and leave in the order of their starts."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from itertools import takewhile
from operator import attrgetter
from typing import Final, TypeAlias

from msgspec import Struct

from turncheck.model.core.events import AgentOutput, Event, Malformed, Native, OutputKind

from .fields import MisfitError
from .mapping import Mapped

NATIVE: Final = Native()
"""The event of a line that means nothing to the core."""

Build: TypeAlias = Callable[[str], Event]
"""From an item's gathered text to its event."""


class Slot(Struct, eq=False, gc=False):
    """A place in the order, for an event that may be known later; nothing behind it leaves before it is filled."""

    at: int
    event: Event | None = None


class Item(Struct, eq=False, gc=False):
    """An item that is open: its deltas so far, and its place, None before it has one."""

    build: Build
    slot: Slot | None
    pieces: list[str] = []


_is_filled: Final = attrgetter("event")  # of a slot; an event is true


class Items:
    """Events on their way to the core, their positions ascending; ``last`` is the latest position that is taken."""

    def __init__(self) -> None:
        self.last = -1
        self._slots: deque[Slot] = deque()
        self._filled = -1  # at what is before this position nothing is unsettled
        self.open: dict[Hashable, Item] = {}
        """The open items by their keys."""
        self.cut = False
        """True where the latest ``fill`` ended an open item: then no run ends there (``resting`` compares it)."""

    def put(self, at: int, event: Event) -> None:
        """Add an event that is complete."""
        self.last = at
        self._slots.append(Slot(at, event))

    def hold(self, at: int) -> Slot:
        """Keep a place for an event that a later line decides."""
        self.last = at
        slot = Slot(at)
        self._slots.append(slot)
        return slot

    def begin(self, key: Hashable, build: Build, at: int | None = None) -> None:
        """Open an item at *at*, or else where its first text comes. One that is open under *key* ends here."""
        if key in self.open:
            self.finish(key)
        self.open[key] = Item(build, None if at is None else self.hold(at))

    def __contains__(self, key: Hashable) -> bool:
        return key in self.open

    def append(self, key: Hashable, at: int, piece: str) -> None:
        """Add a delta to an open item; the first non-empty delta gives a place to an item without one.

        Raises MisfitError where the item is not open.
        """
        item = self.open.get(key)
        if item is None:
            raise MisfitError("its item is not open")
        if piece:
            if item.slot is None:
                item.slot = self.hold(at)
            item.pieces.append(piece)

    def rebuild(self, key: Hashable, build: Build) -> None:
        """Change what an open item will become."""
        self.open[key].build = build

    def finish(self, key: Hashable, event: Event | None = None) -> None:
        """End an item, if it is open: it becomes *event*, or else what it was opened to be."""
        item = self.open.pop(key, None)
        if item is not None and item.slot is not None:
            item.slot.event = event or item.build("".join(item.pieces))

    def finish_all(self, event: Event | None = None) -> None:
        """End every open item."""
        while self.open:
            self.finish(next(iter(self.open)), event)

    def release(self) -> Iterator[Mapped]:
        """Yield the events that nothing unsettled precedes."""
        slots = self._slots
        while slots and (event := slots[0].event) is not None:
            yield slots.popleft().at, event

    def settled(self) -> tuple[list[Slot], int | None]:
        """Take out the places that nothing unsettled precedes, each filled; say where the first unsettled one is."""
        slots = self._slots
        found = list(takewhile(_is_filled, slots))
        if len(found) == len(slots):
            slots.clear()
            return found, None
        for _ in found:
            slots.popleft()
        return found, slots[0].at

    def waits_from(self, at: int) -> int:
        """Return the first position that waits; *at*, the next one, where none does."""
        return self._slots[0].at if self._slots else at

    def told(self, start: int, first: int, behind: int) -> tuple[list[Mapped], int]:
        """Take out what is settled from *start* on, and the number of settled positions at which nothing is.

        From *first* to before *behind* only what means something has a place; what waits of that gets one, as if each
        had come by itself.
        """
        slots, unsettled = self.settled()
        end = behind if unsettled is None else unsettled
        silent = end - start - len({slot.at for slot in slots if slot.at < end})
        if unsettled is not None:
            self._fill_in(max(unsettled, first), behind)
        self.last = behind - 1
        return [(slot.at, slot.event) for slot in slots if slot.event is not None], silent

    def _fill_in(self, first: int, behind: int) -> None:
        """Make the positions from *first* to before *behind* that have no place ``NATIVE``."""
        tail: list[Slot] = []
        while self._slots and self._slots[-1].at >= first:
            tail.append(self._slots.pop())
        at = first
        for slot in reversed(tail):
            self._slots.extend(Slot(one, NATIVE) for one in range(at, slot.at))
            self._slots.append(slot)
            at = slot.at + 1
        self._slots.extend(Slot(one, NATIVE) for one in range(at, behind))

    def complains(self, at: int) -> bool:
        """Return whether the last event is at *at* and says that something is wrong there."""
        return bool(self._slots) and self._slots[-1].at == at and type(self._slots[-1].event) is Malformed

    def drain(self) -> Iterator[Mapped]:
        """Yield all the rest: open items end, and a place that nothing filled is ``Native``."""
        self.fill()
        return self.release()

    def fill(self) -> None:
        """End open items, and make a place that nothing filled ``Native``: nothing is unsettled any more."""
        self.cut = bool(self.open)
        self.finish_all()
        for slot in reversed(self._slots):
            if slot.at < self._filled:  # in a block of many short streams, all places would be looked at for each
                break
            slot.event = slot.event or NATIVE
        self._filled = self.last


def nothing(_: str) -> Event:
    """Build the event that means nothing to the core."""
    return NATIVE


class _Said(Struct, frozen=True, gc=False):
    kind: OutputKind
    response: str | None

    def __call__(self, text: str) -> Event:
        return AgentOutput(kind=self.kind, text=text, response_id=self.response) if text else NATIVE


def said(kind: OutputKind, response: str | None = None) -> Build:
    """Return the builder of a text item from its gathered deltas; an item without text means nothing."""
    return _Said(kind, response)


class Whole(Struct, frozen=True):
    """The builder of an item that is known whatever its deltas say."""

    event: Event

    def __call__(self, _: str) -> Event:
        """Return the event."""
        return self.event
