"""The theorem that makes five documents one model (X-1): the core accepts every log that a machine's outputs map to.

The core runs beside the machine and steps through the events that the machine's last outputs refine to. An event that
the core would reject or remark on breaks the theorem; so does a run that is open in a state where a log may end.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.decode import judge
from ..core.events import symbol_of
from ..core.policies import DEFAULT, Policies
from ..declaration.machine import Machine, Row
from ..declaration.proof_roles import Refine
from ..declaration.stepping import Stepper
from ..declaration.vocabulary import ANSWERED, Output
from ..machines.request_cycle import SPEC, tables
from .explore import Monitor


class Core(NamedTuple):
    """The core's state without positions: each call of the open run with whether it is answered, and the queue."""

    state: str = "idle"
    calls: frozenset[tuple[str, bool]] = frozenset()
    waiting: int = 0

    def after(self, event: dict[str, Any], policies: Policies) -> "Core":
        """The state after a log event. Raises ValueError where the core rejects or remarks on it."""
        stepper = Stepper(SPEC, tables(policies))
        stepper.state = self.state
        stepper.context.registers |= {
            "calls": {name: ANSWERED if answered else 0 for name, answered in self.calls},
            "queue": deque(range(self.waiting)),
        }
        read = judge(event)
        stepper.take(symbol_of(read), read, self.waiting)
        for output in stepper.outputs:
            if output.name in {"reject", "remark"}:
                raise ValueError(f"X-1: {output.arguments[0]} at {event}")
        held = stepper.context.registers
        calls = frozenset((name, at == ANSWERED) for name, at in held["calls"].items())
        return Core(stepper.state, calls, len(held["queue"]))


def acceptance(machine: Machine, refine: Refine, policies: Policies = DEFAULT) -> Monitor:
    """Step the core beside *machine*, for ``explore``; it starts as ``Core()``."""

    def step(core: Core, row: Row, outputs: Sequence[Output], told: Mapping[int, Any]) -> Core:
        for event in refine(outputs, told):
            core = core.after(event, policies)
        if row.dest in machine.final and core.state != "idle":
            raise ValueError(f"X-1: a run is open in {row.dest}, where a log may end")
        return core

    return step
