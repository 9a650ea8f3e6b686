"""Mutants as implementations that `verify` judges, to see which laws break.

The rows of ``request_cycle`` run as a projector, those of ``interaction`` as a runtime: an environment can cause every
event of these two machines through the protocol. The other machines are mutated only in their own alphabets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from turncheck.adapters.protocol.errors import ImplementationError
from turncheck.adapters.references.interaction.runtime import InteractionRuntime
from turncheck.adapters.targets.reference_projector import PROFILE, ReferenceTarget
from turncheck.adapters.targets.registry import Target
from turncheck.model.automata.mutants import Mutant
from turncheck.model.checking.oracle import project
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import Event
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.declaration.machine import Machine
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.interaction import POLICIES
from turncheck.model.machines.request_cycle import tables as tables_of

from ...laws.registry import selected
from ...verify.subjects.projector import EXAMPLES
from ...verify.verification import subjects_of, verify_target


@dataclass(frozen=True)
class Judged:
    """The laws that a mutant breaks; ``error`` if it failed before any law could be judged.

    ``whole`` if every law was judged: generated words and logs end with the first law that breaks.
    """

    mutant: str
    laws: tuple[str, ...]
    whole: bool
    error: str | None = None

    @property
    def killed(self) -> bool:
        """True if `verify` would not exit with 0."""
        return bool(self.laws or self.error)


class _Stepped(Stepper):
    """The rows as a replacement for the oracle, some thirty times as fast as `transitions`."""

    def step(self, symbol: str, event: Event | None, at: int) -> list[Output]:
        """Take one event; return the outputs that it caused."""
        self.take(symbol, event, at)
        return [*self.outputs]


class MachineProjector(ReferenceTarget):
    """The rows of *machine*, run as a projector."""

    def __init__(self, machine: Machine, name: str = "mutant") -> None:
        # the oracle takes one agent's log: what tells agents apart is no row
        own = replace(PROFILE, capabilities=tuple(one for one in PROFILE.capabilities if one != "sub-agents"))
        super().__init__(name, lambda _: MachineProjector(machine, name), own)
        self._machine = machine
        self._log: list[Any] = []

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project a log. Raises ImplementationError where the rows cannot."""
        try:
            chosen = policies or DEFAULT
            return project(map(judge, events), chosen, _Stepped(self._machine, tables_of(chosen)))
        except Exception as error:
            raise ImplementationError(f"the machine fails: {error!r}") from error

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events, or those from the position *start* on."""
        self._log += events[0 if start is None else len(self._log) - start :]

    def fed(self) -> Projection:
        """Return the projection of all events fed since the reset."""
        return self.project(self._log)

    def reset(self) -> None:
        """Drop all fed events."""
        self._log = []


def reached(mutant: Mutant) -> bool:
    """Return whether `verify` can cause the mutant's row: an unawaited stimulus is refused before the machine."""
    return mutant.right.name in {"request_cycle", "interaction"} and mutant.row.effects != ("not_awaited",)


def judged(
    mutant: Mutant, tables: Mapping[str, Any], *, seeds: Sequence[int] = (0,), examples: int = EXAMPLES
) -> Iterator[Judged]:
    """Judge a mutant that differs from its machine under *tables* by `verify`, once per seed.

    All laws judge the words and logs with which every run begins; a mutant that survives them is run with *examples*
    generated ones until the first law breaks.
    """
    classic = _told(mutant, tables, 0, 0, whole=True)
    for seed in seeds:
        yield classic if classic.killed else _told(mutant, tables, examples, seed, whole=False)


def _told(mutant: Mutant, tables: Mapping[str, Any], examples: int, seed: int, *, whole: bool) -> Judged:
    target = _target(mutant, tables)
    laws = selected(subjects_of(target))
    result, _ = verify_target(target, laws, examples=examples, seed=seed, fail_fast=not whole, shrink=False)
    broken = tuple(law.law for law in result.laws if law.verdict == "fail")
    return Judged(mutant.name, broken, whole, result.cut if result.summary["error"] else None)


def _target(mutant: Mutant, tables: Mapping[str, Any]) -> Target:
    """Open the mutant as a target; a runtime declares the policies of its tables."""
    if mutant.right.name == "request_cycle":
        return Target(projector=MachineProjector(mutant.machine))
    policies = {POLICIES[table][0]: value for table, value in tables.items()}
    return Target(runtime=InteractionRuntime(mutant.machine, policies))
