"""Theorems on runs: one terminal for the right reason, what is awaited was asked for, what is late changes nothing."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...declaration.proof_roles import ProofRoles
from ...declaration.vocabulary import Emit, Increment, Pop
from ...declaration.vocabulary import Set as SetTo
from ..ranking import measures_of, unranked
from ..symbolic import Refutation, Taken, guarded, invariant, rows_of, runs, start, well_formed, within, z3
from .theorem import theorem


@theorem("X-3", "RC-5.3", "TM-3.1", "RS-6", about=lambda roles: roles.run.ends, missing="runs")
def one_terminal(roles: ProofRoles) -> Iterator[Refutation]:
    """A run begins when none is open, ends when one is, and a row that leaves it ends it."""
    yield from start(roles)
    for taken in rows_of(roles):
        open_now = runs(roles, taken.row.source, taken.before, taken.symbols)
        begun = not (taken.row.source not in roles.run.active and not roles.run.closed)
        for moment in taken.moments:
            if moment.effect in roles.run.begins:
                yield from taken.refute("a run begins when none is open", z3.Not(open_now))
                open_now, begun = z3.BoolVal(val=True), True
            elif moment.effect in roles.run.ends:
                yield from taken.refute("a run ends once", open_now)
                open_now = z3.BoolVal(val=False)
        opened = open_now if begun else z3.BoolVal(taken.row.dest in roles.run.active)
        after = runs(roles, taken.row.dest, taken.after, taken.symbols)
        known = invariant(roles, taken.row.dest, taken.after, taken.symbols)
        yield from taken.refute("a run is open where its state says so", opened == after, known)


@theorem("X-1", "X-3", "RC-7.3", about=lambda roles: roles.run.logged, missing="work in the log")
def nothing_outside_a_run(roles: ProofRoles) -> Iterator[Refutation]:
    """What the log shows as a run's work is put out while that run is open."""
    for taken in rows_of(roles):
        open_now = runs(roles, taken.row.source, taken.before, taken.symbols)
        for moment in taken.moments[:-1]:
            assert moment.effect is not None
            effect = roles.machine.effects[moment.effect]
            if moment.effect in roles.run.begins:
                open_now = z3.BoolVal(val=True)
            elif moment.effect in roles.run.ends:
                open_now = z3.BoolVal(val=False)
            elif isinstance(effect, Emit) and effect.output in roles.run.logged:
                yield from taken.refute("work is logged while a run is open", open_now)


@theorem("RC-2", "TM-D1", "TM-D3", "EF-D3", "BED-D4", "RS-D1", about=lambda roles: roles.run.reasons, missing="runs")
def right_reason(roles: ProofRoles) -> Iterator[Refutation]:
    """A run ends for a reason only in the circumstances of that reason."""
    for taken in rows_of(roles):
        for effect in taken.row.effects:
            if effect not in roles.run.reasons:
                continue
            ways = [way for way in roles.run.reasons[effect] if taken.row.event in way.events]
            yield from taken.refute("a run ends for its reason", z3.Or(_then(taken, ways)))


def _then(taken: Taken, ways: Sequence[Any]) -> list[Any]:
    """The formulas: the circumstances of a reason are met when the row is taken."""
    machine = taken.roles.machine
    return [within(taken.before, taken.symbols, partial(guarded, machine, way.holds, way.unless)) for way in ways]


@theorem("X-5", about=lambda roles: roles.run.asks, missing="requests of its own")
def asked_before_awaited(roles: ProofRoles) -> Iterator[Refutation]:
    """A row that begins to await an answer asks for it."""
    machine = roles.machine
    for taken in rows_of(roles):
        row = taken.row
        names = roles.run.asks.get(row.dest, ())
        writes = {_written(machine.effects[name]) for name in row.effects}
        if names and (not row.internal or writes & {*roles.run.numbers}):
            emitted = [one for one in taken.after.outputs if one.name in names]
            yield from taken.refute("what is awaited was asked for", z3.BoolVal(bool(emitted)))
            for number in roles.run.numbers:
                called = [one for one in emitted if one.arguments and _says(one.arguments, number, taken)]
                if emitted and number in writes and _answers_by(roles, number, names):
                    yield from taken.refute("what is asked for is what is awaited", z3.BoolVal(bool(called)))


def _written(effect: Any) -> str | None:
    match effect:
        case Pop(into=target) | Increment(register=target) | SetTo(target=target):
            return getattr(target, "name", None)
        case _:
            return None


def _says(arguments: Sequence[Any], number: str, taken: Taken) -> bool:
    """Return whether an output holds the number that is awaited after the row."""
    now = taken.after.registers[number]
    return any(argument is not None and hasattr(argument, "eq") and argument.eq(now) for argument in arguments)


def _answers_by(roles: ProofRoles, number: str, names: Sequence[str]) -> bool:
    """Return whether an output of some name takes the register that names what is awaited."""
    emits = (effect for effect in roles.machine.effects.values() if isinstance(effect, Emit) and effect.output in names)
    return any(getattr(argument, "name", None) == number for effect in emits for argument in effect.arguments)


def _answers_of(roles: ProofRoles) -> set[str]:
    return {*roles.run.late, *(one for ones in roles.run.answers.values() for one in ones)}


@theorem("BED-D2", "BED-D3", "RC-D4", "EF-D2", about=_answers_of, missing="awaited answers")
def late_changes_nothing(roles: ProofRoles) -> Iterator[Refutation]:
    """An answer that nobody awaits, or that comes too late, changes nothing."""
    answers = _answers_of(roles)
    for taken in rows_of(roles):
        row = taken.row
        if row.event not in answers:
            continue
        awaited = row.event in roles.run.answers.get(row.source, ()) or not roles.run.answers
        guards = [roles.machine.guards[name] for name in roles.run.late.get(row.event, ())]
        late = z3.Or([within(taken.before, taken.symbols, guard.formula) for guard in guards])
        quiet = row.source == row.dest and {*row.effects} <= {*roles.run.ignores}
        elsewhere = row.event in {one for ones in roles.run.answers.values() for one in ones} and not awaited
        nothing = z3.BoolVal(quiet)
        yield from taken.refute(
            "a late answer changes nothing", z3.Implies(z3.Or(late, z3.BoolVal(elsewhere)), nothing)
        )


@theorem("X-5", about=lambda roles: roles.run.answers, missing="runs")
def never_stuck(roles: ProofRoles) -> Iterator[Refutation]:
    """In every active state some answer leads on, and no cycle of answers goes on without end."""
    answers = [taken for taken in rows_of(roles) if roles.run.leads_on(taken.row)]
    for state in roles.run.answers:
        here = [taken for taken in answers if taken.row.source == state]
        if not any(
            _complete(roles, [taken for taken in here if taken.row.event == event])
            for event in roles.run.answers[state]
        ):
            yield Refutation("some answer leads on", state)
    cyclic = [taken for taken in answers if taken.row.dest in roles.run.answers]
    for taken in unranked(cyclic, list(measures_of(roles.machine)), _awaited):
        yield Refutation("a measure decreases", f"{taken.row.source}: {taken.row.label}", taken=taken)


@theorem("TM-3.3", "EF-1", "RS-4.1", about=lambda roles: roles.run.rounds, missing="bounds of rounds")
def rounds_bounded(roles: ProofRoles) -> Iterator[Refutation]:
    """Whatever the environment does, no run asks the model without end."""
    within_runs = [
        taken
        for taken in rows_of(roles)
        if {taken.row.source, taken.row.dest} <= {*roles.run.active} and not {*taken.row.effects} & {*roles.run.begins}
    ]
    for taken in unranked(within_runs, list(measures_of(roles.machine)), _anything):
        if {*taken.row.effects} & {*roles.run.rounds}:
            yield Refutation("rounds are bounded", f"{taken.row.source}: {taken.row.label}", taken=taken)


def _complete(roles: ProofRoles, rows: Sequence[Taken]) -> bool:
    """Return whether every awaited answer takes one of *rows*, whatever the registers."""
    if not rows:
        return False
    first = rows[0]
    some = z3.Or([taken.permits for taken in rows])
    solver = z3.SolverFor("QF_AUFLIA")
    solver.add(*well_formed(roles.machine, first.before, first.symbols), z3.Not(some), _awaited(first))
    solver.add(invariant(roles, first.row.source, first.before, first.symbols))
    return bool(solver.check() == z3.unsat)


def _awaited(taken: Taken) -> Any:
    """The formula: the event is an awaited answer."""
    conditions, unless = taken.roles.run.awaited.get(taken.row.event, ((), ()))
    return within(taken.before, taken.symbols, partial(guarded, taken.roles.machine, conditions, unless))


def _anything(_: Taken) -> Any:
    return z3.BoolVal(val=True)


THEOREMS = (
    one_terminal,
    nothing_outside_a_run,
    right_reason,
    asked_before_awaited,
    late_changes_nothing,
    never_stuck,
    rounds_bounded,
)
