"""The failures of a run: per law the smallest distinct ones, and across laws the causes that they share."""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, Generic

import msgspec

from ...laws.law import Finding
from ..subjects.subject import C, Difference, Observation

SAMPLE: Final = 100
"""Observations that tell what an implementation chooses: the first words of a run take every row."""
_NAMES: Final = re.compile(r"\d+")
_QUOTED: Final = re.compile(r"'([a-z -]*)[^']*'")
_ANY_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
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

    @property
    def message(self) -> str:
        """The finding's message without numbers and quoted texts, which differ between failures of one kind."""
        return _NAMES.sub("#", _QUOTED.sub(r"'\1'", self.finding.message))

    @property
    def wording(self) -> str:
        """The finding's message without any quoted text."""
        return _ANY_QUOTED.sub("", self.finding.message)


@dataclass(frozen=True)
class Cause(Generic[C]):
    """Failures that have one root: their shrunk cases are the same, or their first differences from the model are.

    The smallest comes first. ``also`` are laws that the smallest case breaks too; ``known`` names those of the
    baseline's counterexamples that have this cause.
    """

    failures: tuple[Failure[C], ...]
    also: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws that it breaks, each once, the root first."""
        return tuple(dict.fromkeys([*(failure.law for failure in self.failures), *self.also]))


@dataclass
class _Group(Generic[C]):
    """A cause in the making: the difference and the laws of its smallest failure, and the cases of all."""

    sign: Difference | None
    laws: frozenset[str]
    cases: set[bytes]
    failures: list[Failure[C]]
    known: list[str] = field(default_factory=list[str])

    def among(self, groups: "Iterable[_Group[C]]") -> "_Group[C] | None":
        """Return the first of *groups* that has this one's case or difference, or else is near to it."""
        tests = (self.same, self.alike, self.equal)
        return next((group for test in tests for group in groups if test(group)), None)

    def same(self, other: "_Group[C]") -> bool:
        """True for the same case, or the same first difference."""
        return bool(self.cases & other.cases) or (self.sign is not None and self.sign == other.sign)

    def alike(self, other: "_Group[C]") -> bool:
        """True for failures of other laws that differ in the same way, after another kind of stimulus."""
        if self.sign is None or other.sign is None or self.sign.how != other.sign.how:
            return False
        return self.failures[0].law not in {failure.law for failure in other.failures}

    def equal(self, other: "_Group[C]") -> bool:
        """True for cases that break the same laws: three at least, or two where not both differ from the model."""
        enough = 2 if self.sign is None or other.sign is None else 3
        return len(self.laws) >= enough and self.laws == other.laws


class Failures(dict[str, dict[Hashable, Failure[C]]]):
    """Law → symptom → failure: at most *several* per law that differ in what was found, or in the difference.

    *differences* describes where an observation differs from the model, the first difference first. A difference that
    an observation without any failure shows too is the implementation's choice, and tells no failures apart. With one
    failure per law, symptoms are not compared: the smallest case that breaks the law is kept, whatever it shows.
    ``sample`` are observations without a failure. Cases are the same where *telling* makes them the same.
    """

    def __init__(
        self,
        differences: Callable[[Observation[C]], Sequence[Difference]],
        several: int = 1,
        telling: Callable[[Any], Any] = lambda case: case,
    ) -> None:
        super().__init__()
        self._differences, self._several, self._telling = differences, several, telling
        self.sample: Final = list[Observation[C]]()
        self._weighed = 0
        self._chosen: set[Difference] = set()
        self._known: dict[int, tuple[Observation[C], Sequence[Difference]]] = {}

    def clean(self, observation: Observation[C]) -> None:
        """Take an observation that breaks no law; the first ``SAMPLE`` are compared where a failure follows."""
        if self._several > 1 and len(self.sample) < SAMPLE:
            self.sample.append(observation)

    def of(self, law: str) -> list[Failure[C]]:
        """The failures of a law whose cases differ, the smallest first."""
        distinct = {failure.case: failure for failure in self.get(law, {}).values()}
        return sorted(distinct.values(), key=_SIZE)

    def add(self, failure: Failure[C]) -> None:
        """Keep a failure that is smaller than the one with the same symptom, or whose symptom is new.

        Where there are as many as wanted, a smaller one replaces the largest: the smallest of a law is never lost.
        """
        kept = self.setdefault(failure.law, {})
        full = len(kept) >= self._several
        if full and failure.size >= max(map(_SIZE, kept.values())):
            return  # nor is it compared with the model, which takes time
        symptom = self.symptom(failure)
        if symptom in kept:
            if failure.size < kept[symptom].size:
                kept[symptom] = failure
            return
        if full:
            del kept[max(kept, key=lambda one: kept[one].size)]
        kept[symptom] = failure

    def replace(self, old: Failure[C], new: Failure[C]) -> None:
        """Replace *old*, where it is kept, by its shrunk form."""
        kept = self[old.law]
        for symptom in [symptom for symptom, failure in kept.items() if failure is old]:
            kept[symptom] = new

    def keep(self, law: str, settled: Iterable[Failure[C]]) -> None:
        """Keep the failures *settled* of a law, and no other."""
        self[law] = dict(enumerate(settled))

    def symptom(self, failure: Failure[C]) -> Hashable:
        """Return the part of a failure that shrinking preserves, so that another fault of its law does not hide it."""
        if self._several == 1:
            return None
        return failure.message, self.sign(failure)

    def alike(self, one: Failure[C], other: Failure[C]) -> bool:
        """Return whether two failures of a law differ in their texts alone."""
        return self.sign(one) == self.sign(other) and one.wording == other.wording

    def sign(self, failure: Failure[C]) -> Difference | None:
        """Return the first difference from the model that tells the failure apart; None where there is none."""
        return next(iter(self.signs(failure)), None)

    def signs(self, failure: Failure[C]) -> Sequence[Difference]:
        """Return the differences that tell it apart: those that the implementation has not chosen."""
        found = self._compared(failure.observation)
        if found:
            fresh, self._weighed = self.sample[self._weighed :], len(self.sample)
            self._chosen.update(one for clean in fresh for one in self._differences(clean))
        return [one for one in found if one not in self._chosen]

    def causes(
        self,
        breaks: Callable[[Failure[C]], Collection[str]] = lambda _: (),
        laws: Iterable[str] = (),
        known: Mapping[str, Sequence[Failure[C]]] = MappingProxyType({}),
    ) -> tuple[Cause[C], ...]:
        """Group all failures by cause; causes and their failures are in the order of their size, and then of *laws*.

        *breaks* names all laws that the case of a failure breaks. A failure joins the first cause with its case or its
        first difference; failing that, one of other laws that differs in the same way elsewhere, or one whose case
        breaks the same laws, unless the two are known to differ. *known* are failures of earlier runs, by their names.
        """
        groups: list[_Group[C]] = []
        every = [failure for law in dict.fromkeys([*laws, *self]) for failure in self.of(law)]
        for failure in sorted(every, key=_SIZE):
            new = self._group(failure, breaks)
            if (group := new.among(groups)) is None:
                groups.append(new)
            else:
                group.sign = group.sign or new.sign
                group.cases |= new.cases
                group.failures.append(failure)
        for name, failures in known.items():
            found = (self._group(failure, breaks).among(groups) for failure in failures)
            for group in {id(one): one for one in found if one is not None}.values():
                group.known.append(name)
        return tuple(Cause(tuple(one.failures), tuple(breaks(one.failures[0])), tuple(one.known)) for one in groups)

    def _group(self, failure: Failure[C], breaks: Callable[[Failure[C]], Collection[str]]) -> _Group[C]:
        laws = frozenset({failure.law, *breaks(failure)})
        case = msgspec.json.encode(self._telling(failure.observation.case))
        return _Group(self.sign(failure), laws, {case}, [failure])

    def _compared(self, observation: Observation[C]) -> Sequence[Difference]:
        """The differences of an observation, each compared once: laws share it, and a case is judged by all of them."""
        found = self._known.get(id(observation))
        if found is None:
            if len(self._known) >= 2 * SAMPLE:
                self._known.clear()
            found = self._known[id(observation)] = (observation, self._differences(observation))
        return found[1]
