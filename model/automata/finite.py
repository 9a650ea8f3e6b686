"""A declared machine as a finite Mealy machine: its abstract alphabet, its registers bounded, its outputs canonical.

The harness bounds the registers: a letter that would take one beyond its bound is not applied, which is an output too
(``BEYOND``). So every letter has an output in every state, and the theory of complete machines applies; it holds for
the machine within the bound only.

Positions never show. A position among an output's arguments shows as the letter that came there, with its colour:
otherwise a queue's order would not show. States differ by the order and the letters of the positions that they hold.
A number of an ``unbounded_counters`` register shows as its distance to the newest number.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from ..checking.alphabet import COLOURS, Letter, letters, positions
from ..checking.explore import copied, size
from ..declaration.contexts import Output
from ..declaration.machine import Machine, Row
from ..declaration.operands import Here, Operand, Register
from ..declaration.proof_roles import ProofRoles
from ..declaration.stepping import Stepper
from ..declaration.vocabulary import HISTORY, Emit
from .mealy import Steps


class Reaction(tuple[Output, ...]):
    """The outputs of a step, in order; each argument is its text."""

    __slots__ = ()

    def __str__(self) -> str:
        said = (f"{one.name}({', '.join(one.arguments)})" if one.arguments else one.name for one in self)
        return "; ".join(said) or "quiet"


QUIET: Final = Reaction()
BEYOND: Final = Reaction([Output("beyond the bound")])
NO_ROW: Final = Reaction([Output("no row")])
CRASH: Final = Reaction([Output("crash")])
LEAST: Final = 1
"""The largest size or count of a register."""
QUEUED: Final = 2
"""The largest size of a queue: with one, last-in-first-out would be first-in-first-out."""


@dataclass(frozen=True)
class Node:
    """A state with its real registers; ``told`` maps each position that a register holds to its letter."""

    state: str
    registers: Mapping[str, Any]
    told: Mapping[int, str]
    at: int


class LazyTransitions(dict[tuple[int, int], tuple[int, Reaction]]):
    """(state, letter) → the next state and the output, computed at first use."""

    def __init__(self, find: Callable[[int, int], tuple[int, Reaction]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: tuple[int, int]) -> tuple[int, Reaction]:
        found = self[key] = self._find(*key)
        return found


class FiniteMachine(Steps):
    """*machine* under *tables*: ``step`` is a total function of a state and a letter.

    States are numbered in the order of their first visit; 0 is the initial one. An ill-declared machine (a mutant) has
    outputs as well: ``NO_ROW`` if no row fits, ``CRASH`` if an effect fails.
    """

    def __init__(
        self,
        machine: Machine,
        tables: Mapping[str, Any],
        letters: Sequence[Letter],
        *,
        bounds: Mapping[str, int],
        unbounded_counters: Sequence[str] = (),
    ) -> None:
        self.machine = machine
        self.letters = tuple(letters)
        self._stepper = Stepper(machine, tables)
        self._bounds = bounds
        self._unbounded_counters = frozenset(unbounded_counters)
        self._kinds = {name: kind for name, kind in machine.deciding.items() if name not in unbounded_counters}
        self._ordered = positions(machine) - self._unbounded_counters
        self._short = [_short(letter) for letter in letters]
        self.nodes: list[Node] = []
        self._numbers: dict[Hashable, int] = {}
        self.steps = LazyTransitions(self._taken)
        self.rows: dict[tuple[int, int], Row] = {}
        """(state, letter) → the row that was taken, if any."""
        self.fitted: set[Row] = set()
        """The rows that fitted in some state, beyond the bound or not."""
        stepper = self._stepper
        self._number(stepper.state, copied(stepper.context.registers), {}, 0)

    def edited(self, machine: Machine, row: Row) -> "FiniteMachine":
        """Return the finite machine of *machine*, which differs only at *row*: all other steps are shared."""
        return _Edited(self, machine, row)

    def entered(self, state: int) -> int:
        """Return the number here of the unedited machine's *state*: both number states together."""
        return state

    def step(self, state: int, letter: int, /) -> tuple[int, Reaction]:
        """Return the next state and the output."""
        return self.steps[state, letter]

    def _number(self, state: str, registers: Mapping[str, Any], told: Mapping[int, str], at: int) -> int:
        shown = tuple(
            _place(registers[name], told) if name in self._ordered else _plain(registers[name]) for name in self._kinds
        )
        key = (state, shown)
        number = self._numbers.setdefault(key, len(self.nodes))
        if number == len(self.nodes):
            held = {at for name in self._ordered for at in _values(registers[name])}
            self.nodes.append(Node(state, registers, {at: told[at] for at in held if at in told}, at))
        return number

    def _taken(self, number: int, index: int) -> tuple[int, Reaction]:
        node, stepper, context = self.nodes[number], self._stepper, self._stepper.context
        stepper.state, context.registers = node.state, {**node.registers}
        letter = self.letters[index].now(node.registers)
        try:
            row = stepper.row(letter.symbol, letter.event, node.at)
        except StopIteration:
            return number, NO_ROW
        self.fitted.add(row)
        changes = row.dest != node.state or not all(isinstance(self.machine.effects[one], Emit) for one in row.effects)
        if changes:
            context.registers = copied(node.registers)
        told = {**node.told, node.at: self._short[index]}
        try:
            output = self._applied(row, told)
        except (IndexError, TypeError, AttributeError):
            return number, CRASH
        held = context.registers
        if changes and any(
            size(kind, held[name], ordered=name in self._ordered) > self._bounds.get(name, LEAST)
            for name, kind in self._kinds.items()
        ):
            return number, BEYOND
        self.rows[number, index] = row
        return self._number(row.dest, held, told, node.at + 1) if changes else number, output

    def _applied(self, row: Row, told: Mapping[int, str]) -> Reaction:
        context = self._stepper.context
        context.outputs.clear()
        shown: list[Output] = []
        for name in row.effects:
            effect, before = self.machine.effects[name], len(context.outputs)
            effect.apply(context)
            if isinstance(effect, Emit):
                operands = effect.arguments if effect.each is None else (*effect.arguments, effect.each)
                new = context.outputs[before:]
                shown += [self._shown(operands, output, told) for output in new]
        return Reaction(shown)

    def _shown(self, operands: Sequence[Operand], output: Output, told: Mapping[int, str]) -> Output:
        kinds, pairs = self.machine.registers, zip(operands, output.arguments, strict=True)
        shown = (  # a history grows without end: no finite machine shows it
            self._word(operand, value, told)
            for operand, value in pairs
            if not (isinstance(operand, Register) and kinds[operand.name] == HISTORY)
        )
        return Output(output.name, tuple(shown))

    def _word(self, operand: Operand, value: Any, told: Mapping[int, str]) -> str:
        if isinstance(operand, Register) and operand.name in self._unbounded_counters:
            return f"newest{value - self._stepper.context.registers[operand.name] or ''}"
        if isinstance(operand, Here) or (isinstance(operand, Register) and operand.name in self._ordered):
            many: tuple[int, ...] = cast("tuple[int, ...]", value) if isinstance(value, tuple) else (value,)
            return " ".join(told.get(at, str(at)) for at in many)
        return str(value)


def _short(letter: Letter) -> str:
    """Return the letter's symbol and colour: rows have already judged its other fields."""
    colours = [value for value in vars(letter.event).values() if value in COLOURS]
    return " ".join([letter.symbol, *colours[-1:]])


class _Edited(FiniteMachine):
    """A machine that differs from another one in one row: their states are numbered together."""

    def __init__(self, right: FiniteMachine, machine: Machine, row: Row) -> None:
        vars(self).update(vars(right))
        self._right, self._place = right, (row.source, row.event)
        self.machine = machine
        self._stepper = Stepper(machine, right._stepper.context.tables)  # noqa: SLF001 - it is one of these itself
        self.steps = LazyTransitions(self._found)
        self.rows, self.fitted = {}, set()

    def _found(self, state: int, letter: int) -> tuple[int, Reaction]:
        if (self.nodes[state].state, self.letters[letter].symbol) != self._place:
            return self._right.step(state, letter)
        return self._taken(state, letter)


_Register: TypeAlias = "int | str | Sequence[int] | Mapping[Hashable, int]"


def _values(value: _Register) -> list[int]:
    if isinstance(value, Mapping):
        return [*value.values()]
    return [value] if isinstance(value, int) else [at for at in value if isinstance(at, int)]


def _plain(value: _Register) -> Hashable:
    if isinstance(value, Mapping):
        return frozenset(value.items())
    return value if isinstance(value, int | str) else tuple(value)


def _place(value: _Register, told: Mapping[int, str]) -> Hashable:
    """Return the letters at the positions that a register holds.

    No term compares positions, so their order means nothing.
    """
    if isinstance(value, Mapping):
        return frozenset((key, told.get(at, at)) for key, at in value.items())
    return told.get(value, value) if isinstance(value, int) else tuple(told.get(at, at) for at in _values(value))


def views(roles: ProofRoles) -> list[tuple[Mapping[str, Any], Mapping[str, int]]]:
    """Return each (tables, bounds) pair under which the machine is explored exhaustively."""
    queues = {name: QUEUED for name in roles.messages.queues if roles.machine.registers[name] == "queue"}
    return [(tables, {**queues, **facet}) for tables in roles.tables for facet in roles.suite_bounds]


def bounded(
    roles: ProofRoles, tables: Mapping[str, Any], bounds: Mapping[str, int], *, machine: Machine | None = None
) -> FiniteMachine:
    """Return the finite machine of *roles*, or of *machine* over the same alphabet, under *tables* within *bounds*."""
    found = letters(roles, tables, coloured=True)
    return FiniteMachine(
        machine or roles.machine, tables, found, bounds=bounds, unbounded_counters=roles.unbounded_counters
    )
