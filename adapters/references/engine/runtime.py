"""``reference:engine``: the engine as a runtime under the harness; this module plays the shell, without waiting."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from turncheck.model.core.stimuli import ModelAwaited, ModelFail, ModelStop, Refusal, Stimulus, ToolCall, ToolReturn
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.chat_log import Heard, response_id

from ...protocol.messages import Profile
from ..driven import Refused
from ..hearing import Hearing
from .engine import Engine, Limits
from .session import Session, shown
from .wire import Data, ServerEvent, server_event

LIMITS: Final = Limits()
PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "model-input", "terminal-events"),
        *("raw-arguments", "call-ids", "together", "limits", "deaf", "usage"),
    ),
    "engine",
    {
        "busy": "reject",
        "tools": "serial",
        "abortEnds": "at-once",
        "retries": 0,
        "maxRounds": LIMITS.max_tool_rounds,
    },
)
_BEGINNING: Final = "1970-01-01T00:00:00Z"


class EngineRuntime(Hearing):
    """The engine, with stimuli for client, storage, model and tools.

    An abort means that the client goes away. ``wire`` holds the events sent to the client since the reset.
    """

    name = "reference:engine"
    profile = PROFILE
    words = {  # noqa: RUF012 - never written
        "user": "message",
        "abort": "client-gone",
        "delta": "text",
        "model-failure": "provider-error",
        "tool-failure": "tool-error",
    }

    def begin(self) -> None:
        """A new session."""
        rounds = self.options.limits.get("maxRounds", LIMITS.max_tool_rounds)
        limits = replace(LIMITS, max_tool_rounds=rounds)
        self.engine = Engine(Session("s1"), limits, compactor=False, clock=lambda: _BEGINNING)
        self.wire: list[ServerEvent] = []

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The core's log."""
        return self.engine.log

    def take(self, stimulus: Stimulus) -> None:
        """Pass the stimulus to the engine as an event of its machine."""
        match stimulus:
            case ModelStop(reason=reason, usage=usage):
                self.hear("stream-end", finish_reason=reason, usage=usage)
            case ModelFail(failure="stream"):
                self.hear("stream-error", message="the stream broke")
            case ToolReturn(call_id=name, output=output, data=data, metadata=metadata):
                seen = None if data is None else Data(self.tool.tool or "" if self.tool else "", data)
                self.hear("tool-output", call_id=name, output=output, data=seen, metadata=metadata)
            case _:
                super().take(stimulus)

    def hear(self, event: str, **fields: Any) -> None:
        """Pass an event to the engine, and play the client and the shell."""
        for output in self.engine.hear(event, Heard(**fields)):
            told = server_event(output, self.engine.session.session_id)
            self.wire += [] if told is None else [told]
            self._do(output)

    def _do(self, output: Output) -> None:
        match output.name, output.arguments:
            case "refuse", _:
                raise Refused(Refusal("rejected", "a request of this session runs"))
            case "load", _:
                self.hear("session-loaded", messages=len(self.engine.session.messages))
            case "request", (asked,):
                now = shown(self.engine.session.messages)
                self.request = ModelAwaited(request_id=response_id(asked), input=now)
            case "execute", (name, tool, arguments):
                self.execute(ToolCall(call_id=name, tool=tool, arguments=arguments))
            case "result", (_, _, "done" | "error"):
                self.tool = None
            case "done", _:
                self.leave()
            case _:
                return
