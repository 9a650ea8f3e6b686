"""Mealy machines as tables: minimal ones, words that separate states, and the shortest word on which two differ.

Theory: Moore's partition refinement (1956) gives the minimal machine, and, read as a tree whose inner nodes carry the
word by which a block was split, a family of harmonised state identifiers (Petrenko, Yevtushenko, Lebedev, Das 1993):
any two states share the word of the node where their paths part, which separates them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from ..search import reached, shortest

Word: TypeAlias = tuple[int, ...]
"""Letters by their index in the alphabet."""
Symbol: TypeAlias = Any
"""A letter or an output: a hashable value with a text, opaque here."""


class Steps(ABC):
    """A deterministic machine with an output for every letter in every state; 0 is the initial state."""

    letters: tuple[Symbol, ...]

    @abstractmethod
    def step(self, state: int, letter: int, /) -> tuple[int, Symbol]:
        """Return the next state and the output."""

    def onward(self, state: int) -> Sequence[tuple[int, int]]:
        """Return each letter with the state that it leads to."""
        return [(letter, self.step(state, letter)[0]) for letter in range(len(self.letters))]

    def after(self, word: Iterable[int], state: int = 0) -> int:
        """Return the state that *word* leads to."""
        for letter in word:
            state = self.step(state, letter)[0]
        return state

    def run(self, word: Iterable[int], state: int = 0) -> tuple[Symbol, ...]:
        """Return the outputs of *word*."""
        outputs: list[Symbol] = []
        for letter in word:
            state, output = self.step(state, letter)
            outputs.append(output)
        return tuple(outputs)


@dataclass(frozen=True)
class Mealy(Steps):
    """A machine as a table: ``table[state][letter]`` is the next state and the output."""

    letters: tuple[Symbol, ...]
    table: tuple[tuple[tuple[int, Symbol], ...], ...]

    def step(self, state: int, letter: int, /) -> tuple[int, Symbol]:
        """Return the next state and the output."""
        return self.table[state][letter]

    @cached_property
    def cover(self) -> tuple[Word, ...]:
        """State → the shortest word that leads to it (the first one, in the order of the alphabet)."""
        found = dict(reached([(0, ())], self.onward))
        return tuple(found[state] for state in range(len(self.table)))

    @cached_property
    def identifiers(self) -> tuple[tuple[Word, ...], ...]:
        """State → its harmonised identifiers: any two states share a word on which they differ.

        The machine is minimal. A machine of one state needs no identifier; every letter serves as one nevertheless, so
        that the state after a wrong implementation's transition is observed.
        """
        if len(self.table) == 1:
            return (tuple((letter,) for letter in range(len(self.letters))),)
        return tuple(without_prefixes(words) for words in _split(self)[1])

    @cached_property
    def characterising(self) -> tuple[Word, ...]:
        """A characterisation set (W): words on which any two states differ. The machine is minimal."""
        return without_prefixes({word for words in self.identifiers for word in words})


def flattened(machine: Steps) -> Mealy:
    """Visit all states of *machine*; return its minimal machine, whose states are numbered breadth first."""
    numbers = {state: number for number, (state, _) in enumerate(reached([(0, ())], machine.onward))}
    rows = ([machine.step(state, letter) for letter in range(len(machine.letters))] for state in numbers)
    table = (tuple((numbers[after], output) for after, output in row) for row in rows)
    return minimal(Mealy(machine.letters, tuple(table)))


def minimal(machine: Mealy) -> Mealy:
    """Return the minimal machine with the same outputs; its states are numbered breadth first."""
    blocks = _split(machine)[0]
    rows = {block: machine.table[state] for state, block in enumerate(blocks)}

    def onward(block: int) -> Iterator[tuple[int, int]]:
        return ((letter, blocks[after]) for letter, (after, _) in enumerate(rows[block]))

    numbers = {block: number for number, (block, _) in enumerate(reached([(blocks[0], ())], onward))}
    table = (tuple((numbers[blocks[after]], output) for after, output in rows[block]) for block in numbers)
    return Mealy(machine.letters, tuple(table))


def difference(one: Steps, other: Steps, letters: int) -> Word | None:
    """Return the shortest word on which two machines over *letters* letters differ, None if they are bisimilar."""

    def onward(pair: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int] | None]]:
        for letter in range(letters):
            (left, said), (right, answered) = one.step(pair[0], letter), other.step(pair[1], letter)
            yield letter, (left, right) if said == answered else None

    return shortest([((0, 0), ())], onward)


def _split(machine: Mealy) -> tuple[list[int], list[set[Word]]]:
    """Return Moore's partition: state → its block, and state → the words that split its blocks, shortest first."""
    table, size = machine.table, len(machine.table)
    blocks, paths = [0] * size, [list[tuple[int, Word]]() for _ in range(size)]
    members: dict[int, list[int]] = {0: list(range(size))}

    def split(word_of: Callable[[int, list[int]], tuple[Word, Callable[[int], Hashable]] | None]) -> bool:
        """Split every block for which *word_of* finds a word, once; return whether any was split."""
        changed = False
        for letter in range(len(machine.letters)):
            for block, states in [*members.items()]:
                found = word_of(letter, states)
                if found is None:
                    continue
                word, told = found
                parts: dict[Hashable, list[int]] = {}
                for state in states:
                    parts.setdefault(told(state), []).append(state)
                for number, part in enumerate(parts.values()):
                    fresh = block if number == 0 else len(members)
                    members[fresh] = part
                    for state in part:
                        blocks[state] = fresh
                        paths[state].append((number, word))
                changed = True
        return changed

    def by_output(letter: int, states: list[int]) -> tuple[Word, Callable[[int], Hashable]] | None:
        if len({table[state][letter][1] for state in states}) == 1:
            return None
        return (letter,), lambda state: table[state][letter][1]

    def by_successor(letter: int, states: list[int]) -> tuple[Word, Callable[[int], Hashable]] | None:
        ways = [paths[table[state][letter][0]] for state in states]
        first = ways[0]
        if all(way is first or way == first for way in ways):
            return None
        depth = 0
        while all(len(way) > depth and way[depth] == first[depth] for way in ways):
            depth += 1
        word = (letter, *first[depth][1])
        return word, lambda state, depth=depth: paths[table[state][letter][0]][depth][0]

    split(by_output)
    while split(by_successor):
        pass
    return blocks, [{word for _, word in path} for path in paths]


def without_prefixes(words: set[Word] | Sequence[Word]) -> tuple[Word, ...]:
    """Return *words* without those that are prefixes of others, shortest first."""
    ordered = sorted(set(words))
    kept = [word for word, after in zip(ordered, [*ordered[1:], ()], strict=True) if after[: len(word)] != word]
    return tuple(sorted(kept, key=lambda word: (len(word), word)))
