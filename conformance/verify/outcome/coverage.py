"""Shares of what a run exercised: of a machine's states and rows, of clauses, and of values of policies."""

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import msgspec

from turncheck.adapters.protocol.messages import HISTORY_POLICIES, RUNTIME_POLICIES, Profile, Role
from turncheck.model.checking.explore import explore
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import DEFAULT, VALUES, Policies
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines import collation
from turncheck.model.machines.blocks import Collator
from turncheck.model.machines.request_cycle import SPEC, tables

from .covered import Covered, Share
from .results import Input, LawResult


class Exercised:
    """The share of *rows* and *policies* that a subject's ``cases`` exercise in one *role*."""

    def __init__(self, role: Role, rows: Sequence[Row], policies: Mapping[str, tuple[str, ...]]) -> None:
        self.cases: int = 0
        self._role: Final[Role] = role
        self._rows, self._policies = rows, policies
        self.taken: set[Row] = set()
        self.values: set[str] = set()

    def absorb(self, other: "Exercised") -> None:
        """Count what another part of the run exercised."""
        self.cases += other.cases
        self.taken |= other.taken
        self.values |= other.values

    def _shares(self, laws: Iterable[LawResult]) -> Covered:
        names = {row: f"{row.source}: {row.label}" for row in self._rows}
        values = [f"{policy}={value}" for policy, allowed in self._policies.items() for value in allowed]
        applicable = [law for law in laws if law.verdict != "skipped"]
        judged = [law for law in applicable if law.evidence.observed or law.verdict == "fail"]
        states = self._share("states", [row.source for row in self._rows], {row.source for row in self.taken})
        rows = self._share("rows", names.values(), {names[row] for row in self.taken & names.keys()})
        clauses = self._share("clauses", _clauses(applicable), {*_clauses(judged)})
        shares = [states, rows, clauses, self._share("policy values", values, self.values)]
        return {"shares": shares, "states": str(states), "rows": str(rows), "missed": list(rows.missed)}

    def _share(self, what: Any, every: Iterable[str], exercised: Collection[str]) -> Share:
        """*every* may name one thing several times."""
        there = list(dict.fromkeys(every))
        missed = tuple(name for name in there if name not in exercised)
        return Share(self._role, what, len(there) - len(missed), len(there), missed)


class Coverage(Exercised):
    """Follows the rows that the core machine takes on each case of a projector.

    *own* are the policies of a projector that takes no others: the rows that they rule out are not counted, nor, where
    its input is always *valid*, those that reject an event.
    """

    def __init__(self, own: Policies | None = None, *, valid: bool = False) -> None:
        rows = SPEC.rows if own is None else _allowed(own)
        met = [row for row in rows if not (valid and any(name.startswith("reject_") for name in row.effects))]
        super().__init__("projector", met, VALUES)
        self.combinations: set[Policies] = set()

    def add(self, case: Input) -> None:
        """Count the rows that the case takes."""
        self.cases += 1
        self.combinations.add(case.policies)
        self.values |= {f"{name}={value}" for name, value in msgspec.to_builtins(case.policies).items()}
        follower = Stepper(SPEC, tables(case.policies))
        symbols = [(symbol_of(event), event) for event in map(judge, case.events)]
        self.taken |= {follower.take(*step, at) for at, step in enumerate([*symbols, ("log-end", None)])}

    def absorb(self, other: Exercised) -> None:
        """Count what another part of the run exercised."""
        super().absorb(other)
        assert isinstance(other, Coverage)
        self.combinations |= other.combinations

    def figures(self, laws: Iterable[LawResult] = (), work: int = 0) -> Covered:
        """Return the figures, with the names of what was not exercised; *work* counts the events that were given."""
        combinations = f"{len(self.combinations)}/{prod(map(len, VALUES.values()))}"
        return {**self._shares(laws), "policies": combinations, "logs": self.cases, "events": work}


@functools.cache
def _allowed(policies: Policies) -> list[Row]:
    """Return the rows that the machine can take under *policies*: a queue of one and one call reach them all."""
    reached = explore(SPEC, tables(policies), bound=1).rows
    return [row for row in SPEC.rows if row in reached]


class WordCoverage(Exercised):
    """Counts the words that a runtime is given, and the rows and policies that they exercise.

    *rows* are those that the capabilities and policies of its *profile* allow. ``unsettled`` counts words, and
    ``first_unsettled`` describes the first.
    """

    def __init__(self, profile: Profile, rows: Sequence[Row] = ()) -> None:
        super().__init__("runtime", rows, RUNTIME_POLICIES)
        self.unsettled = 0
        self.first_unsettled = ""
        self.situations: dict[str, bool] = {}
        self._profile: Final = profile
        self.values |= _by_default(profile)

    def infer(self, inferred: Mapping[str, str | int]) -> None:
        """Count the policies on a history that the profile leaves out: as *inferred*, or their defaults."""
        left = [name for name in HISTORY_POLICIES if self._profile.can("model-input")]
        found = {name: inferred.get(name, HISTORY_POLICIES[name][0]) for name in left}
        self.values |= {f"{name}={value}" for name, value in found.items() if name not in self._profile.policies}

    def add(self, policies: Mapping[str, Any], taken: Iterable[Row]) -> None:
        """Count a word, the policies that it ran under, and the rows that it took."""
        self.cases += 1
        self.taken.update(taken)
        self.values |= {f"{name}={value}" for name, value in policies.items()}

    def absorb(self, other: Exercised) -> None:
        """Count what another part of the run exercised."""
        super().absorb(other)
        assert isinstance(other, WordCoverage)
        self.unsettled += other.unsettled
        self.first_unsettled = self.first_unsettled or other.first_unsettled
        for name, made in other.situations.items():
            self.situation(name, made=made)

    def situation(self, name: str, *, made: bool) -> None:
        """Count a situation that no row names, and whether the runtime came to it."""
        self.situations[name] = self.situations.get(name, False) or made

    def figures(self, laws: Iterable[LawResult] = (), work: int = 0) -> Covered:
        """Return the figures, with the names of what was not exercised; *work* counts the stimuli."""
        found = self._shares(laws)
        made = [name for name, reached in self.situations.items() if reached]
        if self.situations:
            found["shares"] = [*found.get("shares", ()), self._share("situations", self.situations, made)]
        return {**found, "words": self.cases, "stimuli": work, "unsettled": self.unsettled}


class FlowCoverage(Exercised):
    """Counts the flows that a collator is given, and the rows that the machine ``collation`` takes on their frames."""

    def __init__(self) -> None:
        super().__init__("collator", collation.SPEC.rows, {})

    def take(self, frames: Iterable[Mapping[str, Any]]) -> None:
        """Count the rows that frames take."""
        collator = Collator()
        for frame in frames:
            collator.feed(frame)
        self.taken |= collator.taken

    def figures(self, laws: Iterable[LawResult] = (), work: int = 0) -> Covered:
        """Return the figures, with the names of what was not exercised; *work* counts the frames."""
        found = self._shares(laws)
        shares = [share for share in found.get("shares", ()) if share.total]
        return {**found, "shares": shares, "flows": self.cases, "frames": work}


AnyCoverage: TypeAlias = Coverage | WordCoverage | FlowCoverage


def _by_default(profile: Profile) -> set[str]:
    """Return the default fate of a queue where the profile declares none: the queue is judged by it."""
    fates = {name: fate for name, fate in msgspec.to_builtins(DEFAULT).items() if name.startswith("queue")}
    queues = profile.can("follow-up")
    return {f"{name}={fate}" for name, fate in fates.items() if queues and name not in profile.policies}


def merged(parts: Iterable[Covered]) -> Covered:
    """Merge the figures of several roles: all their shares."""
    whole: Covered = {}
    for part in parts:
        whole = {**whole, **part, "shares": [*whole.get("shares", ()), *part.get("shares", ())]}
    return whole


def _clauses(laws: Iterable[LawResult]) -> list[str]:
    return [clause for law in laws for clause in law.clauses]
