"""The engine, one for all subjects: it takes a subject from cases to findings, and shrinks the cases that failed."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, NoReturn, TypeVar, cast

from turncheck.adapters.protocol.errors import OverdueError, TargetError
from turncheck.adapters.protocol.messages import Profile

from ..laws.law import Finding, Law, Witness, first_finding
from ..laws.registry import LAWS
from . import crash
from .outcome.covered import FloorItem
from .outcome.failures import Cause, Failure, Failures
from .outcome.floor import items
from .outcome.results import BROKE, INTERRUPTED, Case
from .settling import settle
from .shrink import OverError
from .subjects.subject import HASH_SEED, C, Observation, Subject, judged, missing

SETTLING: Final = 10
"""Seconds beyond the budget for shrinking the failures found."""

SEVERAL: Final = 3
"""Distinct counterexamples of a law, at most: each is shrunk, which costs up to as much as the smallest one does."""
_NUMBER: Final = re.compile(r'(?<="seq":) ?\d+')
"""A message's number: it varies with what else the same process was given."""

_T = TypeVar("_T")


__all__ = ["SETTLING", "SEVERAL", "Options", "OverError", "Run", "run_and_judge"]


@dataclass(frozen=True)
class Workers:
    """Processes that play shards: *jobs* of them, each of which opens the target *text* itself.

    *timeout*, *profile* and *variant* are those of ``open_target``.
    """

    jobs: int
    text: str
    timeout: float
    profile: Profile | None = None
    variant: str | None = None


def silent(_: str) -> None:
    """Tell nobody of the progress."""


@dataclass(frozen=True)
class Options:
    """Options of a verification.

    ``deadline`` ends exploration, and ``until`` everything, in monotonic seconds; ``hash_seed`` is that of the twin
    process; shrinking gets one part in ``thrift`` of its usual work, and above 1 short words alone are killed where a
    start costs time; ``several`` is the number of distinct counterexamples that are kept and shrunk per law, at most;
    with ``timings`` the result says how long each phase took; ``progress`` is given a line per case; without
    ``workers`` all is done in this process. ``known`` are the cases of the baseline's entries, which are judged after
    exploration.
    """

    deadline: float = float("inf")
    until: float = float("inf")
    hash_seed: int = HASH_SEED
    seed: int = 0
    fail_fast: bool = False
    shrink: bool = True
    thrift: int = 1
    several: int = SEVERAL
    timings: bool = False
    progress: Callable[[str], None] = silent
    workers: Workers | None = None
    known: Mapping[str, Case] = field(default_factory=dict[str, Case])


@dataclass
class Run(Generic[C]):
    """The state of the verification of one subject: evidence and failures so far.

    ``observed`` counts each law's evidence, and ``inferred`` what the adapter inferred of it, by law and by what came
    before. ``work`` is the subject's when exploration ended. ``undecided`` holds for a law the reason why it cannot
    pass. ``flaky`` is true where a case gave something else when it was applied again. ``cut`` holds the reason why
    the run ended early, ``floor`` what has to happen and how often it did, ``seconds`` how long each phase took.
    ``told`` is called after each case.
    ``known`` are the failures of the baseline's cases that could be observed, by the names of their entries.
    """

    subject: Subject[C]
    laws: Sequence[Law]
    options: Options
    observed: Counter[str] = field(default_factory=Counter[str])
    inferred: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    failures: Failures[C] = field(init=False)
    work: int = 0
    undecided: dict[str, str] = field(default_factory=dict[str, str])
    broken: TargetError | None = None
    flaky: bool = False
    cut: str | None = None
    given_up: bool = False
    floor: tuple[FloorItem, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    told: Callable[["Run[C]"], None] = lambda _: None
    known: dict[str, list[Failure[C]]] = field(default_factory=dict[str, list[Failure[C]]])

    def __post_init__(self) -> None:
        several = self.options.several if self.options.shrink and not self.options.fail_fast else 1
        self.failures = Failures(self.subject.differences, several, self.subject.telling)

    @property
    def usable(self) -> bool:
        """True where the target can be asked on: it did not break, or its process is replaced by a new one."""
        return self.broken is None or crash.shrinkable(self.broken)

    @property
    def crash(self) -> TargetError | None:
        """The error by which the target broke; None also where the time of the whole run was over: no fault of it."""
        return None if isinstance(self.broken, OverdueError) else self.broken

    @property
    def incomplete(self) -> bool:
        """True where something else than the caller's own bounds ended the run."""
        return self.broken is not None or self.given_up or self.cut == INTERRUPTED

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

    def give_up(self, why: str) -> None:
        """Cut the run for a reason of the target's. Raises OverError."""
        self.given_up = True
        self.end(why)

    def asking(self, act: Callable[[], _T]) -> _T:
        """Return the result of *act*; a target that breaks ends the run. Raises OverError."""
        try:
            return act()
        except TargetError as error:
            told = str(error) if isinstance(error, OverdueError) else f"{BROKE}: {_NUMBER.sub('…', str(error))}"
            self.broken, self.cut = error, told
            raise OverError from error

    def trying(self, act: Callable[[], _T]) -> _T | None:
        """Return the result of *act*, None where the target breaks as it did before. Raises OverError otherwise."""
        try:
            return act()
        except TargetError as error:
            if not (crash.shrinkable(self.broken) and crash.shrinkable(error)):
                return self.asking(partial(_raise, error))
            return None

    def judge(self, observation: Observation[C], laws: Sequence[Law] | None = None) -> None:
        """Judge an observation by *laws* (all, where none are given): count the evidence, and keep what failed."""
        clean = True
        for law in self.laws if laws is None else laws:
            items = self.found(law, observation)
            for item in items:
                if isinstance(item, Witness):
                    if item.inferred:
                        self.inferred[law.name, item.inferred] += 1
                    else:
                        self.observed[law.name] += 1
            finding = first_finding(items)
            if finding is not None:
                clean = False
                self.failures.add(self.failure(law, observation, finding))
        if clean:
            self.failures.clean(observation)

    # ---- after exploration ----

    def recall(self) -> None:
        """Judge the cases of the baseline's entries, which have failed before. Raises OverError."""
        for name, case in self.options.known.items():
            if not self.subject.takes(case):
                continue
            observation = self.asking(partial(self.subject.observe, cast(C, case)))
            if observation is None:
                continue
            judged = [(law, first_finding(self.found(law, observation))) for law in self.laws]
            self.known[name] = [self.failure(law, observation, one) for law, one in judged if one is not None]
            for failure in self.known[name]:
                self.failures.add(failure)

    def settle(self) -> None:
        """Confirm each failure, shrink its case, and choose the distinct ones."""
        until = min(max(self.options.deadline, time.monotonic() + SETTLING), self.options.until)
        settle(self, until)

    def breaks_again(self, failure: Failure[C]) -> bool:
        """Observe the case twice more: if the result differs, the implementation is flaky (X-2)."""
        for name in self.subject.repeating[:1] * 2:
            finding = first_finding(self.found(LAWS[name], failure.observation))
            if finding is not None:
                self.flaky = True
                if name not in self.failures:
                    self.failures.add(self.failure(LAWS[name], failure.observation, finding))
                return False
        return True

    def causes(self) -> tuple[Cause[C], ...]:
        """Return the failures by cause, the smallest first; each with all laws that its smallest case breaks."""

        def breaks(failure: Failure[C]) -> list[str]:
            looking = (law for law in self.laws if law.name in self.failures and law.kind != "relation")
            return [law.name for law in looking if first_finding(judged(law, failure.observation)) is not None]

        return self.failures.causes(breaks, [law.name for law in self.laws], self.known)

    def found(self, law: Law, observation: Observation[C]) -> list[Finding | Witness]:
        """Return what *law* finds. Raises OverError where the target breaks while a relation law applies it again."""
        return self.asking(lambda: [*judged(law, observation)])

    def failure(self, law: Law, observation: Observation[C], finding: Finding) -> Failure[C]:
        """Return the failure of *law* that a finding is."""
        return Failure(law.name, observation, finding, self.subject.size(observation.case))


def _raise(error: TargetError) -> NoReturn:
    raise error


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
    started = time.monotonic()
    explored = False
    try:
        with contextlib.suppress(OverError):
            try:
                explore(run)
                explored = True
            finally:
                run.work = subject.work
                run.floor = _floor(run, explored=explored)
                run.seconds["exploring"] = time.monotonic() - started
        if options.shrink and run.broken is not None and crash.shrinkable(run.broken):
            run.broken.case = crash.shrunk(subject, run.broken)
        if run.usable:
            with contextlib.suppress(OverError):
                run.recall()
                if options.shrink:
                    run.settle()
    except KeyboardInterrupt:
        run.cut = INTERRUPTED  # the failures that were found until now stand
    run.seconds["shrinking"] = time.monotonic() - started - run.seconds["exploring"]
    return run
