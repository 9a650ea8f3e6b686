"""A declared machine as Promela, for Spin: that runs end is a temporal property (X-5).

One process takes the rows as guarded commands. An awaited answer costs nothing; every other event of the environment
is paid from a finite budget, so that only answers can keep an infinite run going. So can the model, where the machine
bounds its rounds: in each round it may call one tool more for nothing, and it has new ids without end (an id that is no
longer open counts as a new one). Data is bounded: queues by ``QUEUE``, fields by the abstract alphabet. All tables are
tried: the process begins by choosing one of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..declaration.machine import Row
from ..declaration.operands import Field, Lookup, identifier, terms
from ..declaration.proof_roles import ProofRoles
from ..declaration.vocabulary import ANSWERED, Const, Effect, Emit, Increment, Push, Register
from ..declaration.vocabulary import Set as SetTo
from .alphabet import Letter, letters

QUEUE: Final = 3
"""Capacity of a queue; an event that would not fit is not sent."""

_FRAME: Final = """\
/* {title}: generated from its rows. */
#define NONE -2
#define HERE 0
#define KEY(x) ((x) + 2)
#define QUEUE {queue}
#define KEYS {keys}
{strings}
{states}

byte state = {initial};
byte budget = {budget};
byte calls = {calls};
hidden byte key;
{registers}
{tables}

{clears}
active proctype {name}() {{
  d_step {{ {begin} }};
  if
{choices}
  fi;
end:
  do
{commands}
  od
}}

ltl every_run_ends {{ [] <> ({quiet}) }}
"""


def promela(roles: ProofRoles, budget: int = 3) -> str:
    """Return the Promela text of a machine in an environment that sends at most *budget* events besides answers."""
    machine = roles.machine
    alphabet = [letter for tables in roles.tables for letter in letters(roles, tables)]
    strings = sorted({*_constants(roles), *(value for letter in alphabet for value in _strings(letter))})
    maps = [name for name, kind in machine.deciding.items() if kind == "map"]
    registers = {"number": "int {} = -1;", "queue": "chan {} = [QUEUE] of {{ int }};", "map": "int {}[KEYS];"}
    commands = dict.fromkeys(command for letter in alphabet for command in _commands(roles, letter))
    commands |= dict.fromkeys(command for letter in alphabet for command in _new_ids(roles, letter))
    quiet = [state for state in machine.states if state not in (*roles.run.active, *roles.run.data_dependent)]
    return _FRAME.format(
        title=machine.title,
        name=identifier("m", machine.name),
        queue=QUEUE,
        keys=len(strings) + 3,
        budget=budget,
        calls=int(bool(roles.run.continues)),
        initial=identifier("s", machine.initial),
        strings=_defines("c", strings, 1),
        states=_defines("s", machine.states, 0),
        registers="\n".join(registers[kind].format(identifier("r", name)) for name, kind in machine.deciding.items()),
        tables="\n".join(_table(name, value) for name, value in roles.tables[0].items()),
        clears="\n".join(_clear(name, kind) for name, kind in machine.deciding.items() if kind != "number"),
        begin=" ".join(f"{identifier('clear', name)}();" for name in maps) or "skip",
        choices="\n".join(f"  :: d_step {{ {'; '.join(_chosen(tables)) or 'skip'} }}" for tables in roles.tables),
        commands="\n".join(commands),
        quiet=" || ".join(f"state == {identifier('s', state)}" for state in quiet),
    )


def _defines(prefix: str, names: Sequence[str], first: int) -> str:
    return "\n".join(f"#define {identifier(prefix, name)} {number}" for number, name in enumerate(names, start=first))


def _constants(roles: ProofRoles) -> Iterator[str]:
    machine = roles.machine
    for term in terms((*machine.guards.values(), *machine.effects.values())):
        if isinstance(term, Const) and isinstance(term.value, str):
            yield term.value
    for tables in roles.tables:
        for value in tables.values():
            held: Sequence[Any] = [*value, *value.values()] if isinstance(value, Mapping) else [value]
            yield from (one for one in held if isinstance(one, str))


def _strings(letter: Letter) -> Iterator[str]:
    return (value for value in vars(letter.event).values() if isinstance(value, str))


def _table(name: str, value: Any) -> str:
    return f"int {identifier('t', name)}" + ("[KEYS];" if isinstance(value, Mapping) else ";")


def _chosen(tables: Mapping[str, Any]) -> Iterator[str]:
    """The assignments of one choice of tables."""
    for name, value in tables.items():
        table = identifier("t", name)
        if hasattr(value, "items"):
            yield from (f"{table}[KEY({_value(key)})] = {_value(entry)}" for key, entry in value.items())
        else:
            yield f"{table} = {_value(value)}"


def _value(value: Any) -> str:
    return value.promela if isinstance(value, Register) else Const(value).promela


def _clear(name: str, kind: str) -> str:
    register = identifier("r", name)
    if kind == "queue":
        body = f"do :: len({register}) > 0 -> {register} ? _ :: else -> break od"
    else:
        body = f"for (key : 0 .. KEYS - 1) {{ {register}[key] = NONE }}"
    return f"inline {identifier('clear', name)}() {{ {body} }}"


def _commands(roles: ProofRoles, letter: Letter) -> Iterator[str]:
    """Yield a guarded command for each row that the letter can take; rows that change nothing are left out.

    An awaited answer is free, and so is one call per round; every other letter is paid for.
    """
    fields = {name: _value(value) for name, value in vars(letter.event).items()}
    for row in roles.machine.rows:
        if row.event == letter.symbol and not _changes_nothing(roles, row):
            ways = [_command(roles, row, ["budget > 0"], ["budget--"])]
            if roles.run.leads_on(row):
                free = roles.run.awaited.get(row.event, ((), ()))
                ways = [_command(roles, row, _guards(roles, *free), ()), *(ways if any(free) else ())]
            if row.event in roles.run.continues:
                ways.append(_command(roles, row, ["calls > 0"], ["calls--"]))
            yield from (re.sub(r"\bf_(\w+)", lambda found: fields[found[1]], way) for way in ways)


def _new_ids(roles: ProofRoles, letter: Letter) -> Iterator[str]:
    """Yield the commands after which the id of a call by which the model goes on is a new one."""
    if letter.symbol not in roles.run.continues:
        return
    machine = roles.machine
    names = {name for row in machine.rows if row.event == letter.symbol for name in row.guards}
    answers = {
        effect.target.of.name
        for effect in machine.effects.values()
        if isinstance(effect, SetTo) and isinstance(effect.target, Lookup) and effect.value == Const(ANSWERED)
    }
    for term in terms(tuple(machine.guards[name] for name in sorted(names))):
        match term:
            case Lookup(of=Register(name=name) as calls, key=Field(name=field)):
                entry = f"{calls.promela}[KEY({_value(vars(letter.event)[field])})]"
                closed = f"{entry} == {ANSWERED}" if name in answers else f"{entry} != NONE"
                yield f"  :: atomic {{ calls > 0 && {closed} -> {entry} = NONE }} /* a new id in {name} */"
            case _:
                pass


def _command(roles: ProofRoles, row: Row, more: Sequence[str], then: Sequence[str]) -> str:
    effects = [roles.machine.effects[name] for name in row.effects]
    filled = {effect.register.promela for effect in effects if isinstance(effect, Push)}
    conditions = [f"state == {identifier('s', row.source)}", *more, *_guards(roles, row.conditions, row.unless)]
    conditions += [f"len({queue}) < QUEUE" for queue in sorted(filled)]
    statements = [effect.promela for effect in effects if not _numbers(roles, effect)]
    statements += ["calls = 1"] if roles.run.continues and {*row.effects} & {*roles.run.rounds} else []
    statements += [f"state = {identifier('s', row.dest)}", *then]
    return f"  :: atomic {{ {' && '.join(conditions)} -> {'; '.join(statements)} }} /* {row.source}: {row.label} */"


def _guards(roles: ProofRoles, conditions: Sequence[str], unless: Sequence[str]) -> list[str]:
    guards = roles.machine.guards
    return [f"!({guards[name].promela})" for name in unless] + [f"({guards[name].promela})" for name in conditions]


def _changes_nothing(roles: ProofRoles, row: Row) -> bool:
    effects = (roles.machine.effects[name] for name in row.effects)
    return row.source == row.dest and all(isinstance(effect, Emit) for effect in effects)


def _numbers(roles: ProofRoles, effect: Effect) -> bool:
    """Return whether an effect only numbers requests; if states held these numbers, every state would be new."""
    return isinstance(effect, Increment) and effect.register.name in roles.unbounded_counters
