"""The shortest word that tells a mutant from its machine: bisimulation, where only one row's place can begin to differ.

As long as a mutant was not asked in that place, it is in the machine's own state; so the search begins in the states of
the place, and ends where both are in one state again.
"""

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import Final, TypeAlias

from ..declaration.machine import Row
from .finite import FiniteMachine
from .mealy import Word
from .mutants import Mutant

Accesses: TypeAlias = Mapping[int, Word]
"""State → the shortest word that leads to it."""


class DistinguishingWords:
    """What tells mutants of *right*, all of whose states were visited."""

    def __init__(self, right: FiniteMachine) -> None:
        self._right: Final = right
        self._again: dict[Row, Accesses] = {}

    def word(self, mutant: Mutant) -> Word | None:
        """The shortest word that *mutant* answers otherwise, None where it is equivalent within the bounds."""
        if not mutant.shows(self._right):
            return None
        right, wrong = self._right, mutant.edited_of(self._right)
        event = [place for place, letter in enumerate(right.alphabet) if letter.symbol == mutant.row.event]
        every, numbers = range(len(right.alphabet)), count()
        starts = self._taken(mutant.row) if mutant.hidden else self.accesses
        waiting: list[tuple[int, int, int, int, Word]] = []
        for state, access in starts.items():
            if right.nodes[state].state == mutant.row.source:
                heappush(waiting, (len(access), next(numbers), state, state, access))
        seen = set[tuple[int, int]]()
        while waiting:
            length, _, ours, theirs, word = heappop(waiting)
            for letter in event if ours == theirs else every:
                (left, said), (other, answered) = right.steps[ours, letter], wrong.steps[theirs, letter]
                if said != answered:
                    return (*word, letter)
                if left != other and (left, other) not in seen:
                    seen.add((left, other))
                    heappush(waiting, (length + 1, next(numbers), left, other, (*word, letter)))
        return None

    @cached_property
    def accesses(self) -> Accesses:
        """The shortest words to all states."""
        return self._onward({0: ()})

    def _taken(self, row: Row) -> Accesses:
        """The states of the row's place, with the shortest words to them in which *row* was taken before."""
        if row not in self._again:
            right, starts = self._right, dict[int, Word]()
            for (state, letter), taken in right.rows.items():
                if taken is row and state in self.accesses:
                    after, word = right.step(state, letter)[0], (*self.accesses[state], letter)
                    if after not in starts or len(word) < len(starts[after]):
                        starts[after] = word
            found = self._onward(starts)
            self._again[row] = {at: word for at, word in found.items() if right.nodes[at].state == row.source}
        return self._again[row]

    def _onward(self, starts: Accesses) -> Accesses:
        """What can be reached from *starts*, nearest first."""
        right, found = self._right, dict[int, Word]()
        levels = deque(sorted(starts.items(), key=lambda start: len(start[1])))
        edge = deque[tuple[int, Word]]()
        while levels or edge:
            nearest = levels if not edge or (levels and len(levels[0][1]) <= len(edge[0][1])) else edge
            state, word = nearest.popleft()
            if state not in found:
                found[state] = word
                for letter in range(len(right.alphabet)):
                    after = right.steps[state, letter][0]
                    if after not in found:
                        edge.append((after, (*word, letter)))
        return found
