"""AI SDK 6: the UI message stream, as SSE or one chunk per line. One stream is one assistant message, thus one run.

User messages do not show: the run's root is its first chunk. A call counts from its first chunk on, but only once its
input is whole; an abort in the middle leaves none. ``error`` is the terminal where no ``finish`` or ``abort`` follows.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from turncheck.model.core.events import AgentOutput, Fault, OutputKind, RunStop, ToolResult, UserMessage

from .dispatch import Dispatcher
from .fields import Object
from .items import Slot, nothing, said
from .mapping import Format, Rest
from .wires import Wire, handlers, maybe_flag, maybe_text, text

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


_FAMILIES: Final[tuple[tuple[str, OutputKind], ...]] = (("text", "assistant"), ("reasoning", "reasoning"))
_CALL: Final = text("toolCallId")
WIRES: Final = (
    *(
        wire
        for family, kind in _FAMILIES
        for wire in (
            Wire(f"{family}-delta", "piece", (family, text("id"), text("delta")), delta="delta"),
            Wire(f"{family}-start", "begin_text", (family, kind, text("id"))),
            Wire(f"{family}-end", "end_text", (family, text("id"))),
        )
    ),
    Wire("tool-input-delta", "piece", ("call", _CALL, text("inputTextDelta")), delta="inputTextDelta"),
    Wire("tool-input-start", "begin_call", (_CALL,)),
    Wire("tool-input-available", "end_call", (_CALL, text("toolName"))),
    Wire("tool-output-available", "output", (maybe_flag("preliminary"), _CALL)),
    Wire("start-step", "start_step"),
    Wire("finish-step"),
    Wire("tool-input-error", "end_call", (_CALL, text("toolName"))),
    Wire("tool-output-error", "output_failed", (_CALL,)),
    Wire("tool-output-denied", "output_failed", (_CALL,)),
    Wire("tool-approval-request"),
    Wire("start"),
    Wire("error", "fail", (text("errorText"),)),
    Wire("abort", "abort", (maybe_text("reason"),)),
    Wire("finish", "end_run", (maybe_text("finishReason"),)),
)
"""The chunks, the most frequent first."""


class AiSdkMapper(Dispatcher):
    """Maps UI message chunks."""

    def __init__(self) -> None:
        super().__init__()
        self._step: str | None = None  # the response
        self._steps = 0
        self._calls: set[str] = set()
        self._said = False  # this stream has an output
        self._error: tuple[Slot, RunStop] | None = None  # the latest error; it is the terminal if none follows
        self.handlers = handlers(self, WIRES)

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
            self.running, self._said, self._step, self._steps = True, False, None, 0
            self._calls.clear()
        super().take(at, name, event)

    def finish(self) -> None:
        """At the stream's end a last error is the terminal."""
        if self._error is not None:
            slot, stop = self._error
            slot.event, self._error = stop, None

    # Items

    def start_step(self, _at: int) -> None:
        """Begin the next response."""
        self._steps += 1
        self._step = f"step-{self._steps}"

    def begin_text(self, _at: int, family: str, kind: OutputKind, name: str) -> None:
        """Open a text of a family."""
        self.items.begin((family, name), said(kind, self._step))

    def piece(self, at: int, family: str, name: str, piece: str) -> None:
        """Add a piece to an item. Raises MisfitError where it is not open."""
        self.items.append((family, name), at, piece)
        self._said = self._said or piece != ""

    def end_text(self, _at: int, family: str, name: str) -> None:
        """End a text, if it is open."""
        self.items.finish((family, name))

    def begin_call(self, at: int, call_id: str) -> None:
        """Open a call, which has its place here."""
        self.items.begin(("call", call_id), nothing, at)
        self._calls.add(call_id)
        self._said = True

    def end_call(self, at: int, call_id: str, tool: str) -> None:
        """End a call, whose input is whole now; it may not have been open."""
        key = "call", call_id
        if key not in self.items:
            self.items.begin(key, nothing, at)
        self.items.finish(key, AgentOutput(kind="tool-call", call_id=call_id, tool=tool, response_id=self._step))
        self._calls.add(call_id)
        self._said = True

    def output(self, at: int, preliminary: bool | None, call_id: str) -> None:  # noqa: FBT001
        """Put the result of a call; a *preliminary* output only reports progress."""
        if not preliminary:
            self._result(at, ToolResult(call_id=call_id))

    def output_failed(self, at: int, call_id: str) -> None:
        """Put the result of a call that failed or was denied."""
        self._result(at, ToolResult(call_id=call_id, is_error=True))

    def _result(self, at: int, result: ToolResult) -> None:
        """Put a result, unless it is the client's answer to a call of the previous stream, whose run is over."""
        if self._said or self.over or result.call_id in self._calls:
            self.items.put(at, result)

    # Terminals

    def fail(self, at: int, why: str) -> None:
        """Note an error, which ends the run unless another terminal follows."""
        self._pass_error()
        self._error = self.items.hold(at), RunStop(reason="error", detail=why)

    def abort(self, at: int, why: str | None) -> None:
        """End the run, which was interrupted."""
        self._pass_error()
        self.stop(at, RunStop(reason="interrupted", detail=why))

    def end_run(self, at: int, reason: str | None) -> None:
        """End the run."""
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
    rest=Rest(r"\[DONE\]", None, AiSdkMapper, frozenset({"_step", "_steps", "_calls", "_said"})),
)
