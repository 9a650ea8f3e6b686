"""What a run exercised, against all there is: states, rows and policies of the core machine."""

from collections import Counter
from typing import Any

from turncheck.model.decode import judge
from turncheck.model.events import symbol_of
from turncheck.model.machine import Row
from turncheck.model.request_cycle import SPEC, tables
from turncheck.model.stepping import Stepper

from .results import Input


class Coverage:
    """Follows the rows that the model takes on each case."""

    def __init__(self) -> None:
        self._rows: Counter[Row] = Counter()
        self._policies: set[Any] = set()

    def add(self, case: Input) -> None:
        """Count the rows that the case takes."""
        self._policies.add(case.policies)
        follower = Stepper(SPEC, tables(case.policies))
        symbols = [(symbol_of(event), event) for event in map(judge, case.events)]
        for at, (symbol, event) in enumerate([*symbols, ("log-end", None)]):
            self._rows[follower.take(symbol, event, at)] += 1

    def figures(self) -> dict[str, Any]:
        """How much was exercised, and what was not."""
        rows = list(SPEC.rows())
        missed = [f"{row.source}: {row.label}" for row in rows if row not in self._rows]
        states = {row.source for row in self._rows}
        return {
            "states": f"{len(states)}/{len(SPEC.states)}",
            "rows": f"{len(rows) - len(missed)}/{len(rows)}",
            "missed": missed,
            "policies": f"{len(self._policies)}/18",
        }
