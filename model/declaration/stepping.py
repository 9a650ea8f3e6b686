"""Step a declared machine: find the row that an event takes, and its outputs."""

from collections.abc import Mapping
from typing import Any

from .machine import Choice, Machine, Row
from .vocabulary import Output


class Stepper:
    """A machine in a state, with its registers; *tables* are its policies."""

    def __init__(self, machine: Machine, tables: Mapping[str, object]) -> None:
        self.machine = machine
        self.state = machine.initial
        self.context = machine.fresh(tables)

    def row(self, symbol: str, event: Any = None, at: int = -1) -> Row:
        """Return the row that *symbol* takes now."""
        return self._choice(symbol, event, at).row

    def take(self, symbol: str, event: Any = None, at: int = -1) -> Row:
        """Take the row of *symbol*, which changes registers and state, and sets ``outputs``; return the row."""
        row, _, _, effects = self._choice(symbol, event, at)
        self.context.outputs.clear()
        for apply in effects:
            apply(self.context)
        self.state = row.dest
        return row

    def _choice(self, symbol: str, event: Any, at: int) -> Choice:
        context = self.context
        context.event, context.at = event, at
        for choice in self.machine.choices[symbol, self.state]:
            for holds in choice.holds:
                if not holds(context):
                    break
            else:
                for holds in choice.fails:
                    if holds(context):
                        break
                else:
                    return choice
        raise StopIteration  # an edited machine

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs of the last row, as data."""
        return tuple(self.context.outputs)
