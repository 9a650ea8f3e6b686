"""The observations that laws on a projector judge, and the decorators that declare such laws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from ...observe.projector_trace import ProjectorTrace
from ..law import LawsOn

Json: TypeAlias = Any

Observe: TypeAlias = Callable[[Sequence[Json]], Projection]


@dataclass(frozen=True)
class Experiment:
    """One log, and the ways to observe the target on logs under the same policies.

    ``elsewhere`` observes in another process with another hash seed. ``declared`` observes under the policies that the
    target declares; so does ``fed``, which feeds the log in chunks, with a projection after each chunk if its second
    argument is true. ``fed_from`` feeds parts of it, each from a position: what was fed before is fed again.
    ``input_changed`` is true after an observation that changed its input, None where nobody can see.
    """

    log: Sequence[Json]
    policies: Policies
    cuts: Sequence[int]
    first: Projection
    observe: Observe
    elsewhere: Observe
    declared: Callable[[], Projection]
    fed: Callable[[Sequence[Sequence[Json]], bool], Projection]
    fed_from: Callable[[Sequence[tuple[int, Sequence[Json]]]], Projection]
    input_changed: Callable[[], bool | None]


log_law: Final = LawsOn[ProjectorTrace]("projector", "log")
"""A law on one projection of one log."""
relation_law: Final = LawsOn[Experiment]("projector", "relation")
"""A law that compares projections."""
