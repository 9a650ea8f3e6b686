"""Finite test suites from a minimal Mealy machine: W, Wp and HSI, and a transition tour as the baseline.

A W, Wp or HSI suite for *k* extra states is n-complete: of all deterministic implementations over this alphabet that
can be reset and have at most n+k states, those that answer every word as the machine does are equivalent to it
(Vasilevskii 1973, Chow 1978; Fujiwara et al. 1991; Petrenko, Yevtushenko, Lebedev, Das 1993). A tour takes every
transition, and identifies no state.

Words are tuples of letters by their place; those that another word begins with are dropped, and the shortest come
first. No set's order shows: the same machine gives the same suite under every hash seed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ..declaration.machine import Row
from ..search import reached, shortest
from .finite import FiniteMachine, Reaction
from .mealy import Mealy, Symbol, Word, without_prefixes

Suite: TypeAlias = tuple[Word, ...]
Kind: TypeAlias = tuple[str, ...]
"""What a reaction is to: an event, and what is asked for."""


def w(machine: Mealy, k: int) -> Suite:
    """W: after the state cover and every middle of up to k+1 letters, the whole characterisation set."""
    return without_prefixes({*_words(machine, k, lambda _length, _state: machine.characterising)})


def wp(machine: Mealy, k: int) -> Suite:
    """Wp: the characterisation set after up to k letters; after the last one, the reached state's identifiers only."""
    return without_prefixes({*wp_words(machine, k)})


def hsi(machine: Mealy, k: int) -> Suite:
    """HSI: after every middle of up to k+1 letters, the harmonised identifiers of the state that it reaches."""
    return without_prefixes({*_words(machine, k, lambda _length, state: machine.identifiers[state])})


def wp_words(machine: Mealy, k: int, still: Collection[Symbol] = ()) -> Iterator[Word]:
    """The words of Wp as they are made, shortest middles first; some are prefixes of others.

    An output in *still* says that the state is what it was. A word ends with the letter that has it, since the shorter
    one without that letter goes on in its place.
    """

    def tails(length: int, state: int) -> Sequence[Word]:
        return machine.characterising if length <= k else machine.identifiers[state]

    return _words(machine, k, tails, still)


def _words(
    machine: Mealy, k: int, tails: Callable[[int, int], Iterable[Word]], still: Collection[Symbol] = ()
) -> Iterator[Word]:
    """After the state cover, every middle of up to k+1 letters with its tails, given its length and state."""
    middles: list[tuple[Word, int]] = [(word, state) for state, word in enumerate(machine.cover)]
    for length in range(k + 2):
        longer: list[tuple[Word, int]] = []
        for word, state in middles:
            yield from (word + tail for tail in tails(length, state))
            for letter, (after, output) in enumerate(machine.table[state]) if length <= k else ():
                if output in still:
                    yield (*word, letter)
                else:
                    longer.append(((*word, letter), after))
        middles = longer


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
    found: list[dict[Kind, Word]] = [{} for _ in machine.table]
    for start, ways in enumerate(found):
        for state, word in reached([(start, ())], machine.onward):
            for letter in range(len(machine.letters)):
                ways.setdefault(kinds[state, letter], (*word, letter))
    return found


def straight(
    right: FiniteMachine, machine: Mealy, row: Row, onward: Sequence[Mapping[Kind, Word]], accesses: Mapping[int, Word]
) -> Iterator[Word]:
    """From every state of *right* by *row*'s event in its state, then straight to every kind of reaction.

    *right* is not minimal: what a right row makes of no account (a counter, reset) a wrong one may leave.
    A probe sees each reaction after some others, when it may be gone. *machine* is the minimal one of *right*, *onward*
    its ``ways``, *accesses* the shortest words to the states of *right*.
    """
    event = [place for place, letter in enumerate(right.letters) if letter.symbol == row.event]
    for state, access in accesses.items():
        if right.nodes[state].state == row.source:
            for letter in event:
                for way in onward[machine.after((*access, letter))].values():
                    yield (*access, letter, *way)


def revisits(right: FiniteMachine, machine: Mealy, row: Row, ways: Sequence[Mapping[Kind, Word]]) -> Iterator[Word]:
    """The shortest words by which *row* is taken once more in each state of *right*; then identifiers, letters, ways.

    A fault that shows only after a first visit of a row doubles the states, which is beyond what k=1 promises.
    *machine* is the minimal one of *right*, *onward* its ``ways``.
    """
    letters = range(len(right.letters))
    single = {(letter,) for letter in letters}

    def onward(at: tuple[int, int, bool]) -> Iterator[tuple[int, tuple[int, int, bool]]]:
        state, minimal, visited = at
        for letter in letters:
            after, reached = right.step(state, letter)[0], machine.step(minimal, letter)[0]
            yield letter, (after, reached, visited or right.rows.get((state, letter)) is row)

    for (state, minimal, visited), word in reached([((0, 0, False), ())], onward):
        for letter in letters if visited else ():
            right.step(state, letter)
            if right.rows.get((state, letter)) is row:
                after = machine.step(minimal, letter)[0]
                for tail in without_prefixes({*machine.identifiers[after], *single, *ways[after].values()}):
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


def _nearest(machine: Mealy, start: int, left: set[tuple[int, int]]) -> Word | None:
    """The shortest word from *start* that ends with one of the transitions *left*; None where none can be reached."""

    def onward(state: int) -> Iterator[tuple[int, int | None]]:
        return ((letter, None if (state, letter) in left else after) for letter, after in machine.onward(state))

    return shortest([(start, ())], onward)
