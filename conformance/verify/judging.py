"""Judge one case by all laws: which are broken, and on what evidence the others hold."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from turncheck.adapters.protocol.errors import ImplementationError, UnsupportedError
from turncheck.adapters.protocol.projector import Profile, ProjectorTarget
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project

from ..laws.law import Finding, Judgement, Law, Witness
from ..laws.projector_trace import ProjectorTrace
from ..laws.registry import EXPERIMENT_LAWS, TRACE_LAWS
from ..laws.relations import Experiment
from .results import Input

HASH_SEED: Final = 4321
"""The twin process's PYTHONHASHSEED: any fixed one that differs from the target's own."""


@dataclass
class Judge:
    """Observes a target on cases, and judges them by *laws*. Raises TargetError where the target breaks.

    ``observed`` and ``inferred`` count each law's evidence; ``events`` counts the events that the target was given.
    """

    target: ProjectorTarget
    twin: ProjectorTarget
    laws: Sequence[Law]
    observed: Counter[str] = field(default_factory=Counter[str])
    inferred: Counter[str] = field(default_factory=Counter[str])
    events: int = 0
    _changed: bool | None = None

    @property
    def declared(self) -> Policies:
        """The policies that the target projects under when it is told none."""
        return self.target.profile.projection_policies()

    def case(self, case: Input) -> tuple[dict[str, Finding], Projection | None]:
        """The laws that *case* breaks, in the registry's order, each with its first finding; and the projection."""
        names = [law.name for law in self.laws]
        self._changed = None
        try:
            first = self._observe(self.target, case.events, case.policies)
        except (ImplementationError, UnsupportedError) as error:
            finding = Finding(None, _told(error, "the projector failed on a log"), "a projection", str(error))
            return ({"total": finding} if "total" in names else {}), None
        experiment = self._experiment(case, first)
        trace = traced(case, self.target.profile, first)
        broken: dict[str, Finding] = {}
        for name in names:
            if name in TRACE_LAWS:
                found = self._judged(name, TRACE_LAWS[name](trace))
            else:
                found = self._judged(name, self._guarded(EXPERIMENT_LAWS[name], experiment))
            if found is not None:
                broken[name] = found
        return broken, first

    def _judged(self, law: str, judgement: Judgement) -> Finding | None:
        first: Finding | None = None
        for item in judgement:
            if isinstance(item, Witness):
                (self.inferred if item.inferred else self.observed)[law] += 1
            else:
                first = first or item
        return first

    @staticmethod
    def _guarded(law: Callable[[Experiment], Judgement], experiment: Experiment) -> Iterator[Finding | Witness]:
        """A failure on a changed input is a finding of the law that changed it."""
        try:
            yield from law(experiment)
        except (ImplementationError, UnsupportedError) as error:
            yield Finding(None, _told(error, "the projector failed when observed again"))

    def _observe(self, target: ProjectorTarget, events: Sequence[Any], policies: Policies) -> Projection:
        self.events += len(events) + 1
        if not events and self.target.profile.can("feed"):
            target.reset()  # with no events, a projector reports what it was fed
        projection = target.project(events, policies if self.target.profile.can("policies") else None)
        self._watch(target)
        return projection

    def _fed(self, parts: Sequence[Sequence[Any]], asking: bool) -> Projection:  # noqa: FBT001
        self.target.reset()
        for part in parts:
            self.events += len(part)
            self.target.feed(part)
            self._watch(self.target)
            if asking:
                self.target.fed()
        return self.target.fed()

    def _watch(self, target: ProjectorTarget) -> None:
        if target.last_input_changed is not None:
            self._changed = self._changed or target.last_input_changed

    def _experiment(self, case: Input, first: Projection) -> Experiment:
        return Experiment(
            log=case.events,
            policies=case.policies,
            cuts=case.cuts,
            first=first,
            observe=lambda events: self._observe(self.target, events, case.policies),
            elsewhere=lambda events: self._observe(self.twin, events, case.policies),
            declared=lambda: (
                first if case.policies == self.declared else self._observe(self.target, case.events, self.declared)
            ),
            fed=self._fed,
            input_changed=lambda: self._changed,
        )


def traced(case: Input, profile: Profile, observed: Projection) -> ProjectorTrace:
    """What the log laws look at: the projection observed of *case*, beside the declared views of the model's."""
    events = tuple(map(judge, case.events))
    views = frozenset(("steps", "rounds")) & frozenset(profile.capabilities)
    return ProjectorTrace(events, case.policies, observed, without(project(events, case.policies), views), views)


def without(projection: Projection, views: frozenset[str]) -> Projection:
    """The projection with the views that are not declared left empty, as a target yields it."""
    if len(views) == 2:
        return projection
    absent: dict[str, list[Any]] = {view: [] for view in ("steps", "rounds") if view not in views}
    return replace(projection, cycles=tuple(replace(cycle, **absent) for cycle in projection.cycles))


def _told(error: ImplementationError | UnsupportedError, failed: str) -> str:
    return (
        f"a declared capability is not there: {error}" if isinstance(error, UnsupportedError) else f"{failed}: {error}"
    )
