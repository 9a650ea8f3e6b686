"""``reference:event_flow``: the backend's loop as a runtime under the harness, with the UI's blocks beside it."""

from collections.abc import Sequence
from typing import Any, Final

from turncheck.model.core.stimuli import ModelAwaited, ModelStop, Refusal, Stimulus, ToolCall, ToolReturn, User
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.blocks import Block, collate
from turncheck.model.machines.chat_log import Heard, response_id

from ...protocol.messages import Profile
from ..driven import Refused
from ..hearing import Hearing
from .backend import Backend

ITERATIONS: Final = 8
PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "model-input", "terminal-events"),
        *("raw-arguments", "call-ids", "together", "limits", "deaf", "usage"),
    ),
    "event_flow",
    {"busy": "reject", "tools": "serial", "abortEnds": "at-once", "retries": 0, "maxRounds": ITERATIONS},
)


class EventFlowRuntime(Hearing):
    """The backend, with stimuli for user, model and tools; ``blocks`` are those that the UI shows."""

    name = "reference:event_flow"
    profile = PROFILE
    words = {  # noqa: RUF012 - never written
        "user": "chat",
        "abort": "abort",
        "delta": "delta",
        "model-failure": "provider-failure",
        "tool-failure": "tool-failure",
    }

    def begin(self) -> None:
        """A new chat."""
        self.backend = Backend(max_tool_iterations=self.options.limits.get("maxRounds", ITERATIONS))
        self._calls: dict[str, ToolCall] = {}
        self._request_began = 0

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The core's log."""
        return self.backend.log

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the current or last request."""
        return collate(self.backend.frames[self._request_began :])

    def take(self, stimulus: Stimulus) -> None:
        """Pass the stimulus to the backend as an event of its machine."""
        before = len(self.backend.frames)
        match stimulus:
            case ModelStop(reason=reason, usage=usage):
                self.hear("response-end", finish_reason=reason, usage=usage)
            case ToolReturn(call_id=name, output=output):
                self.hear("tool-result", call_id=name, output=output)
            case _:
                super().take(stimulus)
        if isinstance(stimulus, User):
            self._request_began = before

    def hear(self, event: str, **fields: Any) -> None:
        """Pass an event to the backend, and play the model and the tools."""
        for output in self.backend.hear(event, Heard(**fields)):
            self._do(output)

    def _do(self, output: Output) -> None:
        match output.name, output.arguments:
            case "refuse", _:
                raise Refused(Refusal("rejected", "a request of this chat runs"))
            case "request", (asked,):
                self.request = ModelAwaited(request_id=response_id(asked), input=self.backend.history)
            case "llm-response", _:
                self.request = None
            case "call", (name, tool, arguments, _):
                self._calls[name] = ToolCall(call_id=name, tool=tool, arguments=arguments)
            case "tool-call-start", (name,):
                self.execute(self._calls[name])
            case "tool-call-result", _:
                self.tool = None
            case "end", _:
                self.leave()
            case _:
                return
