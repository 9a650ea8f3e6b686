"""The lint of a declared machine: faults that `transitions` accepts silently."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Final, get_args

from .machine import Machine, Row
from .operands import Const, Default, Lookup, Operand, Register, Table, terms
from .vocabulary import Condense, Emit, Equal, Record, Retract, Settle

_INCOMPLETE: Final = "the guards are not complete"


def lint(machine: Machine, tables: Iterable[Mapping[str, Any]] = ()) -> list[str]:
    """List the faults of *machine*, one sentence per fault; an empty list means sound.

    Checked: names are declared, once, and used; for every event in every state the guards are disjoint (row order means
    nothing) and complete (the machine is total), and no row is a silent default: if the values of a field or table are
    enumerated, each row names those that it is for. Every state is reachable from the initial one. Each of *tables*,
    which the machine is run with, has an entry for every key of its ``Literal``, and only values of its ``Literal``.
    """
    undeclared = [*_frame(machine), *_undeclared(machine), *_unenumerated(machine)]
    faults = undeclared or [*_unused(machine), *_guards(machine), *_defaults(machine), *_unreachable(machine)]
    return [*faults, *dict.fromkeys(fault for one in tables for fault in _partial(machine, one))]


def gaps(machine: Machine) -> list[str]:
    """List the faults by which a step of *machine* may find no row: undeclared names, and guards that miss a case."""
    undeclared = [*_frame(machine), *_undeclared(machine)]
    return undeclared or [fault for fault in _guards(machine) if fault.endswith(_INCOMPLETE)]


def _frame(machine: Machine) -> Iterator[str]:
    """Yield faults in the declarations besides the rows."""
    for role, state in (("initial", machine.initial), *(("final", state) for state in machine.final)):
        if state not in machine.states:
            yield f"{role} state {state!r} is not declared"
    if machine.boundary is not None and machine.boundary not in machine.events:
        yield f"boundary event {machine.boundary!r} is not declared"
    for name in sorted(machine.guards.keys() & machine.effects.keys()):
        yield f"{name!r} is the name of a guard and of an effect"
    for what, declared in (("guard", machine.guards), ("effect", machine.effects)):
        for name, term in declared.items():
            named = {one.name for one in terms(term) if isinstance(one, Register)}
            for register in sorted(named - machine.registers.keys()):
                yield f"{what} {name!r}: register {register!r} is not declared"
            for register in sorted(named & machine.registers.keys() - machine.deciding.keys()):
                if not isinstance(term, Condense | Record | Settle | Retract | Emit):
                    yield f"{what} {name!r} reads the history {register!r}, which is only put out"


def _undeclared(machine: Machine) -> Iterator[str]:
    for event, source, dest, conditions, unless, before in machine.table:
        where = f"row {event!r} from {source!r}"
        if event not in machine.events:
            yield f"{where}: event {event!r} is not declared"
        yield from (
            f"{where}: state {state!r} is not declared"
            for state in [*machine.sources(source), *([dest] if isinstance(dest, str) else [])]
            if state not in machine.states
        )
        names = [*(conditions or ()), *(unless or ())]
        yield from (f"{where}: guard {name!r} is not declared" for name in names if name not in machine.guards)
        yield from (f"{where}: effect {name!r} is not declared" for name in before or () if name not in machine.effects)


def _unused(machine: Machine) -> Iterator[str]:
    rows = machine.rows
    guards = {name for row in rows for name in row.guards}
    effects = {name for row in rows for name in row.effects}
    yield from (f"guard {name!r} is declared and no row uses it" for name in machine.guards if name not in guards)
    yield from (f"effect {name!r} is declared and no row uses it" for name in machine.effects if name not in effects)


def _guards(machine: Machine) -> Iterator[str]:
    """Yield faults found in every combination of the guards of one (event, state)."""
    for event, state in product(machine.events, machine.states):
        rows = machine.by_event[event, state]
        where = f"event {event!r} in state {state!r}"
        taken: set[Row] = set()
        for case in _cases(machine, sorted({name for row in rows for name in row.guards})):
            chosen = [row for row in rows if _chosen(row, case)]
            taken.update(chosen)
            said = ", ".join(name if holds else f"not {name}" for name, holds in case.items()) or "always"
            if not chosen:
                yield f"{where}: no row for the case ({said}): {_INCOMPLETE}"
            elif len(chosen) > 1:
                yield f"{where}: {len(chosen)} rows for the case ({said}): the guards are not disjoint"
        shadowed = (row.label for row in rows if row not in taken)
        yield from (f"{where}: the row {label!r} can never be taken: it is shadowed" for label in shadowed)


def _cases(machine: Machine, names: list[str]) -> Iterator[dict[str, bool]]:
    """Yield every combination of truth values that the named guards can have.

    A value equals at most one constant, and exactly one if its values are enumerated; all other guards count as
    independent, so that no possible case is left out.
    """
    constants: dict[Operand, list[object]] = {}
    for name in names:
        guard = machine.guards[name]
        if isinstance(guard, Equal):
            constants.setdefault(guard.subject, []).append(guard.right)
    choices: dict[object, tuple[object, ...]] = {
        subject: tuple(map(Const, subject.values)) or (*dict.fromkeys(equal), None)
        for subject, equal in constants.items()
    }
    for name in names:
        if not isinstance(machine.guards[name], Equal):
            choices[machine.guards[name]] = (True, False)
    for values in product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        yield {name: _holds(machine, name, chosen) for name in names}


def _holds(machine: Machine, name: str, chosen: Mapping[object, object]) -> bool:
    guard = machine.guards[name]
    return chosen[guard.subject] == guard.right if isinstance(guard, Equal) else bool(chosen[guard])


def _chosen(row: Row, case: Mapping[str, bool]) -> bool:
    return all(case[name] for name in row.conditions) and not any(case[name] for name in row.unless)


def _defaults(machine: Machine) -> Iterator[str]:
    """Yield silent defaults: a value added to a ``Literal`` must find no row; no row may be for all values but some."""
    for row in machine.rows:
        named = {machine.guards[name].subject for name in row.conditions}
        for name in row.unless:
            subject = machine.guards[name].subject
            if subject.values and subject not in named:
                others = " | ".join(subject.values)
                where = f"event {row.event!r} in state {row.source!r}"
                yield f"{where}: the row {row.label!r} is a silent default: it does not say for which of {others} it is"
                break


def _unenumerated(machine: Machine) -> Iterator[str]:
    """Yield guards that compare an enumerated value with a foreign one, and tables with undeclared values or keys."""
    for name, guard in machine.guards.items():
        values = guard.subject.values
        if not isinstance(guard, Equal):
            continue
        if values and guard.right.value not in values:
            yield f"guard {name!r}: {guard.right.value!r} is none of {' | '.join(values)}"
        match guard.subject:
            case Lookup(of=Table() as table, key=key) if table.keys is None or table.keys != key.literal:
                yield f"guard {name!r}: the keys of table {table.name!r} are not the values of field {key.name!r}"
            case Default(field=value, otherwise=table) if table.literal != value.literal:
                yield f"guard {name!r}: the values of table {table.name!r} are not those of field {value.name!r}"
            case Table(name=table_name) | Lookup(of=Table(name=table_name)) if not values:
                yield f"guard {name!r}: table {table_name!r} does not declare its values"
            case _:
                pass


def _partial(machine: Machine, tables: Mapping[str, Any]) -> Iterator[str]:
    """Yield tables that are missing, lack an entry that the machine can look up, or hold an undeclared value."""
    consulted = (one for one in terms(tuple(machine.guards.values())) if isinstance(one, Table))
    for table in dict.fromkeys(consulted):
        if table.name not in tables:
            yield f"table {table.name!r} is missing"
            continue
        held = tables[table.name]
        entries = {f" for {key!r}": held.get(key) for key in get_args(table.keys)} or {"": held}
        for key, entry in entries.items():
            if table.values and entry not in table.values:
                yield f"table {table.name!r}: {entry!r}{key} is none of {' | '.join(table.values)}"


def _unreachable(machine: Machine) -> Iterator[str]:
    reached = {machine.initial}
    rows = machine.rows
    while new := {row.dest for row in rows if row.source in reached} - reached:
        reached |= new
    yield from (f"state {state!r} can never be reached" for state in machine.states if state not in reached)
