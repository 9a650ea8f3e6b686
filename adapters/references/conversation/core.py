"""The pure core of one conversation: the machine, the inputs that its registers still name, and the log."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.conversation import DEFAULTS, SPEC, Input, refine

NOTHING: Final = Input()
_OBSERVATIONS: Final = ("model-request", "native")


class Saved(msgspec.Struct, frozen=True):
    """The durable part of a conversation besides its messages: enough to restart it, nothing of a partial response."""

    state: str
    at: int
    registers: dict[str, Any]
    inputs: dict[int, Input]


class Conversation:
    """One conversation, stepped without I/O: the same inputs give the same outputs and events (BED-001).

    *tables* are the machine's. ``kind`` is ``user`` or ``sub-agent``, ``log`` the history, ``inputs`` the payloads that
    registers name by position.
    """

    def __init__(self, tables: Mapping[str, Any] = DEFAULTS) -> None:
        self._stepper = Stepper(SPEC, tables)
        self._at = 0
        self.kind: str = tables["kind"]
        self.inputs: dict[int, Input] = {}
        self.log: list[dict[str, Any]] = []

    @property
    def state(self) -> str:
        """The control state."""
        return self._stepper.state

    @property
    def registers(self) -> Mapping[str, Any]:
        """The machine's data."""
        return self._stepper.context.registers

    def take(self, letter: str, told: Input = NOTHING) -> tuple[tuple[Output, ...], list[dict[str, Any]]]:
        """Take a letter of the machine; return its outputs, and the log's new events."""
        at, self._at = self._at, self._at + 1
        self.inputs[at] = told
        self._stepper.take(letter, told, at)
        outputs = self._stepper.outputs
        events = refine(outputs, self.inputs, self.log)
        self.log += events
        named = {*self.registers["said"], *self.registers["kept"].values()}
        self.inputs = {place: one for place, one in self.inputs.items() if place in named}
        return outputs, events

    def saved(self) -> Saved:
        """Return the state to save now."""
        held = {name: _plain(value) for name, value in self.registers.items() if name != "said"}
        kept = {place: self.inputs[place] for place in self.registers["kept"].values()}
        return Saved(self.state, self._at, held, kept)

    def restore(self, saved: Saved, log: list[dict[str, Any]]) -> None:
        """Become the saved conversation; the next letter must be ``restart`` (BED-007b)."""
        self._stepper.state, self._at = saved.state, saved.at
        self.inputs, self.log = dict(saved.inputs), log
        for name, value in saved.registers.items():
            kind = SPEC.registers[name]
            known = {"queue": deque, "map": dict}.get(kind)
            self._stepper.context.registers[name] = known(value) if known else value


def durable(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events that are history: messages, results and stops, but no observations."""
    return [event for event in events if event["type"] not in _OBSERVATIONS]


def _plain(value: Any) -> Any:
    """A register as JSON: a map as a list of its entries, since its keys are numbers."""
    if isinstance(value, dict):
        return list(cast("dict[int, int]", value).items())
    return list(cast("deque[int]", value)) if isinstance(value, deque) else value
