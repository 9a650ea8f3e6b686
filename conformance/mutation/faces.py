"""Mutants as implementations that `verify` judges: which laws break.

The rows of ``request_cycle`` are run as a projector, those of ``interaction`` as a runtime: the two machines whose
every event an environment can cause through the protocol. The others are looked at in their own alphabets alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from turncheck.adapters.errors import ImplementationError
from turncheck.adapters.projector import ProjectorTarget
from turncheck.adapters.reference import ReferenceTarget
from turncheck.adapters.references.interaction.runtime import PROFILE, InteractionRuntime
from turncheck.model.cycles import Projection
from turncheck.model.decode import judge
from turncheck.model.events import Event
from turncheck.model.interpreter import project
from turncheck.model.machine import Machine, Row
from turncheck.model.mutants import Mutant
from turncheck.model.policies import DEFAULT, Policies
from turncheck.model.request_cycle import tables
from turncheck.model.stepping import Stepper
from turncheck.model.vocabulary import Output

from ..judging import HASH_SEED
from ..laws.registry import selected
from ..results import Result
from ..situations import rows_for
from ..verifying import EXAMPLES, verify
from ..verifying_runs import verify_runtime


@dataclass(frozen=True)
class Judged:
    """The laws that a mutant breaks; ``error`` where it broke down before any law could be judged."""

    mutant: str
    laws: tuple[str, ...]
    error: str | None = None

    @property
    def killed(self) -> bool:
        """Whether `verify` would not exit with 0."""
        return bool(self.laws or self.error)


class _Stepped(Stepper):
    """Rows in the oracle's place: some thirty times as fast as `transitions`."""

    def step(self, symbol: str, event: Event | None, at: int) -> list[Output]:
        """Take one event; return the outputs that it caused."""
        self.take(symbol, event, at)
        return [*self.outputs]


class MachineProjector(ReferenceTarget):
    """The projector that the rows of *machine* are."""

    def __init__(self, machine: Machine, name: str = "mutant") -> None:
        super().__init__(name, lambda _: MachineProjector(machine, name))
        self._machine = machine
        self._log: list[Any] = []

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project a log. Raises ImplementationError where the rows cannot."""
        try:
            chosen = policies or DEFAULT
            return project(map(judge, events), chosen, _Stepped(self._machine, tables(chosen)))
        except Exception as error:
            raise ImplementationError(f"the machine fails: {error!r}") from error

    def feed(self, events: Sequence[Any]) -> None:
        """Take the next events."""
        self._log += events

    def fed(self) -> Projection:
        """The projection of what was fed."""
        return self.project(self._log)

    def reset(self) -> None:
        """Forget what was fed."""
        self._log = []

    def again(self, hash_seed: int) -> ProjectorTarget:  # noqa: ARG002 - this process has its seed
        """The same, in this process."""
        return MachineProjector(self._machine, self.name)


def _projector(mutant: Mutant, examples: int, seed: int, *, first: bool) -> Result:
    target = MachineProjector(mutant.machine)
    return verify(target, selected(["projector"]), examples=examples, seed=seed, fail_fast=first, shrink=False)[0]


_DECLARED: Final[Sequence[Mapping[str, Any]]] = (
    {"busy": "followUp", "retries": 2},
    {"busy": "steer", "steerLands": "after-call"},
    {"busy": "reject", "queueAfterError": "drop", "queueAfterInterrupted": "drop"},
    {"busy": "followUp", "queueAfterError": "hold", "queueAfterInterrupted": "hold"},
    {"busy": "steer", "queueAfterError": "drop", "retries": 2},
)
"""Policies that a runtime declares: under one of these at least, every row can be taken that any allow."""


def declared(row: Row) -> Mapping[str, Any]:
    """The first of the policies under which *row* can be taken: what an implementation with that row would declare."""
    capabilities = frozenset(PROFILE.capabilities)
    return next((chosen for chosen in _DECLARED if row in rows_for(capabilities, chosen)), _DECLARED[0])


def _runtime(mutant: Mutant, examples: int, seed: int, *, first: bool) -> Result:
    laws = selected(["runtime"])
    target = InteractionRuntime(mutant.machine, declared(mutant.row))
    return verify_runtime(target, laws, words=examples, seed=seed, hash_seed=HASH_SEED, fail_fast=first, shrink=False)[
        0
    ]


FACES: Final[Mapping[str, Callable[..., Result]]] = {"request_cycle": _projector, "interaction": _runtime}
"""Machine → what verifies an edited one."""


def reached(mutant: Mutant) -> bool:
    """Whether `verify` can cause the mutant's row: what nobody awaits is refused before the machine hears of it."""
    return mutant.machine.name in FACES and mutant.row.effects != ("not_awaited",)


def judged(mutant: Mutant, *, seeds: Sequence[int] = (0,), examples: int = EXAMPLES) -> Iterator[Judged]:
    """What `verify` says of a mutant, under each seed.

    The words and logs that every run begins with are judged by all laws; what they do not kill is run with *examples*
    generated ones until the first law breaks.
    """
    face = FACES[mutant.machine.name]
    classic = _told(mutant, face(mutant, 0, 0, first=False))
    for seed in seeds:
        if classic.killed:
            yield classic
        else:
            yield _told(mutant, face(mutant, examples, seed, first=True))


def _told(mutant: Mutant, result: Result) -> Judged:
    broken = tuple(law.law for law in result.laws if law.verdict == "fail")
    return Judged(mutant.name, broken, result.cut if result.summary["error"] else None)
