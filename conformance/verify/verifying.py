"""``verify``: hold a projector to every law, on classic logs and on generated ones; failures are shrunk."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Final

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Flaky

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from ..generation.classic_logs import CLASSICS
from ..generation.logs import Case, cases
from ..laws.law import Finding, Law
from .coverage import Coverage
from .judging import HASH_SEED, Judge
from .needs import missing
from .results import INTERRUPTED, Counterexample, Evidence, Input, LawResult, Result, Verdict, plain, summary

EXAMPLES: Final = 300
"""Generated logs by default: the late doubles of the tests are caught by it at every seed that was tried."""
SHRINK_EVENTS: Final = 100_000
"""Events given to the target while failures are shrunk, at most: events and not seconds, so that a seed's bytes do not
depend on the machine."""
REDUCE_EVENTS: Final = 20_000
"""Events given to the target while one law's counterexample is reduced further, at most."""


class LawBrokenError(Exception):
    """A generated log breaks a law; one subclass a law, so that Hypothesis shrinks them apart."""


class _OverError(BaseException):
    """The budget or the bound on shrinking is used up: ends Hypothesis at once, which catches Exception only."""


class _BrokenTargetError(BaseException):
    """The target broke, which is no law's verdict: ends the run."""


@dataclass
class _Failure:
    size: tuple[int, int]
    input: Input
    finding: Finding
    projection: Projection | None


@dataclass
class _Run:
    """Everything a run learns.

    ``known`` are the laws that were broken when generation last began, ``shrunk`` the events that shrinking had cost by
    then, ``shrinking_from`` those given to the target when a log first broke another law.
    """

    judge: Judge
    deadline: float
    fail_fast: bool
    progress: Callable[[str], None]
    failures: dict[str, _Failure] = field(default_factory=dict[str, _Failure])
    verdicts: dict[bytes, tuple[str, ...]] = field(default_factory=dict[bytes, tuple[str, ...]])
    coverage: Coverage = field(default_factory=Coverage)
    examples: int = 0
    logs: int = 0
    known: frozenset[str] = frozenset()
    shrinking_from: int | None = None
    shrunk: int = 0
    broken: TargetError | None = None
    cut: str | None = None

    def case(self, case: Input) -> tuple[str, ...]:
        """Judge a case, and remember the smallest that breaks each law; the laws that it breaks."""
        try:
            broken, projection = self.judge.case(case)
        except TargetError as error:
            self.broken = error
            raise _BrokenTargetError from error
        self.coverage.add(case)
        self.logs += 1
        self._remember(case, broken, projection)
        return tuple(broken)

    def _remember(self, case: Input, broken: Mapping[str, Finding], projection: Projection | None) -> None:
        size = (len(case.events), len(msgspec.json.encode(case)))
        for law, finding in broken.items():
            if law not in self.failures or size < self.failures[law].size:
                self.failures[law] = _Failure(size, case, finding, projection)

    def generated(self, case: Case) -> None:
        """Judge a generated case once; raises the first law it breaks, but for those that are known to be broken.

        Keeps within time and shrink bound.
        """
        known = Input(case.log, case.policies, case.cuts)
        key = msgspec.json.encode(known)
        if key not in self.verdicts:
            if self._late() or (self.shrinking_from is not None and self._shrunk() > SHRINK_EVENTS):
                raise _OverError
            self.verdicts[key] = self.case(known)
            self.examples += 1
            self.progress(f"{self.examples} logs, {len(self.failures)} laws broken")
        law = next((law for law in self.verdicts[key] if law not in self.known), None)
        if law is not None:
            if self.shrinking_from is None:
                self.shrinking_from = self.judge.events
            raise _exception(law)

    def resumes(self) -> bool:
        """Whether a broken law has ended generation, which then begins anew, for the laws that are not broken yet.

        The same seed gives the same logs, and none of them is judged twice.
        """
        if self.shrinking_from is None or self.cut is not None:
            return False
        self.shrunk, self.shrinking_from, self.known = self._shrunk(), None, frozenset(self.failures)
        return True

    def reduce(self, law: Law) -> None:
        """Leave events out of the smallest case that breaks *law*, as long as it still does.

        Hypothesis shrinks the first law that a generated log breaks; classic logs, and what breaks besides, are left to
        this.
        """
        judge = replace(self.judge, laws=[law], observed=Counter(), inferred=Counter(), events=0)
        stride = size = len(self.failures[law.name].input.events)
        while stride:
            start = 0
            while start < len((known := self.failures[law.name].input).events):
                if judge.events > REDUCE_EVENTS or self._late():
                    return
                case = _left_out(known, start, stride)
                try:
                    broken, projection = judge.case(case)
                except TargetError:
                    return
                self._remember(case, broken, projection)
                start += 0 if broken else max(stride // 2, 1)
            before, size = size, len(self.failures[law.name].input.events)
            stride = stride - max(stride // 2, 1) if size == before else min(stride * 2, size)

    def _shrunk(self) -> int:
        """The events that shrinking has cost."""
        return self.shrunk + (0 if self.shrinking_from is None else self.judge.events - self.shrinking_from)

    def _late(self) -> bool:
        if time.monotonic() > self.deadline:
            self.cut = "the time budget was used up"
        return self.cut is not None


def _left_out(case: Input, start: int, count: int) -> Input:
    """*case* without *count* events from *start* on."""
    end = min(start + count, len(case.events))
    cuts = sorted({cut if cut <= start else max(start, cut - (end - start)) for cut in case.cuts})
    return Input([*case.events[:start], *case.events[end:]], case.policies, cuts)


_EXCEPTIONS: dict[str, type[LawBrokenError]] = {}


def _exception(law: str) -> LawBrokenError:
    if law not in _EXCEPTIONS:
        _EXCEPTIONS[law] = type(f"{law.title().replace('-', '')}BrokenError", (LawBrokenError,), {})
    return _EXCEPTIONS[law](law)


def verify(
    target: ProjectorTarget,
    laws: Sequence[Law],
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    budget: float | None = None,
    fail_fast: bool = False,
    shrink: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Result, dict[str, Counterexample]]:
    """Hold *target* to *laws*; return the result, and for each broken law its smallest counterexample.

    Without *shrink* a counterexample is what happened to break the law, as mutation testing needs no more.

    The same seed gives the same result, unless *budget* (seconds), a broken target or Ctrl-C cut the run, which ``cut``
    says.
    The target stays open. Raises TargetError when its twin process does not start.
    """
    applicable = [law for law in laws if not missing(law, target.profile)]
    started = time.monotonic()
    classics = _classics(target)
    with target.again(HASH_SEED) as twin:
        judge = Judge(target, twin, applicable)
        deadline = started + budget if budget else float("inf")
        run = _Run(judge, deadline, fail_fast, progress, coverage=Coverage(_own(target)))
        try:
            for case in classics:
                run.case(case)
            generates = examples and not (fail_fast and run.failures)
            while True:
                if generates:
                    _generate(run, examples, seed, [Phase.generate, Phase.shrink] if shrink else [Phase.generate])
                for law in applicable if shrink else ():
                    if law.name in run.failures.keys() - run.known:
                        run.reduce(law)
                if fail_fast or not shrink or not run.resumes():
                    break
        except _BrokenTargetError:
            run.cut = f"the target broke: {run.broken}"
        except KeyboardInterrupt:
            run.cut = INTERRUPTED  # what was found until now stands
    results = tuple(_verdict(law, run, target) for law in laws)
    coverage = run.coverage.figures(results)
    coverage["logs"], coverage["events"] = run.logs, judge.events
    result = Result(
        turncheck=version("turncheck"),
        target=target.name,
        implementation=target.implementation,
        profile=target.profile,
        seed=seed,
        laws=results,
        coverage=coverage,
        summary=summary(results),
        cut=run.cut,
    )
    return result, {law: _counterexample(law, failure, target, seed, laws) for law, failure in run.failures.items()}


def _classics(target: ProjectorTarget) -> list[Input]:
    """The classic cases, each once: under the target's own policies where it takes no others."""
    own = _own(target)
    found: list[Input] = []
    for log, policies, cuts in CLASSICS:
        case = Input(log, own or policies, cuts)
        if case not in found:
            found.append(case)
    return found


def _own(target: ProjectorTarget) -> Policies | None:
    """The target's own policies, where it takes no others."""
    return None if target.profile.can("policies") else target.profile.projection_policies()


def _generate(run: _Run, examples: int, seed: int, phases: Sequence[Phase]) -> None:
    @hypothesis.seed(seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=not run.fail_fast,
        phases=phases,
        suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
    )
    @given(cases(policies=_own(run.judge.target)))
    def explore(case: Case) -> None:
        run.generated(case)

    try:
        explore()
    except* (LawBrokenError, Flaky, _OverError):
        pass  # what was found stands in run.failures


def _verdict(law: Law, run: _Run, target: ProjectorTarget) -> LawResult:
    evidence = Evidence(run.judge.observed[law.name], run.judge.inferred[law.name])

    def graded(verdict: Verdict, why: str | None = None) -> LawResult:
        return LawResult(law.name, law.kind, law.clauses, verdict, evidence, why)

    if absent := missing(law, target.profile):
        return graded("skipped", f"not declared: {', '.join(absent)}")
    if law.name in run.failures:
        return graded("fail", run.failures[law.name].finding.message)
    if run.broken is not None:
        return graded("error", run.broken.problem)
    if evidence.observed:
        return graded("pass")
    if evidence.adapter:
        return graded("inconclusive", "all evidence was inferred by the adapter")
    return graded("inconclusive", f"no evidence: it needs {law.evidence}")


def _counterexample(
    name: str, failure: _Failure, target: ProjectorTarget, seed: int, laws: Sequence[Law]
) -> Counterexample:
    clauses = next(law.clauses for law in laws if law.name == name)
    finding = failure.finding
    return Counterexample(
        schema=1,
        target=target.name,
        profile=target.profile,
        seed=seed,
        law=name,
        clauses=clauses,
        message=finding.message,
        input=failure.input,
        position=finding.at,
        expected=plain(finding.expected),
        observed=plain(finding.observed),
        projection=failure.projection,
    )
