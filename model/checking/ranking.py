"""Termination: a lexicographic order of measures, found from the rows, under which cycles of rows come to an end."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..declaration.guards import Guard
from ..declaration.machine import Machine
from ..declaration.vocabulary import Const, Less, Register, Table
from .symbolic import Symbols, Taken, within, z3

Measure = Callable[[Symbols], Any]
Given = Callable[[Taken], Any]


def measures_of(machine: Machine) -> Iterator[Measure]:
    """Yield the candidate measures: a queue's length, the distance to a bound, a guard that holds and then does not."""
    yield from (partial(_length, name) for name, kind in machine.registers.items() if kind == "queue")
    for guard in machine.guards.values():
        if (
            isinstance(guard, Less)
            and isinstance(guard.subject, Register)
            and isinstance(guard.right, Const | Table | Register)
        ):
            yield partial(_left, guard)
        if isinstance(guard.subject, Register):
            yield partial(_flag, guard, 1, 0)
            yield partial(_flag, guard, 0, 1)


def _length(queue: str, symbols: Symbols) -> Any:
    held = symbols.registers[queue]
    return held.tail - held.head


def _left(guard: Less, symbols: Symbols) -> Any:
    return guard.right.term(symbols) - guard.subject.term(symbols)


def _flag(guard: Guard, yes: int, no: int, symbols: Symbols) -> Any:
    return z3.If(guard.formula(symbols), yes, no)


def unranked(rows: Sequence[Taken], measures: Sequence[Measure], given: Given) -> Iterator[Taken]:
    """Yield the rows of cycles that no lexicographic order of *measures* ends (Bradley, Manna and Sipma, 2005).

    *given* is assumed for each row. Within a strongly connected component, a measure that no row increases removes
    the rows that decrease it.
    """
    for part in _parts(rows):
        for measure in measures:
            if all(_measured(taken, measure, given, strictly=False) for taken in part):
                rest = [taken for taken in part if not _measured(taken, measure, given, strictly=True)]
                if len(rest) < len(part):
                    yield from unranked(rest, measures, given)
                    break
        else:
            yield from part


def _parts(rows: Sequence[Taken]) -> Iterator[list[Taken]]:
    """Yield the strongly connected components of the rows' graph, without those that have no cycle."""
    edges = {(taken.row.source, taken.row.dest) for taken in rows}
    while longer := {(source, end) for source, middle in edges for begin, end in edges if middle == begin} - edges:
        edges |= longer
    parts: dict[frozenset[str], list[Taken]] = {}
    for taken in rows:
        source, dest = taken.row.source, taken.row.dest
        if (dest, source) in edges:
            together = frozenset(
                state for state in (s for s, _ in edges) if {(source, state), (state, source)} <= edges
            )
            parts.setdefault(together, []).append(taken)
    yield from parts.values()


def _measured(taken: Taken, measure: Measure, given: Given, *, strictly: bool) -> bool:
    before, after = (within(moment, taken.symbols, measure) for moment in (taken.before, taken.after))
    if before.eq(after):
        return not strictly
    falls = z3.And(after < before, before > 0) if strictly else after <= before
    return not any(taken.refute("", z3.Implies(given(taken), falls)))
