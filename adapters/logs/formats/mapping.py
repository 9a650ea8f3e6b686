"""The definition of a log format: how it is recognised, and how its values map to the core's events."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from turncheck.model.core.events import Event

Mapped: TypeAlias = tuple[int, Event]
"""An event of the core with the position of the line that it comes from; several may share one position."""


class Mapper(Protocol):
    """Maps one log's values, in order, to events whose positions never descend.

    What the mapping infers (a root, a boundary, a terminal) is marked ``source="adapter"``. Values that mean nothing
    to the core become ``Native``, unreadable ones ``Malformed``: every value keeps its position. A mapper holds back
    no more than what is still open: items whose deltas have not ended, and what came after their start.
    """

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the value at position *at* (None for an unreadable line); yield what is settled by now."""
        ...

    def end(self) -> Iterator[Mapped]:
        """End the log: yield the events that were held back."""
        ...


@dataclass(frozen=True)
class Format:
    """A log format.

    ``whole``: a file of this format is complete, so that one without a terminal is broken rather than unfinished.
    ``client_calls``: the client may answer a call in the next run's input, so that a call without a result is no
    finding where the run ended successfully.
    """

    name: str
    title: str
    recognises: Callable[[Sequence[dict[str, Any]]], bool]
    mapper: Callable[[], Mapper]
    whole: bool = False
    client_calls: bool = False
