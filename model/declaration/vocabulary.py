"""The closed vocabulary of guards and effects, each primitive with its renderings side by side.

Rows of a machine name guards and effects, and each name is one term built from the primitives here and ``operands``.
A term renders to

* ``holds`` / ``apply``: Python, run by the `transitions` machine (the oracle);
* ``code``: statements or an expression of a generated loop, in terms of that loop's data;
* ``formula`` / ``change``: a prover's formula (``proofs``);
* ``promela``: an expression or a statement for Spin (``promela``).

No rendering names a control state.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, TypeAlias

from .contexts import ANSWERED, Context, Loop, Output, Slots, Symbolic
from .guards import Equal, Less, Nonempty, Term
from .operands import Const, Default, Field, Here, Lookup, Operand, Register, Table, identifier

__all__ = [
    "ANSWERED",
    "Clear",
    "Condense",
    "Const",
    "Default",
    "Emit",
    "Equal",
    "Field",
    "Here",
    "Increment",
    "Less",
    "Lookup",
    "Nonempty",
    "Output",
    "Pop",
    "Push",
    "Record",
    "Register",
    "Retract",
    "Set",
    "Settle",
    "Table",
]
"""The names that rows are written with: a machine's file imports them all."""


@dataclass(frozen=True)
class Push(Term):
    """Append a value to a queue."""

    register: Register
    value: Operand
    python = "{register}.append({value})"
    spin = "{register} ! {value}"

    def apply(self, context: Context) -> None:
        self.register.read(context).append(self.value.read(context))

    def change(self, symbolic: Symbolic) -> None:
        queue: Slots = self.register.term(symbolic)
        values = symbolic.store(queue.values, queue.tail, self.value.term(symbolic))
        symbolic.registers[self.register.name] = Slots(values, queue.head, queue.tail + 1)


@dataclass(frozen=True)
class Pop(Term):
    """Take the oldest value of a queue into a register."""

    register: Register
    into: Register
    python = "{into} = {register}.popleft()"
    spin = "{register} ? {into}"

    def apply(self, context: Context) -> None:
        """Change both registers; the row's guard ensures that the queue is not empty."""
        queue: deque[Any] = self.register.read(context)
        context.registers[self.into.name] = queue.popleft()

    def change(self, symbolic: Symbolic) -> None:
        queue: Slots = self.register.term(symbolic)
        symbolic.registers[self.into.name] = queue.values[queue.head]
        symbolic.registers[self.register.name] = replace(queue, head=queue.head + 1)


@dataclass(frozen=True)
class Clear(Term):
    """Empty a queue or a keyed register."""

    register: Register
    python = "{register}.clear()"

    def apply(self, context: Context) -> None:
        self.register.read(context).clear()

    def change(self, symbolic: Symbolic) -> None:
        held = self.register.term(symbolic)
        emptied = replace(held, head=held.tail) if isinstance(held, Slots) else symbolic.nothing()
        symbolic.registers[self.register.name] = emptied

    @property
    def promela(self) -> str:
        """The call of an inline, which the exporter defines for each channel and array."""
        return identifier("clear", self.register.name) + "()"


@dataclass(frozen=True)
class Increment(Term):
    """Add one to a counter."""

    register: Register
    python = "{register} += 1"
    spin = "{register}++"

    def apply(self, context: Context) -> None:
        context.registers[self.register.name] += 1

    def change(self, symbolic: Symbolic) -> None:
        symbolic.registers[self.register.name] = self.register.term(symbolic) + 1


@dataclass(frozen=True)
class Set(Term):
    """Give a register, or the entry of a keyed one, a value."""

    target: Register | Lookup
    value: Operand
    spin = "{target} = {value}"

    def apply(self, context: Context) -> None:
        if isinstance(self.target, Lookup):
            self.target.of.read(context)[self.target.key.read(context)] = self.value.read(context)
        else:
            context.registers[self.target.name] = self.value.read(context)

    def code(self, loop: Loop) -> str:
        if not isinstance(self.target, Lookup):
            return f"{self.target.code(loop)} = {self.value.code(loop)}"
        answers = self.value == Const(ANSWERED)
        template = loop.entries.answered if answers else loop.entries.opened
        entry = loop.local(self.target) or ""
        return template.format(place=self.target.place(loop), entry=entry, value=self.value.code(loop))

    def change(self, symbolic: Symbolic) -> None:
        value = self.value.term(symbolic)
        if isinstance(self.target, Lookup):
            value = symbolic.store(self.target.entries(symbolic), self.target.key.term(symbolic), value)
            symbolic.registers[self.target.of.name] = value
        else:
            symbolic.registers[self.target.name] = value


@dataclass(frozen=True)
class Emit:
    """Emit an output with its arguments; with ``each``, once for every unanswered entry of a map."""

    output: str
    arguments: tuple[Operand, ...] = ()
    each: Register | None = None

    def apply(self, context: Context) -> None:
        """Add to the context's outputs; the position of an ``each`` entry is the last argument."""
        values = tuple([_snapshot(operand.read(context)) for operand in self.arguments]) if self.arguments else ()
        if self.each is None:
            context.outputs.append(Output(self.output, values))
            return
        for entry in self.each.read(context).values():
            if entry != ANSWERED:
                context.outputs.append(Output(self.output, (*values, entry)))

    def code(self, loop: Loop) -> str:
        """Return statements of a generated loop; with ``each``, a line for every open entry."""
        arguments = [operand.code(loop) for operand in self.arguments]
        if self.each is None:
            return loop.output(self.output, arguments)
        body = loop.output(self.output, [*arguments, loop.entries.position.format(entry="entry")])
        test = loop.entries.is_open.format(entry="entry")
        return f"for entry in {self.each.code(loop)}.values():\n    if {test}:\n        {body}"

    def change(self, symbolic: Symbolic) -> None:
        """Give the prover the output; with ``each``, the whole map is the last argument."""
        operands = self.arguments if self.each is None else (*self.arguments, self.each)
        symbolic.outputs.append(Output(self.output, tuple(operand.term(symbolic) for operand in operands)))

    @property
    def promela(self) -> str:
        """A print for trails: outputs decide nothing."""
        return f'printf("{self.output}\\n")'


_SEQUENCES: Final = (deque, list)
"""Made once: a union of them, made at each step of a machine, takes longer than the step's other tests."""


def _snapshot(value: Any) -> Any:
    if isinstance(value, _SEQUENCES):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return value


class _Auxiliary:
    """An effect on a history: it decides nothing, so that provers, Spin and generated loops know nothing of it."""

    promela: ClassVar[str] = "skip"

    def code(self, _: Loop) -> str:
        return "pass"

    def change(self, symbolic: Symbolic) -> None:
        """Change nothing."""


@dataclass(frozen=True)
class Record(_Auxiliary):
    """Append a position to a history, or all that a register holds; with ``when``, only where that guard holds.

    ``empties`` clears the history that the positions come from.
    """

    history: Register
    value: Operand
    when: Equal | None = None
    empties: bool = False

    def apply(self, context: Context) -> None:
        if self.when is None or self.when.holds(context):
            value = self.value.read(context)
            self.history.read(context).extend(value if isinstance(value, deque | list) else [value])
            if self.empties:
                value.clear()


@dataclass(frozen=True)
class Settle(_Auxiliary):
    """Take what a response *said* into a history, as far as *kept* says, and empty ``said``.

    ``whole``: all of it, its calls are still to be answered, and *whole* holds its items. ``keep``: all of it, and then
    each of its *calls* once more, in their order, which stands for the result that it never got. ``texts``: all but the
    calls. Any other: nothing.
    """

    history: Register
    said: Register
    calls: tuple[Register, ...]
    kept: Table | Const
    whole: Register | None = None

    def apply(self, context: Context) -> None:
        history, said = self.history.read(context), self.said.read(context)
        calls = sorted(at for register in self.calls for at in register.read(context))
        match self.kept.read(context):
            case "whole":
                history += said
                if self.whole is not None:
                    self.whole.read(context)[:] = said
            case "keep":
                history += [*said, *calls]
            case "texts":
                history += [at for at in said if at not in calls]
            case _:
                pass
        said.clear()


@dataclass(frozen=True)
class Retract(_Auxiliary):
    """Take the last whole response out of a history again, its results too, where the guard *when* holds."""

    history: Register
    items: Register
    when: Equal

    def apply(self, context: Context) -> None:
        history, items = self.history.read(context), self.items.read(context)
        if self.when.holds(context) and items:
            del history[history.index(items[0]) :]


@dataclass(frozen=True)
class Condense(_Auxiliary):
    """Take all out of a history, and put one position in its place, or none.

    With ``when``, only where that guard holds.
    """

    history: Register
    instead: Operand | None = None
    when: Equal | None = None

    def apply(self, context: Context) -> None:
        if self.when is None or self.when.holds(context):
            left = [] if self.instead is None else [self.instead.read(context)]
            self.history.read(context)[:] = left


Effect: TypeAlias = Push | Pop | Clear | Increment | Set | Emit | Record | Settle | Retract | Condense

HISTORY: Final = "history"
"""The kind of an auxiliary register (Owicki and Gries 1976): no guard reads it, and it tells no states apart.

It holds positions, grows without end, and is only put out.
"""

REGISTER_KINDS: Final[Mapping[str, Callable[[], Any]]] = {
    "number": lambda: -1,
    "queue": deque,
    "map": dict,
    HISTORY: list,
}
"""Kind of a register → its initial value."""
