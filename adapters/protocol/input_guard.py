"""Watch whether a call changes its arguments: the evidence for input-untouched."""

from collections.abc import Sequence
from typing import Any

from .messages import encode


class Watch:
    """Compare the encoding of *events* before and after the block; ``changed`` is None until it has ended.

    Encodings tell 1, 1.0 and true apart, which ``==`` does not. Raises TypeError or ValueError for events that are no
    JSON values.
    """

    def __init__(self, events: Sequence[Any]) -> None:
        self._events = events
        self._before = encode(events)
        self.changed: bool | None = None

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.changed = encode(self._events) != self._before
        except (TypeError, ValueError, RecursionError):  # the call put a value into them that is no JSON
            self.changed = True
