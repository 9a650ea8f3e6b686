"""A machine under one choice of tables and bounds: its rows, and the minimal Mealy machine that they are."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from turncheck.model.bounded import BEYOND, QUIET, Bounded, bounded, views
from turncheck.model.claims import Claims
from turncheck.model.mealy import Mealy, Word, flattened

from ..suites import probes


@dataclass(frozen=True)
class View:
    """*right* is the declared machine, *machine* the minimal one with the same outputs."""

    right: Bounded
    machine: Mealy

    @cached_property
    def _probes(self) -> tuple[Word, ...]:
        return probes(self.machine)

    def probed(self, word: Word) -> Word:
        """*word* and the probe of the state that it leads to."""
        return word + self._probes[self.machine.after(word)]

    @cached_property
    def idle(self) -> frozenset[str]:
        """Outputs that say that nothing was made of a letter: those of most steps that change no state."""
        said = Counter(
            output
            for state, row in enumerate(self.machine.table)
            for after, output in row
            if after == state and "(" not in output
        )
        return frozenset({BEYOND, QUIET, *(output for output, _ in said.most_common(1))})


def views_of(claims: Claims) -> list[View]:
    """The views of a machine, in the order of its tables."""
    found = [bounded(claims, tables, bounds) for tables, bounds in views(claims)]
    return [View(right, flattened(right)) for right in found]
