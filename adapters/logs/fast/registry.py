"""The formats that have a fast loop; the others are read line by line by their mappers alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .ag_ui_loop import feed
from .ag_ui_wires import DECODER


class FastLoop(NamedTuple):
    """A decoder, which takes only lines that are good by themselves, and a loop over what it decoded.

    The loop is given the mapper, the events of consecutive positions, the first position, and a function by which the
    mapper reads the line of a position.
    """

    decode: Callable[[bytes], Any]
    feed: Callable[[Any, Sequence[Any], int, Callable[[int], None]], None]


LOOPS: Final[Mapping[str, FastLoop]] = {"ag-ui": FastLoop(DECODER.decode, feed)}
"""Name of a format → its fast loop; the format's mapper is a ``Dispatcher``."""
