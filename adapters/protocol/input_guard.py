"""Detect whether a call changes its arguments: the evidence for input-untouched."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .messages import encode

_T = TypeVar("_T")


def watched(function: Callable[[Any], _T], events: Sequence[Any]) -> tuple[_T, bool]:
    """Call *function* with *events*; return its answer, and True if the encoding of *events* changed.

    Encodings of 1, 1.0 and true differ, though they are equal to ``==``. Raises TypeError or ValueError for events that
    are no JSON values, and the errors of *function*.
    """
    before = encode(events)
    answer = function(events)
    try:
        return answer, encode(events) != before
    except (TypeError, ValueError, RecursionError):  # the call put a value other than JSON into them
        return answer, True
