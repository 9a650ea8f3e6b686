"""The backend without I/O: the machine, the history that the model is shown, the core's log, and the frames."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import to_builtins

from turncheck.model.core.stimuli import Shown
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.chat_log import Heard, refine
from turncheck.model.machines.event_flow import SPEC, tables

from ..engine.session import told
from .emission import Dialect, Emission, Frame

NOTHING: Final = Heard()
_BEGINNING: Final = "1970-01-01T00:00:00Z"


class Backend:
    """One chat. ``log`` is the core's, ``frames`` what the UI was sent, ``history`` what the model is shown."""

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
        self.history: list[Shown] = []

    def hear(self, event: str, heard: Heard = NOTHING) -> Sequence[Output]:
        """Take one event; return what is asked for."""
        self._stepper.take(event, heard, self._heard)
        self._heard += 1
        outputs = self._stepper.outputs
        for output in outputs:
            self.frames += self._emission.frames(output)
            for logged in refine([output]):
                self._remember(logged)
                self.log.append(logged)
        return outputs

    def _remember(self, logged: dict[str, Any]) -> None:
        """Keep what the model is to be shown; a request shows what is kept."""
        match logged:
            case {"type": "user-message", "text": text}:
                self.history.append(Shown(role="user", text=text, ids=(logged["id"],) if "id" in logged else ()))
            case {"kind": "assistant", "text": text}:
                self.history.append(Shown(role="assistant", text=text))
            case {"kind": "tool-call", "callId": call, "tool": tool}:
                self.history.append(Shown(role="assistant", call_id=call, tool=tool))
            case {"type": "tool-result", "callId": call, "output": output}:
                error = logged.get("isError")
                self.history.append(Shown(role="tool", call_id=call, text=told(output), is_error=error))
            case {"type": "model-request"}:
                logged["input"] = [to_builtins(entry) for entry in self.history]
            case _:
                return
