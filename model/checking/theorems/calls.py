"""The theorem on tool calls: each has exactly one result before its run ends."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from ...declaration.contexts import Slots
from ...declaration.proof_roles import ProofRoles
from ...declaration.vocabulary import Output
from ..symbolic import CALL, NONE, SLOT, Refutation, Symbols, Taken, invariant, is_open, rows_of, unanswered, waits, z3
from .messages import is_number
from .theorem import theorem


@theorem("X-6", about=lambda roles: roles.calls.registers, missing="calls of its own")
def calls_answered(roles: ProofRoles) -> Iterator[Refutation]:
    """An output answers a call that had none, once; none is forgotten, and none is left when its run ends."""
    for taken in rows_of(roles):
        before, after = (
            unanswered(roles, state, moment)
            for state, moment in ((taken.row.source, taken.before), (taken.row.dest, taken.after))
        )
        for moment in taken.moments:
            if moment.effect in roles.run.ends:
                left = z3.And(
                    unanswered(roles, taken.row.source, moment), z3.Not(_answer(roles, moment.outputs, taken))
                )
                yield from taken.refute("every call is answered before the stop", z3.Not(left))
        answered = _name(roles.calls.results, taken.after.outputs, taken.symbols)
        yield from taken.refute(
            "no call is forgotten", z3.Implies(before, z3.Or(after, _answer(roles, taken.after.outputs, taken)))
        )
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
        if (
            taken.row.event in roles.calls.opens
            and taken.row.effects
            and not {*taken.row.effects} <= {*roles.run.ignores}
        ):
            ways = sum(effect in roles.calls.opens[taken.row.event] for effect in taken.row.effects)
            yield from taken.refute("each call that is said is to be run", z3.BoolVal(ways == 1))


def _answer(roles: ProofRoles, outputs: Sequence[Output], taken: Taken) -> Any:
    """The formula: outputs answer ``w``, by its name or with all that is unanswered."""
    swept = any(output.name in roles.calls.sweeps for output in outputs)
    return z3.Or(_name(roles.calls.results, outputs, taken.symbols), z3.BoolVal(swept))


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
            elif not is_number(argument):
                found.append(is_open(argument))
            elif place == 0 and not z3.is_int_value(argument):
                found.append(argument == CALL)
    return z3.Or(found)


@theorem("X-1", "RC-D4", about=lambda roles: roles.calls.ids or "", missing="call ids of its own")
def call_ids_are_new(roles: ProofRoles) -> Iterator[Refutation]:
    """A call that is made has an id that no call of its run has had."""
    name = roles.calls.ids
    assert name is not None
    kept_while = {*roles.run.begins, *roles.run.ends}
    for taken in rows_of(roles):
        before, after = (moment.registers[name] for moment in (taken.before, taken.after))
        made = taken.symbols.field("call_id")
        if any(output.name in roles.calls.makes for output in taken.after.outputs):
            yield from taken.refute("a call's id is new in its run", before[made] == NONE, after[made] != NONE)
        if not kept_while.intersection(taken.row.effects):
            yield from taken.refute("a run knows its call ids", z3.Implies(before[CALL] != NONE, after[CALL] != NONE))


THEOREMS = (calls_answered, call_ids_are_new)
