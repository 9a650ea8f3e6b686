"""The engine, one for all subjects: it takes a subject from cases to findings, and shrinks the cases that failed."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, NoReturn, TypeVar

import msgspec

from turncheck.adapters.protocol.errors import OverdueError, TargetError

from ..laws.law import Finding, Law, Witness, first_finding
from ..laws.registry import LAWS
from .failures import Failure, Failures
from .floor import items
from .results import INTERRUPTED, FloorItem
from .shrink import shrink
from .subject import HASH_SEED, C, Observation, Subject, judged, missing

SETTLING: Final = 10
"""Seconds beyond the budget for shrinking the failures found."""

_T = TypeVar("_T")


class OverError(BaseException):
    """Exploration or shrinking ends: the budget is used up, or the target broke. Hypothesis catches Exception only."""


@dataclass(frozen=True)
class Options:
    """How a subject is verified.

    ``deadline`` ends exploration, and ``until`` everything, in monotonic seconds; ``hash_seed`` is that of the twin
    process; ``several`` is the number of distinct counterexamples that are kept and shrunk per law, at most;
    ``progress`` is given a line per case.
    """

    deadline: float = float("inf")
    until: float = float("inf")
    hash_seed: int = HASH_SEED
    seed: int = 0
    fail_fast: bool = False
    shrink: bool = True
    several: int = 1
    progress: Callable[[str], None] = lambda _: None


@dataclass
class Run(Generic[C]):
    """The state of the verification of one subject: evidence and failures so far.

    ``observed`` and ``inferred`` count each law's evidence. ``work`` is the subject's when exploration ended.
    ``undecided`` holds for a law the reason why it cannot pass. ``flaky`` is true where a case gave something else when
    it was applied again. ``cut`` holds the reason why the run ended early, ``floor`` what has
    to happen and how often it did.
    """

    subject: Subject[C]
    laws: Sequence[Law]
    options: Options
    observed: Counter[str] = field(default_factory=Counter[str])
    inferred: Counter[str] = field(default_factory=Counter[str])
    failures: Failures[C] = field(init=False)
    work: int = 0
    undecided: dict[str, str] = field(default_factory=dict[str, str])
    broken: TargetError | None = None
    flaky: bool = False
    cut: str | None = None
    floor: tuple[FloorItem, ...] = ()

    def __post_init__(self) -> None:
        self.failures = Failures(self.subject.divergence, self.options.several)

    @property
    def incomplete(self) -> bool:
        """True where something else than the caller's own bounds ended the run."""
        return self.broken is not None or self.cut == INTERRUPTED

    # ---- for those that make cases ----

    def due(self) -> None:
        """Raise OverError where no further case is wanted: the budget is used up, or the first failure is enough."""
        if time.monotonic() > self.options.until:
            self.asking(_overdue)
        if time.monotonic() > self.options.deadline:
            self.end("the time budget was used up")
        if self.options.fail_fast and self.failures:
            raise OverError

    def end(self, why: str) -> None:
        """Cut the run. Raises OverError."""
        self.cut = why
        raise OverError

    def asking(self, act: Callable[[], _T]) -> _T:
        """Return the result of *act*; a target that breaks ends the run. Raises OverError."""
        try:
            return act()
        except TargetError as error:
            self.broken, self.cut = (
                error,
                str(error) if isinstance(error, OverdueError) else f"the target broke: {error}",
            )
            raise OverError from error

    def judge(self, observation: Observation[C], laws: Sequence[Law] | None = None) -> None:
        """Judge an observation by *laws* (all, where none are given): count the evidence, and keep what failed."""
        for law in self.laws if laws is None else laws:
            items = self._found(law, observation)
            for item in items:
                if isinstance(item, Witness):
                    (self.inferred if item.inferred else self.observed)[law.name] += 1
            finding = first_finding(items)
            if finding is not None:
                self.failures.add(self._failure(law, observation, finding))

    # ---- after exploration ----

    def settle(self) -> None:
        """Confirm each failure, and shrink its case."""
        until = min(max(self.options.deadline, time.monotonic() + SETTLING), self.options.until)
        for law in self.laws:
            for failure in self.failures.of(law.name):
                if law.name in self.subject.repeating or self._breaks_again(failure):
                    self._shrink(law, failure, until)

    def _breaks_again(self, failure: Failure[C]) -> bool:
        """Observe the case twice more: if the result differs, the implementation is flaky (X-2)."""
        for name in self.subject.repeating[:1] * 2:
            finding = first_finding(self._found(LAWS[name], failure.observation))
            if finding is not None:
                self.flaky = True
                if name not in self.failures:
                    self.failures.add(self._failure(LAWS[name], failure.observation, finding))
                return False
        return True

    def _shrink(self, law: Law, failure: Failure[C], until: float) -> None:
        """Put the smallest case that still shows the failure in its place."""
        symptom, spent = self.failures.symptom(failure), self.subject.work + self.subject.shrink_work
        tried: set[bytes] = set()

        def fails(smaller: C) -> C | None:
            nonlocal failure
            for case in self.subject.spellings(smaller):
                key = msgspec.json.encode(case)
                if key in tried:
                    continue
                if self.subject.work > spent or time.monotonic() > until:
                    raise OverError
                tried.add(key)
                observation = self.asking(partial(self.subject.observe, case))
                finding = None if observation is None else first_finding(self._found(law, observation))
                if observation is None or finding is None:
                    continue
                found = self._failure(law, observation, finding)
                if self.failures.symptom(found) == symptom:
                    self.failures.replace(failure, found)
                    failure = found
                    return observation.case
            return None

        try:
            shrink(failure.observation.case, self.subject, fails)
        except OverError:
            if self.broken is not None:
                raise

    def _found(self, law: Law, observation: Observation[C]) -> list[Finding | Witness]:
        return self.asking(lambda: [*judged(law, observation)])

    def _failure(self, law: Law, observation: Observation[C], finding: Finding) -> Failure[C]:
        return Failure(law.name, observation, finding, self.subject.size(observation.case))


def _overdue() -> NoReturn:
    raise OverdueError


def _floor(run: Run[Any], *, explored: bool) -> tuple[FloorItem, ...]:
    """The floor of what was planned: a run that ended early, or that a suite made, has not planned every capability."""
    declared = explored and run.cut is None and run.subject.whole
    return items(run.subject.floor, run.subject.target.profile, run.laws, run.observed, declared=declared)


def run_and_judge(
    subject: Subject[C], laws: Sequence[Law], explore: Callable[[Run[C]], None], options: Options
) -> Run[C]:
    """Hold *subject* to the *laws* that apply to it, on the cases that *explore* makes and gives to the run.

    Cases that failed are shrunk, unless the target broke or Ctrl-C ended the run.
    """
    run = Run(subject, [law for law in laws if not missing(law, subject.target.profile)], options)
    explored = False
    try:
        with contextlib.suppress(OverError):
            try:
                explore(run)
                explored = True
            finally:
                run.work = subject.work
                run.floor = _floor(run, explored=explored)
        if options.shrink and run.broken is None:
            with contextlib.suppress(OverError):
                run.settle()
    except KeyboardInterrupt:
        run.cut = INTERRUPTED  # the failures that were found until now stand
    return run
