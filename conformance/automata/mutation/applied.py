"""The words of a method in one view, with the correct outputs, made at first use.

An edited row shows only after its event occurs in its state, a hidden-state mutant only after the second occurrence.
A mutant is therefore run only on the words in which that happens.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeAlias

from turncheck.model.automata.finite import FiniteMachine, Reaction
from turncheck.model.automata.mealy import Word
from turncheck.model.automata.mutants import DelayedMutant, Mutant
from turncheck.model.declaration.machine import Row

from .view import Place, View

Applied: TypeAlias = tuple[Word, Sequence[Reaction]]
"""A word with its correct outputs."""


class Words:
    """*words* as they are applied in *view*."""

    def __init__(self, view: View, words: Callable[[], Iterable[Word]]) -> None:
        self._view, self._words = view, words

    def kill(self, mutant: Mutant, wrong: FiniteMachine | DelayedMutant) -> bool:
        """Return whether a word kills *mutant*, whose machine is *wrong*."""
        once, again = self._at(mutant)
        return any(_after(wrong, word) is None for word in (again if mutant.hidden else chain(once, again)))

    def _at(self, mutant: Mutant) -> tuple[Sequence[Applied], Sequence[Applied]]:
        return self._by_place.get((mutant.row.source, mutant.row.event), ((), ()))

    @cached_property
    def _by_place(self) -> Mapping[Place, tuple[Sequence[Applied], Sequence[Applied]]]:
        """Place → the words that visit it once, and those that visit it again."""
        found: dict[Place, tuple[list[Applied], list[Applied]]] = {}
        for word in self._words():
            applied, places = _applied(self._view, word)
            for place, times in places.items():
                found.setdefault(place, ([], []))[times > 1].append(applied)
        return found


class Tree:
    """*words* as they are applied in *view*, each common beginning once: for suites of a million stimuli."""

    def __init__(self, view: View, words: Callable[[], Iterable[Word]]) -> None:
        self._view, self._words = view, words

    def kill(self, _: Mutant, wrong: FiniteMachine | DelayedMutant) -> bool:
        """Return whether a word kills the mutant whose machine is *wrong*."""
        steps, states = wrong.steps, [0] * (self._depth + 2)
        for depth, letter, expected in self._letters:
            states[depth + 1], said = steps[states[depth], letter]
            if said != expected:
                return True
        return False

    @cached_property
    def _depth(self) -> int:
        return max(depth for depth, _, _ in self._letters)

    @cached_property
    def _letters(self) -> Sequence[tuple[int, int, Reaction]]:
        """The letters that follow each beginning, with its length and the correct output, each behind its beginning."""
        return [*self._followed()]

    def _followed(self) -> Iterator[tuple[int, int, Reaction]]:
        machine, states = self._view.machine, [0]
        before: Word = ()
        for word in sorted(self._words()):
            pairs = enumerate(zip(before, word, strict=False))
            shared = next((place for place, (one, other) in pairs if one != other), len(before))
            before, states = word, states[: shared + 1]
            for depth in range(shared, len(word)):
                after, said = machine.step(states[depth], word[depth])
                states.append(after)
                yield depth, word[depth], said


class Probed(Words):
    """*words* as they are applied in *view*, each followed by the probe of the state that it leads to."""

    def kill(self, mutant: Mutant, wrong: FiniteMachine | DelayedMutant) -> bool:
        """Return whether a probed word kills *mutant*, whose machine is *wrong*; each state is probed once."""
        ends = {(wrong.entered(state), minimal) for state, minimal in self._ended}  # of words that miss the place
        for word in chain(*self._at(mutant)):
            state = _after(wrong, word)
            if state is None:
                return True
            ends.add((state, self._ends[word[0]][1]))
        return any(_after(wrong, self._probes[minimal], state) is None for state, minimal in ends)

    @cached_property
    def _ends(self) -> Mapping[Word, tuple[int, int]]:
        """Word → the states that it leads to: of the declared machine, and of the minimal one."""
        right, machine = self._view.right, self._view.machine
        return {word: (right.after(word), machine.after(word)) for word in self._words()}

    @cached_property
    def _ended(self) -> Sequence[tuple[int, int]]:
        return sorted({*self._ends.values()})

    @cached_property
    def _probes(self) -> Sequence[Applied]:
        machine, probes = self._view.machine, self._view.probes
        return [(probe, machine.run(probe, state)) for state, probe in enumerate(probes)]


class Around:
    """The words of *words* about a row, as they are applied in *view*.

    Those about other rows are left out: a mutant that they alone would kill counts as a survivor.
    """

    def __init__(self, view: View, words: Callable[[View, Row], Iterable[Word]]) -> None:
        @lru_cache(1)  # mutants come in the order of their rows
        def of(row: Row) -> Words:
            return Words(view, lambda: words(view, row))

        self._of = of

    def kill(self, mutant: Mutant, wrong: FiniteMachine | DelayedMutant) -> bool:
        """Return whether a word kills *mutant*, whose machine is *wrong*."""
        return self._of(mutant.row).kill(mutant, wrong)


def _applied(view: View, word: Word) -> tuple[Applied, Mapping[Place, int]]:
    """Return *word* with its correct outputs, and the number of its visits to each place."""
    state, table, right, places = 0, view.table, list[Reaction](), dict[Place, int]()
    for letter in word:
        state, output, place = table[state][letter]
        right.append(output)
        places[place] = places.get(place, 0) + 1
    return (word, right), places


def _after(wrong: FiniteMachine | DelayedMutant, applied: Applied, state: int = 0) -> int | None:
    """Return the state of *wrong* after a word from *state* on, None where an output is not the correct one."""
    steps = wrong.steps
    for letter, expected in zip(*applied, strict=True):
        state, said = steps[state, letter]
        if said != expected:
            return None
    return state
