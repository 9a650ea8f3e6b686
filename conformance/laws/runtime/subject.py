"""What laws on a runtime look at, and the decorators that declare such laws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from turncheck.model.core.stimuli import ResetOptions, Stimulus

from ..law import LawsOn
from ..runtime_trace import ObservedStep, RuntimeTrace

Again: TypeAlias = Callable[[Sequence[Stimulus], ResetOptions], RuntimeTrace]

Modelled: TypeAlias = Callable[[RuntimeTrace], Iterator[tuple[ObservedStep, str, str]]]
"""The moves that are letters of a finite alphabet, each with what the model shows there, and what is shown."""


@dataclass(frozen=True)
class Rerun:
    """An observation, and the means to observe again: here, and in another process with another hash seed."""

    play: RuntimeTrace
    again: Again
    elsewhere: Again
    reference: Again | None = None
    """The reference of the machine that the runtime claims to be, under its policies; None where it claims none."""
    model: Modelled | None = None
    """What a suite was made from; None where there is none."""

    @property
    def word(self) -> tuple[Stimulus, ...]:
        """The stimuli that were applied."""
        return tuple(move.stimulus for move in self.play.moves)


run_law: Final = LawsOn[RuntimeTrace]("runtime", "run")
"""A law on what one word led to."""
relation_law: Final = LawsOn[Rerun]("runtime", "relation")
"""A law that compares two observations."""
