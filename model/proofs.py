"""Inductive proofs from the rows of a declared machine, for queues, maps and counters of any size.

Each row is taken once, from any registers, by the prover's rendering of its terms. An obligation says what a row does
to one free thing: what waits in slot ``j`` of a queue, or the call ``w``. No quantifier is needed, so that every answer
is yes or no; a no comes with the registers that refute it. What holds at the start and across every row holds always.

Needs the package z3-solver; nothing else of the model imports this module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

from .claims import Claims, leads_on
from .exploring import positions, terms
from .machine import Machine, Row
from .vocabulary import ANSWERED, Clear, Const, Guard, Here, Less, Lookup, Output, Pop, Push, Register, Slots, Table

z3: Any = import_module("z3")  # it has no types

_NONE: Final = -1000
"""None is this integer, and strings are those below: no position, count or ANSWERED is among them."""


class Symbols:
    """What a term is rendered in (``vocabulary.Symbolic``): registers, tables and the event as any integers."""

    def __init__(self, machine: Machine, strings: dict[str, int]) -> None:
        self.registers: dict[str, Any] = {name: _unknown(kind, name) for name, kind in machine.registers.items()}
        self.outputs: list[Output] = []
        self.at: Any = z3.Int("at")
        self._strings = strings

    def literal(self, value: str | int | None) -> Any:
        """Strings count down, each its own integer, the same in all rows."""
        if isinstance(value, str):
            value = self._strings.setdefault(value, _NONE - 1 - len(self._strings))
        return z3.IntVal(_NONE if value is None else value)

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


@dataclass(frozen=True)
class _Moment:
    """The registers and outputs just before an effect of a row, or after its last one."""

    registers: Mapping[str, Any]
    outputs: Sequence[Output]
    effect: str | None


class _Taken:
    """A row, taken from any registers that its guards and the invariants permit."""

    def __init__(self, claims: Claims, row: Row, strings: dict[str, int]) -> None:
        self.claims, self.row, machine = claims, row, claims.machine
        symbols = self.symbols = Symbols(machine, strings)
        self.permits = _guarded(machine, row.conditions, row.unless, symbols)
        self.moments = [self._moment(row.effects[0] if row.effects else None)]
        for number, name in enumerate(row.effects, start=1):
            machine.effects[name].change(symbols)
            self.moments.append(self._moment(row.effects[number] if number < len(row.effects) else None))

    @property
    def before(self) -> _Moment:
        return self.moments[0]

    @property
    def after(self) -> _Moment:
        return self.moments[-1]

    def _moment(self, effect: str | None) -> _Moment:
        return _Moment(dict(self.symbols.registers), tuple(self.symbols.outputs), effect)

    def refute(self, claim: str, *obligations: Any) -> Iterator[Refutation]:
        """Yield the registers from which the row, once taken, breaks one of *obligations*."""
        solver = z3.SolverFor("QF_AUFLIA")
        solver.add(self.permits, *_well_formed(self.claims.machine, self.before, self.symbols))
        solver.add(_invariant(self.claims, self.row.source, self.before, self.symbols))
        solver.add(z3.Not(z3.And(*obligations)))
        if (answer := solver.check()) != z3.unsat:
            why = str(solver.model()) if answer == z3.sat else "the prover gave up"
            yield Refutation(claim, f"{self.row.source}: {self.row.label}", " ".join(why.split()))


def _guarded(machine: Machine, conditions: Sequence[str], unless: Sequence[str], symbols: Symbols) -> Any:
    """Whether guards hold, and others do not."""
    hold = [machine.guards[name].formula(symbols) for name in conditions]
    return z3.And(hold + [z3.Not(machine.guards[name].formula(symbols)) for name in unless])


_SLOT: Final = z3.Int("j")
_CALL: Final = z3.Int("w")


def _well_formed(machine: Machine, at: _Moment, symbols: Symbols) -> Iterator[Any]:
    """What the primitives themselves keep: a queue's slots are counted up, and positions are 0 or more."""
    yield symbols.at >= 0
    ordered = positions(machine)
    for name, held in at.registers.items():
        if isinstance(held, Slots):
            yield z3.And(held.head >= 0, held.head <= held.tail)
            if name in ordered and all(
                isinstance(push.value, Here) for push in _pushes(machine, machine.effects, name)
            ):
                yield z3.And(held.values[held.head] >= 0, held.values[_SLOT] >= 0)


def _pushes(machine: Machine, effects: Iterable[str], queue: str) -> list[Push]:
    """Those of the named effects that push to a queue."""
    found = [machine.effects[name] for name in effects]
    return [effect for effect in found if isinstance(effect, Push) and effect.register.name == queue]


def _runs(claims: Claims, state: str, at: _Moment, symbols: Symbols) -> Any:
    """Whether a run is open."""
    if claims.closed is None:
        return z3.BoolVal(state in claims.active)
    return z3.Not(_in(at, symbols, claims.machine.guards[claims.closed].formula))


def _in(at: _Moment, symbols: Symbols, render: Callable[[Symbols], Any]) -> Any:
    """A term rendered in the registers of a moment."""
    now, symbols.registers = symbols.registers, dict(at.registers)
    rendered = render(symbols)
    symbols.registers = now
    return rendered


def _unanswered(claims: Claims, at: _Moment, names: Sequence[str] | None = None) -> Any:
    """Whether ``w`` is a call without result: a map's key with a position, ``j``'s value, or the one under way."""
    found: list[Any] = []
    for name in claims.calls if names is None else names:
        held = at.registers[name]
        if isinstance(held, Slots):
            found.append(z3.And(_waits(held), held.values[_SLOT] == _CALL))
        elif claims.machine.registers[name] == "map":
            found.append(_unanswered_entry(held))
        else:
            found.append(z3.And(held == _CALL, held >= 0))
    return z3.Or(found)


def _unanswered_entry(calls: Any) -> Any:
    entry = calls[_CALL]
    return z3.And(entry != _NONE, entry != ANSWERED)


def _waits(queue: Slots, slot: Any = _SLOT) -> Any:
    return z3.And(queue.head <= slot, slot < queue.tail)


def _invariant(claims: Claims, state: str, at: _Moment, symbols: Symbols) -> Any:
    """What is assumed before every row, and shown after it."""
    runs, unanswered = _runs(claims, state, at, symbols), _unanswered(claims, at)
    known = [z3.Implies(z3.Not(runs), z3.Not(unanswered))]
    if state not in claims.either:
        known.append(runs == (state in claims.active))
    known.append(z3.Not(_unanswered(claims, at, claims.empty.get(state, ()))))
    if state in claims.single:
        only = unanswered == (at.registers[claims.single[state]] == _CALL)
        asked = [at.registers[claims.single[state]], *(symbols.field(name) for name in _keys(claims))]
        known += [only, *(z3.substitute(only, (_CALL, call)) for call in asked)]
    return z3.And(known)


def _keys(claims: Claims) -> set[str]:
    """The fields by which an event names a call."""
    lookups = (term for term in terms(tuple(claims.machine.guards.values())) if isinstance(term, Lookup))
    return {term.key.name for term in lookups if term.of.name in claims.calls}


def one_terminal(claims: Claims) -> Iterator[Refutation]:
    """X-3: a run begins when none is open, ends when one is, and a row that leaves it ends it."""
    for taken in _rows(claims):
        open_now = _runs(claims, taken.row.source, taken.before, taken.symbols)
        begun = not (taken.row.source not in claims.active and not claims.closed)
        for moment in taken.moments:
            if moment.effect in claims.begins:
                yield from taken.refute("a run begins when none is open", z3.Not(open_now))
                open_now, begun = z3.BoolVal(val=True), True
            elif moment.effect in claims.ends:
                yield from taken.refute("a run ends once", open_now)
                open_now = z3.BoolVal(val=False)
        opened = open_now if begun else z3.BoolVal(taken.row.dest in claims.active)
        after = _runs(claims, taken.row.dest, taken.after, taken.symbols)
        known = _invariant(claims, taken.row.dest, taken.after, taken.symbols)
        yield from taken.refute("a run is open where its state says so", opened == after, known)


def first_in_first_out(claims: Claims) -> Iterator[Refutation]:
    """X-7: what waits in slot j stays until it is popped as the j-th, shown by an output, or dropped by policy."""
    for taken in _rows(claims):
        for name in claims.queues:
            before, after = taken.before.registers[name], taken.after.registers[name]
            stays = z3.And(_waits(after), after.values[_SLOT] == before.values[_SLOT])
            left = [_gone(taken, name, *pair) for pair in zip(taken.moments, taken.moments[1:], strict=False)]
            waits = z3.Implies(_waits(before), z3.Or(stays, *left))
            yield from taken.refute(f"{name} is first in, first out, without loss", waits)
            pushes = len(_pushes(claims.machine, taken.row.effects, name))
            yield from taken.refute(f"{name} takes what is pushed, last", after.tail == before.tail + pushes)


def _gone(taken: _Taken, name: str, before: _Moment, after: _Moment) -> Any:
    """Whether slot j of a queue leaves it rightly by one effect."""
    assert before.effect is not None
    effect = taken.claims.machine.effects[before.effect]
    queue, emptied = before.registers[name], after.registers[name]
    if before.effect in taken.claims.drops.get(taken.row.event, ()):
        return z3.And(_waits(queue), z3.Not(_waits(emptied)))
    if isinstance(effect, Pop) and effect.register.name == name:
        value = queue.values[_SLOT]
        shown = [argument == value for output in taken.after.outputs for argument in output.arguments if _is(argument)]
        kept = z3.Or(taken.after.registers[effect.into.name] == value, *shown)
        return z3.And(queue.head == _SLOT, emptied.head == _SLOT + 1, after.registers[effect.into.name] == value, kept)
    if isinstance(effect, Clear) and effect.register.name == name:
        return z3.Or([z3.BoolVal(val=False), *_shown(before.outputs, queue)])
    return z3.BoolVal(val=False)


def _is(argument: Any) -> bool:
    return not isinstance(argument, Slots) and argument.sort() == z3.IntSort()


def _shown(outputs: Sequence[Output], queue: Slots) -> Iterator[Any]:
    """Whether outputs show what slot j of *queue* holds: a queue is shown whole."""
    for shown in (argument for output in outputs for argument in output.arguments if isinstance(argument, Slots)):
        yield z3.And(_waits(shown), shown.values[_SLOT] == queue.values[_SLOT])


def no_message_lost(claims: Claims) -> Iterator[Refutation]:
    """X-7: every message is taken exactly once: into a run, a queue, or refused."""
    for taken in _rows(claims):
        ways = claims.messages.get(taken.row.event)
        if ways and sum(effect in ways for effect in taken.row.effects) != 1:
            yield from taken.refute("a message is taken once", z3.BoolVal(val=False))


def calls_answered(claims: Claims) -> Iterator[Refutation]:
    """X-6: a call without result stays one until an output answers it, and none is left when its run ends."""
    for taken in _rows(claims) if claims.calls else ():
        before = _unanswered(claims, taken.before)
        for moment in taken.moments:
            if moment.effect in claims.ends:
                open_still = z3.And(
                    _unanswered(claims, moment), z3.Not(_answers(claims, moment.outputs, taken.symbols))
                )
                yield from taken.refute("every call is answered before the stop", z3.Not(open_still))
        still = z3.Or(_unanswered(claims, taken.after), _answers(claims, taken.after.outputs, taken.symbols))
        yield from taken.refute("no call is forgotten", z3.Implies(before, still))
        known = _invariant(claims, taken.row.dest, taken.after, taken.symbols)
        yield from taken.refute("no call is left where none may be", known)


def _answers(claims: Claims, outputs: Sequence[Output], symbols: Symbols) -> Any:
    """Whether outputs answer ``w``: they name it, or show a queue or map that holds it."""
    found: list[Any] = [z3.BoolVal(val=False)]
    named = [output for output in outputs if output.name in claims.results]
    found += [symbols.field("call_id") == _CALL for output in named if not output.arguments]
    for argument in (one for output in named for one in output.arguments):
        if isinstance(argument, Slots):
            found.append(z3.And(_waits(argument), argument.values[_SLOT] == _CALL))
        else:
            found.append(argument == _CALL if _is(argument) else _unanswered_entry(argument))
    return z3.Or(found)


def never_stuck(claims: Claims) -> Iterator[Refutation]:
    """X-5: in every active state some answer leads on, and no cycle of answers goes on without end."""
    answers = [taken for taken in _rows(claims) if leads_on(claims, taken.row)]
    for state in claims.answers:
        here = [taken for taken in answers if taken.row.source == state]
        if not any(
            _complete(claims, [taken for taken in here if taken.row.event == event]) for event in claims.answers[state]
        ):
            yield Refutation("some answer leads on", state)
    cyclic = [taken for taken in answers if taken.row.dest in claims.answers]
    for taken in _unranked(cyclic, list(_measures(claims.machine)), _awaited):
        yield Refutation("a measure decreases", f"{taken.row.source}: {taken.row.label}")


def rounds_bounded(claims: Claims) -> Iterator[Refutation]:
    """TM-3.3, EF-1, RS-4.1: whatever the environment does, no run asks the model without end."""
    within = [
        taken
        for taken in _rows(claims)
        if {taken.row.source, taken.row.dest} <= {*claims.active} and not {*taken.row.effects} & {*claims.begins}
    ]
    for taken in _unranked(within, list(_measures(claims.machine)), _anything) if claims.rounds else ():
        if {*taken.row.effects} & {*claims.rounds}:
            yield Refutation("rounds are bounded", f"{taken.row.source}: {taken.row.label}")


def _complete(claims: Claims, rows: Sequence[_Taken]) -> bool:
    """Whether an event that answers what is awaited takes one of *rows*, whatever the registers."""
    if not rows:
        return False
    first = rows[0]
    some = z3.Or([taken.permits for taken in rows])
    solver = z3.SolverFor("QF_AUFLIA")
    solver.add(*_well_formed(claims.machine, first.before, first.symbols), z3.Not(some), _awaited(first))
    solver.add(_invariant(claims, first.row.source, first.before, first.symbols))
    return bool(solver.check() == z3.unsat)


def _awaited(taken: _Taken) -> Any:
    """Whether the event is the answer to what is awaited."""
    conditions, unless = taken.claims.awaited.get(taken.row.event, ((), ()))
    return _in(taken.before, taken.symbols, partial(_guarded, taken.claims.machine, conditions, unless))


def _anything(_: _Taken) -> Any:
    return z3.BoolVal(val=True)


Measure = Callable[[Symbols], Any]
Given = Callable[[_Taken], Any]


def _measures(machine: Machine) -> Iterator[Measure]:
    """What may decrease: a queue's length, what is left below a bound, a guard that holds and then no more."""
    yield from (partial(_length, name) for name, kind in machine.registers.items() if kind == "queue")
    for guard in machine.guards.values():
        if (
            isinstance(guard, Less)
            and isinstance(guard.subject, Register)
            and isinstance(guard.right, Const | Table | Register)
        ):
            yield partial(_left, guard)
        if isinstance(guard.subject, Register):
            yield partial(_flag, guard, 1, 0)
            yield partial(_flag, guard, 0, 1)


def _length(queue: str, symbols: Symbols) -> Any:
    held = symbols.registers[queue]
    return held.tail - held.head


def _left(guard: Less, symbols: Symbols) -> Any:
    return guard.right.term(symbols) - guard.subject.term(symbols)


def _flag(guard: Guard, yes: int, no: int, symbols: Symbols) -> Any:
    return z3.If(guard.formula(symbols), yes, no)


def _unranked(rows: Sequence[_Taken], measures: Sequence[Measure], given: Given) -> Iterator[_Taken]:
    """The rows of cycles that no lexicographic order of *measures* ends (Bradley, Manna and Sipma, 2005).

    Of each row, *given* is assumed. Within a strongly connected part, a measure that no row lets grow takes out the
    rows that decrease it.
    """
    for part in _parts(rows):
        for measure in measures:
            if all(_measured(taken, measure, given, strictly=False) for taken in part):
                rest = [taken for taken in part if not _measured(taken, measure, given, strictly=True)]
                if len(rest) < len(part):
                    yield from _unranked(rest, measures, given)
                    break
        else:
            yield from part


def _parts(rows: Sequence[_Taken]) -> Iterator[list[_Taken]]:
    """The strongly connected parts of the graph that rows make, those without a cycle left out."""
    edges = {(taken.row.source, taken.row.dest) for taken in rows}
    while longer := {(source, end) for source, middle in edges for begin, end in edges if middle == begin} - edges:
        edges |= longer
    parts: dict[frozenset[str], list[_Taken]] = {}
    for taken in rows:
        source, dest = taken.row.source, taken.row.dest
        if (dest, source) in edges:
            together = frozenset(
                state for state in (s for s, _ in edges) if {(source, state), (state, source)} <= edges
            )
            parts.setdefault(together, []).append(taken)
    yield from parts.values()


def _measured(taken: _Taken, measure: Measure, given: Given, *, strictly: bool) -> bool:
    before, after = (_in(moment, taken.symbols, measure) for moment in (taken.before, taken.after))
    if before.eq(after):
        return not strictly
    falls = z3.And(after < before, before > 0) if strictly else after <= before
    return not any(taken.refute("", z3.Implies(given(taken), falls)))


def _rows(claims: Claims) -> Iterator[_Taken]:
    strings: dict[str, int] = {}
    return (_Taken(claims, row, strings) for row in claims.machine.rows())


PROOFS: Final[Mapping[str, Callable[[Claims], Iterator[Refutation]]]] = {
    proof.__name__.replace("_", "-"): proof
    for proof in (one_terminal, first_in_first_out, no_message_lost, calls_answered, never_stuck, rounds_bounded)
}
"""A theorem's name → what refutes it of a machine; nothing means proved."""
