"""A projector as a subject: it is observed on logs, classic ones and then generated ones."""

import dataclasses
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, ClassVar, Final, cast

import msgspec
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import ImplementationError, TargetError, UnsupportedError
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import project

from ...laws.law import Finding
from ...laws.projector.subject import Experiment
from ...observe.projector_trace import ProjectorTrace
from ..outcome.coverage import Coverage
from ..outcome.floor import ProjectorFloor
from ..outcome.results import Counterexample, Input
from .subject import Difference, Observation, failing
from .telling_texts import told_apart

EXAMPLES: Final = 300
"""Generated logs by default: the late doubles of the tests are caught by it at every seed that was tried."""


class ProjectorSubject:
    """A projector, and its *twin* in a process with another hash seed."""

    unit: ClassVar[str] = "logs"
    shrink_work: ClassVar[int] = 20_000
    repeating: ClassVar[tuple[str, ...]] = ()

    def __init__(self, target: ProjectorTarget, twin: ProjectorTarget) -> None:
        self.target, self.twin, self.work = target, twin, 0
        self.inferred: Mapping[str, str | int] = {}
        own = None if target.profile.can("policies") else target.profile.projection_policies()
        self.own: Final = own
        """The target's own policies, where it takes no others."""
        self.coverage: Final = Coverage(own, valid=target.profile.input == "valid")
        self.floor = ProjectorFloor()
        self.whole = True
        self._changed: bool | None = None

    def elsewhere(self, target: ProjectorTarget) -> "ProjectorSubject":
        """Return the same subject on another process."""
        return ProjectorSubject(target, target)

    def takes(self, case: object) -> bool:
        """A log, under policies that the target can take."""
        return isinstance(case, Input) and self.own in {None, case.policies}

    def observe(self, case: Input) -> Observation[Input] | None:
        """Project the log, and prepare the means to project others; None for a log that the target never meets."""
        if not _met(case, self.target.profile):
            return None
        self._changed = None
        try:
            first = self._projected(self.target, case.events, case.policies)
        except TargetError as error:
            error.case = case
            raise
        except (ImplementationError, UnsupportedError) as error:
            message = failing(error, "the projector failed on a log")
            return Observation(case, failed=Finding(None, message, "a projection", str(error)))
        trace = traced(case, self.target.profile, first)
        self.floor.add(trace)
        return Observation(case, trace, self._experiment(case, first))

    def restored(self, observation: Observation[Input]) -> Observation[Input]:
        """Join an observation of another process with the means to project other logs here."""
        if observation.failed is not None:
            return observation
        means = self._experiment(observation.case, observation.trace.observed)
        return dataclasses.replace(observation, means=means)

    @staticmethod
    def differences(observation: Observation[Input]) -> Sequence[Difference]:
        """Return the first place where the projection is not the model's, with the two values there."""
        if observation.failed is not None:
            return (Difference("", observation.failed.message),)
        trace: ProjectorTrace = observation.trace
        first = _difference(msgspec.to_builtins(trace.expected), msgspec.to_builtins(trace.observed), trace)
        return () if first is None else (Difference("", first),)

    @staticmethod
    def size(case: Input) -> tuple[int, ...]:
        """Events, and then bytes."""
        return len(case.events), len(msgspec.json.encode(case))

    @staticmethod
    def without(case: Input, places: Collection[int]) -> Input:
        """Leave out the events at *places*; the log is cut between the same events as before."""
        cuts = sorted({cut - sum(place < cut for place in places) for cut in case.cuts})
        return Input([event for place, event in enumerate(case.events) if place not in places], case.policies, cuts)

    def simpler(self, case: Input) -> Iterator[Input]:
        """Yield the log with a cut less, a policy at its default, or a field less in an event that keeps its letter."""
        for cut in case.cuts:
            yield replace(case, cuts=[other for other in case.cuts if other != cut])
        for name in case.policies.__struct_fields__ if self.own is None else ():
            policies = replace(case.policies, **{name: getattr(DEFAULT, name)})
            if policies != case.policies:
                yield replace(case, policies=policies)
        for place, event in enumerate(case.events):
            fields = cast("dict[str, Any]", event if isinstance(event, dict) else {})
            for name in fields:
                plain = {key: value for key, value in fields.items() if key != name}
                if symbol_of(judge(plain)) == symbol_of(judge(event)):
                    yield replace(case, events=[*case.events[:place], plain, *case.events[place + 1 :]])

    @staticmethod
    def spellings(case: Input) -> tuple[Input, ...]:
        """The log as it is."""
        return (case,)

    @staticmethod
    def telling(case: Input) -> Input:
        """Return the log with texts that tell its events apart."""
        return replace(case, events=told_apart(case.events))

    @staticmethod
    def counterexample(observation: Observation[Input], **common: Any) -> Counterexample:
        """Make the file of a failing log."""
        projection = None if observation.trace is None else observation.trace.observed
        return Counterexample(input=observation.case, projection=projection, **common)

    def _projected(self, target: ProjectorTarget, events: Sequence[Any], policies: Policies) -> Projection:
        self.work += len(events) + 1
        if not events and self.target.profile.can("feed"):
            target.reset()  # with no events, a projector reports what it was fed
        projection = target.project(events, policies if self.target.profile.can("policies") else None)
        self._watch(target)
        return projection

    def _fed(self, parts: Sequence[Sequence[Any]], asking: bool) -> Projection:  # noqa: FBT001
        self.target.reset()
        for part in parts:
            self.work += len(part)
            self.target.feed(part)
            self._watch(self.target)
            if asking:
                self.target.fed()
        return self.target.fed()

    def _fed_from(self, parts: Sequence[tuple[int, Sequence[Any]]]) -> Projection:
        self.target.reset()
        for start, part in parts:
            self.work += len(part)
            self.target.feed(part, start)
            self._watch(self.target)
        return self.target.fed()

    def _watch(self, target: ProjectorTarget) -> None:
        if target.last_input_changed is not None:
            self._changed = self._changed or target.last_input_changed

    def _experiment(self, case: Input, first: Projection) -> Experiment:
        declared, told = self.target.profile.projection_policies(), case.policies
        return Experiment(
            log=case.events,
            policies=told,
            cuts=case.cuts,
            first=first,
            observe=lambda events: self._projected(self.target, events, told),
            elsewhere=lambda events: self._projected(self.twin, events, told),
            declared=lambda: first if told == declared else self._projected(self.target, case.events, declared),
            fed=self._fed,
            fed_from=self._fed_from,
            input_changed=lambda: self._changed,
        )


def _difference(expected: Any, observed: Any, trace: ProjectorTrace) -> tuple[Hashable, ...] | None:
    """Return the path to the first difference and the two values there; a position is named by its event's letter."""
    both = (expected, observed)
    if expected == observed:
        return None
    pairs: list[tuple[str, Any, Any]]
    if all(isinstance(one, dict) for one in both):
        pairs = [(name, expected[name], observed.get(name)) for name in expected]
    elif all(isinstance(one, list | tuple) for one in both):
        pairs = [("", one, other) for one, other in zip_longest(*both)]
    else:
        return tuple(_leaf(one, trace) for one in both)
    found = ((name, *more) for name, one, other in pairs if (more := _difference(one, other, trace)))
    return next(found, None)


def _leaf(value: Any, trace: ProjectorTrace) -> Hashable:
    if isinstance(value, int):
        return trace.symbol(value)
    kind = type(value).__name__
    return kind if isinstance(value, dict | list | tuple) else str(value)


def traced(case: Input, profile: Profile, observed: Projection) -> ProjectorTrace:
    """Set the projection observed of *case* beside the declared views of the model's, for log laws to compare.

    Both are without anomalies where the target's input is always valid: it has none to report.
    """
    events = tuple(map(judge, case.events))
    views = frozenset(("steps", "rounds")) & frozenset(profile.capabilities)
    expected = without(project(events, case.policies), views)
    if profile.input == "valid":
        expected, observed = (replace(one, anomalies=()) for one in (expected, observed))
    return ProjectorTrace(events, case.policies, observed, expected, views)


def _met(case: Input, profile: Profile) -> bool:
    """Return whether the target may meet the log: where its input is always valid, one that is whole or still grows."""
    if profile.input == "any":
        return True
    events = tuple(map(judge, case.events))
    both = {case.policies, profile.projection_policies()}  # laws on feeding project under the declared ones
    return {one.kind for policies in both for one in project(events, policies).anomalies} <= {"truncated"}


def without(projection: Projection, views: frozenset[str]) -> Projection:
    """The projection with the views that are not declared left empty, as a target yields it."""
    if len(views) == 2:
        return projection
    absent: dict[str, list[Any]] = {view: [] for view in ("steps", "rounds") if view not in views}
    agents = {name: without(one, views) for name, one in projection.agents.items()}
    return replace(projection, cycles=tuple(replace(cycle, **absent) for cycle in projection.cycles), agents=agents)
