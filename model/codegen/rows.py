"""The rows of the core machine as the body of a loop: each term of the vocabulary renders itself for one variant."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import TypeAlias

from ..core.events import SYMBOLS, Symbol
from ..declaration.guards import Equal, Guard
from ..declaration.machine import Machine, Row
from ..declaration.operands import Const, Lookup
from .loop_template import Variant

Branch: TypeAlias = tuple[str, Sequence[str]]
"""A test, and the lines under it; an empty test stands for all other cases."""


class _Fields:
    """The event's fields, as a template reads them."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read

    def __getattr__(self, name: str) -> str:
        return self._read(name)


class Writer:
    """Writes the body of one loop; terms are rendered for it (``contexts.Loop``).

    ``flag`` names the variable that is true in the second of the machine's two states.
    """

    def __init__(self, spec: Machine, variant: Variant) -> None:
        self._spec, self._variant = spec, variant
        _, self.flag = spec.states
        self.entries = variant.entries
        self._state = SimpleNamespace(**{name: self.place(name) for name in (*spec.registers, *variant.own)})
        self._reads = Counter[str]()
        self._bound_fields: frozenset[str] = frozenset()
        self._locals: dict[object, str] = {}

    # ---- this loop's spelling of operands and outputs ----

    def place(self, register: str) -> str:
        """Return the register's local, or its attribute in the session's state."""
        return f"{self._variant.home}{register}"

    def field(self, name: str) -> str:
        """Return the field's attribute, or its local if it is read more than once."""
        self._reads[name] += 1
        return name if name in self._bound_fields else f"event.{name}"

    def local(self, operand: object) -> str | None:
        """Return the local of an entry that several tests of these rows read."""
        return self._locals.get(operand)

    def output(self, name: str, arguments: Sequence[str]) -> str:
        """Return the variant's template of the output, filled."""
        return self._variant.outputs[name].format(*arguments, "at", state=self._state, event=_Fields(self.field))

    # ---- the rows ----

    def loop(self) -> Iterator[str]:
        """Yield tests on the structure, then on the kind, in the order of SYMBOLS; the last of each needs none."""
        groups: dict[tuple[type, ...], list[Symbol]] = {}
        for symbol in SYMBOLS:
            groups.setdefault(symbol.structs, []).append(symbol)
        branches: list[Branch] = []
        for structs, symbols in groups.items():
            kinds = [
                (" or ".join(f'event.kind == "{kind}"' for kind in one.kinds), [*self._symbol(one)]) for one in symbols
            ]
            test = " or ".join(f"struct is {struct.__name__}" for struct in structs)
            branches.append((test, [*self._variant.session.splitlines(), *chain(_total(kinds))]))
        yield from chain(_total(branches))

    def _symbol(self, symbol: Symbol) -> Iterator[str]:
        """Yield the symbol's rows; a field that is read more than once on the way is bound to a local first."""
        self._reads.clear()
        chain(self._complete(symbol))
        self._bound_fields = frozenset(name for name, reads in self._reads.items() if reads > 1)
        yield from (f"{name} = event.{name}" for name in sorted(self._bound_fields))
        yield from chain(self._complete(symbol))
        self._bound_fields = frozenset()

    def _complete(self, symbol: Symbol) -> list[Branch]:
        """Return the symbol's rows, behind the test that the event has its required fields (RC-D5)."""
        lacks = [f"{self.field(name)} is None" for name in symbol.needs]
        if symbol.one_of:
            left, right = map(self.field, symbol.one_of)
            lacks.append(f"({left} is None) == ({right} is None)")
        malformed: list[Branch] = [(" or ".join(lacks), [*chain(self.states("malformed"))])] if lacks else []
        return [*malformed, *self.states(symbol.name)]

    def states(self, event: str) -> list[Branch]:
        """Return a branch per control state, later ones first (a log is mostly active); one if all states agree."""
        spec, flag = self._spec, self.place(self.flag)
        found = {state: [*self._rows(spec.by_event[event, state])] for state in reversed(spec.states)}
        if len({tuple(lines) for lines in found.values()}) == 1:
            return [("", found[spec.initial])]
        branches: list[Branch] = [
            (f"not {flag}" if state == spec.initial else flag, lines) for state, lines in found.items()
        ]
        said = [branch for branch in branches if branch[1] != ["pass"]]
        return _total(said) if len(said) == len(branches) else said

    def _rows(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yield the rows of one event in one state: guards are disjoint and complete, so the last row needs no test.

        Tests for an absent entry come first: tests after them may look into the entry.
        """
        guards = self._spec.guards
        rows = sorted(rows, key=lambda row: not any(_absence(guards[name]) for name in row.conditions))
        subjects = Counter(guards[name].subject for name in {name for row in rows[:-1] for name in row.guards})
        shared = [one for one, tests in subjects.items() if tests > 1 and isinstance(one, Lookup)]
        bound: dict[object, str] = {}
        for entry in shared:
            bound[entry] = f"{entry.of.name}_{entry.key.name}"
            yield f"{bound[entry]} = {entry.code(self)}"
        self._locals = bound
        tests = [*map(self._test, rows[:-1]), ""]
        yield from chain([(test, self._effects(row)) for test, row in zip(tests, rows, strict=True)])
        self._locals = {}

    def _test(self, row: Row) -> str:
        guards = self._spec.guards
        tests = [guards[name].code(self) for name in row.conditions]
        return " and ".join([*tests, *(guards[name].negated(self) for name in row.unless)])

    def _effects(self, row: Row) -> list[str]:
        lines = [line for name in row.effects for line in self._spec.effects[name].code(self).splitlines()]
        moves = [] if row.dest == row.source else [f"{self.place(self.flag)} = {row.dest != self._spec.initial}"]
        return [*lines, *moves] or ["pass"]


def _absence(guard: Guard) -> bool:
    return isinstance(guard, Equal) and guard.right == Const(None)


def _total(branches: Sequence[Branch]) -> list[Branch]:
    """Return the branches, the last without its test: one of them is always taken."""
    return [*branches[:-1], ("", branches[-1][1])]


def chain(branches: Sequence[Branch]) -> list[str]:
    """Return the lines of an ``if`` with its ``elif`` and ``else``; of a lone branch without a test, only its lines."""
    if len(branches) == 1 and not branches[0][0]:
        return [*branches[0][1]]
    heads = [f"{'el' if number else ''}if {test}:" if test else "else:" for number, (test, _) in enumerate(branches)]
    return [
        line
        for head, (_, lines) in zip(heads, branches, strict=True)
        for line in (head, *(f"    {one}" for one in lines))
    ]
