"""The player of stories: it gives a machine one event at a time, and lays out what follows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

from ...declaration.machine import Machine
from ...declaration.stepping import Stepper
from ..scene import Arrow, Band, Row

Word: TypeAlias = Sequence[tuple[str, Any]]
"""Events, each with its fields."""
Stories: TypeAlias = Mapping[str, tuple[Word, Word]]
"""Story title → (setup events, not drawn; events drawn)."""


class Heard(SimpleNamespace):
    """The fields of an event. A field that the event does not have is None, a number 0."""

    begins = messages = tokens = 0

    def __getattr__(self, _name: str) -> Any:
        return None


def event(symbol: str, **fields: Any) -> tuple[str, Heard]:
    """Make an event of a word."""
    return symbol, Heard(**fields)


class Moment(NamedTuple):
    """One event that was taken, and whether it is the first that is drawn; *heard* maps positions to fields."""

    event: str
    left: str
    stepper: Stepper
    heard: Mapping[int, Any]
    first: bool


def told(
    stories: Stories,
    machine: Machine,
    tables: Callable[[str], Mapping[str, Any]],
    rows: Callable[[Moment], Iterable[Row]],
) -> Iterator[Row]:
    """Play all *stories*, each under its title and with its own *tables*; *rows* draws one event."""
    for title, (before, word) in stories.items():
        yield Band(title)
        stepper, heard = Stepper(machine, tables(title)), dict[int, Any]()
        for at, (symbol, fields) in enumerate((*before, *word)):
            left, heard[at] = stepper.state, fields
            stepper.take(symbol, fields, at)
            if at >= len(before):
                yield from rows(Moment(symbol, left, stepper, heard, at == len(before)))


def says(source: str, dest: str, words: str, *, answer: bool = False) -> Arrow:
    """Draw that *source* tells *dest* something; an answer is dashed."""
    return Arrow(source, dest, words, stroke="answer" if answer else "")
