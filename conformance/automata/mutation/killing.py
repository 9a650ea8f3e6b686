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
from .applied import Around, Probed, Tree, Words
from .view import View, views_of
from .words import generated

Method: TypeAlias = Sequence[Words | Around | Tree]
"""The parts that a method applies in a view, the cheapest first."""
LARGEST: Final = 200
"""States of a view above which HSI with k=1 is left out: for turn's largest view it has some two million words."""
TOUR, K0, K1 = "tour", "k=0", "k=1"
PLAIN0, PLAIN1 = "plain k=0", "plain k=1"
SAMPLED: Final = 13
"""One mutant in so many is held to the plain suite for k=1, which takes up to a second. A prime number: the mutants of
a row come in the same order again and again."""
_CONTAINS: Final = {K0: PLAIN0, K1: K0, PLAIN1: PLAIN0}
"""A method → one whose words it has, or does better than: what that kills, it kills."""


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
    """Name → method: a tour, HSI for k=0 and k=1 (plain, and with aimed words), Hypothesis under each seed.

    Words are made on use.
    """
    first = cache(partial(hsi, view.machine, 0))
    found: dict[str, Method] = {
        TOUR: [Words(view, partial(tour, view.machine))],
        PLAIN0: [Words(view, first)],
        K0: [Probed(view, first), Around(view, View.straight)],
    }
    if len(view.machine.table) <= LARGEST:
        second = Tree(view, partial(hsi, view.machine, 1))
        found |= {PLAIN1: [second], K1: [Around(view, View.again), second]}
    else:
        found[K1] = [Around(view, View.again)]
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
    for view, methods in zip(views, suites, strict=True):
        word = view.telling.word(mutant)
        if word is None:
            continue
        if found.equivalent:
            found.difference, found.tables = tuple(str(view.right.letters[letter]) for letter in word), view.tables
        wrong = behaviour(mutant, view.right)
        for name, parts in methods.items():
            if found.by.get(name) or (name == PLAIN1 and mutant.number % SAMPLED):
                continue
            before = found.by.get(_CONTAINS.get(name, ""), False)
            found.by[name] = before or any(part.kill(mutant, wrong) for part in parts)
        if all(found.by.values()):
            break
    return found
