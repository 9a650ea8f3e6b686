"""The definition of a log format: how its values are recognised, and how they map to the core's events."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, Protocol, TypeAlias

from turncheck.model.core.events import Event

Mapped: TypeAlias = tuple[int, Event]
"""An event of the core with the position of the line that it comes from; several may share one position."""

Aspect: TypeAlias = Literal["messages", "delivery", "outputs", "calls", "results", "failures", "stops", "sessions"]
"""Something that a log can say of a run."""
ASPECTS: Final[Mapping[Aspect, str]] = {
    "messages": "what the user said",
    "delivery": "steer or follow-up",
    "outputs": "texts and reasoning",
    "calls": "tool calls",
    "results": "their results",
    "failures": "a tool failed",
    "stops": "how a run ended",
    "sessions": "several sessions",
}
"""Aspect → the heading of its column in the table of formats."""


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
class Rest:
    """The rule by which logs of a format are cut between two runs, so that each part is read by itself.

    ``ends`` is a regular expression that the line before a cut fits, and ``begins`` the type of the value behind it,
    None for any. What stands before a cut changes nothing behind it where the mapper is then as ``mapper`` makes it;
    those attributes aside that the next run sets anew before it reads them (``anew``: paths such as ``items.last``).
    """

    ends: str
    begins: str | None
    mapper: Callable[[], Mapper]
    anew: frozenset[str]


@dataclass(frozen=True)
class Format:
    """A log format.

    ``recognises`` tells a value, a JSON object, that no other format has.
    ``whole``: a file of this format is complete, so that one without a terminal is broken rather than unfinished.
    ``client_calls``: the client may answer a call in the next run's input, so that a call without a result is no
    finding where the run ended successfully.
    ``family``: the name that users give to several formats of one program; a format is its own family by default.
    ``rows``: the table of a format that is declared by one (``declared``).
    ``rest``: how its logs are cut between two runs, where they can be.
    ``limits``: each aspect that the format cannot say, or says in part, with the reason; it says all others.
    """

    name: str
    title: str
    recognises: Callable[[Mapping[str, Any]], bool]
    mapper: Callable[[], Mapper]
    whole: bool = False
    client_calls: bool = False
    family: str = ""
    limits: Mapping[Aspect, str] = field(default_factory=dict[Aspect, str])
    rows: tuple[Any, ...] = ()
    rest: Rest | None = None

    @cached_property
    def called(self) -> str:
        """The name by which ``--format`` calls it."""
        return self.family or self.name
