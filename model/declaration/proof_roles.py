"""The roles that the names of a machine play in what is claimed of it: each machine's file declares its own.

From these and the rows come the proofs, the Promela export, the finite machines of test suites, and the exploration
beside the core.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from .contexts import Output
from .machine import Machine, Row

Refine: TypeAlias = Callable[[Sequence[Output], Mapping[int, Any]], list[dict[str, Any]]]
"""A machine's refinement: from its outputs, and the event at each position, to log events as JSON values."""

Names: TypeAlias = Sequence[str]
NamesOf: TypeAlias = Mapping[str, Names]


@dataclass(frozen=True)
class RunRoles:
    """When a run is open: in the states of ``active``.

    In those of ``data_dependent``, and nowhere else, it depends on data: the guard ``closed`` says that none is.
    """

    active: Names = ()
    begins: Names = ()
    """Effects that begin a run."""
    ends: Names = ()
    """Effects that end one."""
    answers: NamesOf = field(default_factory=dict[str, Names])
    """Active state → the events that answer what is awaited there. All other events are the environment's whim."""
    awaited: Mapping[str, tuple[Names, Names]] = field(default_factory=dict[str, tuple[Names, Names]])
    """Answer → the guards that hold, and those that do not, where it is the answer to what is awaited."""
    ignores: Names = ("ignore",)
    """Effects of rows that only ignore: an event that is ignored answers nothing."""
    rounds: Names = ()
    """Effects that ask the model again, where the machine declares a bound: no run has them without end."""
    data_dependent: Names = ()
    closed: str | None = None

    def leads_on(self, row: Row) -> bool:
        """Return whether *row* is the answer to what is awaited, and more than ignoring it."""
        ignored = row.source == row.dest and all(name in self.ignores for name in row.effects)
        return row.event in self.answers.get(row.source, ()) and not ignored


@dataclass(frozen=True)
class MessageRoles:
    """Where messages go, and what waits in order."""

    taken: NamesOf = field(default_factory=dict[str, Names])
    """Event → the effects of which each of its rows has exactly one: no message is lost or taken twice (X-7)."""
    queues: Names = ()
    """Queues that are first-in-first-out without loss: what leaves is popped in its turn, or an output shows it."""
    drops: NamesOf = field(default_factory=dict[str, Names])
    """Event → the effects by which its rows discard what waits, as declared."""


@dataclass(frozen=True)
class CallRoles:
    """What holds the unanswered calls, and what makes and answers them."""

    registers: Names = ()
    """A map's positions, a queue, the one under way."""
    makes: Names = ()
    """Outputs that make a call."""
    results: Names = ()
    """Outputs that answer a call, or remark that nothing did; one without arguments is about the event's own call."""
    empty: NamesOf = field(default_factory=dict[str, Names])
    """State → those of ``registers`` that hold none there; where no run is open, none does."""
    single: Mapping[str, str] = field(default_factory=dict[str, str])
    """State → the register that names the only unanswered call there."""


@dataclass(frozen=True)
class AlphabetRoles:
    """The abstract alphabet, where the terms of the rows do not give it."""

    values: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    """A field → its values, where the terms say too little or too much; a register stands for its value at the time."""
    carries: NamesOf = field(default_factory=dict[str, Names])
    """Event → its fields that no row reads, but the refinement does."""
    payloads: NamesOf = field(default_factory=dict[str, Names])
    """Event → its fields that neither rows nor refinement read: a test suite needs them in two colours."""


@dataclass(frozen=True)
class ProofRoles:
    """A machine with the roles that its states, events, effects and registers play."""

    machine: Machine
    run: RunRoles = RunRoles()
    messages: MessageRoles = MessageRoles()
    calls: CallRoles = CallRoles()
    alphabet: AlphabetRoles = AlphabetRoles()
    tables: Sequence[Mapping[str, Any]] = ({},)
    """The tables that the machine is explored with."""
    unbounded_counters: Names = ()
    """Registers that number what is asked for: they grow without end, and answers only echo them."""
    suite_bounds: Sequence[Mapping[str, int]] = ({},)
    """Bounds of registers for a test suite; more than one where a machine is too large to be looked at whole."""
    refine: Refine | None = None


def every_choice(**values: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Return all tables of some values: each table's name and what it can be."""
    return tuple(dict(zip(values, choice, strict=True)) for choice in product(*values.values()))
