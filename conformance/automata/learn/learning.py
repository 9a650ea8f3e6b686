"""Learn an implementation's own Mealy machine from output queries only: KV with a Wp oracle (AALpy), and a cache.

Theory: Kearns and Vazirani (1994) learn by a classification tree; the conjecture is tested by a Wp suite (Fujiwara et
al. 1991) for *extra* more states than it has. So the machine is exactly the implementation's, provided that this one is
deterministic, can be reset, and has at most so many states over the alphabet and within the bounds.

Our own Wp oracle avoids two faults of AALpy's: for a conjecture with one state, as the first one always is, AALpy's
tests only single letters (the characterisation set is empty); and it iterates over sets, so that its words depend on
the hash seed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from turncheck.adapters.protocol.errors import TargetError
from turncheck.model.automata.mealy import Mealy, Symbol, Word, minimal
from turncheck.model.automata.suites import wp_words
from turncheck.model.extras import needs_extra

from ...observe.driver import UnsettledError
from .abstraction import LOCAL, Abstracted

STIMULI: Final = 1_000_000
"""Default budget of stimuli: pi takes 5,000 per second, a Python framework 700."""


PUMPED: Final = 5
"""Repetitions of a cycle: more than the retries that any machine permits (BED-006a: three)."""


class NondeterministicError(Exception):
    """The same stimuli had two answers (X-2): ``letters``, and the two outputs of the last one, in order."""

    def __init__(self, letters: Sequence[Symbol], first: Symbol, then: Symbol) -> None:
        self.letters = tuple(map(str, letters))
        self.first, self.then = str(first), str(then)
        what = f"{', '.join(self.letters)}: {self.first!r}, and then {self.then!r}"
        super().__init__(f"the same stimuli had two answers: {what}")


class NoQuietError(Exception):
    """The runtime did not become quiet within the adapter's patience; ``letters`` is the word."""

    def __init__(self, letters: Sequence[Symbol]) -> None:
        self.letters = tuple(map(str, letters))
        super().__init__(f"no quiet within the adapter's patience after: {', '.join(self.letters)}")


class Figures(msgspec.Struct):
    """The cost of learning: words and stimuli applied, and conjectures (``rounds``)."""

    words: int = 0
    stimuli: int = 0
    rounds: int = 0


class Result(msgspec.Struct, frozen=True):
    """A learned machine; ``cut`` says why it is only a conjecture, None where learning was finished."""

    machine: Mealy
    figures: Figures
    cut: str | None = None


class _BudgetError(BaseException):
    """The budget is used up; AALpy must not catch it."""


class _Node:
    """The answers known after one word: letter → its output, and the node of the longer word."""

    __slots__ = ("after",)

    def __init__(self) -> None:
        self.after: dict[int, tuple[Symbol, _Node]] = {}


class Teacher:
    """Answers words over *letters* and caches the answers: a known word is not applied again.

    The known outputs of an applied word's beginning must come again, or the implementation is not deterministic. A
    letter that is not sent leads back to the same node.
    """

    def __init__(self, system: Abstracted, letters: Sequence[Symbol], *, stimuli: int, deadline: float) -> None:
        self.letters: Final = tuple(letters)
        self.figures: Final = Figures()
        self.cut = ""
        self._system = system
        self._limit, self._deadline = stimuli, deadline
        self._root = _Node()

    def ask(self, word: Word) -> tuple[Symbol, ...]:
        """Return the outputs of *word*. Raises NondeterministicError, NoQuietError, TargetError."""
        outputs, node = list[Symbol](), self._root
        for letter in word:
            if letter not in node.after:
                return self._play(word)
            output, node = node.after[letter]
            outputs.append(output)
        return tuple(outputs)

    def _play(self, word: Word) -> tuple[Symbol, ...]:
        if self.figures.stimuli >= self._limit:
            self.cut = f"the budget of {self._limit:,} stimuli was used up"
            raise _BudgetError
        if time.monotonic() > self._deadline:
            self.cut = "the time budget was used up"
            raise _BudgetError
        self._system.reset()
        self.figures.words += 1
        outputs, node, played = list[Symbol](), self._root, list[Symbol]()
        for letter in word:
            name = self.letters[letter]
            try:
                output = self._system.step(name)
            except UnsettledError:
                raise NoQuietError([*played, name]) from None
            known = node.after.get(letter)
            if known is not None and known[0] != output:
                raise NondeterministicError([*played, name], known[0], output)
            if output not in LOCAL:
                played.append(name)
            node.after.setdefault(letter, (output, node if output in LOCAL else _Node()))
            node = node.after[letter][1]
            outputs.append(output)
        self.figures.stimuli += len(played)
        return tuple(outputs)


def learn(
    system: Abstracted,
    letters: Sequence[Symbol],
    *,
    extra: int = 1,
    stimuli: int = STIMULI,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Result:
    """Learn the machine of *system* over *letters*; minimal, its states numbered breadth first in the letters' order.

    The result does not depend on the hash seed. When *stimuli* or *seconds* are used up, it is the last conjecture:
    ``cut`` says so, and nothing is claimed of it. Raises NondeterministicError with the word that had two answers,
    NoQuietError, and TargetError if the target breaks or the budget ends before the first conjecture.
    """
    deadline = time.monotonic() + seconds if seconds else float("inf")
    teacher = Teacher(system, letters, stimuli=stimuli, deadline=deadline)
    conjectures: list[Mealy] = []

    def test(conjecture: Mealy) -> Word | None:
        conjectures.append(conjecture)
        teacher.figures.rounds += 1
        for word in chain(pumped(conjecture), wp_words(conjecture, extra, still=LOCAL)):
            figures = teacher.figures
            progress(f"{len(conjecture.table)} states, {figures.words:,} words, {figures.stimuli:,} stimuli")
            for place, (expected, observed) in enumerate(zip(conjecture.run(word), teacher.ask(word), strict=True)):
                if expected != observed:
                    return word[: place + 1]
        return None

    try:
        machine = _kv(teacher, test)
    except _BudgetError:
        if not conjectures:
            raise TargetError(f"{teacher.cut}, before there was a conjecture: nothing was learned") from None
        return Result(conjectures[-1], teacher.figures, teacher.cut)
    return Result(machine, teacher.figures)


def pumped(machine: Mealy) -> Iterator[Word]:
    """Yield words that repeat each cycle PUMPED times and then end with the characterisation set.

    A Wp suite for few extra states misses counters (of retries, of rounds): the states that differ are too far apart.
    """
    for word, row in zip(machine.cover, machine.table, strict=True):
        for letter, (after, output) in enumerate(row):
            start = machine.cover[after]
            if output not in LOCAL and word[: len(start)] == start:
                way = start + (*word[len(start) :], letter) * PUMPED
                yield from (way + tail for tail in machine.characterising)


def _kv(teacher: Teacher, test: Callable[[Mealy], Word | None]) -> Mealy:
    """AALpy's KV, with *teacher* as the system and *test* as the oracle; letters are their places in the alphabet."""
    needs_extra("learn", "learning")
    import aalpy  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]  (imported only to learn)

    untyped: Any = aalpy

    class System(untyped.SUL):  # type: ignore[misc]
        def query(self, word: Word) -> list[Symbol]:
            return [*teacher.ask(word)]

        def pre(self) -> None: ...

        def post(self) -> None: ...

        def step(self, letter: Any) -> Any:
            raise NotImplementedError

    class WpOracle(untyped.Oracle):  # type: ignore[misc]
        def find_cex(self, hypothesis: Any) -> Word | None:
            return test(_table(hypothesis, teacher.letters))

    alphabet = [*range(len(teacher.letters))]
    system = System()
    found = untyped.run_KV(
        alphabet,
        system,
        WpOracle(alphabet, system),
        "mealy",
        cache_and_non_det_check=False,  # the teacher does both
        print_level=0,
    )
    return _table(found, teacher.letters)


def _table(found: Any, letters: tuple[Symbol, ...]) -> Mealy:
    """Convert AALpy's machine to ours, and minimise it: conjectures need not be minimal."""
    states = [found.initial_state, *(state for state in found.states if state is not found.initial_state)]
    numbers = {id(state): number for number, state in enumerate(states)}
    rows = [
        tuple((numbers[id(state.transitions[one])], state.output_fun[one]) for one in range(len(letters)))
        for state in states
    ]
    return minimal(Mealy(letters, tuple(rows)))
