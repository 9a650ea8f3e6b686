"""Guards of the closed vocabulary, each with its renderings side by side (``vocabulary`` says which there are)."""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from .contexts import ANSWERED, Context, Loop, Slots, Symbolic
from .operands import Const, Lookup, Operand, Register


class Term:
    """Templates over the renderings of a term's operands, for terms that need no more."""

    python: ClassVar[str] = ""
    python_negated: ClassVar[str] = ""
    spin: ClassVar[str] = ""

    def code(self, loop: Loop) -> str:
        return self.python.format(**{name: operand.code(loop) for name, operand in vars(self).items()})

    def negated(self, loop: Loop) -> str:
        return self.python_negated.format(**{name: operand.code(loop) for name, operand in vars(self).items()})

    @property
    def promela(self) -> str:
        return self.spin.format(**{name: operand.promela for name, operand in vars(self).items()})


# ---- guards ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nonempty(Term):
    """A queue holds an entry."""

    subject: Register
    python = "{subject}"
    python_negated = "not {subject}"
    spin = "len({subject}) > 0"

    def holds(self, context: Context) -> bool:
        return bool(self.subject.read(context))

    def formula(self, symbolic: Symbolic) -> Any:
        queue: Slots = self.subject.term(symbolic)
        return queue.head < queue.tail


@dataclass(frozen=True)
class Equal(Term):
    """A value equals a constant; None means absent."""

    subject: Operand
    right: Const
    spin = "{subject} == {right}"

    def holds(self, context: Context) -> bool:
        return bool(self.subject.read(context) == self.right.value)

    def code(self, loop: Loop) -> str:
        return self._compare(loop, "==", "is", "not in", loop.entries.is_answered)

    def negated(self, loop: Loop) -> str:
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
        return self.subject.term(symbolic) == self.right.term(symbolic)


@dataclass(frozen=True)
class Less(Term):
    """A number is below a bound."""

    subject: Operand
    right: Operand
    python = "{subject} < {right}"
    python_negated = "{subject} >= {right}"
    spin = "{subject} < {right}"

    def holds(self, context: Context) -> bool:
        return bool(self.subject.read(context) < self.right.read(context))

    def formula(self, symbolic: Symbolic) -> Any:
        return self.subject.term(symbolic) < self.right.term(symbolic)


Guard: TypeAlias = Nonempty | Equal | Less
