"""What reading a log yields: batches of events with their origins and lines."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import Malformed

from .framing import Origin

TOO_LONG: Final = Malformed("line over the limit (--max-line)")
"""The event of a line over the limit."""


class Chunk(NamedTuple):
    """A batch of events, the origin of each by its index in the batch, and their physical lines.

    ``lines`` is a range wherever the numbers form one: a log without blank lines is one range from end to end.
    ``heard`` is the batch without the observations ``NATIVE``, where the reader has it at hand: to cut cycles it is
    enough, and most lines of a stream are such observations.
    """

    batch: Batch
    origin: Callable[[int], Origin]
    lines: Callable[[], Sequence[int]]
    heard: Batch | None = None
