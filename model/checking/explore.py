"""Exhaustive exploration of a declared machine, breadth first, to a stated bound.

The abstract alphabet comes from the terms of the rows: a field that is judged takes every value that some term tells
apart; all that is only stored or looked up comes in two colours (a machine that never compares payloads behaves on all
of them as on two: data independence, Wolper 1986; with one, last-in-first-out would pass for first-in-first-out).

Positions grow without end, so that states are told apart up to an order-preserving renaming of the positions that each
register holds: no term compares those of two registers.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

from ..declaration.machine import Machine, Row
from ..declaration.operands import values_of
from ..declaration.stepping import Stepper
from ..declaration.vocabulary import Default, Equal, Field, Here, Less, Lookup, Output, Pop, Push, Register, Set, Table

COLOURS: Final = ("red", "blue")


@dataclass(frozen=True)
class Letter:
    """An event of the abstract alphabet, with the fields that some row consults."""

    symbol: str
    event: SimpleNamespace

    def now(self, registers: Mapping[str, Any]) -> "Letter":
        """The letter with the values that the registers have among its fields."""
        fields = vars(self.event)
        if not any(isinstance(value, Register) for value in fields.values()):
            return self
        read = {name: registers[one.name] if isinstance(one, Register) else one for name, one in fields.items()}
        return Letter(self.symbol, SimpleNamespace(**read))

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in vars(self.event).items() if value is not None)
        return f"{self.symbol}({given})" if given else self.symbol


@dataclass(frozen=True)
class Violation:
    """A promise that is broken, and the shortest path of letters to where it is."""

    promise: str
    path: tuple[str, ...]


@dataclass
class Exploration:
    """What was seen: states, transitions, rows taken, and the states left out because they are beyond the bound."""

    states: int = 0
    transitions: int = 0
    beyond: int = 0
    rows: set[Row] = field(default_factory=set[Row])
    seen: set[str] = field(default_factory=set[str])
    """The names of SOMETIMES that held somewhere."""
    violation: Violation | None = None


@dataclass(frozen=True)
class _Node:
    """A state with its real registers and the position of the next event; ``before`` and ``letter`` lead back."""

    state: str
    registers: Mapping[str, Any]
    beside: Any
    at: int = 0
    before: "_Node | None" = None
    letter: Letter | None = None

    def letters(self) -> list[Letter]:
        """The way here."""
        found: list[Letter] = []
        node: _Node | None = self
        while node is not None and node.letter is not None:
            found.append(node.letter)
            node = node.before
        return found[::-1]

    def path(self, *more: Letter) -> tuple[str, ...]:
        return tuple(str(letter) for letter in (*self.letters(), *more))

    def told(self, now: Letter) -> dict[int, Any]:
        """The event at each position on the way here, and then *now*."""
        return {at: letter.event for at, letter in enumerate((*self.letters(), now))}


CoreMonitor = Callable[[Any, Row, Sequence[Output], Mapping[int, Any]], Any]
"""Steps a second value along with the machine, from the row, its outputs and the event at each position so far.

It raises ValueError where the outputs break a promise."""


def explore(
    machine: Machine,
    tables: Mapping[str, Any],
    *,
    bound: int = 2,
    letters: Sequence[Letter] | None = None,
    echoed: Sequence[str] = (),
    beside: CoreMonitor | None = None,
    start: Any = None,
) -> Exploration:
    """Visit every state in which no queue or map is longer, and no counter higher, than *bound*.

    ALWAYS is checked in every state; the first violation ends the exploration. *echoed* registers number what is asked
    for, without end: they distinguish no states. With *beside*, a second (immutable,
    hashable) value starts as *start* and steps along; what distinguishes it distinguishes states.
    """
    letters = alphabet(machine, tables) if letters is None else letters
    kinds = {name: kind for name, kind in machine.registers.items() if name not in echoed}
    ordered = positions(machine)
    stepper = Stepper(machine, tables)
    first = _Node(stepper.state, stepper.context.registers, start)
    found = Exploration()
    visited = {_key(kinds, first, ordered)}
    waiting = deque([first])
    _visit(machine, first, found)
    while waiting and found.violation is None:
        node = waiting.popleft()
        for letter in letters:
            stepper.state, stepper.context.registers = node.state, copied(node.registers)
            letter = letter.now(node.registers)  # noqa: PLW2901
            row = stepper.take(letter.symbol, letter.event, node.at)
            found.transitions += 1
            found.rows.add(row)
            try:
                value = beside(node.beside, row, stepper.outputs, node.told(letter)) if beside else None
            except ValueError as broken:
                found.violation = Violation(str(broken), node.path(letter))
                return found
            after = _Node(stepper.state, stepper.context.registers, value, node.at + 1, node, letter)
            if not _within(kinds, after, ordered, bound):
                found.beyond += 1
            elif (key := _key(kinds, after, ordered)) not in visited:
                visited.add(key)
                waiting.append(after)
                _visit(machine, after, found)
                if found.violation:
                    return found
    return found


def _visit(machine: Machine, node: _Node, found: Exploration) -> None:
    found.states += 1
    found.seen.update(name for name, holds in machine.sometimes.items() if holds(node.state, node.registers))
    broken = next((name for name, holds in machine.always.items() if not holds(node.state, node.registers)), None)
    if broken is not None:
        found.violation = Violation(broken, node.path())


def copied(registers: Mapping[str, Any]) -> dict[str, Any]:
    """Registers that can be changed apart."""
    return {name: value.copy() if isinstance(value, deque | dict) else value for name, value in registers.items()}


def _within(kinds: Mapping[str, str], node: _Node, ordered: frozenset[str], bound: int) -> bool:
    return all(size(kind, node.registers[name], ordered=name in ordered) <= bound for name, kind in kinds.items())


def size(kind: str, value: Any, *, ordered: bool) -> int:
    """How much a register holds, or how high it counts; a position is no size."""
    if kind != "number":
        return len(value)
    return value if isinstance(value, int) and not ordered else 0


def _key(kinds: Mapping[str, str], node: _Node, ordered: frozenset[str]) -> Hashable:
    values = (_frozen(kind, node.registers[name], name in ordered) for name, kind in kinds.items())
    return (node.state, node.beside, *values)


def _frozen(kind: str, value: Any, ordered: bool) -> Hashable:  # noqa: FBT001
    """A register's value as a key; a position becomes its place among those that the register holds."""
    keys: list[Any] = [*value] if kind == "map" else [None] * (len(value) if kind == "queue" else 1)
    held: list[Any] = [*value.values()] if kind == "map" else [*value] if kind == "queue" else [value]
    if ordered:
        places = {at: place for place, at in enumerate(sorted({at for at in held if at is not None and at >= 0}))}
        held = [places.get(at, at) for at in held]
    pairs = tuple(zip(keys, held, strict=True))
    return frozenset(pairs) if kind == "map" else pairs


def positions(machine: Machine) -> frozenset[str]:
    """The registers that hold positions: what ``Here`` flows into."""
    found: set[str] = set()
    while new := {target for target, source in _flows(machine) if source is None or source in found} - found:
        found |= new
    return frozenset(found)


def _flows(machine: Machine) -> Iterator[tuple[str, str | None]]:
    """Which register takes values from which; None stands for the event's position."""
    for effect in machine.effects.values():
        match effect:
            case Pop(register=Register(name=source), into=Register(name=target)):
                yield target, source
            case (
                Push(register=Register(name=target), value=value)
                | Set(target=Register(name=target), value=value)
                | Set(target=Lookup(of=Register(name=target)), value=value)
            ):
                if isinstance(value, Here):
                    yield target, None
                elif isinstance(value, Register):
                    yield target, value.name
            case _:
                pass


def alphabet(
    machine: Machine,
    tables: Mapping[str, Any],
    values: Mapping[str, Sequence[Any]] | None = None,
    carries: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Letter, ...]:
    """Every event with every combination of field values that its rows can tell apart, in two colours.

    *values* gives a field's values by hand, where the terms alone say too little or too much; a register among them
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


def _fields(machine: Machine, symbol: str, tables: Mapping[str, Any]) -> tuple[dict[str, list[Any]], set[str]]:
    """The fields that the rows of an event judge, each with the values told apart; and those that are only carried."""
    rows = [row for row in machine.rows if row.event == symbol]
    guards = [machine.guards[name] for name in dict.fromkeys(name for row in rows for name in row.guards)]
    effects = [machine.effects[name] for name in dict.fromkeys(name for row in rows for name in row.effects)]
    judged: dict[str, dict[Any, None]] = {}
    carried: set[str] = set()
    for term in terms((*guards, *effects)):
        match term:
            case Equal(subject=Field(name=name), right=right):
                judged.setdefault(name, {}).update(
                    dict.fromkeys((right.value, *(values_of(term.subject) or ("other",))))
                )
            case Equal(subject=Default(field=Field(name=name)), right=right):
                others = values_of(term.subject) or ("other",)
                judged.setdefault(name, {}).update(dict.fromkeys((right.value, None, *others)))
            case Less(subject=Field(name=name), right=Table(name=table)):
                judged.setdefault(name, {}).update(dict.fromkeys((tables[table] - 1, tables[table])))
            case Lookup(of=Table(name=table), key=Field(name=name)):
                judged.setdefault(name, {}).update(dict.fromkeys(tables[table]))
            case Field(name=name):
                carried.add(name)
            case _:
                pass
    return {name: list(values) for name, values in judged.items()}, carried - judged.keys()


def terms(term: Any) -> Iterator[Any]:
    """A term and all that it is built of, the term first."""
    if isinstance(term, tuple):
        parts: Sequence[Any] = [*term]
    elif is_dataclass(term):
        yield term
        parts = [getattr(term, part.name) for part in fields(term)]
    else:
        return
    for part in parts:
        yield from terms(part)
