"""Which method kills which mutant of a machine: one is killed by a word that it answers otherwise than the machine.

Methods look at the machine in its own alphabet, under each of its tables. A mutant that answers every word as the
machine does, within the bounds, is equivalent: that is decided first, by bisimulation, and counts nowhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Final, TypeAlias

from turncheck.model.claims import CLAIMS
from turncheck.model.machine import Row
from turncheck.model.mealy import Steps, Word, difference
from turncheck.model.mutants import Mutant, behaviour, mutants

from ..suites import hsi, revisits, straight, tour, ways
from ..verifying import EXAMPLES
from .view import View, views_of
from .words import generated

Answered: TypeAlias = Sequence[tuple[Word, tuple[str, ...]]]
"""Words with the outputs that are right."""
Suites: TypeAlias = Sequence[tuple[View, Callable[[Row], Iterable[Answered]]]]
"""For each view its words, in parts: for a row, those first that visit it once more."""
LARGEST: Final = 100
"""States of a view above which k=1 is left out: of turn's largest it would be some two million words."""


@dataclass
class Kills:
    """What was found of one mutant: the methods that kill it; ``difference`` is the shortest word that could."""

    number: int
    name: str
    hidden: bool
    row: str
    edit: str
    difference: tuple[str, ...] | None
    by: dict[str, bool] = field(default_factory=dict[str, bool])

    @property
    def equivalent(self) -> bool:
        """Whether no word tells it from the machine."""
        return self.difference is None


def methods(views: Sequence[View], *, seeds: Sequence[int], examples: int = EXAMPLES) -> dict[str, Suites]:
    """Name → suites: a transition tour, k=0, k=1 (both HSI, each word of k=0 probed), Hypothesis under each seed."""

    def whole(words: Callable[[View], Iterable[Word]]) -> Suites:
        return [(view, _parts([_answered(view, words(view))])) for view in views]

    found = {
        "tour": whole(lambda view: tour(view.machine)),
        "k=0": whole(_first),
        "k=1": [(view, _second(view)) for view in views],
    }
    for seed in seeds:
        found[f"hypothesis, seed {seed}"] = whole(partial(generated, examples=examples, seed=seed))
    return found


def _first(view: View) -> Iterator[Word]:
    """k=0: the suite, each word probed, and every transition followed straight by every kind of reaction."""
    yield from map(view.probed, hsi(view.machine, 0))
    if len(view.machine.table) <= LARGEST:
        yield from straight(view.machine)


def _answered(view: View, words: Iterable[Word]) -> Answered:
    return [(word, view.machine.run(word)) for word in words]


def _parts(parts: Sequence[Answered]) -> Callable[[Row], Iterable[Answered]]:
    return lambda _: parts


def _second(view: View) -> Callable[[Row], Iterable[Answered]]:
    """What k=1 has beyond k=0, as far as it is about a row: the words that take it once more, and the suite's own.

    The words about other rows are left out: a mutant of this row that they alone would kill counts as a survivor.
    """

    @cache
    def onward() -> list[list[Word]]:
        return ways(view.machine)

    @cache
    def again(row: Row) -> Answered:
        return _answered(view, map(view.probed, revisits(view.right, view.machine, row, onward())))

    @cache
    def extra() -> Answered:
        return _answered(view, hsi(view.machine, 1)) if len(view.machine.table) <= LARGEST else ()

    def parts(row: Row) -> Iterator[Answered]:
        yield again(row)
        yield extra()

    return parts


def killed(mutant: Mutant, suites: Suites, wrongs: Sequence[Steps]) -> bool:
    """Whether a word of *suites* kills *mutant*; *wrongs* is what it does in each view."""
    return any(
        _answers_otherwise(wrong, words)
        for wrong, (_, parts) in zip(wrongs, suites, strict=True)
        for words in parts(mutant.row)
    )


def kills(
    name: str, *, seeds: Sequence[int] = (0,), examples: int = EXAMPLES, part: tuple[int, int] = (0, 1)
) -> Iterator[tuple[Mutant, Kills]]:
    """Every mutant of the machine called *name*, and what kills it; *part* (i, n) is each n-th, from the i-th."""
    views = views_of(CLAIMS[name])
    suites = methods(views, seeds=seeds, examples=examples)
    for mutant in islice(mutants(CLAIMS[name].machine), part[0], None, part[1]):
        yield mutant, _kills(mutant, views, suites)


def _kills(mutant: Mutant, views: Sequence[View], suites: Mapping[str, Suites]) -> Kills:
    row = f"{mutant.row.source}: {mutant.row.label}"
    wrongs = [behaviour(mutant, view.right) for view in views]
    found = Kills(mutant.number, mutant.name, mutant.hidden, row, mutant.edit, _difference(views, wrongs))
    if not found.equivalent:
        for method, words in suites.items():
            before = method == "k=1" and found.by["k=0"]  # what k=0 kills, k=1 does
            found.by[method] = before or killed(mutant, words, wrongs)
    return found


def _difference(views: Sequence[View], wrongs: Sequence[Steps]) -> tuple[str, ...] | None:
    for view, wrong in zip(views, wrongs, strict=True):
        letters = view.right.letters
        word = difference(view.right, wrong, len(letters))
        if word is not None:
            return tuple(letters[letter] for letter in word)
    return None


def _answers_otherwise(wrong: Steps, words: Iterable[tuple[Word, tuple[str, ...]]]) -> bool:
    for word, right in words:
        state = 0
        for letter, expected in zip(word, right, strict=True):
            state, said = wrong.step(state, letter)
            if said != expected:
                return True
    return False
