"""Theorems on messages: none is lost, order is kept, and what waits begins a run of its own."""

from collections.abc import Iterator, Sequence
from typing import Any

from ...declaration.contexts import Slots
from ...declaration.proof_roles import ProofRoles
from ...declaration.vocabulary import Clear, Output, Pop
from ..symbolic import SLOT, Moment, Refutation, Taken, invariant, pushes_of, rows_of, waits, within, z3
from .theorem import theorem


@theorem("X-7", about=lambda roles: roles.messages.taken, missing="messages")
def no_message_lost(roles: ProofRoles) -> Iterator[Refutation]:
    """Every message is taken exactly once: into a run, into a queue, or by a refusal."""
    for taken in rows_of(roles):
        ways = roles.messages.taken.get(taken.row.event)
        if ways and sum(effect in ways for effect in taken.row.effects) != 1:
            yield from taken.refute("a message is taken once", z3.BoolVal(val=False))


@theorem("X-7", "RC-7.5", "TM-5.1", "BED-003d", about=lambda roles: roles.messages.queues, missing="queues")
def first_in_first_out(roles: ProofRoles) -> Iterator[Refutation]:
    """An entry of a queue stays until it is popped in its turn, shown by an output, or dropped by policy."""
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
        shown = [
            argument == value for output in taken.after.outputs for argument in output.arguments if is_number(argument)
        ]
        kept = z3.Or(taken.after.registers[effect.into.name] == value, *shown)
        return z3.And(queue.head == SLOT, emptied.head == SLOT + 1, after.registers[effect.into.name] == value, kept)
    if isinstance(effect, Clear) and effect.register.name == name:
        taking = taken.roles.messages.reads.get(name, ())
        taken_whole = z3.And(waits(queue), z3.BoolVal(any(output.name in taking for output in taken.after.outputs)))
        return z3.Or([taken_whole, *_shown(before.outputs, queue)])
    return z3.BoolVal(val=False)


def is_number(argument: Any) -> bool:
    """Return whether an output's argument is a number, and no queue or map."""
    return not isinstance(argument, Slots) and argument.sort() == z3.IntSort()


def _shown(outputs: Sequence[Output], queue: Slots) -> Iterator[Any]:
    """The formulas: an output shows the content of slot j of *queue*; a queue is shown whole."""
    for shown in (argument for output in outputs for argument in output.arguments if isinstance(argument, Slots)):
        yield z3.And(waits(shown), shown.values[SLOT] == queue.values[SLOT])


@theorem(
    "RC-7.5", "RC-D6", "TM-5.1", about=lambda roles: roles.messages.promotes, missing="messages that wait for a run"
)
def what_waits_is_promoted(roles: ProofRoles) -> Iterator[Refutation]:
    """Where a run ends and messages wait, the oldest begins the next run at once, if no policy holds or drops them."""
    machine, name = roles.machine, roles.messages.waiting
    assert name is not None
    for taken in rows_of(roles):
        row, before, after = taken.row, taken.before.registers[name], taken.after.registers[name]
        waits_for_none = row.dest not in (*roles.run.active, *roles.run.data_dependent)
        ends = [effect for effect in row.effects if effect in roles.messages.promotes]
        if not ends and row.source not in roles.run.data_dependent:
            continue
        guards = [machine.guards[one] for effect in ends for one in roles.messages.promotes[effect]]
        exempt = z3.Or([within(taken.before, taken.symbols, guard.formula) for guard in guards])
        if waits_for_none:
            left = z3.And(before.head < before.tail, z3.Not(exempt))
            yield from taken.refute("nobody waits when the agent rests", z3.Not(left))
        elif ends and row.dest in roles.run.active:
            begins = [number for number, effect in enumerate(row.effects) if effect in roles.run.begins]
            oldest = [
                z3.And(
                    after.head == before.head + 1, taken.after.registers[pop.into.name] == before.values[before.head]
                )
                for pop in _pops(roles, row.effects, name)
            ]
            yield from taken.refute("the oldest begins the next run", z3.And(z3.Or(oldest), z3.BoolVal(bool(begins))))
        known = invariant(roles, row.dest, taken.after, taken.symbols)
        yield from taken.refute("nobody waits where nobody may", known)


def _pops(roles: ProofRoles, effects: Sequence[str], queue: str) -> list[Pop]:
    found = [roles.machine.effects[name] for name in effects]
    return [effect for effect in found if isinstance(effect, Pop) and effect.register.name == queue]


@theorem(
    "RC-3.1",
    "RC-3.2",
    "RC-4.1",
    "RC-4.2",
    "TM-5.1",
    "TM-5.2",
    about=lambda roles: roles.messages.deliveries,
    missing="deliveries to choose from",
)
def queued_is_never_steered(roles: ProofRoles) -> Iterator[Refutation]:
    """A message gets the delivery that it asks for: queued, it only begins a run; a steer never waits for one."""
    messages = roles.messages
    gives = {delivery.effect for delivery in messages.deliveries}
    for taken in rows_of(roles):
        row = taken.row
        given = gives.intersection(row.effects)
        if given and row.source not in (*roles.run.active, *roles.run.data_dependent):
            yield from taken.refute("a message to an agent at rest is direct", z3.BoolVal(val=False))
        late = row.source in messages.late_in
        for delivery in messages.deliveries:
            right = {delivery.effect, *(_waiting(roles, effect) for effect in given if late)}
            if delivery.event == row.event and given - right:
                asked = _asks(taken, delivery.asked)
                yield from taken.refute("a message gets the delivery that it asks for", z3.Not(asked))
        if messages.waiting and _pops(roles, row.effects, messages.waiting):
            begun = any(effect in roles.run.begins for effect in row.effects)
            yield from taken.refute("what waited begins a run", z3.BoolVal(begun))


def _waiting(roles: ProofRoles, effect: str) -> str:
    """Return the effect if it lets a message wait for a run, else an empty text."""
    assert roles.messages.waiting is not None
    return effect if pushes_of(roles.machine, [effect], roles.messages.waiting) else ""


def _asks(taken: Taken, guard: str | None) -> Any:
    if guard is None:
        return z3.BoolVal(val=True)
    return within(taken.before, taken.symbols, taken.roles.machine.guards[guard].formula)


THEOREMS = (no_message_lost, first_in_first_out, what_waits_is_promoted, queued_is_never_steered)
