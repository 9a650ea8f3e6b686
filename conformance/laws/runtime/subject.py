"""The observations that laws on a runtime judge, and the decorators that declare such laws."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from turncheck.model.core.stimuli import Stimulus

from ...observe.runtime_trace import Again, ObservedStep, RuntimeTrace
from ..law import LawsOn

Modelled: TypeAlias = Callable[[RuntimeTrace], Iterator[tuple[ObservedStep, str, str]]]
"""The steps that are letters of a finite alphabet, each with the output expected by the model and the one observed."""


@dataclass(frozen=True)
class Rerun:
    """An observation, and the means to observe again: here, and in another process with another hash seed."""

    trace: RuntimeTrace
    again: Again
    elsewhere: Again
    reference: Again | None = None
    """The reference of the machine that the runtime claims to be, under its policies; None where it claims none."""
    model: Modelled | None = None
    """The model of a suite; None where there is no suite."""

    @property
    def word(self) -> tuple[Stimulus, ...]:
        """The stimuli that were applied."""
        return tuple(step.stimulus for step in self.trace.steps)


run_law: Final = LawsOn[RuntimeTrace]("runtime", "run")
"""A law on the steps of one word."""
relation_law: Final = LawsOn[Rerun]("runtime", "relation")
"""A law that compares two observations."""
