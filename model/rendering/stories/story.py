"""What the pictures of machines at work share: the words that a machine is told, played one event at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...declaration.machine import Machine
from ...declaration.stepping import Stepper
from ...declaration.vocabulary import Output
from ..scene import Arrow, Band, Row

Word: TypeAlias = Sequence[tuple[str, Any]]
"""Events, each with what the machine hears."""
Stories: TypeAlias = Mapping[str, tuple[Word, Word]]
"""Title → the events that come before and are not drawn, and those that are drawn."""


@dataclass(frozen=True)
class Moment:
    """One event that was taken: the states before and after it, its outputs, and position → what was heard there."""

    event: str
    left: str
    state: str
    outputs: Sequence[Output]
    heard: Mapping[int, Any]


def moments(machine: Machine, tables: Mapping[str, Any], before: Word, word: Word) -> Iterator[Moment]:
    """Play *before*, then *word*, and yield a moment for each event of *word*."""
    stepper, heard = Stepper(machine, tables), dict[int, Any]()
    for at, (event, fields) in enumerate((*before, *word)):
        left = stepper.state
        heard[at] = fields
        stepper.take(event, fields, at)
        if at >= len(before):
            yield Moment(event, left, stepper.state, stepper.outputs, heard)


def told(stories: Stories, tell: Callable[[str, Word, Word], Iterable[Row]]) -> tuple[Row, ...]:
    """Lay out all *stories*, each under its title; *tell* gives the rows of one."""
    return tuple(row for title, words in stories.items() for row in (Band(title), *tell(title, *words)))


def says(source: str, dest: str, words: str, *, answer: bool = False) -> Arrow:
    """Draw that *source* tells *dest* something; an answer is dashed."""
    return Arrow(source, dest, words, stroke="answer" if answer else "")
