"""The backend without I/O: the machine, the model's history, the core's log, and the frames."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import to_builtins

from turncheck.model.core.stimuli import Shown
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.chat_log import Heard, refine
from turncheck.model.machines.event_flow import SPEC, tables

from ..history import shown
from .emission import Dialect, Emission, Frame

NOTHING: Final = Heard()
_BEGINNING: Final = "1970-01-01T00:00:00Z"


class Backend:
    """One chat. ``log`` is the core's log, ``frames`` those sent to the UI."""

    def __init__(
        self,
        *,
        max_tool_iterations: int,
        always_completes: bool = True,
        dialect: Dialect = Dialect(),  # noqa: B008 - frozen
    ) -> None:
        fixed = tables(max_tool_iterations=max_tool_iterations, always_completes=always_completes)
        self._stepper = Stepper(SPEC, fixed)
        self._emission = Emission(dialect, "openai", "gpt", _BEGINNING)
        self._heard = 0
        self.log: list[dict[str, Any]] = []
        self.frames: list[Frame] = []

    def hear(self, event: str, heard: Heard = NOTHING) -> Sequence[Output]:
        """Take one event; return the outputs."""
        self._stepper.take(event, heard, self._heard)
        self._heard += 1
        outputs = self._stepper.outputs
        for output in outputs:
            self.frames += self._emission.frames(output)
            for logged in refine([output]):
                if logged["type"] == "model-request":
                    logged["input"] = to_builtins(list(self.history))
                self.log.append(logged)
        return outputs

    @property
    def history(self) -> tuple[Shown, ...]:
        """Return the history as the model is shown it."""
        return shown(self.log)
