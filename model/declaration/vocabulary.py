"""The closed vocabulary of guards and effects, each primitive with its renderings side by side.

Rows of a machine name guards and effects, and each name is one term built of what stands here and of ``operands``. A
term renders to

* ``holds`` / ``apply``: Python, run by the `transitions` machine (the oracle);
* ``code``: statements or an expression of a generated loop, spelled as that loop keeps its data;
* ``formula`` / ``change``: what a prover takes it for (``proofs``);
* ``promela``: an expression or a statement for Spin (``promela``).

No rendering names a control state.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from .contexts import ANSWERED, Context, Entries, Loop, Output, Slots, Symbolic
from .operands import Const, Default, Field, Here, Lookup, Operand, Register, Table, identifier

__all__ = [
    "ANSWERED",
    "REGISTER_KINDS",
    "Clear",
    "Const",
    "Context",
    "Default",
    "Effect",
    "Emit",
    "Entries",
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


@dataclass(frozen=True)
class Nonempty:
    """A queue holds something."""

    subject: Register

    def holds(self, context: Context) -> bool:
        """Evaluate on *context*."""
        return bool(self.subject.read(context))

    def code(self, loop: Loop) -> str:
        """A test of a generated loop."""
        return self.subject.code(loop)

    def negated(self, loop: Loop) -> str:
        """The opposite test."""
        return f"not {self.subject.code(loop)}"

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

    def code(self, loop: Loop) -> str:
        """A test of a generated loop."""
        return self._compare(loop, "==", "is", "not in", loop.entries.is_answered)

    def negated(self, loop: Loop) -> str:
        """The opposite test."""
        return self._compare(loop, "!=", "is not", "in", loop.entries.is_open)

    def _compare(self, loop: Loop, equal: str, same: str, member: str, answered: str) -> str:
        entry = isinstance(self.subject, Lookup) and isinstance(self.subject.of, Register)
        if self.right.value is None and isinstance(self.subject, Lookup) and loop.local(self.subject) is None:
            return f"{self.subject.key.code(loop)} {member} {self.subject.of.code(loop)}"
        left = self.subject.code(loop)
        if self.right.value is None:
            return f"{left} {same} None"
        if entry and self.right.value == ANSWERED:
            return answered.format(entry=left)
        return f"{left} {equal} {self.right.code(loop)}"

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

    def code(self, loop: Loop) -> str:
        """A test of a generated loop."""
        return f"{self.subject.code(loop)} < {self.right.code(loop)}"

    def negated(self, loop: Loop) -> str:
        """The opposite test."""
        return f"{self.subject.code(loop)} >= {self.right.code(loop)}"

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

    def code(self, loop: Loop) -> str:
        """Statements of a generated loop."""
        return f"{self.register.code(loop)}.append({self.value.code(loop)})"

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

    def code(self, loop: Loop) -> str:
        """Statements of a generated loop."""
        return f"{self.into.code(loop)} = {self.register.code(loop)}.popleft()"

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

    def code(self, loop: Loop) -> str:
        """Statements of a generated loop."""
        return f"{self.register.code(loop)}.clear()"

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

    def code(self, loop: Loop) -> str:
        """Statements of a generated loop."""
        return f"{self.register.code(loop)} += 1"

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

    def code(self, loop: Loop) -> str:
        """Statements of a generated loop."""
        if not isinstance(self.target, Lookup):
            return f"{self.target.code(loop)} = {self.value.code(loop)}"
        answers = self.value == Const(ANSWERED)
        template = loop.entries.answered if answers else loop.entries.opened
        entry = loop.local(self.target) or ""
        return template.format(place=self.target.place(loop), entry=entry, value=self.value.code(loop))

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

    def code(self, loop: Loop) -> str:
        """Statements of a generated loop; an ``each`` is one line for every open entry."""
        arguments = [operand.code(loop) for operand in self.arguments]
        if self.each is None:
            return loop.output(self.output, arguments)
        body = loop.output(self.output, [*arguments, loop.entries.position.format(entry="entry")])
        test = loop.entries.is_open.format(entry="entry")
        return f"for entry in {self.each.code(loop)}.values():\n    if {test}:\n        {body}"

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
