"""Find the shortest word that distinguishes a mutant from its machine: bisimulation from the mutated row on.

Until the mutated row's (state, event) occurs, mutant and machine are in the same state. So the search begins in the
states where it can occur, and ends wherever both are in the same state again.
"""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Final, TypeAlias

from ..declaration.machine import Row
from ..search import reached, shortest
from .finite import FiniteMachine
from .mealy import Word
from .mutants import Mutant

Accesses: TypeAlias = Mapping[int, Word]
"""State → the shortest word that leads to it."""


class DistinguishingWords:
    """Finds the words that distinguish mutants from *right*, all of whose states were visited."""

    def __init__(self, right: FiniteMachine) -> None:
        self._right: Final = right
        self._again: dict[Row, Accesses] = {}
        self._onward = cache(right.onward)

    def word(self, mutant: Mutant) -> Word | None:
        """Return the shortest word to which *mutant* answers differently, None for an equivalent within the bounds."""
        if not mutant.shows(self._right):
            return None
        right, wrong = self._right, mutant.edited_of(self._right)
        event = [place for place, letter in enumerate(right.letters) if letter.symbol == mutant.row.event]
        every = range(len(right.letters))

        def onward(pair: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int] | None]]:
            ours, theirs = pair
            for letter in event if ours == theirs else every:
                (left, said), (other, answered) = right.steps[ours, letter], wrong.steps[theirs, letter]
                if said != answered:
                    yield letter, None
                elif left != other:
                    yield letter, (left, other)

        starts = self._taken(mutant.row) if mutant.hidden else self.accesses
        place = [((at, at), word) for at, word in starts.items() if right.nodes[at].state == mutant.row.source]
        return shortest(place, onward)

    @cached_property
    def accesses(self) -> Accesses:
        """The shortest words to all states."""
        return dict(reached([(0, ())], self._onward))

    def _taken(self, row: Row) -> Accesses:
        """Return the states in which *row* can be taken again, each with the shortest word to it that took *row*."""
        if row not in self._again:
            right, starts = self._right, dict[int, Word]()
            for (state, letter), taken in right.rows.items():
                if taken is row and state in self.accesses:
                    after, word = right.step(state, letter)[0], (*self.accesses[state], letter)
                    if after not in starts or len(word) < len(starts[after]):
                        starts[after] = word
            found = reached(starts.items(), self._onward)
            self._again[row] = {at: word for at, word in found if right.nodes[at].state == row.source}
        return self._again[row]
