"""The formats that have a fast loop; the others are read line by line by their mappers alone."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from .ag_ui_loop import feed
from .ag_ui_shapes import ITEM
from .ag_ui_wires import DECODER


class FastLoop(NamedTuple):
    """What reads most lines of a format.

    ``decode`` takes a line that is good by itself, and raises for any other; ``whole`` finds runs of lines that mean
    one thing together, each with the line feed before it. ``feed`` is given the mapper, structures, matches of
    ``whole`` and None for lines that were not decoded, the position of the first, and a function by which the mapper
    reads the line of a position; it returns the position behind the last.
    """

    decode: Callable[[bytes], Any]
    whole: re.Pattern[bytes]
    feed: Callable[[Any, Iterable[Any], int, Callable[[int], None]], int]


LOOPS: Final[Mapping[str, FastLoop]] = {"ag-ui": FastLoop(DECODER.decode, ITEM, feed)}
"""Name of a format → its fast loop; the format's mapper is a ``Dispatcher``."""
