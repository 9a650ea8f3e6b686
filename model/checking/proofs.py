"""Inductive proofs from the rows of a declared machine, for queues, maps and counters of any size.

Each row is taken once, from any registers, by the prover's rendering of its terms. An obligation says what a row does
to one free variable: the entry in slot ``j`` of a queue, or the call ``w``. No quantifier is needed, so that every
answer is yes or no; a no comes with registers that refute it. A claim that holds at the start and across every row
holds always.

Needs the package z3-solver.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Final

from ..declaration.contexts import Slots
from ..declaration.proof_roles import ProofRoles
from ..declaration.vocabulary import Clear, Output, Pop
from .ranking import measures_of, unranked
from .symbolic import (
    CALL,
    SLOT,
    Moment,
    Refutation,
    Symbols,
    Taken,
    guarded,
    invariant,
    is_open,
    pushes_of,
    rows_of,
    runs,
    start,
    unanswered,
    waits,
    well_formed,
    within,
    z3,
)


def one_terminal(roles: ProofRoles) -> Iterator[Refutation]:
    """X-3: a run begins when none is open, ends when one is, and a row that leaves it ends it."""
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


def first_in_first_out(roles: ProofRoles) -> Iterator[Refutation]:
    """X-7: the entry in slot j stays until it is popped as the j-th, shown by an output, or dropped by policy."""
    for taken in rows_of(roles):
        for name in roles.messages.queues:
            before, after = taken.before.registers[name], taken.after.registers[name]
            stays = z3.And(waits(after), after.values[SLOT] == before.values[SLOT])
            left = [_gone(taken, name, *pair) for pair in zip(taken.moments, taken.moments[1:], strict=False)]
            kept = z3.Implies(waits(before), z3.Or(stays, *left))
            yield from taken.refute(f"{name} is first in, first out, without loss", kept)
            pushes = len(pushes_of(roles.machine, taken.row.effects, name))
            yield from taken.refute(f"{name} takes what is pushed, last", after.tail == before.tail + pushes)


def _gone(taken: Taken, name: str, before: Moment, after: Moment) -> Any:
    """The formula: one effect removes slot j of a queue in a permitted way."""
    assert before.effect is not None
    effect = taken.roles.machine.effects[before.effect]
    queue, emptied = before.registers[name], after.registers[name]
    if before.effect in taken.roles.messages.drops.get(taken.row.event, ()):
        return z3.And(waits(queue), z3.Not(waits(emptied)))
    if isinstance(effect, Pop) and effect.register.name == name:
        value = queue.values[SLOT]
        shown = [argument == value for output in taken.after.outputs for argument in output.arguments if _is(argument)]
        kept = z3.Or(taken.after.registers[effect.into.name] == value, *shown)
        return z3.And(queue.head == SLOT, emptied.head == SLOT + 1, after.registers[effect.into.name] == value, kept)
    if isinstance(effect, Clear) and effect.register.name == name:
        return z3.Or([z3.BoolVal(val=False), *_shown(before.outputs, queue)])
    return z3.BoolVal(val=False)


def _is(argument: Any) -> bool:
    return not isinstance(argument, Slots) and argument.sort() == z3.IntSort()


def _shown(outputs: Sequence[Output], queue: Slots) -> Iterator[Any]:
    """The formulas: an output shows the content of slot j of *queue*; a queue is shown whole."""
    for shown in (argument for output in outputs for argument in output.arguments if isinstance(argument, Slots)):
        yield z3.And(waits(shown), shown.values[SLOT] == queue.values[SLOT])


def no_message_lost(roles: ProofRoles) -> Iterator[Refutation]:
    """X-7: every message is taken exactly once: into a run, into a queue, or by a refusal."""
    for taken in rows_of(roles):
        ways = roles.messages.taken.get(taken.row.event)
        if ways and sum(effect in ways for effect in taken.row.effects) != 1:
            yield from taken.refute("a message is taken once", z3.BoolVal(val=False))


def calls_answered(roles: ProofRoles) -> Iterator[Refutation]:
    """X-6: an output answers a call that had none, once; none is forgotten, and none is left when its run ends."""
    for taken in rows_of(roles) if roles.calls.registers else ():
        before, after = unanswered(roles, taken.before), unanswered(roles, taken.after)
        for moment in taken.moments:
            if moment.effect in roles.run.ends:
                left = z3.And(
                    unanswered(roles, moment), z3.Not(_name(roles.calls.results, moment.outputs, taken.symbols))
                )
                yield from taken.refute("every call is answered before the stop", z3.Not(left))
        answered = _name(roles.calls.results, taken.after.outputs, taken.symbols)
        yield from taken.refute("no call is forgotten", z3.Implies(before, z3.Or(after, answered)))
        made = _name(roles.calls.makes, taken.after.outputs, taken.symbols)
        rightly = z3.And(z3.Or(before, made), z3.Not(after))
        twice = [
            z3.And([_name(roles.calls.results, (one,), taken.symbols) for one in pair])
            for pair in combinations(taken.after.outputs, 2)
        ]
        once = z3.And(z3.Implies(answered, rightly), z3.Not(z3.Or(twice)))
        yield from taken.refute("a call is answered once", z3.Implies(_is_call(roles), once))
        known = invariant(roles, taken.row.dest, taken.after, taken.symbols)
        yield from taken.refute("no call is left where none may be", known)


def _is_call(roles: ProofRoles) -> Any:
    """The formula: ``w`` can be a call, as any key of a map, or else as a position."""
    keyed = any(roles.machine.registers[name] == "map" for name in roles.calls.registers)
    return z3.Or(CALL >= 0, z3.BoolVal(keyed))


def _name(names: Sequence[str], outputs: Sequence[Output], symbols: Symbols) -> Any:
    """The formula: outputs of some names are about ``w``, as their first argument or in a queue or map they show."""
    found: list[Any] = []
    for output in (one for one in outputs if one.name in names):
        if not output.arguments:
            found.append(symbols.field("call_id") == CALL)
        for place, argument in enumerate(output.arguments):
            if isinstance(argument, Slots):
                found.append(z3.And(waits(argument), argument.values[SLOT] == CALL))
            elif not _is(argument):
                found.append(is_open(argument))
            elif place == 0 and not z3.is_int_value(argument):
                found.append(argument == CALL)
    return z3.Or(found)


def never_stuck(roles: ProofRoles) -> Iterator[Refutation]:
    """X-5: in every active state some answer leads on, and no cycle of answers goes on without end."""
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
        yield Refutation("a measure decreases", f"{taken.row.source}: {taken.row.label}")


def rounds_bounded(roles: ProofRoles) -> Iterator[Refutation]:
    """TM-3.3, EF-1, RS-4.1: whatever the environment does, no run asks the model without end."""
    within = [
        taken
        for taken in rows_of(roles)
        if {taken.row.source, taken.row.dest} <= {*roles.run.active} and not {*taken.row.effects} & {*roles.run.begins}
    ]
    for taken in unranked(within, list(measures_of(roles.machine)), _anything) if roles.run.rounds else ():
        if {*taken.row.effects} & {*roles.run.rounds}:
            yield Refutation("rounds are bounded", f"{taken.row.source}: {taken.row.label}")


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


PROOFS: Final[Mapping[str, Callable[[ProofRoles], Iterator[Refutation]]]] = {
    proof.__name__.replace("_", "-"): proof
    for proof in (one_terminal, first_in_first_out, no_message_lost, calls_answered, never_stuck, rounds_bounded)
}
"""Theorem name → search for refutations in a machine; none means proved."""
