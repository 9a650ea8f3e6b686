"""Words over a machine's own alphabet, drawn by Hypothesis from its rows.

Generation uses the rows, and the set of rows that a word has taken; it never uses a mutant. As in `verify`, words to
every row come first, a generated word may begin with one of them or take a row twice, and each word is followed by the
probe of its last state.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from turncheck.model.automata.mealy import Word
from turncheck.model.declaration.machine import Row
from turncheck.model.search import shortest

from ...generation.drawing import drawing
from ...generation.seeded_backend import SEEDED
from ...generation.situations import STEPS
from .view import View

AIMLESS: Final = 4
"""One letter in this many is any letter; the others are letters that the machine does not ignore."""


def accesses(view: View) -> dict[Row, Word]:
    """Return, for each row that can be taken, the shortest word that ends with it."""
    right, found = view.right, dict[Row, Word]()
    for state, access in view.telling.accesses.items():
        for letter in range(len(right.letters)):
            if (row := right.rows.get((state, letter))) is not None:
                found.setdefault(row, (*access, letter))
    return found


def twice(view: View, accesses: Mapping[Row, Word]) -> Iterator[Word]:
    """Yield words that take a row twice, where that is possible: a fault may show only the second time."""
    right = view.right
    for row, access in accesses.items():

        def onward(state: int, row: Row = row) -> Iterator[tuple[int, int | None]]:
            for letter, after in right.onward(state):
                yield letter, None if right.rows.get((state, letter)) is row else after

        word = shortest([(right.after(access), access)], onward)
        if word is not None:
            yield word


def generated(view: View, *, examples: int, seed: int) -> Iterator[Word]:
    """Yield the words to every row, and *examples* generated ones, each with its probe."""
    found = accesses(view)
    reached = [*found.values()]
    for word in [*reached, *_drawn(view, [*reached, *twice(view, found)], examples, seed)]:
        yield view.probed(word)


def _drawn(view: View, reached: list[Word], examples: int, seed: int) -> list[Word]:
    if not examples:
        return []
    drawn: list[Word] = []
    apt = [_apt(view, state) for state in range(len(view.machine.table))]
    every = range(len(view.machine.letters))

    @st.composite
    def words(draw: st.DrawFn) -> Word:
        word = [*draw(st.sampled_from([(), *reached]))]
        state = view.machine.after(tuple(word))
        for _ in range(draw(st.sampled_from(range(1, STEPS + 1)))):
            aimless = draw(st.sampled_from(range(AIMLESS))) == 0
            letter = draw(st.sampled_from(every if aimless or not apt[state] else apt[state]))
            word.append(letter)
            state = view.machine.step(state, letter)[0]
        return tuple(word)

    @hypothesis.seed(seed)
    @drawing(examples, backend=SEEDED)
    @given(words())
    def collect(word: Any) -> None:
        drawn.append(word)

    collect()
    return drawn


def _apt(view: View, state: int) -> list[int]:
    """The letters that change the state, or whose output is not that of an ignored letter."""
    steps = [view.machine.step(state, letter) for letter in range(len(view.machine.letters))]
    return [letter for letter, (after, said) in enumerate(steps) if after != state or said not in view.idle]
