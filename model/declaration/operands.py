"""What the terms of the vocabulary speak of: values, and the contexts in which they are read.

*Registers* are the machine's data (numbers, first-in-first-out queues, keyed maps), *fields* the event's, *tables* are
fixed for a run (the policies). An operand renders to ``read`` (Python), ``code`` (the generated loop), ``term`` (a
prover's expression) and ``promela``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

ANSWERED: Final = -1
"""The entry of a call that has its result; an unanswered call's entry is its position (0 or more)."""


@dataclass(frozen=True)
class Output:
    """One effect as data: what the pure machine asks for, with its arguments."""

    name: str
    arguments: tuple[Any, ...] = ()


@dataclass
class Context:
    """What a term is evaluated in: registers, tables, and the event at its position; outputs gather here."""

    registers: dict[str, Any]
    tables: Mapping[str, Any]
    event: Any = None
    at: int = -1
    outputs: list[Output] = field(default_factory=list[Output])


@dataclass(frozen=True)
class Slots:
    """A queue to a prover: slot n of ``values`` holds what was pushed n-th; slots from ``head`` up to ``tail`` wait."""

    values: Any
    head: Any
    tail: Any


class Symbolic(Protocol):
    """What a term is rendered in for a prover: a ``Context`` of its expressions, so that the model imports no prover.

    A register is an integer, an array (of a map) or ``Slots`` (of a queue); strings and None are integers apart.
    """

    registers: dict[str, Any]
    outputs: list[Output]
    at: Any

    def literal(self, value: str | int | None) -> Any:
        """The expression of a constant."""

    def field(self, name: str) -> Any:
        """The expression of the event's field."""

    def table(self, name: str, *, keyed: bool = False) -> Any:
        """The expression of a table; an array where it is keyed."""

    def choose(self, test: Any, then: Any, otherwise: Any) -> Any:
        """One of two expressions."""

    def store(self, array: Any, key: Any, value: Any) -> Any:
        """The array with one entry changed."""

    def nothing(self) -> Any:
        """The array whose every entry is None's."""


def identifier(prefix: str, name: str) -> str:
    """A name as Promela takes it, its kind in front: no keyword is one."""
    return f"{prefix}_" + re.sub(r"\W", "_", name)


@dataclass(frozen=True)
class Const:
    """A literal."""

    value: str | int | None

    def read(self, _: Context) -> Any:
        """Return the literal."""
        return self.value

    @property
    def code(self) -> str:
        """Python source of the literal."""
        return f'"{self.value}"' if isinstance(self.value, str) else repr(self.value)

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        return symbolic.literal(self.value)

    @property
    def promela(self) -> str:
        """The literal; strings and None are defined constants."""
        return identifier("c", self.value) if isinstance(self.value, str) else str(self.value).upper()


@dataclass(frozen=True)
class Field:
    """A field of the event."""

    name: str

    def read(self, context: Context) -> Any:
        """Return the field's value, None where it is absent."""
        return getattr(context.event, self.name)

    @property
    def code(self) -> str:
        """Attribute access on the loop's event."""
        return f"event.{self.name}"

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        return symbolic.field(self.name)

    @property
    def promela(self) -> str:
        """The event's fields are variables."""
        return identifier("f", self.name)


@dataclass(frozen=True)
class Here:
    """The position of the event."""

    code: str = "at"

    def read(self, context: Context) -> Any:
        """Return the position."""
        return context.at

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        return symbolic.at

    @property
    def promela(self) -> str:
        """All positions are one: order is the provers' matter."""
        return "HERE"


@dataclass(frozen=True)
class Register:
    """A register of the machine."""

    name: str

    def read(self, context: Context) -> Any:
        """Return the register's value."""
        return context.registers[self.name]

    @property
    def code(self) -> str:
        """The loop keeps registers in locals of the same name."""
        return self.name

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        return symbolic.registers[self.name]

    @property
    def promela(self) -> str:
        """A variable, a channel or an array."""
        return identifier("r", self.name)


@dataclass(frozen=True)
class Table:
    """A value fixed for the run: a policy, or a mapping of them."""

    name: str

    def read(self, context: Context) -> Any:
        """Return the table's value."""
        return context.tables[self.name]

    @property
    def code(self) -> str:
        """The loop keeps tables in locals of the same name."""
        return self.name

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        return symbolic.table(self.name)

    @property
    def promela(self) -> str:
        """A variable, or an array."""
        return identifier("t", self.name)


@dataclass(frozen=True)
class Lookup:
    """The entry of a keyed register or table, None where there is none."""

    of: Register | Table
    key: Field

    def read(self, context: Context) -> Any:
        """Return the entry, or None."""
        return self.of.read(context).get(self.key.read(context))

    @property
    def code(self) -> str:
        """A dictionary lookup."""
        return f"{self.of.code}.get({self.key.code})"

    def entries(self, symbolic: Symbolic) -> Any:
        """The prover's array that is looked up in."""
        return (
            symbolic.registers[self.of.name]
            if isinstance(self.of, Register)
            else symbolic.table(self.of.name, keyed=True)
        )

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        return self.entries(symbolic)[self.key.term(symbolic)]

    @property
    def promela(self) -> str:
        """An array's element; the exporter's ``KEY`` shifts None and ANSWERED into its range."""
        return f"{self.of.promela}[KEY({self.key.promela})]"


@dataclass(frozen=True)
class Default:
    """A field, or a table's value where the field is absent."""

    field: Field
    otherwise: Table

    def read(self, context: Context) -> Any:
        """Return the field's value, or the default."""
        value = self.field.read(context)
        return self.otherwise.read(context) if value is None else value

    @property
    def code(self) -> str:
        """An ``or``: the fields that have a default are never empty strings."""
        return f"{self.field.code} or {self.otherwise.code}"

    def term(self, symbolic: Symbolic) -> Any:
        """The prover's expression."""
        value = self.field.term(symbolic)
        return symbolic.choose(value == symbolic.literal(None), self.otherwise.term(symbolic), value)

    @property
    def promela(self) -> str:
        """A conditional."""
        return f"({self.field.promela} == NONE -> {self.otherwise.promela} : {self.field.promela})"


Operand: TypeAlias = Const | Field | Here | Register | Table | Lookup | Default
