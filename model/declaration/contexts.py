"""The contexts that terms of the vocabulary are evaluated in or rendered for: a step, a prover, a generated loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

ANSWERED: Final = -1
"""The entry of a call that has its result; an unanswered call's entry is its position (0 or more)."""


@dataclass(frozen=True)
class Output:
    """One effect as data: a request of the pure machine, with its arguments."""

    name: str
    arguments: tuple[Any, ...] = ()


@dataclass
class Context:
    """The context of a step: registers, tables, and the event at its position; outputs are collected here."""

    registers: dict[str, Any]
    tables: Mapping[str, Any]
    event: Any = None
    at: int = -1
    outputs: list[Output] = field(default_factory=list[Output])


@dataclass(frozen=True)
class Slots:
    """A queue to a prover: slot n of ``values`` holds the n-th pushed value; slots from ``head`` to ``tail`` wait."""

    values: Any
    head: Any
    tail: Any


class Symbolic(Protocol):
    """The context of a prover: a ``Context`` of its expressions, so that the model imports no prover.

    A register is an integer, an array (of a map) or ``Slots`` (of a queue); strings and None are distinct integers.
    """

    registers: dict[str, Any]
    outputs: list[Output]
    at: Any

    def literal(self, value: str | int | None) -> Any:
        """Return the expression of a constant."""

    def field(self, name: str) -> Any:
        """Return the expression of the event's field."""

    def table(self, name: str, *, keyed: bool = False) -> Any:
        """Return the expression of a table; an array if it is keyed."""

    def choose(self, test: Any, then: Any, otherwise: Any) -> Any:
        """Return the expression of a choice between two."""

    def store(self, array: Any, key: Any, value: Any) -> Any:
        """Return the array with one entry changed."""

    def nothing(self) -> Any:
        """Return the array whose every entry is None's."""


@dataclass(frozen=True)
class Entries:
    """A loop's templates for a map's entry of a call, over the entry, its place in the map, and a value."""

    opened: str = "{place} = {value}"
    answered: str = f"{{place}} = {ANSWERED}"
    is_answered: str = f"{{entry}} == {ANSWERED}"
    is_open: str = f"{{entry}} != {ANSWERED}"
    position: str = "{entry}"


POSITIONS: Final = Entries()
"""An entry is the call's position, or ANSWERED."""


class Loop(Protocol):
    """The context of a generated loop: where it keeps data, and its statements for outputs."""

    entries: Entries
    """The templates for entries of maps."""

    def place(self, register: str) -> str:
        """Return the expression of a register."""
        ...

    def field(self, name: str) -> str:
        """Return the expression of the event's field."""
        ...

    def local(self, operand: object) -> str | None:
        """Return the local that an operand is bound to, None if it is read anew."""
        ...

    def output(self, name: str, arguments: Sequence[str]) -> str:
        """Return the statements of an output; an empty text for none."""
        ...
