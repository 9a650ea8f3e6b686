"""From a refutation to a word: the shortest one that breaks the claim in the machine itself, and its steps.

A refutation by induction names a row and registers, which may never occur. Here the machine is explored, and the claim
is looked at whenever that row is taken, with the registers that the machine really has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..declaration.machine import Row
from ..declaration.proof_roles import ProofRoles
from ..declaration.stepping import Stepper
from ..declaration.vocabulary import ANSWERED, HISTORY
from .alphabet import Letter, letters
from .explore import explore
from .symbolic import CALL, HEAD, Refutation, Symbols, count_of, counted, z3


@dataclass(frozen=True)
class Witness:
    """A word that breaks a claim, under the machine's tables of that number."""

    word: tuple[str, ...]
    tables: int


def witness(roles: ProofRoles, refuted: Refutation) -> Witness | None:
    """Return a shortest word that breaks the refuted claim, None if there is none within the machine's bound.

    Where the claim is no formula of registers (termination, a state without answers), the word leads to the place.
    """
    machine = replace(roles.machine, always={}, sometimes={})
    for number, tables in enumerate(roles.tables):

        def broken(row: Row, registers: Mapping[str, Any], letter: Letter, at: int, tables: Any = tables) -> str | None:
            if refuted.taken is None:
                return refuted.claim if row.dest == refuted.row else None
            if row != refuted.taken.row:
                return None
            if refuted.unmet is None:
                return refuted.claim
            solver = z3.SolverFor("QF_AUFLIA")
            solver.add(refuted.unmet, *refuted.taken.contract())
            solver.add(*_known(roles, refuted.taken.symbols, registers, (letter, at), tables))
            return refuted.claim if solver.check() == z3.sat else None

        found = explore(
            machine,
            tables,
            bound=roles.bound,
            letters=letters(roles, tables),
            unbounded_counters=roles.unbounded_counters,
            broken_by=broken,
        )
        if found.violation:
            return Witness(found.violation.path, number)
    return None


def _known(
    roles: ProofRoles,
    symbols: Symbols,
    registers: Mapping[str, Any],
    told: tuple[Letter, int],
    tables: Mapping[str, Any],
) -> Iterator[Any]:
    """The formulas: all that a step begins with has the value that it has in the machine."""
    letter, at = told
    unknown = Symbols(roles.machine, {}, counted(roles.calls))

    def array(entries: Mapping[Any, Any]) -> Any:
        made = symbols.nothing()
        for key, value in entries.items():
            made = z3.Store(made, symbols.literal(key), symbols.literal(value))
        return made

    for name, kind in roles.machine.registers.items():
        held = unknown.registers[name]
        match kind:
            case "number":
                yield held == symbols.literal(registers[name])
            case "map":
                yield held == array(registers[name])
            case "queue":
                yield z3.And(held.head == 0, held.tail == len(registers[name]))
                waiting: list[Any] = [*registers[name]]
                yield held.values == array(dict(enumerate(waiting)))
            case _:
                assert kind == HISTORY  # no guard reads it
    for name in counted(roles.calls):
        yield unknown.registers[count_of(name)] == sum(entry != ANSWERED for entry in registers[name].values())
    for name, value in vars(letter.event).items():
        yield unknown.field(name) == symbols.literal(value)
    for name, value in tables.items():
        if hasattr(value, "items"):
            yield unknown.table(name, keyed=True) == array(value)
        else:
            yield unknown.table(name) == symbols.literal(value)
    yield unknown.at == at
    yield HEAD == CALL  # which group a call joined is not in the registers: look at the first of each


@dataclass(frozen=True)
class Step:
    """One letter of a word, the row that it takes, its outputs, and the state that it leads to."""

    letter: str
    row: Row
    outputs: tuple[str, ...]
    state: str


def steps(roles: ProofRoles, word: Sequence[str], tables: int = 0) -> Iterator[Step]:
    """Step a machine through a word, whose letters are texts of its alphabet.

    Raises ValueError for a letter that the machine does not have under these tables; it lists those that it has.
    """
    chosen = roles.tables[tables]
    named = {str(letter): letter for letter in letters(roles, chosen)}
    stepper = Stepper(roles.machine, chosen)
    for at, text in enumerate(word):
        registers = stepper.context.registers
        now = named | {str(one): one for one in (letter.now(registers) for letter in named.values())}
        if text not in now:
            raise ValueError(f"the machine has no letter {text!r} here; it has: {', '.join(now)}")
        letter = now[text].now(registers)
        row = stepper.take(letter.symbol, letter.event, at)
        outputs = tuple(f"{one.name}{_arguments(one.arguments)}" for one in stepper.outputs)
        yield Step(text, row, outputs, stepper.state)


def _arguments(values: Sequence[Any]) -> str:
    return f"({', '.join(map(str, values))})" if values else ""
