"""A machine under one choice of tables and bounds: its rows, and the minimal Mealy machine that they are."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

from turncheck.model.automata.distinguish import DistinguishingWords
from turncheck.model.automata.finite import BEYOND, QUIET, FiniteMachine, Reaction, bounded, views
from turncheck.model.automata.mealy import Mealy, Word, flattened
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.proof_roles import ProofRoles

from .probes import Kind, probes, revisits, straight, ways

Place: TypeAlias = tuple[str, str]
"""A control state, and an event that comes there."""


@dataclass(frozen=True)
class View:
    """*right* is the declared machine under *tables*, all of its states visited; *machine* is the minimal one."""

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
        """State of ``machine`` → its probe."""
        return probes(self.machine, self._onward)

    def probed(self, word: Word) -> Word:
        """*word* and the probe of the state that it leads to."""
        return word + self.probes[self.machine.after(word)]

    def straight(self, row: Row) -> Iterator[Word]:
        """Yield words that go straight from *row* to every kind of reaction."""
        return straight(self.right, self.machine, row, self._onward, self.telling.accesses)

    def again(self, row: Row) -> Iterator[Word]:
        """Yield words that take *row* a second time in every state, each followed by its probe."""
        return map(self.probed, revisits(self.right, self.machine, row, self._onward))

    @cached_property
    def _onward(self) -> Sequence[Mapping[Kind, Word]]:
        return ways(self.machine)

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
    """Return the views of a machine, under enough of its tables that any two of their values meet in one."""
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
