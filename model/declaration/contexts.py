"""What the terms of the vocabulary are read in, and rendered for: a step, a prover, a generated loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

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


@dataclass(frozen=True)
class Entries:
    """How a loop keeps what a map holds of a call: templates over the entry, its place in the map, and a value."""

    opened: str = "{place} = {value}"
    answered: str = f"{{place}} = {ANSWERED}"
    is_answered: str = f"{{entry}} == {ANSWERED}"
    is_open: str = f"{{entry}} != {ANSWERED}"
    position: str = "{entry}"


POSITIONS: Final = Entries()
"""An entry is the call's position, or ANSWERED."""


class Loop(Protocol):
    """What a term is rendered for in a generated loop: where the loop keeps data, and how it asks for things."""

    entries: Entries
    """How maps keep calls."""

    def place(self, register: str) -> str:
        """The expression of a register."""
        ...

    def field(self, name: str) -> str:
        """The expression of the event's field."""
        ...

    def local(self, operand: object) -> str | None:
        """The local that an operand is bound to, None where it is read anew."""
        ...

    def output(self, name: str, arguments: Sequence[str]) -> str:
        """The statements that an output stands for; none is an empty text."""
        ...
