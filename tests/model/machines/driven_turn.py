"""The machine ``turn`` with all its inputs and all its outputs, for its tests."""

from types import SimpleNamespace

from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.turn import DEFAULTS, SPEC
from turncheck.model.machines.turn_log import refine

FIELDS = dict.fromkeys(
    ("id", "text", "delivery", "key", "call_id", "tool", "arguments", "decision", "output", "failure", "message")
)
READY = ("inbound", "valid", "locked", "loaded")
"""How a turn comes to its first inference."""
CLOSED = ("responded", "recorded")


def told(**given):
    return SimpleNamespace(**FIELDS | {"tokens": 0} | given)


class Driven:
    """A machine with all its inputs and all its outputs."""

    def __init__(self, spec=SPEC, **tables):
        self.machine = Stepper(spec, {**DEFAULTS, **tables})
        self.told, self.outputs, self.path = {}, [], ["idle"]

    def tell(self, symbol, **given):
        at = len(self.told)
        self.told[at] = told(**given)
        self.machine.take(symbol, self.told[at], at)
        self.outputs += self.machine.outputs
        if self.machine.state != self.path[-1]:
            self.path.append(self.machine.state)
        return self

    def tells(self, *symbols):
        for symbol in symbols:
            self.tell(symbol)
        return self

    @property
    def names(self):
        return [output.name for output in self.outputs]

    @property
    def log(self):
        return refine(self.outputs, self.told)

    @property
    def outcome(self):
        return next((output.arguments[0] for output in self.outputs if output.name == "finish"), None)
