"""Mealy machines as tables: minimal ones, what separates their states, and the shortest word on which two differ.

Theory: Moore's partition refinement (1956) gives the minimal machine, and, read as a tree whose inner nodes carry the
word by which a block was split, a family of harmonised state identifiers (Petrenko, Yevtushenko, Lebedev, Das 1993):
two states have in common the word of the node where their ways part, which separates them.
"""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

from .finite import FiniteMachine

Word: TypeAlias = tuple[int, ...]
"""Letters by their place in the alphabet."""


class Steps(Protocol):
    """What has an output for every letter in every state; 0 is the initial state."""

    def step(self, state: int, letter: int, /) -> tuple[int, str]:
        """The next state, and the output."""
        ...


@dataclass(frozen=True)
class Mealy:
    """A deterministic machine: ``table[state][letter]`` is the next state and the output; 0 is the initial state."""

    letters: tuple[str, ...]
    table: tuple[tuple[tuple[int, str], ...], ...]

    def step(self, state: int, letter: int, /) -> tuple[int, str]:
        """The next state, and the output."""
        return self.table[state][letter]

    def after(self, word: Word, state: int = 0) -> int:
        """The state that *word* leads to."""
        for letter in word:
            state = self.table[state][letter][0]
        return state

    def run(self, word: Word, state: int = 0) -> tuple[str, ...]:
        """The outputs of *word*."""
        outputs: list[str] = []
        for letter in word:
            state, output = self.table[state][letter]
            outputs.append(output)
        return tuple(outputs)

    @cached_property
    def cover(self) -> tuple[Word, ...]:
        """State → the shortest word that leads to it (the first one, in the order of the alphabet)."""
        found: dict[int, Word] = {0: ()}
        waiting = deque([0])
        while waiting:
            state = waiting.popleft()
            for letter, (after, _) in enumerate(self.table[state]):
                if after not in found:
                    found[after] = (*found[state], letter)
                    waiting.append(after)
        return tuple(found[state] for state in range(len(self.table)))

    @cached_property
    def identifiers(self) -> tuple[tuple[Word, ...], ...]:
        """State → its identifiers, harmonised: any two states share a word on which they differ.

        The machine is minimal. A machine of one state has nothing to tell apart; every letter then identifies it, or
        the transitions of a wrong implementation would end unseen.
        """
        if len(self.table) == 1:
            return (tuple((letter,) for letter in range(len(self.letters))),)
        return tuple(without_prefixes(words) for words in _split(self)[1])

    @cached_property
    def characterising(self) -> tuple[Word, ...]:
        """A characterisation set (W): words on which any two states differ. The machine is minimal."""
        return without_prefixes({word for words in self.identifiers for word in words})


def flattened(machine: FiniteMachine) -> Mealy:
    """The minimal Mealy machine of *machine*, all of whose states are visited; states are numbered breadth first."""
    state = 0
    while state < len(machine.nodes):
        for letter in range(len(machine.alphabet)):
            machine.step(state, letter)
        state += 1
    letters = range(len(machine.alphabet))
    whole = Mealy(
        machine.letters, tuple(tuple(machine.step(one, letter) for letter in letters) for one in range(state))
    )
    return minimal(whole)


def minimal(machine: Mealy) -> Mealy:
    """The minimal machine with the same outputs; states are numbered breadth first."""
    blocks = _split(machine)[0]
    numbers: dict[int, int] = {blocks[0]: 0}
    waiting, table = deque([0]), list[tuple[tuple[int, str], ...]]()
    while waiting:
        row: list[tuple[int, str]] = []
        for after, output in machine.table[waiting.popleft()]:
            if blocks[after] not in numbers:
                numbers[blocks[after]] = len(numbers)
                waiting.append(after)
            row.append((numbers[blocks[after]], output))
        table.append(tuple(row))
    return Mealy(machine.letters, tuple(table))


def difference(one: Steps, other: Steps, letters: int) -> Word | None:
    """The shortest word on which two machines differ, None where they are bisimilar."""
    before: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {(0, 0): None}
    waiting = deque([(0, 0)])
    while waiting:
        pair = waiting.popleft()
        for letter in range(letters):
            (left, said), (right, answered) = one.step(pair[0], letter), other.step(pair[1], letter)
            if said != answered:
                return (*_way(before, pair), letter)
            if (left, right) not in before:
                before[left, right] = pair, letter
                waiting.append((left, right))
    return None


def _way(before: dict[tuple[int, int], tuple[tuple[int, int], int] | None], pair: tuple[int, int]) -> Word:
    word: list[int] = []
    while (step := before[pair]) is not None:
        pair, letter = step
        word.append(letter)
    return tuple(word[::-1])


def _split(machine: Mealy) -> tuple[list[int], list[set[Word]]]:
    """Moore's partition: state → its block, and state → the words by which its blocks were split, shortest first."""
    table, size = machine.table, len(machine.table)
    blocks, paths = [0] * size, [list[tuple[int, Word]]() for _ in range(size)]
    members: dict[int, list[int]] = {0: list(range(size))}

    def split(word_of: Callable[[int, list[int]], tuple[Word, Callable[[int], Hashable]] | None]) -> bool:
        """Split every block that *word_of* finds a word for, once; whether any was."""
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
    """*words* without those that another one begins with, shortest first."""
    ordered = sorted(set(words))
    kept = [word for word, after in zip(ordered, [*ordered[1:], ()], strict=True) if after[: len(word)] != word]
    return tuple(sorted(kept, key=lambda word: (len(word), word)))
