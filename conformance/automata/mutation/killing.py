"""The methods that kill each mutant of a machine: a word kills a mutant that answers it differently.

Methods use the machine's own alphabet, under its tables. A mutant that answers every word within the bounds as the
machine does is equivalent: bisimulation decides this first, and the mutant counts nowhere. Then each method is tried
in the views that show a difference; the others cannot kill.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Final, TypeAlias

from turncheck.model.automata.mutants import Mutant, behaviour, mutants
from turncheck.model.automata.suites import hsi, tour
from turncheck.model.machines.registry import PROOF_ROLES

from ...verify.subjects.projector import EXAMPLES
from .applied import Around, Probed, Words
from .view import View, views_of
from .words import generated

Method: TypeAlias = Sequence[Words | Around]
"""The parts that a method applies in a view, the cheapest first."""
LARGEST: Final = 200
"""States of a view above which HSI with k=1 is left out: for turn's largest view it has some two million words."""
TOUR, K0, K1 = "tour", "k=0", "k=1"


@dataclass
class Kills:
    """One mutant and the methods that kill it; ``difference`` is the shortest word that could, under ``tables``."""

    number: int
    name: str
    operator: str
    hidden: bool
    row: str
    edit: str
    difference: tuple[str, ...] | None = None
    tables: Mapping[str, object] = field(default_factory=dict[str, object])
    by: dict[str, bool] = field(default_factory=dict[str, bool])

    @property
    def equivalent(self) -> bool:
        """True if no word distinguishes the mutant from the machine."""
        return self.difference is None


def methods(view: View, *, seeds: Sequence[int], examples: int = EXAMPLES) -> dict[str, Method]:
    """Name → method: a transition tour, k=0, k=1 (both HSI), Hypothesis under each seed. Words are made on use."""
    first = cache(partial(hsi, view.machine, 0))
    found: dict[str, Method] = {
        TOUR: [Words(view, partial(tour, view.machine))],
        K0: [Probed(view, first), Around(view, View.straight)],
        K1: [Around(view, View.again)],
    }
    if len(view.machine.table) <= LARGEST:
        found[K1] = [*found[K1], Words(view, partial(hsi, view.machine, 1))]
    for seed in seeds:
        found[f"hypothesis, seed {seed}"] = [Words(view, partial(generated, view, examples=examples, seed=seed))]
    return found


def kills(
    name: str,
    *,
    seeds: Sequence[int] = (0,),
    examples: int = EXAMPLES,
    every: int = 1,
    part: tuple[int, int] = (0, 1),
) -> Iterator[tuple[Mutant, Kills]]:
    """Yield every *every*-th mutant of the machine called *name*, and the methods that kill it.

    *part* (i, n) is the i-th of n parts: a row's mutants are in one part, since they share the words made for the row.
    """
    views = views_of(PROOF_ROLES[name])
    suites = [methods(view, seeds=seeds, examples=examples) for view in views]
    for mutant in islice(mutants(PROOF_ROLES[name].machine), 0, None, every):
        if mutant.place % part[1] == part[0]:
            yield mutant, _kills(mutant, views, suites)


def _kills(mutant: Mutant, views: Sequence[View], suites: Sequence[Mapping[str, Method]]) -> Kills:
    row = f"{mutant.row.source}: {mutant.row.label}"
    found = Kills(mutant.number, mutant.name, mutant.operator, mutant.hidden, row, mutant.edit)
    left = [*suites[0]]
    for view, methods in zip(views, suites, strict=True):
        word = view.telling.word(mutant)
        if word is None:
            continue
        if found.equivalent:
            found.difference, found.tables = tuple(str(view.right.letters[letter]) for letter in word), view.tables
            found.by = dict.fromkeys(left, False)
        wrong = behaviour(mutant, view.right)
        for name in left:
            before = name == K1 and found.by[K0]  # what k=0 kills, k=1 does
            found.by[name] = before or any(part.kill(mutant, wrong) for part in methods[name])
        left = [name for name in left if not found.by[name]]
        if not left:
            break
    return found
