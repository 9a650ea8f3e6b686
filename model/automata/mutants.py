"""Mutants of a declared machine: each has one edited row.

First-order mutants have one edit of one row (wildcards expanded: a row is one event in one state). Hidden-state mutants
have the same edits, but show them only after a first visit: the row is right the first time and wrong from then on,
which takes one more register. An edit does not say whether its mutant is equivalent; ``mealy.difference`` does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Final

from ..declaration.machine import Machine, NativeRow, Row
from ..declaration.operands import Const, Register
from ..declaration.vocabulary import Emit, Less, Set
from .finite import FiniteMachine, LazyTransitions, Reaction
from .mealy import Steps

_VISITED: Final = "visited"
"""The register, guard and effect of a hidden state."""

_BEFORE: Final = ("extra-row", "guard-negated")
"""Operators that put a row before others, and so shadow them."""

OPERATORS: Final = (
    "target",
    "output",
    "missing-row",
    "extra-row",
    "guard-negated",
    "effect-dropped",
    "effect-doubled",
    "effects-reordered",
)


@dataclass(frozen=True)
class Mutant:
    """Mutant *number* of the machine *right*; *edit* describes the change of *row*, its *place*-th.

    The rows *wrong* replace it.
    """

    number: int
    name: str
    operator: str
    hidden: bool
    right: Machine
    place: int
    row: Row
    edit: str
    wrong: Sequence[Row]

    @cached_property
    def edited(self) -> Machine:
        """The machine with the edit alone; a hidden-state mutant behaves like it from the second visit on."""
        return _edited(self.right, self.right.rows, self.place, self.wrong)

    def edited_of(self, right: FiniteMachine) -> FiniteMachine:
        """Return *right*, the machine's own finite machine, with the edit."""
        return right.edited(self.edited, self.row)

    @cached_property
    def machine(self) -> Machine:
        """The wrong machine."""
        return _hidden(self.right, self.right.rows, self.place, self.wrong) if self.hidden else self.edited

    def shows(self, right: FiniteMachine) -> bool:
        """Return whether the edit can show in *right*, all of whose states were visited: its row fits in some state."""
        if self.hidden or self.operator not in _BEFORE:
            return self.row in right.fitted
        return any((row.event, row.source) == (self.row.event, self.row.source) for row in right.fitted)


def mutants(machine: Machine) -> Iterator[Mutant]:
    """Yield every mutant of *machine*, first-order ones first, in the rows' order."""
    rows = machine.rows
    numbers = count()
    for hidden in (False, True):
        for place, row in enumerate(rows):
            for number, (operator, edit, wrong) in enumerate(_edits(machine, row)):
                name = f"{machine.name}:{place}:{operator}:{number}" + (":hidden" if hidden else "")
                yield Mutant(next(numbers), name, operator, hidden, machine, place, row, edit, wrong)


class DelayedMutant(Steps):
    """A hidden-state mutant as a Mealy machine: *right* until it has taken *row*, *wrong* from then on.

    A state is twice that of ``FiniteMachine``, plus one after the row was taken.
    """

    def __init__(self, right: FiniteMachine, wrong: FiniteMachine, row: Row) -> None:
        self.letters = right.letters
        self._right, self._wrong, self._row = right, wrong, row
        self.steps = LazyTransitions(self._found)

    def entered(self, state: int) -> int:
        """Return this machine's state while *right* is in *state* and the row was not taken yet."""
        return 2 * state

    def step(self, state: int, letter: int, /) -> tuple[int, Reaction]:
        """Return the next state and the output."""
        return self.steps[state, letter]

    def _found(self, state: int, letter: int) -> tuple[int, Reaction]:
        place, late = divmod(state, 2)
        after, output = (self._wrong if late else self._right).step(place, letter)
        late = late or self._right.rows.get((place, letter)) is self._row
        return 2 * after + late, output


def behaviour(mutant: Mutant, right: FiniteMachine) -> FiniteMachine | DelayedMutant:
    """Return the Mealy machine of *mutant*, given *right*, that of the unedited machine."""
    wrong = mutant.edited_of(right)
    return DelayedMutant(right, wrong, mutant.row) if mutant.hidden else wrong


def _edits(machine: Machine, row: Row) -> Iterator[tuple[str, str, list[Row]]]:
    """Yield each edit of one row: its operator, its description, and the rows in the row's place, in order."""
    effects = row.effects
    for state in machine.states:
        if state != row.dest:
            yield "target", f"goes to {state}", [replace(row, dest=state, internal=False)]
    emits = [name for name, effect in machine.effects.items() if isinstance(effect, Emit)]
    for at, name in enumerate(effects):
        if name in emits and (other := _another(machine, emits, name)) is not None:
            yield "output", f"{other} for {name}", [replace(row, effects=(*effects[:at], other, *effects[at + 1 :]))]
    yield "missing-row", "is missing", []
    yield "extra-row", "stands behind one that does nothing", [_nothing(row), row]
    for name in row.conditions:
        kept = tuple(one for one in row.conditions if one != name)
        yield "guard-negated", f"not {name}", [replace(row, conditions=kept, unless=(*row.unless, name))]
    for name in row.unless:
        kept = tuple(one for one in row.unless if one != name)
        yield "guard-negated", f"{name} instead of not", [replace(row, conditions=(*row.conditions, name), unless=kept)]
    for at, name in enumerate(effects):
        yield "effect-dropped", f"without {name}", [replace(row, effects=(*effects[:at], *effects[at + 1 :]))]
        yield "effect-doubled", f"{name} twice", [replace(row, effects=(*effects[: at + 1], *effects[at:]))]
    for at in range(len(effects) - 1):
        swapped = (*effects[:at], effects[at + 1], effects[at], *effects[at + 2 :])
        if swapped != effects:
            yield "effects-reordered", f"{effects[at + 1]} before {effects[at]}", [replace(row, effects=swapped)]


def _another(machine: Machine, emits: Sequence[str], name: str) -> str | None:
    """Return the next declared output that differs from that called *name*."""
    at = emits.index(name)
    others = (*emits[at + 1 :], *emits[:at])
    return next((other for other in others if machine.effects[other] != machine.effects[name]), None)


def _nothing(row: Row) -> Row:
    return replace(row, dest=row.source, conditions=(), unless=(), effects=(), internal=True)


def _edited(machine: Machine, rows: Sequence[Row], place: int, wrong: Sequence[Row]) -> Machine:
    return replace(machine, table=[_native(row) for row in (*rows[:place], *wrong, *rows[place + 1 :])])


def _hidden(machine: Machine, rows: Sequence[Row], place: int, wrong: Sequence[Row]) -> Machine:
    """Return the machine whose row is right once and records this; *wrong* replaces it from then on."""
    row = rows[place]
    first = replace(row, unless=(*row.unless, _VISITED), effects=(*row.effects, _VISITED))
    later = [replace(one, conditions=(*one.conditions, _VISITED)) for one in wrong]
    visited = Register(_VISITED)
    return replace(
        machine,
        table=[_native(one) for one in (*rows[:place], first, *later, *rows[place + 1 :])],
        registers={**machine.registers, _VISITED: "number"},
        guards={**machine.guards, _VISITED: Less(Const(-1), visited)},
        effects={**machine.effects, _VISITED: Set(visited, Const(0))},
    )


def _native(row: Row) -> NativeRow:
    dest = None if row.internal else row.dest
    return [row.event, row.source, dest, [*row.conditions], [*row.unless], [*row.effects]]
