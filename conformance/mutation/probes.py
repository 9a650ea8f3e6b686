"""Words that look for what an edited row leaves behind: probes, straight ways, revisits.

A suite for k extra states promises nothing about an implementation that has more, and an edited row can make more: a
queue that is not emptied, for instance. These words are applied beside the suites for that reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from turncheck.model.automata.finite import FiniteMachine, Reaction
from turncheck.model.automata.mealy import Mealy, Word, without_prefixes
from turncheck.model.declaration.machine import Row
from turncheck.model.search import reached

Kind: TypeAlias = tuple[str, ...]
"""An event, and the names of the outputs that it leads to."""


def probes(machine: Mealy, onward: Sequence[Mapping[Kind, Word]]) -> tuple[Word, ...]:
    """State → its probe: a word from there on that sees every kind of reaction once. *onward* are the ``ways``.

    Each word of a suite is followed by the probe of the state in which it ends.
    """
    kinds = _kinds(machine)
    return tuple(_probe(machine, state, onward, kinds) for state in range(len(machine.table)))


def ways(machine: Mealy) -> list[dict[Kind, Word]]:
    """State → each kind of reaction that can be reached from it, with the shortest word, nearest first."""
    kinds = _kinds(machine)
    found: list[dict[Kind, Word]] = [{} for _ in machine.table]
    for start, ways in enumerate(found):
        for state, word in reached([(start, ())], machine.onward):
            for letter in range(len(machine.letters)):
                ways.setdefault(kinds[state, letter], (*word, letter))
    return found


def straight(
    right: FiniteMachine, machine: Mealy, row: Row, onward: Sequence[Mapping[Kind, Word]], accesses: Mapping[int, Word]
) -> Iterator[Word]:
    """From every state of *right*, go by the event of *row* in its state, then straight to every kind of reaction.

    *right* is not minimal: a correct row may reset a counter that a faulty row leaves set; merged states can then
    differ. A probe sees a reaction only after some others, when the difference may be gone. *machine* is the minimal
    one of *right*, *onward* are its ``ways``, *accesses* the shortest words to the states of *right*.
    """
    event = [place for place, letter in enumerate(right.letters) if letter.symbol == row.event]
    for state, access in accesses.items():
        if right.nodes[state].state == row.source:
            for letter in event:
                for way in onward[machine.after((*access, letter))].values():
                    yield (*access, letter, *way)


def revisits(right: FiniteMachine, machine: Mealy, row: Row, ways: Sequence[Mapping[Kind, Word]]) -> Iterator[Word]:
    """Take *row* once more in each state of *right*; then yield identifiers, letters and ways, after the shortest word.

    A fault that shows only after a first visit of a row doubles the states, which is beyond the promise of k=1.
    *machine* is the minimal one of *right*, *ways* are its ``ways``.
    """
    letters = {(letter,) for letter in range(len(right.letters))}

    def onward(at: tuple[int, int, bool]) -> Iterator[tuple[int, tuple[int, int, bool]]]:
        state, minimal, visited = at
        for letter, after in right.onward(state):
            taken = right.rows.get((state, letter)) is row
            yield letter, (after, machine.step(minimal, letter)[0], visited or taken)

    for (state, minimal, visited), word in reached([((0, 0, False), ())], onward):
        for letter, _ in right.onward(state) if visited else ():
            if right.rows.get((state, letter)) is row:
                after = machine.step(minimal, letter)[0]
                for tail in without_prefixes({*machine.identifiers[after], *letters, *ways[after].values()}):
                    yield (*word, letter, *tail)


def _probe(
    machine: Mealy, state: int, onward: Sequence[Mapping[Kind, Word]], kinds: Mapping[tuple[int, int], Kind]
) -> Word:
    left, word = {*kinds.values()}, list[int]()
    while True:
        way = next((way for kind, way in onward[state].items() if kind in left), None)
        if way is None:
            return tuple(word)
        for letter in way:
            left.discard(kinds[state, letter])
            state = machine.step(state, letter)[0]
        word += way


def _kinds(machine: Mealy) -> dict[tuple[int, int], Kind]:
    """(state, letter) → the kind of reaction that it is."""
    letters = range(len(machine.letters))
    return {(state, letter): _kind(machine, state, letter) for state in range(len(machine.table)) for letter in letters}


def _kind(machine: Mealy, state: int, letter: int) -> Kind:
    said: Reaction = machine.step(state, letter)[1]
    return (machine.letters[letter].symbol, *(output.name for output in said))
