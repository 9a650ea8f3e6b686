"""A subject of the engine: an implementation in one role, the observation of one case, and its judgement by a law."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from turncheck.adapters.protocol.collator import CollatorTarget
from turncheck.adapters.protocol.errors import ImplementationError, UnsupportedError
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.protocol.runtime import RuntimeTarget

from ...laws.law import Finding, Law, Witness
from ...observe.parts.agent_parts import agent_parts
from ...observe.parts.agents import has_children
from ...observe.parts.overlapping import overlaps
from ...observe.parts.run_parts import Part, parts
from ...observe.runtime_trace import RuntimeTrace
from ..outcome.coverage import AnyCoverage
from ..outcome.floor import Floor
from ..outcome.results import AnyCounterexample

C = TypeVar("C")
"""A case: the log that a projector is given, the word of a runtime, or the flow of frames of a collator."""

AnyTarget: TypeAlias = ProjectorTarget | RuntimeTarget | CollatorTarget

HASH_SEED: Final = 4321
"""The twin process's PYTHONHASHSEED: any fixed one that differs from the target's own."""


@dataclass(frozen=True)
class Observation(Generic[C]):
    """The observation of a subject on one case.

    A law on one observation looks at ``trace``; a relation law observes again with ``means``. ``failed`` stands instead
    of both where the implementation failed on the case, which breaks the law ``breaks``.
    """

    case: C
    trace: Any = None
    means: Any = None
    failed: Finding | None = None
    breaks: str = "total"

    @cached_property
    def parts(self) -> Sequence[Part] | None:
        """The runs of a word in which they overlap, or the agents of one with sub-agents, None of any other case."""
        if not isinstance(self.trace, RuntimeTrace):
            return None
        if has_children(self.trace):
            return agent_parts(self.trace)
        return parts(self.trace) if overlaps(self.trace) else None


class Difference(NamedTuple):
    """A difference from the model: *where* (after a stimulus of which kind; empty for a log), and *how*."""

    where: str
    how: Hashable


class Subject(Protocol[C]):
    """An implementation in one role: how it is observed, and how a case of it becomes smaller.

    ``unit`` names its cases, in the plural. ``work`` counts the events or stimuli that the target was given, also by
    relation laws, and ``shrink_work`` bounds it while one counterexample is shrunk: a bound by time would give other
    bytes on a slow day. ``repeating`` are the laws that a flaky implementation breaks, and of these the first confirms
    what other laws find; it is empty where nothing is confirmed.
    """

    unit: ClassVar[str]
    work: int
    shrink_work: ClassVar[int]
    repeating: ClassVar[tuple[str, ...]]

    @property
    def target(self) -> AnyTarget:
        """The implementation itself."""
        ...

    @property
    def twin(self) -> AnyTarget:
        """The same in a process with another hash seed."""
        ...

    @property
    def floor(self) -> Floor:
        """Counts of what the cases show."""
        ...

    @property
    def whole(self) -> bool:
        """True where the cases exercise every declared capability."""
        ...

    @property
    def inferred(self) -> Mapping[str, str | int]:
        """Policies that the profile does not declare, and that the subject is held to."""
        ...

    @property
    def coverage(self) -> AnyCoverage:
        """The parts that were exercised until now."""
        ...

    def elsewhere(self, target: Any) -> "Subject[C]":
        """Return the same subject on another process."""
        ...

    def takes(self, case: object) -> bool:
        """Return whether *case* is one that this subject can be given."""
        ...

    def observe(self, case: C) -> Observation[C] | None:
        """Give the target the whole case; None where nothing can be judged. Raises TargetError where it breaks."""
        ...

    def restored(self, observation: Observation[C]) -> Observation[C]:
        """Return an observation that was made in another process with the means to observe its case again here."""
        ...

    def differences(self, observation: Observation[C]) -> Sequence[Difference]:
        """Describe the differences from the model without names and positions, the first one first."""
        ...

    def size(self, case: C) -> tuple[int, ...]:
        """Measure a case: its number of events or stimuli, and then what decides between equal numbers."""
        ...

    def without(self, case: C, places: Collection[int]) -> C:
        """Leave out the events or stimuli at *places*."""
        ...

    def simpler(self, case: C) -> Iterable[C]:
        """Yield the case with one option or one detail less, each in turn."""
        ...

    def spellings(self, case: C) -> Iterable[C]:
        """Yield the ways to write the case; the first that still breaks a law is kept."""
        ...

    def telling(self, case: C) -> C:
        """Return the case with texts that tell its events or stimuli apart."""
        ...

    def counterexample(self, observation: Observation[C], **common: Any) -> AnyCounterexample:
        """Make the file of a failing observation; *common* are the fields that all files have."""
        ...


def judged(law: Law, observation: Observation[Any]) -> Iterator[Finding | Witness]:
    """Yield what *law* finds in an observation, and its evidence: the one place that judges a log or a word.

    A failure of the implementation on an input that the law has changed is a finding of that law.
    """
    if observation.failed is not None:
        if law.name == observation.breaks:
            yield observation.failed
        return
    try:
        yield from _looked_at(law, observation)
    except (ImplementationError, UnsupportedError) as error:
        yield Finding(None, failing(error, "it failed when it was observed again"))


def _looked_at(law: Law, observation: Observation[Any]) -> Iterator[Finding | Witness]:
    """Judge the whole observation; where runs overlap in it, as the law says.

    Only laws on compactions are shown what the model is asked and says for one, and only those on clients that a client
    left where this aborts.
    """
    if observation.parts is None or law.overlapping == "whole":
        yield from law.judge(observation.means if law.kind == "relation" else _trace(law, observation.trace))
    elif law.overlapping == "each run":
        for part in observation.parts:
            for one in law.judge(part.trace):
                yield replace(one, at=part.place(one.at)) if isinstance(one, Finding) else one


def _trace(law: Law, trace: Any) -> Any:
    if not isinstance(trace, RuntimeTrace):
        return trace
    trace = trace if "compaction" in law.needs else trace.of_runs
    return trace if "clients" in law.needs else trace.unattended


def failing(error: ImplementationError | UnsupportedError, failed: str) -> str:
    """Say in one line how an implementation failed."""
    absent = "a declared capability is not there"
    return f"{absent if isinstance(error, UnsupportedError) else failed}: {error}"


def on_restarts(law: Law) -> bool:
    """Return whether a law kills the runtime, and starts it again on what it kept."""
    return law.kind == "relation" and "persistence" in law.needs


def missing(law: Law, profile: Profile) -> list[str]:
    """Return the needs of *law* that the profile does not declare; of ``steps or rounds`` one is enough."""
    return [need for need in law.needs if not any(_has(one, profile) for one in need.split(" or "))]


def _has(need: str, profile: Profile) -> bool:
    """A capability, ``policy NAME``, ``policy NAME=VALUE``, ``machine NAME``, ``machine`` (any) or ``input any``."""
    kind, _, name = need.partition(" ")
    if kind == "input":
        return profile.input == name
    if kind == "policy":
        policy, _, value = name.partition("=")
        return policy in profile.policies and value in ("", profile.policies[policy])
    if kind == "machine":
        return profile.machine == name if name else profile.machine is not None
    return profile.can(need)
