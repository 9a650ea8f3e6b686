"""Step a declared machine: find the row that an event takes, and its outputs."""

from collections.abc import Mapping
from typing import Any

from .machine import Machine, Row
from .vocabulary import Output


class Stepper:
    """A machine in a state, with its registers; *tables* are its policies."""

    def __init__(self, machine: Machine, tables: Mapping[str, object]) -> None:
        self.machine = machine
        self.state = machine.initial
        self.context = machine.fresh(tables)

    def row(self, symbol: str, event: Any = None, at: int = -1) -> Row:
        """Return the row that *symbol* takes now."""
        self.context.event, self.context.at = event, at
        return next(row for row in self.machine.by_event[symbol, self.state] if self.machine.permits(row, self.context))

    def take(self, symbol: str, event: Any = None, at: int = -1) -> Row:
        """Take the row of *symbol*, which changes registers and state, and sets ``outputs``; return the row."""
        row = self.row(symbol, event, at)
        self.context.outputs.clear()
        for name in row.effects:
            self.machine.effects[name].apply(self.context)
        self.state = row.dest
        return row

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs of the last row, as data."""
        return tuple(self.context.outputs)
