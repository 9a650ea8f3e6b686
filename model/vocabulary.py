"""The closed vocabulary of guards and effects, each primitive with its renderings side by side.

Rows of a machine name guards and effects, and each name is one term built of what stands here. A term renders to

* ``holds`` / ``apply``: Python, run by the `transitions` machine (the oracle);
* ``code``: a fragment of the generated loop;
* ``label``: words for a diagram.

No rendering names a control state. Terms speak of *registers* (the machine's data: numbers, first-in-first-out queues,
keyed maps), *fields* of the event, *tables* that are fixed for a run (the policies) and constants.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

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


# ---- operands: values ------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Here:
    """The position of the event."""

    code: str = "at"

    def read(self, context: Context) -> Any:
        """Return the position."""
        return context.at


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


Operand: TypeAlias = Const | Field | Here | Register | Table | Lookup | Default

# ---- guards ----------------------------------------------------------------------------------------------------


Bound: TypeAlias = Mapping[Operand, str]
"""Operands that the loop has bound to a local."""


@dataclass(frozen=True)
class Nonempty:
    """A queue holds something."""

    subject: Register

    def holds(self, context: Context) -> bool:
        """Evaluate on *context*."""
        return bool(self.subject.read(context))

    def code(self, _: Bound) -> str:
        """Loop fragment."""
        return self.subject.code

    def negated(self, _: Bound) -> str:
        """Loop fragment of the negation."""
        return f"not {self.subject.code}"


@dataclass(frozen=True)
class Equal:
    """A value equals a constant; None means absent."""

    subject: Operand
    right: Const

    def holds(self, context: Context) -> bool:
        """Evaluate on *context*."""
        return bool(self.subject.read(context) == self.right.value)

    def code(self, bound: Bound) -> str:
        """Loop fragment."""
        return self._compare(bound, "==", "is", "not in")

    def negated(self, bound: Bound) -> str:
        """Loop fragment of the negation."""
        return self._compare(bound, "!=", "is not", "in")

    def _compare(self, bound: Bound, equal: str, same: str, member: str) -> str:
        left = bound.get(self.subject)
        if self.right.value is not None:
            return f"{left or f'({self.subject.code})'} {equal} {self.right.code}"
        if left is None and isinstance(self.subject, Lookup):
            return f"{self.subject.key.code} {member} {self.subject.of.code}"
        return f"{left or self.subject.code} {same} None"


@dataclass(frozen=True)
class Less:
    """A number is below a bound."""

    subject: Operand
    right: Operand

    def holds(self, context: Context) -> bool:
        """Evaluate on *context*."""
        return bool(self.subject.read(context) < self.right.read(context))

    def code(self, bound: Bound) -> str:
        """Loop fragment."""
        return f"{bound.get(self.subject, self.subject.code)} < {bound.get(self.right, self.right.code)}"

    def negated(self, bound: Bound) -> str:
        """Loop fragment of the negation."""
        return f"{bound.get(self.subject, self.subject.code)} >= {bound.get(self.right, self.right.code)}"


Guard: TypeAlias = Nonempty | Equal | Less

# ---- effects ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Push:
    """Append a value to a queue."""

    register: Register
    value: Operand

    def apply(self, context: Context) -> None:
        """Change the register."""
        self.register.read(context).append(self.value.read(context))

    @property
    def code(self) -> str:
        """Loop fragment."""
        return f"{self.register.code}.append({self.value.code})"


@dataclass(frozen=True)
class Pop:
    """Take the oldest value of a queue into a register."""

    register: Register
    into: Register

    def apply(self, context: Context) -> None:
        """Change both registers; the queue is not empty (the row's guard says so)."""
        queue: deque[Any] = self.register.read(context)
        context.registers[self.into.name] = queue.popleft()

    @property
    def code(self) -> str:
        """Loop fragment."""
        return f"{self.into.code} = {self.register.code}.popleft()"


@dataclass(frozen=True)
class Clear:
    """Empty a queue or a keyed register."""

    register: Register

    def apply(self, context: Context) -> None:
        """Change the register."""
        self.register.read(context).clear()

    @property
    def code(self) -> str:
        """Loop fragment."""
        return f"{self.register.code}.clear()"


@dataclass(frozen=True)
class Increment:
    """Add one to a counter."""

    register: Register

    def apply(self, context: Context) -> None:
        """Change the register."""
        context.registers[self.register.name] += 1

    @property
    def code(self) -> str:
        """Loop fragment."""
        return f"{self.register.code} += 1"


@dataclass(frozen=True)
class Set:
    """Give a register, or the entry of a keyed one, a value."""

    target: Register | Lookup
    value: Operand

    def apply(self, context: Context) -> None:
        """Change the register."""
        if isinstance(self.target, Lookup):
            self.target.of.read(context)[self.target.key.read(context)] = self.value.read(context)
        else:
            context.registers[self.target.name] = self.value.read(context)

    @property
    def code(self) -> str:
        """Loop fragment."""
        if isinstance(self.target, Lookup):
            return f"{self.target.of.code}[{self.target.key.code}] = {self.value.code}"
        return f"{self.target.code} = {self.value.code}"


@dataclass(frozen=True)
class Emit:
    """Ask for something: an output with its arguments; with ``each``, once for every unanswered entry of a map."""

    output: str
    arguments: tuple[Operand, ...] = ()
    each: Register | None = None

    def apply(self, context: Context) -> None:
        """Add to the context's outputs; an ``each`` entry's position comes last among the arguments."""
        values = tuple(_snapshot(operand.read(context)) for operand in self.arguments)
        if self.each is None:
            context.outputs.append(Output(self.output, values))
            return
        for entry in self.each.read(context).values():
            if entry != ANSWERED:
                context.outputs.append(Output(self.output, (*values, entry)))

    def fragment(self, outputs: Mapping[str, str]) -> str:
        """Loop fragment: the declared fragment of this output, with the arguments in place."""
        codes = [operand.code for operand in self.arguments]
        if self.each is None:
            return outputs[self.output].format(*codes)
        body = outputs[self.output].format(*codes, "entry")
        return f"for entry in {self.each.code}.values():\n    if entry != {ANSWERED}:\n        {body}"


def _snapshot(value: Any) -> Any:
    if isinstance(value, deque):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value


Effect: TypeAlias = Push | Pop | Clear | Increment | Set | Emit

REGISTER_KINDS: Final[Mapping[str, Callable[[], Any]]] = {"number": lambda: -1, "queue": deque, "map": dict}
"""Kind of a register → its initial value."""
