"""Finite test suites from a minimal Mealy machine: W, Wp and HSI, and a transition tour as the baseline.

A W, Wp or HSI suite for *k* extra states is n-complete: of all deterministic implementations over this alphabet that
can be reset and have at most n+k states, those that answer every word as the machine does are equivalent to it
(Vasilevskii 1973, Chow 1978; Fujiwara et al. 1991; Petrenko, Yevtushenko, Lebedev, Das 1993). A tour takes every
transition, and identifies no state.

Words are tuples of letters by their place; those that another word begins with are dropped, and the shortest come
first. No set's order shows: the same machine gives the same suite under every hash seed.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, TypeAlias

from ..declaration.machine import Row
from .finite import FiniteMachine
from .mealy import Mealy, Word, without_prefixes

Suite: TypeAlias = tuple[Word, ...]
Kind: TypeAlias = tuple[str, ...]
"""What a reaction is to: an event, and what is asked for."""


def w(machine: Mealy, k: int) -> Suite:
    """W: after the state cover and every middle of up to k+1 letters, the whole characterisation set."""
    tails = machine.characterising
    return without_prefixes({word + tail for word in _middles(machine, k + 1) for tail in tails})


def wp(machine: Mealy, k: int) -> Suite:
    """Wp: the characterisation set after up to k letters; after the last one, the reached state's identifiers only."""
    tails = machine.characterising
    first = {word + tail for word in _middles(machine, k) for tail in tails}
    return without_prefixes(first | {*_identified(machine, k + 1)})


def hsi(machine: Mealy, k: int) -> Suite:
    """HSI: after every middle of up to k+1 letters, the harmonised identifiers of the state that it reaches."""
    return without_prefixes({*_identified(machine, k + 1)})


def tour(machine: Mealy, _k: int = 0) -> Suite:
    """Every transition at least once: one word a walk, each going on to the nearest one that is not taken."""
    left = {(state, letter) for state in range(len(machine.table)) for letter in range(len(machine.letters))}
    words: list[Word] = []
    while left:
        state, word = 0, list[int]()
        while (way := _nearest(machine, state, left)) is not None:
            for letter in way:
                left.discard((state, letter))
                state = machine.step(state, letter)[0]
            word += way
        words.append(tuple(word))
    return tuple(words)


SUITES: Final[Mapping[str, Callable[[Mealy, int], Suite]]] = {"w": w, "wp": wp, "hsi": hsi, "tour": tour}
"""Name → the suite of a minimal machine for k extra states."""


def probes(machine: Mealy, onward: Sequence[Mapping[Kind, Word]]) -> tuple[Word, ...]:
    """State → a word from there on that sees every kind of reaction once: an event, and what is asked for.

    *onward* are the machine's ``ways``.

    A suite for k extra states promises nothing about an implementation with more; what a fault left behind in it (a
    queue that was not emptied) is such. Each word of a suite is therefore followed by the probe of where it ends.
    """
    kinds = _kinds(machine)
    return tuple(_probe(machine, state, onward, kinds) for state in range(len(machine.table)))


def ways(machine: Mealy) -> list[dict[Kind, Word]]:
    """State → each kind of reaction that can be reached from it, with the shortest word, nearest first."""
    kinds = _kinds(machine)
    found: list[dict[Kind, Word]] = []
    for start in range(len(machine.table)):
        reached, seen, waiting = dict[Kind, Word](), {start}, deque[tuple[int, Word]]([(start, ())])
        while waiting:
            state, word = waiting.popleft()
            for letter, (after, _) in enumerate(machine.table[state]):
                reached.setdefault(kinds[state, letter], (*word, letter))
                if after not in seen:
                    seen.add(after)
                    waiting.append((after, (*word, letter)))
        found.append(reached)
    return found


def straight(
    right: FiniteMachine, machine: Mealy, row: Row, onward: Sequence[Mapping[Kind, Word]], accesses: Mapping[int, Word]
) -> Iterator[Word]:
    """From every state of *right* by *row*'s event in its state, then straight to every kind of reaction.

    *right* is not minimal: what a right row makes of no account (a counter, reset) a wrong one may leave.
    A probe sees each reaction after some others, when it may be gone. *machine* is the minimal one of *right*, *onward*
    its ``ways``, *accesses* the shortest words to the states of *right*.
    """
    event = [place for place, letter in enumerate(right.alphabet) if letter.symbol == row.event]
    for state, access in accesses.items():
        if right.nodes[state].state == row.source:
            for letter in event:
                for way in onward[machine.after((*access, letter))].values():
                    yield (*access, letter, *way)


def revisits(right: FiniteMachine, machine: Mealy, row: Row, onward: Sequence[Mapping[Kind, Word]]) -> Iterator[Word]:
    """The shortest words by which *row* is taken once more in each state of *right*; then identifiers, letters, ways.

    A fault that shows only after a first visit of a row doubles the states, which is beyond what k=1 promises.
    *machine* is the minimal one of *right*, *onward* its ``ways``.
    """
    letters = {(letter,) for letter in range(len(right.letters))}
    seen, waiting = {(0, False)}, deque[tuple[int, int, bool, Word]]([(0, 0, False, ())])
    while waiting:
        state, minimal, visited, word = waiting.popleft()
        for letter in range(len(right.letters)):
            after, reached = right.step(state, letter)[0], machine.step(minimal, letter)[0]
            taken = right.rows.get((state, letter)) is row
            if taken and visited:
                for tail in without_prefixes({*machine.identifiers[reached], *letters, *onward[reached].values()}):
                    yield (*word, letter, *tail)
            if (after, visited or taken) not in seen:
                seen.add((after, visited or taken))
                waiting.append((after, reached, visited or taken, (*word, letter)))


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
    said = machine.step(state, letter)[1]
    return (machine.letters[letter].partition("(")[0], *(output.partition("(")[0] for output in said.split("; ")))


def _middles(machine: Mealy, length: int) -> Iterator[Word]:
    letters = range(len(machine.letters))
    for word in machine.cover:
        for size in range(length + 1):
            for middle in product(letters, repeat=size):
                yield (*word, *middle)


def _identified(machine: Mealy, length: int) -> Iterator[Word]:
    for word in _middles(machine, length):
        for tail in machine.identifiers[machine.after(word)]:
            yield word + tail


def _nearest(machine: Mealy, start: int, left: set[tuple[int, int]]) -> Word | None:
    """The shortest word from *start* that ends with one of the transitions *left*; None where none can be reached."""
    seen, edge = {start}, list[tuple[int, Word]]([(start, ())])
    while edge:
        further: list[tuple[int, Word]] = []
        for state, word in edge:
            for letter in range(len(machine.letters)):
                if (state, letter) in left:
                    return (*word, letter)
                after = machine.step(state, letter)[0]
                if after not in seen:
                    seen.add(after)
                    further.append((after, (*word, letter)))
        edge = further
    return None
