"""The observations that laws on a runtime judge, and the decorators that declare such laws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus

from ...observe.killed import Killed
from ...observe.runtime_trace import Again, Applied, ObservedStep, RuntimeTrace
from ..law import LawsOn

Modelled: TypeAlias = Callable[[RuntimeTrace], Iterator[tuple[ObservedStep, str, str]]]
"""The steps that are letters of a finite alphabet, each with the output expected by the model and the one observed."""


Answers: TypeAlias = Callable[[Sequence[Stimulus], ResetOptions], Sequence[Step]]
"""Apply a word under its options, and return the settled steps as they are, for words that no single run describes."""
Restarted: TypeAlias = Callable[[Sequence[Stimulus], Sequence[Stimulus], ResetOptions], Sequence[Step]]
"""Apply the first word, kill the process, restart it with what it kept, apply the second; return the steps of both."""


class Kills(Protocol):
    """The means to kill the runtime, and to start it again; each is done once, however many laws ask for it."""

    @property
    def in_process(self) -> bool:
        """True where a start of the runtime costs nothing."""
        ...

    @property
    def short(self) -> bool:
        """True where short words alone are killed."""
        ...

    @property
    def both(self) -> bool:
        """True where each word is killed behind its last stimulus and within it."""
        ...

    def killed(
        self, word: Sequence[Stimulus], options: ResetOptions, *, amid: bool = False, times: int = 1
    ) -> Killed | None:
        """``observe.killing.killed``."""
        ...

    def unkilled(self, word: Sequence[Stimulus], options: ResetOptions, *, spare: bool = False) -> RuntimeTrace | None:
        """``observe.killing.unkilled``."""
        ...


@dataclass(frozen=True)
class Rerun:
    """An observation, and the means to observe again: here, and in another process with another hash seed."""

    trace: RuntimeTrace
    again: Again
    elsewhere: Again
    answers: Answers
    restarted: Restarted
    kills: Kills
    reference: Again | None = None
    """The reference of the machine that the runtime claims to be, under its policies; None where it claims none."""
    model: Modelled | None = None
    """The model of a suite; None where there is no suite."""
    second: Callable[[], tuple[Applied, ...]] = tuple
    """Return what was applied with ``again`` or ``elsewhere`` last, with its answers."""

    @property
    def word(self) -> tuple[Stimulus, ...]:
        """The stimuli that were applied."""
        return tuple(step.stimulus for step in self.trace.steps)


run_law: Final = LawsOn[RuntimeTrace]("runtime", "run")
"""A law on the steps of one word."""
relation_law: Final = LawsOn[Rerun]("runtime", "relation")
"""A law that compares two observations."""
