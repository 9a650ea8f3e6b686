"""The failures of a run: per law the smallest distinct ones, and across laws the causes that they share."""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Generic

import msgspec

from ..laws.law import Finding
from .subject import C, Observation

_NAMES: Final = re.compile(r"\d+")
_SIZE: Final = attrgetter("size")


@dataclass(frozen=True)
class Failure(Generic[C]):
    """An observation that breaks a law, with the law's first finding; ``size`` orders failures of one law."""

    law: str
    observation: Observation[C]
    finding: Finding
    size: tuple[int, ...]

    @property
    def case(self) -> bytes:
        """The failing input, encoded."""
        return msgspec.json.encode(self.observation.case)


@dataclass(frozen=True)
class Cause(Generic[C]):
    """Failures that have one root: their shrunk cases are the same, or their first differences from the model are.

    The smallest comes first.
    """

    failures: tuple[Failure[C], ...]

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws that it breaks, each once."""
        return tuple(dict.fromkeys(failure.law for failure in self.failures))


class Failures(dict[str, dict[Hashable, Failure[C]]]):
    """Law → symptom → failure: at most *several* per law that differ in what was found, or in the divergence.

    *divergence* describes an observation's first difference from the model. With one failure per law, symptoms are not
    compared: the smallest case that breaks the law is kept, whatever it shows.
    """

    def __init__(self, divergence: Callable[[Observation[C]], Hashable], several: int = 1) -> None:
        super().__init__()
        self._divergence, self._several = divergence, several

    def of(self, law: str) -> list[Failure[C]]:
        """The failures of a law whose cases differ, the smallest first."""
        distinct = {failure.case: failure for failure in self.get(law, {}).values()}
        return sorted(distinct.values(), key=_SIZE)

    def add(self, failure: Failure[C]) -> None:
        """Keep a failure that is smaller than the one with the same symptom, or whose symptom is new."""
        kept, symptom = self.setdefault(failure.law, {}), self.symptom(failure)
        if failure.size < kept[symptom].size if symptom in kept else len(kept) < self._several:
            kept[symptom] = failure

    def replace(self, old: Failure[C], new: Failure[C]) -> None:
        """Replace *old* by its shrunk form."""
        kept = self[old.law]
        kept[next(symptom for symptom, failure in kept.items() if failure is old)] = new

    def symptom(self, failure: Failure[C]) -> Hashable:
        """Return the part of a failure that shrinking preserves, so that another fault of its law does not hide it."""
        if self._several == 1:
            return None
        return _NAMES.sub("#", failure.finding.message), self._divergence(failure.observation)

    def causes(self) -> tuple[Cause[C], ...]:
        """Group all failures by cause; causes and their failures are in the order of their size."""
        groups: list[tuple[set[Hashable], list[Failure[C]]]] = []
        every = [failure for law in self for failure in self.of(law)]
        for failure in sorted(every, key=_SIZE):
            signs: set[Hashable] = {failure.case, self._divergence(failure.observation)} - {None}
            members = [failure]
            for group in [group for group in groups if group[0] & signs]:
                groups.remove(group)
                signs, members = group[0] | signs, [*group[1], *members]
            groups.append((signs, members))
        found = (Cause(tuple(sorted(members, key=_SIZE))) for _, members in groups)
        return tuple(sorted(found, key=lambda cause: cause.failures[0].size))
