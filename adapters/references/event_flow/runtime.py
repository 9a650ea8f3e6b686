"""``reference:event_flow``: the backend's loop as a runtime that is driven; what the UI makes of it stands beside."""

from collections.abc import Sequence
from typing import Any, Final

from turncheck.model.core.stimuli import (
    Abort,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Refusal,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.blocks import Block, collate
from turncheck.model.machines.chat_log import Heard, response_id

from ...protocol.messages import Profile
from ..driven import Driven, Refused, halves, unsupported
from ..usable import usable
from .backend import Backend

ITERATIONS: Final = 8
PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "model-input"),
        *("raw-arguments", "call-ids", "together", "limits", "deaf", "usage"),
    ),
    "event_flow",
    {"busy": "reject", "tools": "serial", "abortEnds": "at-once", "retries": 0, "maxRounds": ITERATIONS},
)


class EventFlowRuntime(Driven):
    """The backend with a user, a model and tools that are the stimuli; ``blocks`` are what the UI shows."""

    name = "reference:event_flow"
    profile = PROFILE

    def begin(self) -> None:
        """A new chat."""
        self.backend = Backend(max_tool_iterations=self.options.limits.get("maxRounds", ITERATIONS))
        self._tools = {tool["name"] for tool in self.options.tools}
        self._calls: dict[str, ToolCall] = {}
        self._request_began = 0

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The core's log."""
        return self.backend.log

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the request that is under way, or was last."""
        return collate(self.backend.frames[self._request_began :])

    def take(self, stimulus: Stimulus) -> None:
        """Tell the backend what the stimulus is to it."""
        match stimulus:
            case User(content=None, delivery=None):
                before = len(self.backend.frames)
                self._hear("chat", Heard(id=stimulus.id, text=stimulus.text))
                self._request_began = before
            case Abort():
                self._hear("abort")
            case ModelOutput(item=Text(text=text)):
                first, second = halves(text)
                self._hear("delta", Heard(text=first, begins=1))
                self._hear("delta", Heard(text=second))
            case ModelOutput(item=ToolCall() as call):
                arguments, why = usable(call, self._tools)
                heard = Heard(call_id=call.call_id, tool=call.tool, arguments=arguments)
                self._hear("tool-call" if why is None else "broken-call", heard)
            case ModelStop():
                self._hear("response-end", Heard(usage=stimulus.usage))
            case ModelFail(failure=failure):
                self._hear("provider-failure", Heard(message=f"the model failed: {failure}"))
            case ToolReturn(call_id=name, output=output):
                self._hear("tool-result", Heard(call_id=name, output=output))
            case ToolFail(call_id=name, message=message):
                self._hear("tool-failure", Heard(call_id=name, message=message))
            case _:
                raise unsupported(type(stimulus).__name__)

    def _hear(self, event: str, heard: Heard | None = None) -> None:
        for output in self.backend.hear(event, heard or Heard()):
            self._do(output)

    def _do(self, output: Output) -> None:
        match output.name, output.arguments:
            case "refuse", _:
                raise Refused(Refusal("rejected", "a request of this chat runs"))
            case "request", (asked,):
                self.request = ModelAwaited(request_id=response_id(asked), input=tuple(self.backend.history))
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
