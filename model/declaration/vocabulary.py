"""The closed vocabulary of guards and effects, each primitive with its renderings side by side.

Rows of a machine name guards and effects, and each name is one term built of what stands here and of ``operands``. A
term renders to

* ``holds`` / ``apply``: Python, run by the `transitions` machine (the oracle);
* ``code``: a fragment of the generated loop;
* ``formula`` / ``change``: what a prover takes it for (``proofs``);
* ``promela``: an expression or a statement for Spin (``promela``).

No rendering names a control state.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from .operands import (
    ANSWERED,
    Const,
    Context,
    Default,
    Field,
    Here,
    Lookup,
    Operand,
    Output,
    Register,
    Slots,
    Symbolic,
    Table,
    identifier,
)

__all__ = [
    "ANSWERED",
    "REGISTER_KINDS",
    "Bound",
    "Clear",
    "Const",
    "Context",
    "Default",
    "Effect",
    "Emit",
    "Equal",
    "Field",
    "Guard",
    "Here",
    "Increment",
    "Less",
    "Lookup",
    "Nonempty",
    "Operand",
    "Output",
    "Pop",
    "Push",
    "Register",
    "Set",
    "Slots",
    "Symbolic",
    "Table",
]

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

    def formula(self, symbolic: Symbolic) -> Any:
        """The prover's formula."""
        queue: Slots = self.subject.term(symbolic)
        return queue.head < queue.tail

    @property
    def promela(self) -> str:
        """An expression."""
        return f"len({self.subject.promela}) > 0"


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

    def formula(self, symbolic: Symbolic) -> Any:
        """The prover's formula."""
        return self.subject.term(symbolic) == self.right.term(symbolic)

    @property
    def promela(self) -> str:
        """An expression."""
        return f"{self.subject.promela} == {self.right.promela}"


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

    def formula(self, symbolic: Symbolic) -> Any:
        """The prover's formula."""
        return self.subject.term(symbolic) < self.right.term(symbolic)

    @property
    def promela(self) -> str:
        """An expression."""
        return f"{self.subject.promela} < {self.right.promela}"


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

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the registers after this."""
        queue: Slots = self.register.term(symbolic)
        values = symbolic.store(queue.values, queue.tail, self.value.term(symbolic))
        symbolic.registers[self.register.name] = Slots(values, queue.head, queue.tail + 1)

    @property
    def promela(self) -> str:
        """Send to the channel."""
        return f"{self.register.promela} ! {self.value.promela}"


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

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the registers after this."""
        queue: Slots = self.register.term(symbolic)
        symbolic.registers[self.into.name] = queue.values[queue.head]
        symbolic.registers[self.register.name] = replace(queue, head=queue.head + 1)

    @property
    def promela(self) -> str:
        """Receive from the channel."""
        return f"{self.register.promela} ? {self.into.promela}"


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

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the registers after this."""
        held = self.register.term(symbolic)
        emptied = replace(held, head=held.tail) if isinstance(held, Slots) else symbolic.nothing()
        symbolic.registers[self.register.name] = emptied

    @property
    def promela(self) -> str:
        """An inline that the exporter gives each channel and array."""
        return identifier("clear", self.register.name) + "()"


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

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the registers after this."""
        symbolic.registers[self.register.name] = self.register.term(symbolic) + 1

    @property
    def promela(self) -> str:
        """A statement."""
        return f"{self.register.promela}++"


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

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the registers after this."""
        value = self.value.term(symbolic)
        if isinstance(self.target, Lookup):
            value = symbolic.store(self.target.entries(symbolic), self.target.key.term(symbolic), value)
            symbolic.registers[self.target.of.name] = value
        else:
            symbolic.registers[self.target.name] = value

    @property
    def promela(self) -> str:
        """An assignment."""
        return f"{self.target.promela} = {self.value.promela}"


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

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the output; an ``each`` stands whole, as the last argument."""
        operands = self.arguments if self.each is None else (*self.arguments, self.each)
        symbolic.outputs.append(Output(self.output, tuple(operand.term(symbolic) for operand in operands)))

    @property
    def promela(self) -> str:
        """Words in a trail: what is asked for decides nothing."""
        return f'printf("{self.output}\\n")'


def _snapshot(value: Any) -> Any:
    if isinstance(value, deque):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value


Effect: TypeAlias = Push | Pop | Clear | Increment | Set | Emit

REGISTER_KINDS: Final[Mapping[str, Callable[[], Any]]] = {"number": lambda: -1, "queue": deque, "map": dict}
"""Kind of a register → its initial value."""
