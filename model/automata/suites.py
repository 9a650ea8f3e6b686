"""Finite test suites from a minimal Mealy machine: W, Wp and HSI, and a transition tour as the baseline.

A W, Wp or HSI suite for *k* extra states is n-complete: a deterministic implementation over this alphabet that can be
reset and has at most n+k states is equivalent to the machine if it answers every word as the machine does
(Vasilevskii 1973, Chow 1978; Fujiwara et al. 1991; Petrenko, Yevtushenko, Lebedev, Das 1993). A tour takes every
transition, and identifies no state.

Words are tuples of letters by their index; prefixes of other words are dropped, and the shortest words come first. The
order of no set shows: the same machine gives the same suite under every hash seed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ..search import shortest
from .mealy import Mealy, Symbol, Word, without_prefixes

Suite: TypeAlias = tuple[Word, ...]


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
    """Yield the words of Wp as they are made, shortest middles first; some are prefixes of others.

    An output in *still* means that the state did not change. A word ends with the letter that gives it: the word
    without that letter is continued instead.
    """

    def tails(length: int, state: int) -> Sequence[Word]:
        return machine.characterising if length <= k else machine.identifiers[state]

    return _words(machine, k, tails, still)


def _words(
    machine: Mealy, k: int, tails: Callable[[int, int], Iterable[Word]], still: Collection[Symbol] = ()
) -> Iterator[Word]:
    """Yield every middle of up to k+1 letters after the state cover, with its tails, given its length and state."""
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
    """Tour: take every transition at least once, by walking to the nearest transition that was not yet taken."""
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


def _nearest(machine: Mealy, start: int, left: set[tuple[int, int]]) -> Word | None:
    """Return the shortest word from *start* that ends with one of the transitions *left*, None if none is reachable."""

    def onward(state: int) -> Iterator[tuple[int, int | None]]:
        return ((letter, None if (state, letter) in left else after) for letter, after in machine.onward(state))

    return shortest([(start, ())], onward)
