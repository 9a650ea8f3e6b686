"""Shares of what a run exercised: of a machine's states and rows, of clauses, and of values of policies."""

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from turncheck.adapters.protocol.messages import RUNTIME_POLICIES, Profile, Role
from turncheck.model.checking.explore import explore
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import DEFAULT, VALUES, Policies
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.request_cycle import SPEC, tables

from .results import Covered, Input, LawResult, Share, SuiteRun

COMBINATIONS: Final = 18
"""Combinations of the projection's policies: 2 · 3 · 3."""
_OF_RUNTIMES: Final = {**RUNTIME_POLICIES, **{name: VALUES[name] for name in VALUES if name.startswith("queue")}}
"""A runtime's policies with a set of values: its own, and what becomes of its queue (``busy`` is its whileActive)."""


class Coverage:
    """Follows the rows that the core machine takes on each case of a projector.

    *own* are the policies of a projector that takes no others: the rows that they rule out are not counted.
    """

    def __init__(self, own: Policies | None = None) -> None:
        self._every = SPEC.rows if own is None else _allowed(own)
        self._rows: Counter[Row] = Counter()
        self._policies: set[Any] = set()
        self.logs = 0

    def add(self, case: Input) -> None:
        """Count the rows that the case takes."""
        self.logs += 1
        self._policies.add(case.policies)
        follower = Stepper(SPEC, tables(case.policies))
        symbols = [(symbol_of(event), event) for event in map(judge, case.events)]
        for at, (symbol, event) in enumerate([*symbols, ("log-end", None)]):
            self._rows[follower.take(symbol, event, at)] += 1

    def figures(self, laws: Iterable[LawResult] = ()) -> Covered:
        """Return the figures, with the names of what was not exercised."""
        values = {
            f"{name}={value}" for policies in self._policies for name, value in msgspec.to_builtins(policies).items()
        }
        shares = [
            *_taken("projector", self._every, self._rows),
            _clauses("projector", laws),
            _share("projector", "policy values", _every(VALUES), values),
        ]
        return {**_short(shares), "policies": f"{len(self._policies)}/{COMBINATIONS}"}


@functools.cache
def _allowed(policies: Policies) -> list[Row]:
    """The rows that the machine can take under *policies*: a queue of one and one call reach them all."""
    reached = explore(SPEC, tables(policies), bound=1).rows
    return [row for row in SPEC.rows if row in reached]


class WordCoverage:
    """Counts the words that a runtime is given, and the rows and policies that they exercise.

    *rows* are those that the capabilities and policies of its *profile* allow.
    """

    def __init__(self, profile: Profile, rows: Sequence[Row] = ()) -> None:
        self.words = self.unsettled = 0
        self._profile, self._rows = profile, rows
        self._taken: Counter[Row] = Counter()
        self._policies: set[str] = set()

    def add(self, policies: Mapping[str, Any], taken: Iterable[Row]) -> None:
        """Count a word, the policies that it ran under, and the rows that it took."""
        self.words += 1
        self._taken.update(taken)
        self._policies.update(f"{name}={value}" for name, value in policies.items())

    def figures(self, laws: Iterable[LawResult], stimuli: int) -> Covered:
        """Return the figures, with the names of what was not exercised."""
        shares = [
            *_taken("runtime", self._rows, self._taken),
            _clauses("runtime", laws),
            _share("runtime", "policy values", _every(_OF_RUNTIMES), self._policies | _by_default(self._profile)),
        ]
        return {**_short(shares), "words": self.words, "stimuli": stimuli, "unsettled": self.unsettled}


def _by_default(profile: Profile) -> set[str]:
    """Return the default fate of a queue where the profile declares none: the queue is judged by it."""
    fates = {name: fate for name, fate in msgspec.to_builtins(DEFAULT).items() if name.startswith("queue")}
    queues = profile.can("follow-up")
    return {f"{name}={fate}" for name, fate in fates.items() if queues and name not in profile.policies}


def suite_figures(coverage: WordCoverage, laws: Iterable[LawResult], stimuli: int, suite: SuiteRun) -> Covered:
    """The figures of a runtime to which a suite was applied: rows are the business of generation."""
    return {
        "shares": [_clauses("runtime", laws)],
        "words": coverage.words,
        "stimuli": stimuli,
        "unsettled": coverage.unsettled,
        "suite": suite,
    }


def merged(parts: Iterable[Covered]) -> Covered:
    """The figures of several roles as one: all their shares."""
    whole: Covered = {}
    for part in parts:
        whole = {**whole, **part, "shares": [*whole.get("shares", ()), *part.get("shares", ())]}
    return whole


def _taken(role: Role, rows: Sequence[Row], taken: Collection[Row]) -> list[Share]:
    """The states that rows start from, and the rows, in the machine's order."""
    names = {row: f"{row.source}: {row.label}" for row in rows}
    return [
        _share(role, "states", [row.source for row in rows], {row.source for row in taken}),
        _share(role, "rows", names.values(), {names[row] for row in taken if row in names}),
    ]


def _clauses(role: Role, laws: Iterable[LawResult]) -> Share:
    """The clauses that laws with evidence name, of those that any law names which applies."""
    applicable = [law for law in laws if law.verdict != "skipped"]
    judged = {clause for law in applicable if law.evidence.observed or law.verdict == "fail" for clause in law.clauses}
    return _share(role, "clauses", [clause for law in applicable for clause in law.clauses], judged)


def _every(values: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [f"{policy}={value}" for policy, allowed in values.items() for value in allowed]


def _share(role: Role, what: Any, every: Iterable[str], exercised: Collection[str]) -> Share:
    """*every* may name one thing several times."""
    there = list(dict.fromkeys(every))
    missed = tuple(name for name in there if name not in exercised)
    return Share(role, what, len(there) - len(missed), len(there), missed)


def _short(shares: list[Share]) -> Covered:
    states, rows, *_ = shares
    return {"shares": shares, "states": str(states), "rows": str(rows), "missed": list(rows.missed)}
