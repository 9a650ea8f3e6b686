"""AI SDK 6: the UI message stream, as SSE or one chunk per line. One stream is one assistant message, thus one run.

User messages do not show: the run's root is its first chunk. A call counts from its first chunk on, but only once its
input is whole; an abort in the middle leaves none. ``error`` is the terminal where no ``finish`` or ``abort`` follows.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from turncheck.model.core.events import AgentOutput, Fault, OutputKind, RunStop, ToolResult, UserMessage

from .dispatch import Dispatcher, Handler, ignore
from .fields import Object, maybe_flag, maybe_text, text
from .items import Slot, nothing, said
from .mapping import Format

_CHUNKS: Final[tuple[tuple[re.Pattern[str], set[str]], ...]] = (
    (re.compile(r"(text|reasoning)-(start|end)"), {"id"}),
    (re.compile(r"(text|reasoning)-delta"), {"id", "delta"}),
    (re.compile(r"tool-(input|output|approval)-\w+"), {"toolCallId"}),
    (re.compile(r"data-.+"), {"data"}),
    (re.compile(r"source-(url|document)"), {"sourceId"}),
    (re.compile(r"message-metadata"), {"messageMetadata"}),
)
"""Types that only UI message chunks have, with the fields that tell them from the parts of ``fullStream``."""
_BARE: Final[Mapping[str, tuple[set[str], set[str]]]] = {
    "start": (set(), {"messageId", "messageMetadata"}),
    "start-step": (set(), set()),
    "finish-step": (set(), set()),
    "finish": (set(), {"finishReason", "messageMetadata"}),
    "error": ({"errorText"}, set()),
    "abort": (set(), {"reason"}),
    "file": ({"url", "mediaType"}, {"providerMetadata"}),
}
"""Types whose names are words that other formats use as well → the fields that such a chunk has, and may have."""


class AiSdkMapper(Dispatcher):
    """Maps UI message chunks."""

    def __init__(self) -> None:
        super().__init__()
        self._response: int | None = None
        self._calls: set[str] = set()
        self._said = False  # this stream has an output
        self._error: tuple[Slot, RunStop] | None = None  # the latest error; it is the terminal if none follows
        self.handlers = {
            "start": ignore,
            "start-step": self._start_step,
            "finish-step": ignore,
            **self._texts("text", "assistant"),
            **self._texts("reasoning", "reasoning"),
            "tool-input-start": self._tool_input_start,
            "tool-input-delta": self._tool_input_delta,
            "tool-input-available": self._tool_input,
            "tool-input-error": self._tool_input,
            "tool-output-available": self._tool_output_available,
            "tool-output-error": self._tool_output_failed,
            "tool-output-denied": self._tool_output_failed,
            "tool-approval-request": ignore,
            "error": self._on_error,
            "abort": self._on_abort,
            "finish": self._on_finish,
        }

    def accept(self, at: int, value: Any) -> None:
        """Take the chunk at position *at*, or the stream's end ``[DONE]``, which is no event."""
        if value != "[DONE]":
            super().accept(at, value)
            return
        self.close()
        self.running = self.over = False  # another stream may follow

    def take(self, at: int, name: str, event: Object) -> None:
        """Handle one chunk; the first one of a stream, whichever it is, begins the run."""
        if not self.running and not self.over:
            self.items.put(at, UserMessage(text="", source="adapter"))
            self.running, self._said, self._response = True, False, None
            self._calls.clear()
        super().take(at, name, event)

    def finish(self) -> None:
        """At the stream's end a last error is the terminal."""
        if self._error is not None:
            slot, stop = self._error
            slot.event, self._error = stop, None

    # Items

    def _start_step(self, _at: int, _event: Object) -> None:
        self._response = (self._response or 0) + 1

    def _texts(self, family: str, kind: OutputKind) -> dict[str, Handler]:
        def start(_: int, event: Object) -> None:
            self.items.begin((family, text(event, "id")), said(kind, self._response_id()))

        def delta(at: int, event: Object) -> None:
            key, piece = (family, text(event, "id")), text(event, "delta")
            self.items.append(key, at, piece)
            self._said = self._said or piece != ""

        def end(_: int, event: Object) -> None:
            self.items.finish((family, text(event, "id")))

        return {f"{family}-start": start, f"{family}-delta": delta, f"{family}-end": end}

    def _tool_input_start(self, at: int, event: Object) -> None:
        call_id = text(event, "toolCallId")
        self.items.begin(("call", call_id), nothing, at)
        self._calls.add(call_id)
        self._said = True

    def _tool_input_delta(self, at: int, event: Object) -> None:
        self.items.append(("call", text(event, "toolCallId")), at, text(event, "inputTextDelta"))

    def _tool_input(self, at: int, event: Object) -> None:
        call_id, tool = text(event, "toolCallId"), text(event, "toolName")
        key = "call", call_id
        if key not in self.items:
            self.items.begin(key, nothing, at)
        response = self._response_id()
        self.items.finish(key, AgentOutput(kind="tool-call", call_id=call_id, tool=tool, response_id=response))
        self._calls.add(call_id)
        self._said = True

    def _tool_output_available(self, at: int, event: Object) -> None:
        if not maybe_flag(event, "preliminary"):  # a preliminary output only reports progress
            self._result(at, ToolResult(call_id=text(event, "toolCallId")))

    def _tool_output_failed(self, at: int, event: Object) -> None:
        self._result(at, ToolResult(call_id=text(event, "toolCallId"), is_error=True))

    def _result(self, at: int, result: ToolResult) -> None:
        """Put a result, unless it is the client's answer to a call of the previous stream, whose run is over."""
        if self._said or self.over or result.call_id in self._calls:
            self.items.put(at, result)

    def _response_id(self) -> str | None:
        return None if self._response is None else f"step-{self._response}"

    # Terminals

    def _on_error(self, at: int, event: Object) -> None:
        stop = RunStop(reason="error", detail=text(event, "errorText"))
        self._pass_error()
        self._error = self.items.hold(at), stop

    def _on_abort(self, at: int, event: Object) -> None:
        reason = maybe_text(event, "reason")
        self._pass_error()
        self.stop(at, RunStop(reason="interrupted", detail=reason))

    def _on_finish(self, at: int, event: Object) -> None:
        reason = maybe_text(event, "finishReason")
        failed = self._pass_error() or reason == "error"
        self.stop(at, RunStop(reason="error" if failed else "completed", detail=reason))

    def _pass_error(self) -> bool:
        """Demote a remembered error to a mere fault; return whether there was one."""
        if self._error is None:
            return False
        self._error[0].event = Fault()
        self._error = None
        return True


def _recognises(value: Mapping[str, Any]) -> bool:
    name, fields = value.get("type"), value.keys() - {"type"}
    if not isinstance(name, str):
        return False
    if name in _BARE:
        needed, allowed = _BARE[name]
        return needed <= fields <= needed | allowed
    return any(part.fullmatch(name) and needed <= fields for part, needed in _CHUNKS)


AI_SDK: Final = Format(
    name="ai-sdk",
    title="AI SDK UI message stream",
    whole=True,
    client_calls=True,
    recognises=_recognises,
    mapper=AiSdkMapper,
    limits={
        "messages": "no: a run's root is its first chunk",
        "delivery": "no: a stream is one assistant message",
        "sessions": "a file is one session",
    },
)
