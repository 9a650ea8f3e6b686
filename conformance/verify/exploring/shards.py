"""Shards: the cases of a run are cut into pieces of a fixed size, and what each piece shows is merged in their order.

A shard is played by itself, whoever plays it: here, or a worker process. So the result is the same for any number of
workers, as long as the target forgets at each reset what came before.
"""

import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NamedTuple, Protocol

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.targets.registry import Target

from ..engine import OverError, Run, silent
from ..outcome.coverage import AnyCoverage
from ..outcome.failures import Failure
from ..subjects.subject import C, Observation, Subject

SIZE: Final = 30
"""Cases of a shard: some twenty shards in a run by default, which keep eight workers busy to the end; a tenth of the
generated cases, which is what ``--quick`` plays, is one."""

CLEAN: Final = 10
"""Observations without a failure that a shard hands on: those of ten shards tell what an implementation chooses."""


class Course(Protocol[C]):
    """The parts that all shards of a run have in common. A course and its shards are picklable."""

    def face(self, target: Target) -> Any:
        """Return the role of *target* that is verified."""
        ...

    def subject(self, target: Any, twin: Any) -> Subject[C]:
        """Make a subject that has seen nothing."""
        ...

    def play(self, run: Run[C], shard: Any) -> None:
        """Apply the cases of *shard* to the subject of *run*, and judge them. Raises OverError."""
        ...

    def merged(self, run: Run[C]) -> None:
        """Look at the whole run after each shard: OverError ends it."""
        ...


class Tally(NamedTuple):
    """The progress within a shard: the number of cases, and the laws that they broke."""

    cases: int
    broken: frozenset[str]


@dataclass(frozen=True)
class Part(Generic[C]):
    """The result of a shard; its failures are not shrunk, and ``clean`` are some observations without one."""

    observed: Counter[str]
    inferred: Counter[tuple[str, str]]
    failures: tuple[Failure[C], ...]
    work: int
    coverage: AnyCoverage
    floor: Counter[str]
    broken: TargetError | None
    cut: str | None
    given_up: bool
    clean: tuple[Observation[C], ...] = ()


def part_of(run: Run[C]) -> Part[C]:
    """Take from the run of a shard what can be sent: the means of an observation cannot."""
    every = [failure for law in run.failures for failure in run.failures[law].values()]
    failures = [replace(one, observation=replace(one.observation, means=None)) for one in every]
    subject = run.subject
    counts = subject.work, subject.coverage, subject.floor.counts
    clean = tuple(replace(one, means=None) for one in run.failures.sample[:CLEAN])
    return Part(run.observed, run.inferred, tuple(failures), *counts, run.broken, run.cut, run.given_up, clean)


def played(run: Run[C], course: Course[C], shard: Any, told: Callable[[Tally], None]) -> Run[C]:
    """Play *shard* by itself, on the target of *run*; return its own run, which may have been cut."""
    subject = course.subject(run.subject.target, run.subject.twin)
    own = Run(subject, run.laws, replace(run.options, progress=silent), told=lambda own: told(tally(own)))
    try:
        with contextlib.suppress(OverError):
            course.play(own, shard)
    except KeyboardInterrupt:
        absorb(run, part_of(own))  # what was found until now stands
        raise
    return own


def tally(run: Run[Any]) -> Tally:
    """Return the progress of a run."""
    return Tally(run.subject.coverage.cases, frozenset(run.failures))


def absorb(run: Run[C], part: Part[C]) -> None:
    """Add *part* to *run*."""
    run.observed += part.observed
    run.inferred += part.inferred
    run.subject.work += part.work
    run.subject.coverage.absorb(part.coverage)
    run.subject.floor.counts.update(part.floor)
    run.broken, run.cut, run.given_up = part.broken, part.cut, part.given_up
    for observation in part.clean:
        run.failures.clean(observation)
    for failure in part.failures:
        run.failures.add(replace(failure, observation=run.subject.restored(failure.observation)))


class Crew(Generic[C]):
    """Plays the shards of a run in this process, one after the other."""

    def __init__(self, run: Run[C], course: Course[C]) -> None:
        self._run, self._course = run, course

    def __enter__(self) -> "Crew[C]":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def give(self, shard: Any) -> None:
        """Play a shard. Raises OverError where the run ends with it."""
        self._merge(part_of(played(self._run, self._course, shard, lambda tally: self._tell([tally]))))

    def finish(self) -> None:
        """Return when all shards are merged. Raises OverError."""

    def _merge(self, part: Part[C]) -> None:
        run = self._run
        absorb(run, part)
        self._course.merged(run)
        if run.cut is not None or (run.options.fail_fast and run.failures):
            raise OverError

    def _tell(self, others: list[Tally]) -> None:
        """Say where the run is; *others* are the shards that are under way."""
        tallies = [tally(self._run), *others]
        cases, broken = sum(one.cases for one in tallies), frozenset[str]().union(*(one.broken for one in tallies))
        self._run.options.progress(f"{cases:,} {self._run.subject.unit}, {len(broken)} laws broken")
