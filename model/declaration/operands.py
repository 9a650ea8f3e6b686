"""The operands of the vocabulary's terms: values.

*Registers* are the machine's data (numbers, first-in-first-out queues, keyed maps), *fields* the event's, *tables* are
fixed for a run (the policies). An operand renders to ``read`` (Python), ``code`` (the generated loop), ``term`` (a
prover's expression) and ``promela``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias, get_args

from .contexts import Context, Loop, Symbolic


def identifier(prefix: str, name: str) -> str:
    """Return *name* as a Promela identifier, its kind in front: so it is no keyword."""
    return f"{prefix}_" + re.sub(r"\W", "_", name)


class _Operand:
    @property
    def values(self) -> tuple[str, ...]:
        """The values of an enumerated operand; none of an open one, a number, or a queue."""
        return get_args(getattr(self, "literal", None))


@dataclass(frozen=True)
class _Named(_Operand):
    name: str

    @property
    def promela(self) -> str:
        """The variable, channel or array: the first letter of its kind, and its name."""
        return identifier(type(self).__name__[0].lower(), self.name)


@dataclass(frozen=True)
class Const(_Operand):
    """A literal."""

    value: str | int | None

    def read(self, _: Context) -> Any:
        return self.value

    def code(self, _: Loop) -> str:
        return f'"{self.value}"' if isinstance(self.value, str) else repr(self.value)

    def term(self, symbolic: Symbolic) -> Any:
        return symbolic.literal(self.value)

    @property
    def promela(self) -> str:
        return identifier("c", self.value) if isinstance(self.value, str) else str(self.value).upper()


@dataclass(frozen=True)
class Field(_Named):
    """A field of the event; *literal* is the ``Literal`` of its values if they are enumerated."""

    literal: Any = None

    def read(self, context: Context) -> Any:
        return getattr(context.event, self.name)

    def code(self, loop: Loop) -> str:
        return loop.field(self.name)

    def term(self, symbolic: Symbolic) -> Any:
        return symbolic.field(self.name)


@dataclass(frozen=True)
class Here(_Operand):
    """The position of the event."""

    def code(self, _: Loop) -> str:
        return "at"

    def read(self, context: Context) -> Any:
        return context.at

    def term(self, symbolic: Symbolic) -> Any:
        return symbolic.at

    @property
    def promela(self) -> str:
        """All positions are one: the provers check order."""
        return "HERE"


@dataclass(frozen=True)
class Register(_Named):
    """A register of the machine."""

    def read(self, context: Context) -> Any:
        return context.registers[self.name]

    def code(self, loop: Loop) -> str:
        return loop.place(self.name)

    def term(self, symbolic: Symbolic) -> Any:
        return symbolic.registers[self.name]


@dataclass(frozen=True)
class Table(_Named):
    """A value fixed for the run: a policy, or a mapping of them.

    *literal* is the ``Literal`` of its values if they are names; *keys* that of its keys if it is a mapping.
    The lint compares both with the tables that a machine is run with.
    """

    literal: Any = None
    keys: Any = None

    def read(self, context: Context) -> Any:
        return context.tables[self.name]

    def code(self, _: Loop) -> str:
        """Return the table's name: the loop keeps tables in locals of the same name."""
        return self.name

    def term(self, symbolic: Symbolic) -> Any:
        return symbolic.table(self.name)


@dataclass(frozen=True)
class Lookup(_Operand):
    """The entry of a keyed register, None if there is none; or of a table, which has one for every key."""

    of: Register | Table
    key: Field

    @property
    def values(self) -> tuple[str, ...]:
        """The possible values of a table's entry; none of a register's."""
        return self.of.values if isinstance(self.of, Table) else ()

    def read(self, context: Context) -> Any:
        return self.of.read(context).get(self.key.read(context))

    def code(self, loop: Loop) -> str:
        """Return a dictionary lookup, or the local that holds its entry."""
        return loop.local(self) or f"{self.of.code(loop)}.get({self.key.code(loop)})"

    def place(self, loop: Loop) -> str:
        """Return the entry as a target of assignments."""
        return f"{self.of.code(loop)}[{self.key.code(loop)}]"

    def entries(self, symbolic: Symbolic) -> Any:
        """Return the prover's array of the entries."""
        return (
            symbolic.registers[self.of.name]
            if isinstance(self.of, Register)
            else symbolic.table(self.of.name, keyed=True)
        )

    def term(self, symbolic: Symbolic) -> Any:
        return self.entries(symbolic)[self.key.term(symbolic)]

    @property
    def promela(self) -> str:
        """The array's element; the exporter's ``KEY`` shifts None and ANSWERED into its range."""
        return f"{self.of.promela}[KEY({self.key.promela})]"


@dataclass(frozen=True)
class Default(_Operand):
    """A field, or a table's value if the field is absent."""

    field: Field
    otherwise: Table

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the field, which are also the table's."""
        return self.otherwise.values

    def read(self, context: Context) -> Any:
        value = self.field.read(context)
        return self.otherwise.read(context) if value is None else value

    def code(self, loop: Loop) -> str:
        """Return an ``or``: fields with a default are never empty strings."""
        return f"({self.field.code(loop)} or {self.otherwise.code(loop)})"

    def term(self, symbolic: Symbolic) -> Any:
        value = self.field.term(symbolic)
        return symbolic.choose(value == symbolic.literal(None), self.otherwise.term(symbolic), value)

    @property
    def promela(self) -> str:
        return f"({self.field.promela} == NONE -> {self.otherwise.promela} : {self.field.promela})"


Operand: TypeAlias = Const | Field | Here | Register | Table | Lookup | Default


def terms(term: Any) -> Iterator[Any]:
    """Yield a term and all its parts, the term first."""
    if isinstance(term, tuple):
        parts: list[Any] = [*term]
    elif is_dataclass(term):
        yield term
        parts = [getattr(term, part.name) for part in fields(term)]
    else:
        return
    for part in parts:
        yield from terms(part)
