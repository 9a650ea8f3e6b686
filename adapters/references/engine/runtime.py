"""``reference:engine``: the engine as a runtime that is driven; the shell's part is played here, without waiting."""

from collections.abc import Sequence
from dataclasses import replace
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
from turncheck.model.machines.chat_log import Heard, response_id

from ...protocol.messages import Profile
from ..driven import Driven, Refused, halves, unsupported
from ..usable import usable
from .engine import Engine, Limits
from .session import Session, shown
from .wire import Data, ServerEvent, server_event

LIMITS: Final = Limits()
PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "model-input"),
        *("raw-arguments", "call-ids", "together", "limits", "deaf"),
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


class EngineRuntime(Driven):
    """The engine with a client, a storage, a model and tools that are the stimuli.

    An abort is the client going away. ``wire`` is what the client was sent since the reset.
    """

    name = "reference:engine"
    profile = PROFILE

    def begin(self) -> None:
        """A new session."""
        rounds = self.options.limits.get("maxRounds", LIMITS.max_tool_rounds)
        limits = replace(LIMITS, max_tool_rounds=rounds)
        self.engine = Engine(Session("s1"), limits, compactor=False, clock=lambda: _BEGINNING)
        self.wire: list[ServerEvent] = []
        self._tools = {tool["name"] for tool in self.options.tools}

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The core's log."""
        return self.engine.log

    def take(self, stimulus: Stimulus) -> None:
        """Tell the engine what the stimulus is to it."""
        match stimulus:
            case User(content=None, delivery=None):
                self._hear("message", Heard(id=stimulus.id, text=stimulus.text))
            case Abort():
                self._hear("client-gone")
            case ModelOutput(item=Text(text=text)):
                first, second = halves(text)
                self._hear("text", Heard(text=first, begins=1))
                self._hear("text", Heard(text=second))
            case ModelOutput(item=ToolCall() as call):
                self._call(call)
            case ModelStop():
                self._hear("stream-end")
            case ModelFail(failure="stream"):
                self._hear("stream-error", Heard(message="the stream broke"))
            case ModelFail(failure=failure):
                self._hear("provider-error", Heard(message=f"the model failed: {failure}"))
            case ToolReturn(call_id=name):
                data = None if stimulus.data is None else Data(self.tool.tool or "" if self.tool else "", stimulus.data)
                self._hear(
                    "tool-output", Heard(call_id=name, output=stimulus.output, data=data, metadata=stimulus.metadata)
                )
            case ToolFail(call_id=name, message=message):
                self._hear("tool-error", Heard(call_id=name, message=message))
            case _:
                raise unsupported(type(stimulus).__name__)

    def _call(self, call: ToolCall) -> None:
        arguments, why = usable(call, self._tools)
        heard = Heard(call_id=call.call_id, tool=call.tool, arguments=arguments, message=why)
        self._hear("tool-call" if why is None else "broken-call", heard)

    def _hear(self, event: str, heard: Heard | None = None) -> None:
        for output in self.engine.hear(event, heard or Heard()):
            told = server_event(output, self.engine.session.session_id)
            self.wire += [] if told is None else [told]
            self._do(output)

    def _do(self, output: Output) -> None:
        match output.name, output.arguments:
            case "refuse", _:
                raise Refused(Refusal("rejected", "a request of this session runs"))
            case "load", _:
                self._hear("session-loaded", Heard(messages=len(self.engine.session.messages)))
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
