"""Follow a declared machine along a log: which row each event takes."""

from collections.abc import Mapping
from typing import Any

from turncheck.model.machine import Machine, Row


class Follower:
    """A machine in some state, with its registers; *tables* are its policies."""

    def __init__(self, machine: Machine, tables: Mapping[str, object]) -> None:
        self.machine = machine
        self.state = machine.initial
        self.context = machine.fresh(tables)
        self._rows = rows_by_event(machine)

    def row(self, symbol: str, event: Any = None, at: int = -1) -> Row:
        """The row that *symbol* takes now."""
        self.context.event, self.context.at = event, at
        return next(row for row in self._rows[symbol, self.state] if self.machine.permits(row, self.context))

    def take(self, symbol: str, event: Any = None, at: int = -1) -> Row:
        """Take the row of *symbol*: registers and state change."""
        row = self.row(symbol, event, at)
        for name in row.effects:
            self.machine.effects[name].apply(self.context)
        self.context.outputs.clear()
        self.state = row.dest
        return row


_cache: dict[str, dict[tuple[str, str], list[Row]]] = {}


def rows_by_event(machine: Machine) -> dict[tuple[str, str], list[Row]]:
    """(event, state) → its rows."""
    if machine.name not in _cache:
        _cache[machine.name] = {
            (event, state): machine.rows_of(event, state) for event in machine.events for state in machine.states
        }
    return _cache[machine.name]
