"""A projector as a subject: it is observed on logs, classic ones and then generated ones."""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, ClassVar, Final, cast

import hypothesis
import msgspec
from hypothesis import given
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import ImplementationError, UnsupportedError
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import project

from ..generation.classic_logs import CLASSICS
from ..generation.drawing import drawing
from ..generation.logs import Case, cases
from ..laws.law import Finding
from ..laws.projector.subject import Experiment
from ..observe.projector_trace import ProjectorTrace
from .coverage import Coverage
from .engine import Run
from .floor import ProjectorFloor
from .results import Counterexample, Input
from .subject import Observation, failing

EXAMPLES: Final = 300
"""Generated logs by default: the late doubles of the tests are caught by it at every seed that was tried."""


class ProjectorSubject:
    """A projector, and its *twin* in a process with another hash seed."""

    shrink_work: ClassVar[int] = 20_000
    repeating: ClassVar[tuple[str, ...]] = ()

    def __init__(self, target: ProjectorTarget, twin: ProjectorTarget) -> None:
        self.target, self.twin, self.work = target, twin, 0
        self.inferred: Mapping[str, str] = {}
        own = None if target.profile.can("policies") else target.profile.projection_policies()
        self.own: Final = own
        """The target's own policies, where it takes no others."""
        self.coverage: Final = Coverage(own)
        self.floor = ProjectorFloor()
        self.whole = True
        self._changed: bool | None = None

    def observe(self, case: Input) -> Observation[Input]:
        """Project the log, and prepare the means to project others."""
        self._changed = None
        try:
            first = self._projected(self.target, case.events, case.policies)
        except (ImplementationError, UnsupportedError) as error:
            message = failing(error, "the projector failed on a log")
            return Observation(case, failed=Finding(None, message, "a projection", str(error)))
        trace = traced(case, self.target.profile, first)
        self.floor.add(trace)
        return Observation(case, trace, self._experiment(case, first))

    @staticmethod
    def divergence(observation: Observation[Input]) -> Hashable:
        """Return the first place where the projection is not the model's, with the two values there."""
        if observation.failed is not None:
            return observation.failed.message
        trace: ProjectorTrace = observation.trace
        return _difference(msgspec.to_builtins(trace.expected), msgspec.to_builtins(trace.observed), trace)

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
            input_changed=lambda: self._changed,
        )


def explore(subject: ProjectorSubject, examples: int, run: Run[Input]) -> None:
    """Explore *subject* on the classic logs, however small the budget, and on so many generated ones."""

    def judge(case: Input) -> None:
        observation = run.asking(partial(subject.observe, case))
        subject.coverage.add(case)
        run.judge(observation)

    for case in classics(subject.own):
        judge(case)
    if not examples:
        return
    seen: set[bytes] = set()

    @hypothesis.seed(run.options.seed)
    @drawing(examples)
    @given(cases(policies=subject.own))
    def generate(generated: Case) -> None:
        case = Input(generated.log, generated.policies, generated.cuts)
        key = msgspec.json.encode(case)
        if key not in seen:
            run.due()
            seen.add(key)
            judge(case)
            run.options.progress(f"{len(seen)} logs, {len(run.failures)} laws broken")

    generate()


def classics(own: Policies | None) -> list[Input]:
    """The classic cases, each once: under the target's *own* policies where it takes no others."""
    found = (Input(log, own or policies, cuts) for log, policies, cuts in CLASSICS)
    return [*{msgspec.json.encode(case): case for case in found}.values()]


def _difference(expected: Any, observed: Any, trace: ProjectorTrace) -> tuple[Hashable, ...] | None:
    """Return the path to the first difference and the two values there; a position is named by its event's letter."""
    both = (expected, observed)
    if expected == observed:
        return None
    pairs: list[tuple[str, Any, Any]]
    if all(isinstance(one, dict) for one in both):
        pairs = [(name, expected[name], observed.get(name)) for name in expected]
    elif all(isinstance(one, list) for one in both):
        pairs = [("", one, other) for one, other in zip_longest(*both)]
    else:
        return tuple(trace.symbol(one) if isinstance(one, int) else str(one) for one in both)
    found = ((name, *more) for name, one, other in pairs if (more := _difference(one, other, trace)))
    return next(found, None)


def traced(case: Input, profile: Profile, observed: Projection) -> ProjectorTrace:
    """Set the projection observed of *case* beside the declared views of the model's, for log laws to compare."""
    events = tuple(map(judge, case.events))
    views = frozenset(("steps", "rounds")) & frozenset(profile.capabilities)
    return ProjectorTrace(events, case.policies, observed, without(project(events, case.policies), views), views)


def without(projection: Projection, views: frozenset[str]) -> Projection:
    """The projection with the views that are not declared left empty, as a target yields it."""
    if len(views) == 2:
        return projection
    absent: dict[str, list[Any]] = {view: [] for view in ("steps", "rounds") if view not in views}
    return replace(projection, cycles=tuple(replace(cycle, **absent) for cycle in projection.cycles))
