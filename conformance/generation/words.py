"""Generation of words: a Hypothesis rule-based machine whose rules are the rows of ``interaction``.

Each rule is a row; its precondition is that the runtime is in the row's situation, as far as can be observed. A word
may begin with the access word of a row, or take a row twice, so that it reaches deep situations on purpose, and not by
chance.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

import hypothesis
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from turncheck.model.core.stimuli import ResetOptions
from turncheck.model.declaration.machine import Row

from ..observe.driver import Driver, UnsettledError
from .drawing import drawing
from .seeded_backend import SEEDED
from .situations import STEPS, VARIANTS, Situation, follow

_T = TypeVar("_T")

_WEIGHTS: Final = {"tool-call": 4, "model-stop": 3, "tool-return": 3, "text": 2, "gated-call": 2, "approve": 2}
"""Number of rules per row: with one each, a failure or an abort ends a run before much has happened (one tool result
per word on the null runtime; with these, 2.4)."""


class Explorer(Protocol):
    """Starts the words and judges them."""

    def begin(self, options: ResetOptions) -> Driver:
        """Start a word."""
        ...

    def asking(self, act: Callable[[], _T]) -> _T:
        """Return the result of *act*; raise the error that ends the run if the target breaks."""
        ...

    def finish(self, driver: Driver, taken: Sequence[Row]) -> None:
        """Close and judge a word."""
        ...


def explore(
    explorer: Explorer,
    rows: Sequence[Row],
    accesses: Sequence[tuple[str, ...]],
    options: Sequence[ResetOptions],
    *,
    words: int,
    seed: int,
) -> None:
    """Generate *words* words over *rows*; errors of *explorer* pass through.

    A runtime that answers one word in two ways confuses Hypothesis, which records the choices after each prefix:
    Hypothesis is then started again, with another seed, for the remaining words.
    """
    watched = _Watched(explorer)
    while watched.begun < words:
        machine = hypothesis.seed(seed + watched.begun)(_machine(watched, rows, accesses, options))
        try:
            run_state_machine_as_test(
                machine,
                settings=drawing(words - watched.begun, backend=SEEDED, stateful_step_count=STEPS),
            )
        except Flaky:
            if watched.raised is not None:
                raise watched.raised from None  # an end amid a word looks flaky too
        else:
            return


class _Watched:
    """An explorer that counts its words, and keeps the error that ends the run: Hypothesis may hide it."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self.begun = 0
        self.raised: BaseException | None = None

    def begin(self, options: ResetOptions) -> Driver:
        self.begun += 1
        return self._kept(lambda: self._explorer.begin(options))

    def asking(self, act: Callable[[], _T]) -> _T:
        return self._kept(lambda: self._explorer.asking(act))

    def finish(self, driver: Driver, taken: Sequence[Row]) -> None:
        if self.raised is None:  # Hypothesis also tears down after an end amid a word, which is no whole word
            self._kept(lambda: self._explorer.finish(driver, taken))

    def _kept(self, act: Callable[[], _T]) -> _T:
        try:
            return act()
        except UnsettledError:
            raise
        except BaseException as error:
            self.raised = error
            raise


def _machine(
    explorer: Explorer,
    rows: Sequence[Row],
    accesses: Sequence[tuple[str, ...]],
    options: Sequence[ResetOptions],
) -> type[RuleBasedStateMachine]:
    machine = _words(tuple(rows), 1 + len(accesses), len(options))
    machine.explorer, machine.accesses, machine.options = explorer, ((), *accesses), options
    return machine


class _Words(RuleBasedStateMachine):
    """Words over some rows; the attributes are those of the run that is under way."""

    explorer: Explorer
    accesses: Sequence[tuple[str, ...]]
    options: Sequence[ResetOptions]


@functools.cache
def _words(rows: tuple[Row, ...], accesses: int, options: int) -> type[_Words]:
    """The machine over *rows*, with so many accesses and options: made once, since Hypothesis never forgets a class."""

    class Words(_Words):
        def __init__(self) -> None:
            super().__init__()
            self.situation: Situation | None = None
            self.driver: Driver | None = None
            self.over = False

        @initialize(
            option=st.sampled_from(range(options)),
            access=st.sampled_from(range(accesses)),
            variant=st.sampled_from(range(VARIANTS)),
        )
        def begin(self, option: int, access: int, variant: int) -> None:
            self.driver = self.explorer.begin(self.options[option])
            self.situation = Situation(self.driver)
            self.guarded(lambda situation: follow(situation, self.accesses[access], variant))

        def guarded(self, act: Callable[[Situation], object]) -> None:
            assert self.situation is not None
            situation = self.situation
            try:
                self.explorer.asking(lambda: act(situation))
            except UnsettledError:
                self.over = True

        @precondition(lambda self: self.deaf() or not any(self.permits(row) for row in rows))
        @rule()
        def release(self) -> None:
            """End a tool that ignored an abort or, where no row fits, the awaited timer."""
            if not self.over and self.situation is not None:
                self.guarded(Situation.release)

        def deaf(self) -> bool:
            return self.situation is not None and not self.over and bool(self.situation.deaf)

        def permits(self, row: Row) -> bool:
            return self.situation is not None and not self.over and self.situation.row(row.event) is row

        def teardown(self) -> None:
            if self.driver is not None:
                assert self.situation is not None
                self.explorer.finish(self.driver, self.situation.taken)

    for number, row in enumerate(rows):
        for copy in range(_WEIGHTS.get(row.event, 1)):
            setattr(Words, f"row_{number}_{copy}", _rule(row))
    return Words


def _rule(row: Row) -> Any:
    def permitted(self: Any) -> bool:
        return bool(self.permits(row))

    def take(self: Any, variant: int) -> None:
        def act(situation: Situation) -> None:
            situation.apply(row, variant)

        self.guarded(act)

    return precondition(permitted)(rule(variant=st.sampled_from(range(VARIANTS)))(take))
