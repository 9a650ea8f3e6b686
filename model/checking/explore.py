"""Exhaustive exploration of a declared machine, breadth first, to a stated bound.

Positions grow without end. States are therefore told apart up to an order-preserving renaming of the positions that
each register holds: no term compares those of two registers.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ..declaration.machine import Machine, Row
from ..declaration.stepping import Stepper
from ..declaration.vocabulary import Output
from ..search import reached
from .alphabet import Letter, alphabet, positions


@dataclass(frozen=True)
class Violation:
    """A broken promise, and the shortest path of letters to the state that breaks it."""

    promise: str
    path: tuple[str, ...]


@dataclass
class Exploration:
    """Counts of states and transitions, the rows taken, and the number of states left out beyond the bound."""

    states: int = 0
    transitions: int = 0
    beyond: int = 0
    rows: set[Row] = field(default_factory=set[Row])
    seen: set[str] = field(default_factory=set[str])
    """The names of ``sometimes`` that held somewhere."""
    violation: Violation | None = None


@dataclass(frozen=True)
class _Node:
    """A state with its real registers and the letters that led to it; nodes with equal *key* are one state."""

    key: Hashable
    state: str = field(compare=False)
    registers: Mapping[str, Any] = field(compare=False)
    beside: Any = field(compare=False)
    way: tuple[Letter, ...] = field(compare=False)


Monitor = Callable[[Any, Row, Sequence[Output], Mapping[int, Any]], Any]
"""Steps a second value beside the machine (their synchronous product): from that value, the row, its outputs, and the
event at each position so far. Raises ValueError if the outputs break a promise."""


Watch = Callable[[Row, Mapping[str, Any], Letter, int], str | None]
"""Says what a step breaks: the row, the registers before it, the letter, and its position."""


def explore(
    machine: Machine,
    tables: Mapping[str, Any],
    *,
    bound: int = 2,
    letters: Sequence[Letter] | None = None,
    unbounded_counters: Sequence[str] = (),
    beside: Monitor | None = None,
    start: Any = None,
    broken_by: Watch | None = None,
) -> Exploration:
    """Visit every state in which no queue or map is longer, and no counter higher, than *bound*.

    ``always`` is checked in every state; the first violation ends the exploration. *unbounded_counters* distinguish no
    states: they count requests without end. With *beside*, a second value (immutable, hashable) starts as *start* and
    steps along; states differ where it differs. The first step that *broken_by* gives a text for ends it, too.
    """
    letters = alphabet(machine, tables) if letters is None else letters
    kinds = {name: kind for name, kind in machine.deciding.items() if name not in unbounded_counters}
    ordered = positions(machine)
    told_apart = [(name, kind, name in ordered) for name, kind in kinds.items()]
    bounded = [(name, kind) for name, kind, is_position in told_apart if kind != "number" or not is_position]
    stepper = Stepper(machine, tables)
    found = Exploration()

    def node(value: Any, *way: Letter) -> _Node:
        registers = stepper.context.registers
        held = [_frozen(kind, registers[name], is_position) for name, kind, is_position in told_apart]
        return _Node((stepper.state, value, *held), stepper.state, registers, value, way)

    def beyond(registers: Mapping[str, Any]) -> bool:
        for name, kind in bounded:  # noqa: SIM110 - at each transition: a generator takes twice as long
            if size(kind, registers[name], ordered=False) > bound:
                return True
        return False

    def onward(before: _Node) -> Iterator[tuple[Letter, _Node]]:
        for letter in () if found.violation else letters:
            stepper.state, stepper.context.registers = before.state, copied(before.registers)
            now = letter.now(before.registers)
            row = stepper.take(now.symbol, now.event, len(before.way))
            way = (*before.way, now)
            found.transitions += 1
            found.rows.add(row)
            value = None
            if broken_by and (said := broken_by(row, before.registers, now, len(before.way))):
                found.violation = Violation(said, tuple(map(str, way)))
                return
            if beside:
                try:
                    value = beside(before.beside, row, stepper.outputs, {at: one.event for at, one in enumerate(way)})
                except ValueError as broken:
                    found.violation = Violation(str(broken), tuple(map(str, way)))
                    return
            if beyond(stepper.context.registers):
                found.beyond += 1
            else:
                yield now, node(value, *way)

    for at, way in reached([(node(start), ())], onward):
        found.states += 1
        found.seen.update(name for name, holds in machine.sometimes.items() if holds(at.state, at.registers))
        broken = next((name for name, holds in machine.always.items() if not holds(at.state, at.registers)), None)
        if broken is not None:
            found.violation = Violation(broken, tuple(map(str, way)))
            break
    return found


_COPIED: Final = frozenset((deque, dict, list))


def copied(registers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of registers that can change independently."""
    return {name: value.copy() if type(value) in _COPIED else value for name, value in registers.items()}


def size(kind: str, value: Any, *, ordered: bool) -> int:
    """Return how much a register holds, or how high it counts; a position has no size."""
    if kind != "number":
        return len(value)
    return value if isinstance(value, int) and not ordered else 0


def _frozen(kind: str, value: Any, ordered: bool) -> Hashable:  # noqa: FBT001
    """A register's value as a key; a position becomes its place among those that the register holds."""
    if kind == "number":
        return _places((value,)) if ordered else value
    held: tuple[Any, ...] = tuple(value.values()) if kind == "map" else tuple(value)
    if ordered:
        held = _places(held)
    return frozenset(zip(value, held, strict=True)) if kind == "map" else held


@lru_cache(maxsize=1 << 16)
def _places(held: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Each position's place among them; what is no position stays. The same few are asked for in every state."""
    places = {at: place for place, at in enumerate(sorted({at for at in held if at is not None and at >= 0}))}
    return tuple(at if at is None else places.get(at, at) for at in held)
