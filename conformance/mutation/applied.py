"""The words of a method in one view, with the right answers, made when they are first asked for.

An edited row answers otherwise only after its event came in its state. So a row is looked at with those words alone in
which it does.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

from turncheck.model.bounded import Bounded
from turncheck.model.machine import Row
from turncheck.model.mealy import Word
from turncheck.model.mutants import Late, Mutant

from .view import Place, View

Applied: TypeAlias = tuple[Word, Sequence[str]]
"""A word with the outputs that are right."""


class Words:
    """*words* as they are applied in *view*."""

    def __init__(self, view: View, words: Callable[[], Iterable[Word]]) -> None:
        self._view, self._words = view, words

    def kill(self, mutant: Mutant, wrong: Bounded | Late) -> bool:
        """Whether a word tells *mutant*, which does *wrong*."""
        return any(_differs(wrong, word) for word in self._by_place.get((mutant.row.source, mutant.row.event), ()))

    @cached_property
    def _by_place(self) -> dict[Place, list[Applied]]:
        found: dict[Place, list[Applied]] = {}
        for word in self._words():
            applied, places = _applied(self._view, word)
            for place in places:
                found.setdefault(place, []).append(applied)
        return found


class Around:
    """The words of *words* about a row, as they are applied in *view*.

    Those about other rows are left out: a mutant that they alone would kill counts as a survivor.
    """

    def __init__(self, view: View, words: Callable[[View, Row], Iterable[Word]]) -> None:
        self._view, self._words = view, words
        self._last: tuple[Row | None, Sequence[Applied]] = None, ()

    def kill(self, mutant: Mutant, wrong: Bounded | Late) -> bool:
        """Whether a word tells *mutant*, which does *wrong*."""
        if self._last[0] != mutant.row:  # mutants come in the order of their rows
            self._last = mutant.row, [_applied(self._view, word)[0] for word in self._words(self._view, mutant.row)]
        return any(_differs(wrong, word) for word in self._last[1])


def _applied(view: View, word: Word) -> tuple[Applied, set[Place]]:
    state, table, right, places = 0, view.table, list[str](), set[Place]()
    for letter in word:
        state, output, place = table[state][letter]
        right.append(output)
        places.add(place)
    return (word, right), places


def _differs(wrong: Bounded | Late, applied: Applied) -> bool:
    state, steps = 0, wrong.steps
    for letter, expected in zip(*applied, strict=True):
        state, said = steps[state, letter]
        if said != expected:
            return True
    return False
