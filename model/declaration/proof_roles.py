"""The roles that a machine's names play in claims about it: each machine's file declares its own.

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
class Ending:
    """The circumstances in which a run ends for one reason: the events, and the guards that hold and that do not."""

    events: Names
    holds: Names = ()
    unless: Names = ()


@dataclass(frozen=True)
class RunRoles:
    """The states in which a run is open: those of ``active``.

    In those of ``data_dependent``, and only there, it depends on data: if the guard ``closed`` holds, no run is open.
    """

    active: Names = ()
    begins: Names = ()
    """Effects that begin a run."""
    ends: Names = ()
    """Effects that end one."""
    answers: NamesOf = field(default_factory=dict[str, Names])
    """Active state → the events that are awaited answers there. The environment may send all others or not."""
    awaited: Mapping[str, tuple[Names, Names]] = field(default_factory=dict[str, tuple[Names, Names]])
    """Answer → the guards that hold, and those that do not, when it is awaited."""
    ignores: Names = ("ignore",)
    """Effects of rows that only ignore: an ignored event answers nothing."""
    rounds: Names = ()
    """Effects that ask the model again, if the machine declares a bound: no run has infinitely many."""
    continues: Names = ()
    """Events by which the model keeps a run going: it may send one in each round, without end."""
    reasons: Mapping[str, Sequence[Ending]] = field(default_factory=dict[str, Sequence[Ending]])
    """Effect that says why a run ends → the only circumstances in which a row has it."""
    late: NamesOf = field(default_factory=dict[str, Names])
    """Event → the guards each of which says that it answers nothing open."""
    asks: NamesOf = field(default_factory=dict[str, Names])
    """State → the outputs by which the machine asks for what it awaits there."""
    logged: Names = ()
    """Outputs that the log shows as a run's work."""
    numbers: Names = ()
    """Registers that name what is awaited: a row that changes one awaits something new."""
    data_dependent: Names = ()
    closed: str | None = None

    def leads_on(self, row: Row) -> bool:
        """Return whether *row* takes an awaited answer, and does not only ignore it."""
        ignored = row.source == row.dest and all(name in self.ignores for name in row.effects)
        return row.event in self.answers.get(row.source, ()) and not ignored


@dataclass(frozen=True)
class DeliveryRole:
    """A message that asks for a delivery while a run is open, and the effect that gives it.

    Without ``asked``, a guard, each message of the event asks for it.
    """

    event: str
    effect: str
    asked: str | None = None


@dataclass(frozen=True)
class MessageRoles:
    """The places of messages, and the queues that keep order."""

    taken: NamesOf = field(default_factory=dict[str, Names])
    """Event → the effects of which each of its rows has exactly one: no message is lost or taken twice (X-7)."""
    queues: Names = ()
    """Queues that are first-in-first-out without loss: an entry leaves popped in its turn, or shown by an output."""
    drops: NamesOf = field(default_factory=dict[str, Names])
    """Event → the effects by which its rows discard queued entries, as declared."""
    reads: NamesOf = field(default_factory=dict[str, Names])
    """Queue → the outputs that take all of it: the shell finds the messages in the log."""
    waiting: str | None = None
    """The queue of what waits for a run of its own."""
    promotes: NamesOf = field(default_factory=dict[str, Names])
    """Effect that ends a run → the guards by which a policy holds or drops what waits."""
    deliveries: Sequence["DeliveryRole"] = ()
    late_in: Names = ()
    """Active states in which it is too late to steer: each message waits there."""


@dataclass(frozen=True)
class Count:
    """The open entries of a map are as many as a queue is long, or a counter says, and ``more``."""

    map: str
    of: str | None = None
    more: int = 0


@dataclass(frozen=True)
class Group:
    """Calls that run side by side: a call register names the first one of its group.

    The environment's contract: ``event``, unless it is ``stale``, answers by ``field`` a call of the group under way.
    That group has one call, and one more for each that ``others`` counts.
    """

    map: str
    others: str
    event: str
    field: str
    stale: str


@dataclass(frozen=True)
class CallRoles:
    """The registers that hold unanswered calls, and the outputs that make and answer them."""

    registers: Names = ()
    """A map with positions, a queue, or the register of the call under way."""
    makes: Names = ()
    """Outputs that make a call."""
    results: Names = ()
    """Outputs that answer a call, or remark that none did; one without arguments is about the event's own call."""
    empty: NamesOf = field(default_factory=dict[str, Names])
    """State → those of ``registers`` that hold no call there; while no run is open, none does."""
    single: Mapping[str, str] = field(default_factory=dict[str, str])
    """State → the register that names the only unanswered call there."""
    made_in: Names = ()
    """The states in which the registers hold calls that were made, if not in all: elsewhere they are drafts."""
    opens: NamesOf = field(default_factory=dict[str, Names])
    """Event that brings a draft → the effects of which each row that takes it has exactly one."""
    ids: str | None = None
    """The map that knows every call id of the run."""
    sweeps: Names = ()
    """Outputs that answer whatever is still unanswered: the refinement finds it in the log."""
    counts: Mapping[str, Count] = field(default_factory=dict[str, Count])
    """State → how many calls are open there; a count that the registers give is as good as a look at each call."""
    group: Group | None = None


@dataclass(frozen=True)
class AlphabetRoles:
    """The abstract alphabet, as far as the terms of the rows do not give it."""

    values: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    """Field → its values, if the terms give too few or too many; a register stands for its value at the time."""
    carries: NamesOf = field(default_factory=dict[str, Names])
    """Event → its fields that the refinement reads and no row does."""
    payloads: NamesOf = field(default_factory=dict[str, Names])
    """Event → its fields that neither rows nor refinement read: a test suite needs two colours of each."""


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
    bound: int = 2
    """Entries of a queue or map, and counts, up to which the machine is explored."""
    unbounded_counters: Names = ()
    """Registers that number requests: they grow without bound, and answers only echo them."""
    suite_bounds: Sequence[Mapping[str, int]] = ({},)
    """Bounds of registers for a test suite; several if a machine is too large to be explored in one piece."""
    refine: Refine | None = None
    boundary: Names = ()
    """Effects at the boundary of a machine without runs; else it is where a run ends."""
    parts: NamesOf = field(default_factory=dict[str, Names])
    """Name → states of a part that is drawn by itself, if the machine is too large for one picture."""
    asides: NamesOf = field(default_factory=dict[str, Names])
    """Name → events whose rows are drawn by themselves, in all states, and in no other picture."""


def every_choice(**values: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Return every choice of tables, given each table's possible values."""
    return tuple(dict(zip(values, choice, strict=True)) for choice in product(*values.values()))
