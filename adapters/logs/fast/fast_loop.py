"""The parts of a fast loop, and its demands on a mapper."""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..formats.items import Items
from .runs import Style


class FastMapper(Protocol):
    """A mapper with its events in order, to which it adds as it accepts values."""

    items: Items

    def accept(self, at: int, value: Any, /) -> None:
        """Take the value at position *at*; what is settled by then waits in ``items``."""
        ...

    def close(self) -> None:
        """End the log: nothing that waits in ``items`` is unsettled any more."""
        ...


class FastLoop(NamedTuple):
    """A reader of most values of a format.

    ``decode`` takes a value's JSON that is good by itself, and raises for any other. ``pattern`` is given what stands
    between lines and how they are written (``runs``), and returns what finds lines that mean one thing together: its
    last group has them, each with what stands between before it. Where the group has a name they are an item, else they
    are like the line before but for a text.

    ``feed`` is given the mapper, the decoded values, the number of the first, and a function by which the mapper reads
    the value of a number and says whether all was well; it returns the number behind the last. A decoded value is a
    structure, or None where it was not decoded; an integer stands for as many lines that are like the one before; a
    match of an item comes with its number of lines.
    """

    decode: Callable[[bytes], Any]
    pattern: Callable[[str, Style], re.Pattern[bytes]]
    feed: Callable[[Any, Iterable[Any], int, Callable[[int], bool]], int]


class LineDecoding(NamedTuple):
    """A decoder of lines one by one, which raises for those that are left to the mapper."""

    decode: Callable[[bytes], Any]


Decoding: TypeAlias = FastLoop | LineDecoding
"""A way to decode values."""
