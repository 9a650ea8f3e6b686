"""The abstract alphabet of a declared machine, from the terms of its rows.

A field that terms judge takes every value that some term tells apart; a field that is only stored or looked up takes
two values, called colours. A machine that never compares payloads behaves on all of them as on two (data independence,
Wolper 1986); with one colour, last-in-first-out would pass for first-in-first-out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

from ..declaration.machine import Machine
from ..declaration.operands import Default, Field, Here, Lookup, Operand, Register, Table, terms
from ..declaration.proof_roles import ProofRoles
from ..declaration.vocabulary import Equal, Increment, Less, Pop, Push, Set

COLOURS: Final = ("red", "blue")


@dataclass(frozen=True)
class Letter:
    """An event of the abstract alphabet, with the fields that some row consults."""

    symbol: str
    event: SimpleNamespace

    def now(self, registers: Mapping[str, Any]) -> "Letter":
        """The letter with the values that the registers have among its fields."""
        if not self._reads:
            return self
        fields = vars(self.event).items()
        read = {name: registers[one.name] if isinstance(one, Register) else one for name, one in fields}
        return Letter(self.symbol, SimpleNamespace(**read))

    @cached_property
    def _reads(self) -> bool:
        return any(isinstance(value, Register) for value in vars(self.event).values())

    def __hash__(self) -> int:
        return hash((self.symbol, *vars(self.event).items()))

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in vars(self.event).items() if value is not None)
        return f"{self.symbol}({given})" if given else self.symbol


def positions(machine: Machine) -> frozenset[str]:
    """The registers that hold positions: those that ``Here`` flows into."""
    found: set[str] = set()
    sources: list[Any] = [Here()]
    while new := {target for target, source in flows(machine) if source in sources} - found:
        found |= new
        sources += map(Register, new)
    return frozenset(found)


def flows(machine: Machine) -> Iterator[tuple[str, Operand | None]]:
    """Each register with an operand that it takes values from; None stands for the register's own count."""
    for effect in machine.effects.values():
        match effect:
            case Pop(register=source, into=Register(name=target)):
                yield target, source
            case (
                Push(register=Register(name=target), value=value)
                | Set(target=(Register(name=target) | Lookup(of=Register(name=target))), value=value)
            ):
                yield target, value
            case Increment(register=Register(name=target)):
                yield target, None
            case _:
                pass


def alphabet(
    machine: Machine,
    tables: Mapping[str, Any],
    values: Mapping[str, Sequence[Any]] | None = None,
    carries: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Letter, ...]:
    """Every event with every combination of field values that its rows can tell apart, in two colours.

    *values* lists a field's values by hand, where the terms alone give too few or too many; a register among them
    stands for its value at the time. *carries* names the fields of an event that no row reads, but a refinement does.
    """
    found: list[Letter] = []
    for symbol in machine.events:
        judged, carried = _fields(machine, symbol, tables)
        carried |= {*(carries or {}).get(symbol, ())}
        judged |= {name: [*given] for name, given in (values or {}).items() if name in judged or name in carried}
        plain = sorted(carried - judged.keys())
        for choice in product(*judged.values()):
            for colour in COLOURS if plain else COLOURS[:1]:
                event = dict(zip(judged, choice, strict=True)) | dict.fromkeys(plain, colour)
                found.append(Letter(symbol, SimpleNamespace(**event)))
    return tuple(found)


def letters(roles: ProofRoles, tables: Mapping[str, Any], *, coloured: bool = False) -> tuple[Letter, ...]:
    """The abstract alphabet of the machine under *tables*; *coloured* gives ``payloads`` two colours as well."""
    carries = {**roles.alphabet.carries, **(roles.alphabet.payloads if coloured else {})}
    return alphabet(roles.machine, tables, roles.alphabet.values, carries)


def _fields(machine: Machine, symbol: str, tables: Mapping[str, Any]) -> tuple[dict[str, list[Any]], set[str]]:
    """The fields that the rows of an event judge, each with the values told apart; and those that are only carried."""
    rows = [row for row in machine.rows if row.event == symbol]
    guards = [machine.guards[name] for name in dict.fromkeys(name for row in rows for name in row.guards)]
    effects = [machine.effects[name] for name in dict.fromkeys(name for row in rows for name in row.effects)]
    judged: dict[str, dict[Any, None]] = {}
    carried: set[str] = set()
    for term in terms((*guards, *effects)):
        match term:
            case Equal(subject=(Field(name=name) | Default(field=Field(name=name))) as subject, right=right):
                absent = [None] if isinstance(subject, Default) else []
                others = subject.values or ("other",)
                judged.setdefault(name, {}).update(dict.fromkeys((right.value, *absent, *others)))
            case Less(subject=Field(name=name), right=Table(name=table)):
                judged.setdefault(name, {}).update(dict.fromkeys((tables[table] - 1, tables[table])))
            case Lookup(of=Table(name=table), key=Field(name=name)):
                judged.setdefault(name, {}).update(dict.fromkeys(tables[table]))
            case Field(name=name):
                carried.add(name)
            case _:
                pass
    return {name: list(values) for name, values in judged.items()}, carried - judged.keys()
