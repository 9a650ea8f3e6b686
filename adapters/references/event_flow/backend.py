"""The backend without I/O: the machine, the model's history, the core's log, and the frames."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import to_builtins

from turncheck.model.core.stimuli import Shown
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.chat_log import Heard, refine
from turncheck.model.machines.event_flow import SPEC, tables

from ..history import shown
from ..provider.images import DEFAULT
from ..provider.port import Http, Question, Settings
from ..provider.request_body import body
from .emission import Dialect, Emission, Frame

NOTHING: Final = Heard()
PLAYED: Final = Settings("gpt", temperature=0.7, max_tokens=4096)
"""The settings of a model that the harness plays: any would do, and none is left out of the frames."""
PLAYED_HEAD: Final = Http(200, {"content-type": "text/event-stream"})
"""The head of its responses."""


class Backend:
    """One chat. ``log`` is the core's log, ``frames`` those sent to the UI.

    *tools* are declared to the model, in the form of ``Question``; *now* returns the seconds since 1970; without it,
    time stands still.
    """

    def __init__(
        self,
        *,
        max_tool_iterations: int,
        always_completes: bool = True,
        dialect: Dialect = Dialect(),  # noqa: B008 - frozen
        settings: Settings = PLAYED,
        tools: Sequence[Mapping[str, Any]] = (),
        now: Callable[[], float] | None = None,
    ) -> None:
        fixed = tables(max_tool_iterations=max_tool_iterations, always_completes=always_completes)
        self._stepper = Stepper(SPEC, fixed)
        self._tools = tuple(tools)
        self._emission = Emission(
            dialect, settings, lambda: body(self.question, settings, DEFAULT), now or _still, PLAYED_HEAD
        )
        self._heard = 0
        self.log: list[dict[str, Any]] = []
        self.frames: list[Frame] = []

    @property
    def question(self) -> Question:
        """The request to the model that the log makes now."""
        return Question(tuple(self.log), ".", self._tools)

    def came(self, http: Http | None) -> None:
        """Note the head of the model's response that ends next; None where the harness plays the model."""
        self._emission.http = http or PLAYED_HEAD

    def hear(self, event: str, heard: Heard = NOTHING) -> Sequence[Output]:
        """Take one event; return the outputs."""
        self._stepper.take(event, heard, self._heard)
        self._heard += 1
        outputs = self._stepper.outputs
        for output in outputs:
            for logged in refine([output]):
                if logged["type"] == "model-request":
                    logged["input"] = to_builtins(list(self.history))
                self.log.append(logged)
            self.frames += self._emission.frames(output)
        return outputs

    @property
    def history(self) -> tuple[Shown, ...]:
        """Return the history as the model is shown it."""
        return shown(self.log)


def _still() -> float:
    return 0.0
