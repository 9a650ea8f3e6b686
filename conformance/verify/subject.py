"""What the engine verifies: an implementation in one role, what is seen of it on a case, and how a law judges that."""

from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from turncheck.adapters.protocol.errors import ImplementationError, UnsupportedError
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets.projector import ProjectorTarget
from turncheck.adapters.targets.runtime import RuntimeTarget
from turncheck.model.core.stimuli import Word

from ..laws.law import Finding, Judgement, Law, Witness
from ..laws.registry import EXPERIMENT_LAWS, PLAY_LAWS, RERUN_LAWS, TRACE_LAWS
from .results import AnyCounterexample, Covered, Input, LawResult

C = TypeVar("C")
"""A case: the log that a projector is given, or the word that a runtime is given."""

HASH_SEED: Final = 4321
"""The twin process's PYTHONHASHSEED: any fixed one that differs from the target's own."""

_JUDGING: Final[ChainMap[str, Callable[[Any], Judgement]]] = ChainMap(
    *(table for table in (TRACE_LAWS, EXPERIMENT_LAWS, PLAY_LAWS, RERUN_LAWS))  # type: ignore[arg-type]
)


@dataclass(frozen=True)
class Observation(Generic[C]):
    """What was seen of a subject on one case.

    ``trace`` is what a law on one observation looks at; ``means`` is what a relation law observes again with.
    ``failed`` is there instead of both where the implementation failed on the case: it breaks the law ``total``.
    """

    case: C
    trace: Any = None
    means: Any = None
    failed: Finding | None = None


class Subject(Protocol[C]):
    """An implementation in one role. Each call that observes raises TargetError where the target breaks.

    ``work`` counts the events or stimuli that the target was given. ``repeating`` are the laws that a flaky
    implementation breaks: the first is the one that is broken when a case is applied again and gives something else.
    """

    work: int
    repeating: tuple[str, ...]

    @property
    def target(self) -> ProjectorTarget | RuntimeTarget:
        """The implementation itself."""
        ...

    def observe(self, case: C) -> Observation[C] | None:
        """Give the target the whole case; None where nothing can be judged of it."""
        ...

    def repeated(self, observation: Observation[C]) -> Finding | None:
        """Observe the case again, and tell how it gives something else; None where it gives the same."""
        ...

    def divergence(self, observation: Observation[C]) -> Hashable:
        """Describe the first difference from the model without names and positions; None where there is none."""
        ...

    def size(self, case: C) -> tuple[int, ...]:
        """By how much cases are compared: the number of events or stimuli, and what decides where it is the same."""
        ...

    def without(self, case: C, places: Collection[int]) -> C:
        """The case without the events or stimuli at *places*."""
        ...

    def simpler(self, case: C) -> Iterable[C]:
        """The cases with one option or one detail less."""
        ...

    def spellings(self, case: C) -> Iterable[C]:
        """The ways to write the case, of which the first that still breaks a law is kept."""
        ...

    def figures(self, laws: Iterable[LawResult], work: int) -> Covered:
        """What was exercised before anything was shrunk; *work* is the work until then."""
        ...

    def counterexample(self, observation: Observation[C], **common: Any) -> AnyCounterexample:
        """The file for a failing observation; *common* are the fields that all files have."""
        ...


AnySubject: TypeAlias = Subject[Input] | Subject[Word]


def judging(law: Law) -> Callable[[Any], Judgement]:
    """The function by which *law* judges a trace, or with kind ``relation`` the means to observe again."""
    return _JUDGING[law.name]


def judged(law: Law, observation: Observation[Any]) -> Iterator[Finding | Witness]:
    """Yield what *law* finds in an observation, and its evidence: the one place that judges a log or a word.

    A failure of the implementation on an input that the law has changed is a finding of that law.
    """
    if observation.failed is not None:
        if law.name == "total":
            yield observation.failed
        return
    try:
        yield from judging(law)(observation.means if law.kind == "relation" else observation.trace)
    except (ImplementationError, UnsupportedError) as error:
        yield Finding(None, failing(error, "the projector failed when observed again"))


def failing(error: ImplementationError | UnsupportedError, failed: str) -> str:
    """Say in one line how an implementation failed."""
    absent = "a declared capability is not there"
    return f"{absent if isinstance(error, UnsupportedError) else failed}: {error}"


def missing(law: Law, profile: Profile) -> list[str]:
    """What *law* needs and the profile does not declare; of ``steps or rounds`` one is enough."""
    return [need for need in law.needs if not any(_has(one, profile) for one in need.split(" or "))]


def _has(need: str, profile: Profile) -> bool:
    """A capability, or ``policy NAME``, or ``machine NAME``; ``machine`` is any."""
    kind, _, name = need.partition(" ")
    if kind == "policy":
        return name in profile.policies
    if kind == "machine":
        return profile.machine == name if name else profile.machine is not None
    return profile.can(need)
