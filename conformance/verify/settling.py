"""After exploration: confirm the failures of each law, shrink their cases, and keep the distinct ones.

The smallest case of each law is shrunk freely: whatever still breaks the law is smaller. The others are shrunk as long
as they show what sets them apart; one in which another failure shows as well falls away, and so does one that is not
shrunk to the end where its law has another with its message.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, Generic

import msgspec

from ..laws.law import Finding, Law, first_finding
from .outcome.failures import Failure
from .shrink import OverError, shrink
from .subjects.subject import C, Observation, judged

if TYPE_CHECKING:
    from .engine import Run

OTHERS: Final = 2
"""Times a subject's ``shrink_work``: the bound for all failures together that are not the smallest of a law."""


def settle(run: "Run[C]", until: float) -> None:
    """Settle the failures of *run* until *until* (monotonic seconds); the smallest of a law stands as it is by then."""
    Settling(run, until).all()


class Settling(Generic[C]):
    """The state of the settling of one run."""

    def __init__(self, run: "Run[C]", until: float) -> None:
        self._run, self._until = run, until
        self._settled: dict[str, list[Failure[C]]] = {}

    def all(self) -> None:
        """Settle all failures. Raises OverError where the target breaks meanwhile."""
        run, others = self._run, list[tuple[Law, Failure[C]]]()
        for law in run.laws:
            found = run.failures.of(law.name)
            if not found:
                continue
            run.options.progress(f"shrinking what breaks {law.name}")
            smallest, *rest = found
            if law.name in run.subject.repeating or run.breaks_again(smallest):
                small = self._shrunk(law, smallest, self._work(1))
                self._settled[law.name] = [small]
                slipped = [smallest] if run.failures.symptom(small) != run.failures.symptom(smallest) else []
                others += [(law, other) for other in (*slipped, *rest)]
        self._unify()
        if not run.flaky:
            budget = self._work(OTHERS)
            for law, other in sorted(others, key=lambda one: one[1].size):
                self._add(law, other, budget)
            for name, settled in self._settled.items():
                run.failures.keep(name, settled)
            self._prune()

    def _prune(self) -> None:
        """Keep the smallest failure of a law within each cause."""
        firsts = [{one.law: one for one in reversed(cause.failures)} for cause in self._run.causes()]
        for name in self._settled:
            self._run.failures.keep(name, [first[name] for first in firsts if name in first])

    def _work(self, times: int) -> int:
        """The work of the subject at which shrinking ends: a bound by time would give other bytes on a slow day."""
        return self._run.subject.work + times * self._run.subject.shrink_work // self._run.options.thrift

    def _unify(self) -> None:
        """Give a law the case of another one, where this shows the law's failure as well, and is no longer."""
        laws = {law.name: law for law in self._run.laws}
        for name, (own,) in self._settled.items():
            for other in self._smallest():
                if laws[name].kind == "relation" or other.size > own.size or other.case == own.case:
                    continue
                finding = first_finding(self._run.found(laws[name], other.observation))
                if finding is None:
                    continue
                same = self._run.failure(laws[name], other.observation, finding)
                if self._run.failures.symptom(same) == self._run.failures.symptom(own):
                    self._settled[name] = [same]
                    self._run.failures.keep(name, [same, *self._run.failures.of(name)])
                    break

    def _smallest(self) -> Iterator[Failure[C]]:
        """The settled failures, in the order of their size and of their laws."""
        every = [failure for settled in self._settled.values() for failure in settled]
        return iter(sorted(every, key=lambda failure: failure.size))

    def _add(self, law: Law, other: Failure[C], budget: int) -> None:
        """Shrink a failure that nothing explains yet, and keep it if nothing does then.

        One that is not shrunk to the end goes, where its law has another with its message: of a long word the first
        difference from the model mostly lies in what shrinking would leave out.
        """
        if self._explained(other) or self._run.subject.work >= budget or time.monotonic() > self._until:
            return
        small, own = self._shrunk(law, other, budget, apart=True), self._settled[law.name]
        if self._spent(budget) and any(one.message == small.message for one in own):
            return
        if len(own) < self._run.options.several and not self._explained(small, whole=True):
            own.append(small)

    def _spent(self, budget: int) -> bool:
        return self._run.subject.work > budget or time.monotonic() > self._until

    def _explained(self, failure: Failure[C], *, whole: bool = False) -> bool:
        """True where a settled failure has the same difference from the model, or the same message where one has none.

        Of the differences of *failure* the first counts, or with *whole* each.
        """
        failures, own = self._run.failures, self._settled[failure.law]
        signs = [*failures.signs(failure)][: None if whole else 1]
        if any(failures.sign(one) in signs for one in self._smallest()):
            return True
        alike = [one for one in own if one.case == failure.case or one.message == failure.message]
        return any(not signs or failures.sign(one) is None for one in alike)

    def _shrunk(self, law: Law, failure: Failure[C], budget: int, *, apart: bool = False) -> Failure[C]:
        """Return the failure with the smallest case that still breaks *law*; with *apart*, by the same symptom.

        Its texts tell its events apart, unless it shows something else then. Where it is listed, each smaller one takes
        its place at once, so that an interrupt loses nothing.
        """
        run, subject = self._run, self._run.subject
        symptom = run.failures.symptom(failure) if apart else None
        tried: set[bytes] = set()

        def fails(smaller: C, like: Failure[C] | None = None) -> C | None:
            nonlocal failure
            for case in subject.spellings(smaller):
                key = msgspec.json.encode(case)
                if key in tried:
                    continue
                if self._spent(budget):
                    raise OverError
                tried.add(key)
                observation, finding = run.trying(partial(_judged, run, law, case)) or (None, None)
                if observation is None or finding is None:
                    continue
                found = run.failure(law, observation, finding)
                if like is not None and not run.failures.alike(found, like):
                    continue
                if like is not None or not apart or run.failures.symptom(found) == symptom:
                    run.failures.replace(failure, found)
                    failure = found
                    return observation.case
            return None

        try:
            fails(subject.telling(shrink(failure.observation.case, subject, fails)), failure)
        except OverError:
            if not run.usable:
                raise
        return failure


def _judged(run: "Run[C]", law: Law, case: C) -> tuple[Observation[C] | None, Finding | None]:
    """Observe a case, and judge it. Raises TargetError."""
    observation = run.subject.observe(case)
    return observation, None if observation is None else first_finding(judged(law, observation))
