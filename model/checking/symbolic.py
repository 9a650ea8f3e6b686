"""The rows of a declared machine as formulas for a prover: each is taken once, from any registers.

Needs the extra ``proofs``, as ``proofs`` and ``ranking`` do; nothing else of the model imports them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import combinations, product
from typing import Any, Final

from ..declaration.contexts import Slots
from ..declaration.machine import Machine, Row
from ..declaration.operands import terms
from ..declaration.proof_roles import CallRoles, Count, ProofRoles
from ..declaration.vocabulary import ANSWERED, Clear, Const, Here, Lookup, Output, Pop, Push, Register
from ..declaration.vocabulary import Set as SetTo
from .alphabet import flows

z3: Any = import_module("z3")  # it has no types

NONE: Final = -1000
"""The integer that stands for None; strings are the integers below it. No position, count or ANSWERED is as low."""


class Symbols:
    """The prover's symbols for terms (``vocabulary.Symbolic``): registers, tables and event fields as any integers."""

    def __init__(self, machine: Machine, strings: dict[str, int], counted: Iterable[str] = ()) -> None:
        self.registers: dict[str, Any] = {name: _unknown(kind, name) for name, kind in machine.registers.items()}
        self.registers |= {count_of(name): z3.Int(count_of(name)) for name in counted}
        self.outputs: list[Output] = []
        self.at: Any = z3.Int("at")
        self._strings = strings

    def literal(self, value: str | int | None) -> Any:
        """Return the integer of a literal: each string has its own, counted down, the same in all rows."""
        if isinstance(value, str):
            value = self._strings.setdefault(value, NONE - 1 - len(self._strings))
        return z3.IntVal(NONE if value is None else value)

    def field(self, name: str) -> Any:
        """Any integer."""
        return z3.Int(f"event.{name}")

    def table(self, name: str, *, keyed: bool = False) -> Any:
        """Any integer, or any array of them."""
        return _unknown("map" if keyed else "number", f"table {name}")

    def choose(self, test: Any, then: Any, otherwise: Any) -> Any:
        """The prover's conditional."""
        return z3.If(test, then, otherwise)

    def store(self, array: Any, key: Any, value: Any) -> Any:
        """The prover's array with one entry changed."""
        return z3.Store(array, key, value)

    def nothing(self) -> Any:
        """None everywhere."""
        return z3.K(z3.IntSort(), self.literal(None))


def _unknown(kind: str, name: str) -> Any:
    array = z3.Array(name, z3.IntSort(), z3.IntSort())
    if kind == "queue":
        return Slots(array, z3.Int(f"{name}.head"), z3.Int(f"{name}.tail"))
    return array if kind == "map" else z3.Int(name)


@dataclass(frozen=True)
class Refutation:
    """A claim that does not hold, the row that breaks it, and registers from which it does."""

    claim: str
    row: str
    why: str = ""
    taken: "Taken | None" = field(default=None, compare=False, repr=False)
    unmet: Any = field(default=None, compare=False, repr=False)
    """The formula that the registers satisfy, where the claim is one about registers."""


@dataclass(frozen=True)
class Moment:
    """The registers and outputs just before an effect of a row, or after its last one."""

    registers: Mapping[str, Any]
    outputs: Sequence[Output]
    effect: str | None


class Taken:
    """A row, taken from any registers that its guards and the invariants permit."""

    def __init__(self, roles: ProofRoles, row: Row, strings: dict[str, int], symbols: Symbols | None = None) -> None:
        self.roles, self.row, machine = roles, row, roles.machine
        symbols = self.symbols = symbols or Symbols(machine, strings, counted(roles.calls))
        self.permits = guarded(machine, row.conditions, row.unless, symbols)
        self.moments = [self._moment(row.effects[0] if row.effects else None)]
        for number, name in enumerate(row.effects, start=1):
            _recount(machine.effects[name], symbols)
            machine.effects[name].change(symbols)
            self.moments.append(self._moment(row.effects[number] if number < len(row.effects) else None))

    @property
    def before(self) -> Moment:
        """Before all effects."""
        return self.moments[0]

    @property
    def after(self) -> Moment:
        """After all effects."""
        return self.moments[-1]

    def _moment(self, effect: str | None) -> Moment:
        return Moment(dict(self.symbols.registers), tuple(self.symbols.outputs), effect)

    def refute(self, claim: str, *obligations: Any) -> Iterator[Refutation]:
        """Yield the registers from which the row, once taken, breaks one of *obligations*."""
        solver = z3.SolverFor("QF_AUFLIA")
        solver.add(*self._assumed, z3.Not(z3.And(*obligations)))
        if (answer := solver.check()) != z3.unsat:
            why = str(solver.model()) if answer == z3.sat else "the prover gave up"
            unmet = z3.And(self.permits, z3.Not(z3.And(*obligations)))
            yield Refutation(claim, f"{self.row.source}: {self.row.label}", " ".join(why.split()), self, unmet)

    @cached_property
    def _assumed(self) -> Sequence[Any]:
        """The formulas that hold before the row, for any claim: to write them down takes longer than to refute one."""
        formed = [*well_formed(self.roles.machine, self.before, self.symbols)]
        known = invariant(self.roles, self.row.source, self.before, self.symbols)
        return [self.permits, *formed, known, *self.contract()]

    def contract(self) -> Iterator[Any]:
        """The formulas: what a group's calls are answered by (``Group``), and what ids and counts are."""
        calls, symbols, registers = self.roles.calls, self.symbols, self.before.registers
        keys = [symbols.field(name) for name in sorted(keyed_by(self.roles))]
        yield from (z3.And(key != NONE, key != ANSWERED) for key in keys)
        for name in counted(calls):
            others = [z3.If(z3.And(key != CALL, is_open(registers[name], key)), 1, 0) for key in keys]
            yield registers[count_of(name)] >= z3.If(is_open(registers[name]), 1, 0) + z3.Sum(others)
        if calls.group and self.row.event == calls.group.event:
            stale = within(self.before, symbols, self.roles.machine.guards[calls.group.stale].formula)
            answered, kept = symbols.field(calls.group.field), registers[calls.group.map]
            beside = z3.If(registers[calls.group.others] > 0, registers[calls.group.others], 0)
            under_way = _under_way(self.roles, self.row.source, self.before)
            new = z3.And(answered != CALL, kept[answered] == NONE, z3.Not(is_open(kept)), under_way)
            fewer = z3.Implies(new, registers[count_of(calls.group.map)] < beside)
            yield z3.Or(stale, z3.And(z3.Implies(answered == CALL, under_way), fewer))


def counted(calls: CallRoles) -> list[str]:
    """The maps whose open entries are counted."""
    return [*dict.fromkeys(count.map for count in calls.counts.values())]


def count_of(name: str) -> str:
    """The auxiliary register that counts the open entries of a map."""
    return f"open in {name}"


def _recount(effect: Any, symbols: Symbols) -> None:
    """Keep the count of open entries in step with an effect that comes next."""
    match effect:
        case SetTo(target=Lookup(of=Register(name=name)) as target) if count_of(name) in symbols.registers:
            key, value = target.key.term(symbols), effect.value.term(symbols)
            now = z3.If(z3.And(value != NONE, value != ANSWERED), 1, 0)
            change = now - z3.If(is_open(symbols.registers[name], key), 1, 0)
            symbols.registers[count_of(name)] = symbols.registers[count_of(name)] + change
        case Clear(register=Register(name=name)) if count_of(name) in symbols.registers:
            symbols.registers[count_of(name)] = z3.IntVal(0)
        case _:
            pass


def _is_queue(held: Any) -> bool:
    return isinstance(held, Slots)


def guarded(machine: Machine, conditions: Sequence[str], unless: Sequence[str], symbols: Symbols) -> Any:
    """The formula: some guards hold, and others do not."""
    hold = [machine.guards[name].formula(symbols) for name in conditions]
    return z3.And(hold + [z3.Not(machine.guards[name].formula(symbols)) for name in unless])


SLOT: Final = z3.Int("j")
CALL: Final = z3.Int("w")
HEAD: Final = z3.Int("first of w's group")


def well_formed(machine: Machine, at: Moment, symbols: Symbols) -> Iterator[Any]:
    """The formulas that the primitives keep by themselves: slots count up, a pushed value is newer than all before."""
    yield symbols.at >= 0
    yield from enumerated(machine, symbols)
    for name, held in at.registers.items():
        if isinstance(held, Slots):
            yield z3.And(held.head >= 0, held.head <= held.tail)
            if all(isinstance(push.value, Here) for push in pushes_of(machine, machine.effects, name)):
                oldest, some = held.values[held.head], held.values[SLOT]
                yield z3.And(oldest >= 0, some >= 0, z3.Implies(held.head < SLOT, oldest < some))
                for popped in _only_popped(machine, name):
                    yield z3.And(at.registers[popped] < oldest, z3.Implies(waits(held), at.registers[popped] < some))
    for popped, queues in _shared(machine).items():
        held = [at.registers[name] for name in queues]
        value = at.registers[popped]
        yield from (z3.Implies(there, entry != value) for one in held for there, entry in _entries(one))
        for one, other in combinations(held, 2):
            for (here, entry), (there, second) in product(_entries(one), _entries(other)):
                yield z3.Implies(z3.And(here, there), entry != second)


def enumerated(machine: Machine, symbols: Symbols) -> Iterator[Any]:
    """The formulas: each field or table with enumerated values has one of them."""
    for subject in dict.fromkeys(guard.subject for guard in machine.guards.values()):
        if values := subject.values:
            yield z3.Or([subject.term(symbols) == symbols.literal(value) for value in values])


def _only_popped(machine: Machine, queue: str) -> set[str]:
    """The registers that hold only values popped from a queue, or -1."""
    popped = {effect.into.name for effect in machine.effects.values() if isinstance(effect, Pop)}
    return popped - {target for target, source in flows(machine) if source not in (Register(queue), Const(-1))}


def _entries(queue: Slots) -> list[tuple[Any, Any]]:
    """The oldest entry of a queue and that of slot ``j``, each with the formula that it is there."""
    return [(queue.head < queue.tail, queue.values[queue.head]), (waits(queue), queue.values[SLOT])]


def _shared(machine: Machine) -> dict[str, list[str]]:
    """Register → the queues that its values are popped from, where they are several, and no value is in two of them.

    Each takes positions of events alone, and no row puts one into two of them, or twice into one.
    """
    found: dict[str, list[str]] = {}
    for target in dict.fromkeys(effect.into.name for effect in machine.effects.values() if isinstance(effect, Pop)):
        sources = [source for name, source in flows(machine) if name == target and source != Const(-1)]
        queues = [one.name for one in sources if isinstance(one, Register) and machine.registers[one.name] == "queue"]
        once = all(sum(len(pushes_of(machine, row.effects, name)) for name in queues) <= 1 for row in machine.rows)
        pushed = [push for name in queues for push in pushes_of(machine, machine.effects, name)]
        if len(queues) == len(sources) > 1 and once and all(isinstance(push.value, Here) for push in pushed):
            found[target] = queues
    return found


def pushes_of(machine: Machine, effects: Iterable[str], queue: str) -> list[Push]:
    """Those of the named effects that push to a queue."""
    found = [machine.effects[name] for name in effects]
    return [effect for effect in found if isinstance(effect, Push) and effect.register.name == queue]


def runs(roles: ProofRoles, state: str, at: Moment, symbols: Symbols) -> Any:
    """The formula: a run is open."""
    if roles.run.closed is None:
        return z3.BoolVal(state in roles.run.active)
    return z3.Not(within(at, symbols, roles.machine.guards[roles.run.closed].formula))


def within(at: Moment, symbols: Symbols, render: Callable[[Symbols], Any]) -> Any:
    """A term rendered in the registers of a moment."""
    now, symbols.registers = symbols.registers, dict(at.registers)
    rendered = render(symbols)
    symbols.registers = now
    return rendered


def unanswered(roles: ProofRoles, state: str, at: Moment, names: Sequence[str] | None = None) -> Any:
    """The formula: in *state*, ``w`` is a call that was made and has no result.

    It is a map's key with a position, the content of slot ``j``, or the call under way; of a group, the first call is.
    """
    found: list[Any] = []
    if roles.calls.made_in and state not in roles.calls.made_in:
        return z3.BoolVal(val=False)
    named = HEAD if roles.calls.group else CALL
    for name in roles.calls.registers if names is None else names:
        held = at.registers[name]
        if isinstance(held, Slots):
            found.append(z3.And(waits(held), held.values[SLOT] == named))
        elif roles.machine.registers[name] == "map":
            found.append(is_open(held))
        else:
            found.append(z3.And(held == named, held >= 0))
    return z3.Or(found)


def is_open(calls: Any, call: Any = CALL) -> Any:
    """The formula: a map has a position for ``w``, or another call."""
    entry = calls[call]
    return z3.And(entry != NONE, entry != ANSWERED)


def waits(queue: Slots) -> Any:
    """The formula: slot ``j`` of a queue holds an entry that waits."""
    return z3.And(queue.head <= SLOT, queue.tail > SLOT)


def invariant(roles: ProofRoles, state: str, at: Moment, symbols: Symbols) -> Any:
    """The formula that is assumed before every row, and shown after it."""
    active, left = runs(roles, state, at, symbols), unanswered(roles, state, at)
    known = [z3.Implies(z3.Not(active), z3.Not(left))]
    if state not in roles.run.data_dependent:
        known.append(active == (state in roles.run.active))
    known.append(z3.Not(unanswered(roles, state, at, roles.calls.empty.get(state, ()))))
    if state in roles.calls.counts:
        known.append(_counts(roles.calls.counts[state], at))
    if roles.calls.group:
        known.append(z3.Implies(is_open(at.registers[roles.calls.group.map]), _under_way(roles, state, at)))
    if state in roles.calls.single:
        only = left == (at.registers[roles.calls.single[state]] == CALL)
        asked = [at.registers[roles.calls.single[state]], *(symbols.field(name) for name in sorted(keyed_by(roles)))]
        known += [only, *(z3.substitute(only, (CALL, call)) for call in asked)]
    if roles.messages.waiting and state not in (*roles.run.active, *roles.run.data_dependent):
        held = at.registers[roles.messages.waiting]
        if not any(roles.messages.promotes.values()):
            known.append(held.head == held.tail)
    return z3.And(known)


def _counts(count: Count, at: Moment) -> Any:
    of = z3.IntVal(0) if count.of is None else at.registers[count.of]
    return at.registers[count_of(count.map)] == (of.tail - of.head if _is_queue(of) else of) + count.more


def _under_way(roles: ProofRoles, state: str, at: Moment) -> Any:
    """The formula: the group of ``w`` is under way."""
    names = [name for name in roles.calls.registers if not _is_queue(at.registers[name])]
    return unanswered(roles, state, at, names)


def keyed_by(roles: ProofRoles) -> set[str]:
    """The fields by which an event names a call."""
    lookups = (term for term in terms(tuple(roles.machine.guards.values())) if isinstance(term, Lookup))
    of = {*roles.calls.registers, *counted(roles.calls)}
    return {term.key.name for term in lookups if term.of.name in of}


def start(roles: ProofRoles) -> Iterator[Refutation]:
    """Refute that the invariant holds at the start."""
    symbols = Symbols(roles.machine, {}, counted(roles.calls))
    symbols.registers |= dict.fromkeys(map(count_of, counted(roles.calls)), z3.IntVal(0))
    fresh = {"number": z3.IntVal(-1), "map": symbols.nothing()}
    for name, kind in roles.machine.deciding.items():
        held = symbols.registers[name]
        zero = z3.IntVal(0)
        symbols.registers[name] = Slots(held.values, zero, zero) if kind == "queue" else fresh[kind]
    solver = z3.SolverFor("QF_AUFLIA")
    at = Moment(symbols.registers, (), None)
    solver.add(z3.Not(invariant(roles, roles.machine.initial, at, symbols)))
    if solver.check() != z3.unsat:
        yield Refutation("what is assumed holds at the start", roles.machine.initial)


def rows_of(roles: ProofRoles) -> Iterator[Taken]:
    """Every row of the machine; a string is the same integer in all of them."""
    strings: dict[str, int] = {}
    return (Taken(roles, row, strings) for row in roles.machine.rows)
