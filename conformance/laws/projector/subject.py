"""What laws on a projector look at, and the decorators that declare such laws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from ..law import LawsOn
from ..projector_trace import ProjectorTrace

Json: TypeAlias = Any

Observe: TypeAlias = Callable[[Sequence[Json]], Projection]


@dataclass(frozen=True)
class Experiment:
    """One log, and the ways to observe the target on logs under the same policies.

    ``elsewhere`` observes in another process with another hash seed; ``fed`` feeds chunk by chunk, asking in between if
    told so, and then asks, under the policies that the target declares, as ``declared`` observes; ``input_changed``
    says whether an observation of this log so far changed what it was given, None where that cannot be seen.
    """

    log: Sequence[Json]
    policies: Policies
    cuts: Sequence[int]
    first: Projection
    observe: Observe
    elsewhere: Observe
    declared: Callable[[], Projection]
    fed: Callable[[Sequence[Sequence[Json]], bool], Projection]
    input_changed: Callable[[], bool | None]


log_law: Final = LawsOn[ProjectorTrace]("projector", "log")
"""A law on one projection of one log."""
relation_law: Final = LawsOn[Experiment]("projector", "relation")
"""A law that compares projections."""
