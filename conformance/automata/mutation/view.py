"""A machine under one choice of tables and bounds, and words that search for the late effects of an edited row.

A suite for k extra states promises nothing about an implementation that has more, and an edited row can make more, for
instance by not emptying a queue. Probes, straight ways and revisits are therefore applied beside the suites.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

from turncheck.model.automata.distinguish import DistinguishingWords
from turncheck.model.automata.finite import BEYOND, QUIET, FiniteMachine, Reaction, bounded, views
from turncheck.model.automata.mealy import Mealy, Word, flattened, without_prefixes
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.proof_roles import ProofRoles
from turncheck.model.search import reached

Place: TypeAlias = tuple[str, str]
"""A control state, and an event in it."""
Kind: TypeAlias = tuple[str, ...]
"""An event, and the names of its outputs."""


@dataclass(frozen=True)
class View:
    """*right* is the declared machine under *tables*, fully explored; *machine* is its minimal machine."""

    tables: Mapping[str, Any]
    right: FiniteMachine
    machine: Mealy

    @cached_property
    def telling(self) -> DistinguishingWords:
        """The words that distinguish mutants from the machine here."""
        return DistinguishingWords(self.right)

    @cached_property
    def table(self) -> Sequence[Sequence[tuple[int, Reaction, Place]]]:
        """State of ``right`` → letter → the next state, the output, and the place."""
        right, symbols = self.right, [letter.symbol for letter in self.right.letters]
        return [
            [(*right.step(state, letter), (node.state, symbol)) for letter, symbol in enumerate(symbols)]
            for state, node in enumerate(right.nodes[: len(self.telling.accesses)])  # mutants' own states come behind
        ]

    @cached_property
    def probes(self) -> tuple[Word, ...]:
        """State of ``machine`` → its probe: a word from that state that causes every kind of reaction once."""
        return tuple(map(self._probe, range(len(self.machine.table))))

    def probed(self, word: Word) -> Word:
        """Return *word* followed by the probe of the state that it leads to."""
        return word + self.probes[self.machine.after(word)]

    def straight(self, row: Row) -> Iterator[Word]:
        """Yield words that take the event of *row* in every state, then go straight to every kind of reaction.

        ``right`` is not minimal: a correct row may reset a counter that a faulty row leaves set; merged states can then
        differ. A probe causes a reaction only after some others, when the difference may be gone.
        """
        event = [place for place, letter in enumerate(self.right.letters) if letter.symbol == row.event]
        for state, access in self.telling.accesses.items():
            if self.right.nodes[state].state == row.source:
                for letter in event:
                    for way in self._ways[self.machine.after((*access, letter))].values():
                        yield (*access, letter, *way)

    def again(self, row: Row) -> Iterator[Word]:
        """Take *row* once more in each state; then yield identifiers, letters and ways, each followed by its probe.

        A fault that shows only after a first visit of a row doubles the states, which is beyond the promise of k=1.
        """
        right, machine = self.right, self.machine
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
                    tails = {*machine.identifiers[after], *letters, *self._ways[after].values()}
                    for tail in without_prefixes(tails):
                        yield self.probed((*word, letter, *tail))

    @cached_property
    def _kinds(self) -> Mapping[tuple[int, int], Kind]:
        """(state of ``machine``, letter) → the kind of its reaction."""
        return {
            (state, letter): (self.machine.letters[letter].symbol, *(output.name for output in said))
            for state, row in enumerate(self.machine.table)
            for letter, (_, said) in enumerate(row)
        }

    @cached_property
    def _ways(self) -> Sequence[Mapping[Kind, Word]]:
        """State of ``machine`` → each kind of reaction that follows, with the shortest word, nearest first."""
        found: list[dict[Kind, Word]] = [{} for _ in self.machine.table]
        for start, ways in enumerate(found):
            for state, word in reached([(start, ())], self.machine.onward):
                for letter in range(len(self.machine.letters)):
                    ways.setdefault(self._kinds[state, letter], (*word, letter))
        return found

    def _probe(self, state: int) -> Word:
        left, word = {*self._kinds.values()}, list[int]()
        while (way := next((way for kind, way in self._ways[state].items() if kind in left), None)) is not None:
            for letter in way:
                left.discard(self._kinds[state, letter])
                state = self.machine.step(state, letter)[0]
            word += way
        return tuple(word)

    @cached_property
    def idle(self) -> frozenset[Reaction]:
        """Outputs of ignored letters: those of most steps that change no state."""
        said = Counter(
            output
            for state, row in enumerate(self.machine.table)
            for after, output in row
            if after == state and not any(one.arguments for one in output)
        )
        return frozenset({BEYOND, QUIET, *(output for output, _ in said.most_common(1))})


def views_of(claims: ProofRoles) -> list[View]:
    """Return the views of a machine, under enough tables that any two values of different tables occur together."""
    kept = paired([tables for tables, _ in views(claims)])
    chosen = [(tables, bounded(claims, tables, bounds)) for tables, bounds in views(claims) if tables in kept]
    return [View(tables, right, flattened(right)) for tables, right in chosen]


def paired(choices: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a pairwise covering array, found greedily: a subset in which all pairs of values of *choices* occur."""
    pairs = [{*combinations([*enumerate(map(repr, choice.values()))], min(len(choice), 2))} for choice in choices]
    left, kept = set[tuple[tuple[int, str], ...]]().union(*pairs), list[Mapping[str, Any]]()
    while left or not kept:
        best = max(range(len(choices)), key=lambda place: len(pairs[place] & left))
        kept.append(choices[best])
        left -= pairs[best]
    return kept
