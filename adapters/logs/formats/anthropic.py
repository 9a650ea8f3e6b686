"""Anthropic's Messages API: the stream of one response, as SSE or one event per line."""

from typing import Final

from turncheck.model.core.events import ToolResult

from .fields import Object, maybe_flag, text
from .mapping import Format, Rest
from .model_stream import ResponseMapper, between
from .wires import Wire, handlers, maybe_text, number, whole
from .wires import text as text_at

_INDEX: Final = number("index")
_DELTA: Final = text_at("delta.type")
_BLOCK: Final = text_at("content_block.type")
_TEXTS: Final = (("text", "assistant"), ("thinking", "reasoning"))
"""Type of a block, and the field of its text → the kind of the item."""
_DEFERRED: Final = 1024
"""Calls that the provider may still answer: a stream without end keeps no more."""
_PIECES: Final = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}


def _piece(kind: str, field: str) -> Wire:
    path = f"delta.{field}"
    return Wire("content_block_delta", "piece", (_INDEX, text_at(path)), when=(_DELTA, (kind,)), delta=path)


def _begin(field: str, kind: str) -> Wire:
    begun = maybe_text(f"content_block.{field}")
    return Wire("content_block_start", "begin_text", (_INDEX, kind, begun), when=(_BLOCK, (field,)))


WIRES: Final = (
    *(_piece(kind, field) for kind, field in _PIECES.items()),
    Wire(
        "content_block_delta",
        "piece",
        (_INDEX, ""),
        when=(_DELTA, ("signature_delta", "citations_delta")),
    ),
    Wire("content_block_delta", "other_piece", (_INDEX, _DELTA)),
    *(_begin(*one) for one in _TEXTS),
    Wire(
        "content_block_start",
        "begin_named_call",
        (_INDEX, text_at("content_block.id"), text_at("content_block.name")),
        when=(_BLOCK, ("tool_use",)),
    ),
    Wire("content_block_start", "begin_block", (_INDEX, whole("content_block"))),
    Wire("content_block_stop", "end_block", (_INDEX,)),
    Wire("message_start", "begin_message", (maybe_text("message.id"),), opens=True),
    Wire("message_delta", "note_reason", (maybe_text("delta.stop_reason"),)),
    Wire("message_stop", "end_message"),
    Wire("ping"),
    Wire("error", "fail", (maybe_text("error.message"),)),
)
"""The events, the most frequent first."""


class AnthropicMapper(ResponseMapper):
    """Maps the events of a Messages stream."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[int, tuple[str, str]] = {}  # the calls that are open
        self._provided: dict[str, None] = {}  # calls of this response that the provider runs, and has not answered
        self._deferred: dict[str, None] = {}  # those of earlier responses
        self._stop_reason: str | None = None
        self.handlers = handlers(self, WIRES)

    def begin_message(self, at: int, name: str | None) -> None:
        """Begin the response. Raises MisfitError while one is open."""
        self.begin_response(at, name)
        self._stop_reason = None

    def begin_named_call(self, at: int, index: int, call_id: str, tool: str) -> None:
        """Open a call, whose name is known. Raises MisfitError where an item of this index is open."""
        self.begin_call(at, index)
        self._named[index] = call_id, tool

    def begin_block(self, at: int, index: int, block: Object) -> None:
        """Open a block of another type: what the provider runs, and its result. Raises MisfitError."""
        kind = text(block, "type")
        if kind.endswith("tool_use"):
            self.begin_named_call(at, index, text(block, "id"), text(block, "name"))
            self._provided[text(block, "id")] = None
        elif kind.endswith("tool_result"):
            result = ToolResult(call_id=text(block, "tool_use_id"), is_error=maybe_flag(block, "is_error") or None)
            self.begin_other(at, index)
            if result.call_id in self._deferred and result.call_id not in self._provided:
                del self._deferred[result.call_id]  # its run is over, as that of a call that the client answers
            else:
                self._provided.pop(result.call_id, None)
                self.items.put(at, result)
        else:
            self.begin_other(at, index)

    def other_piece(self, at: int, index: int, _kind: str) -> None:
        """Take a piece that is no text. Raises MisfitError where its item is not open."""
        self.piece(at, index, "")

    def end_block(self, at: int, index: int) -> None:
        """End a block. Raises MisfitError where it is not open."""
        if index in self._named and index in self.items:
            self.end_call(at, index, *self._named[index])
            del self._named[index]
        else:
            self.end_item(at, index)

    def note_reason(self, _at: int, reason: str | None) -> None:
        """Note why the response will end."""
        self._stop_reason = reason or self._stop_reason

    def end_message(self, at: int) -> None:
        """End the response."""
        self._defer()
        self.end_response(at, "completed", self._stop_reason)

    def fail(self, at: int, why: str | None) -> None:
        """End the response, which failed."""
        self._defer()
        self.end_response(at, "error", why)

    def _defer(self) -> None:
        """Let go of the calls; the provider may answer its own in a later response, behind the client's answers."""
        self._named.clear()
        if self._provided:
            self._deferred |= self._provided
            self._provided.clear()
            while len(self._deferred) > _DEFERRED:
                del self._deferred[next(iter(self._deferred))]


def _recognises(value: Object) -> bool:
    match value:
        case {"type": "message_start", "message": {"type": "message"}}:
            return True
        case {"type": "content_block_start", "content_block": {"type": str()}, "index": int()}:
            return True
        case {"type": "content_block_delta", "delta": {"type": str()}, "index": int()}:
            return True
        case {"type": "content_block_stop", "index": int()}:
            return True
        case {"type": "message_delta", "delta": dict(), "usage": dict()} | {"type": "message_stop" | "ping"}:
            return True
        case _:
            return False


ANTHROPIC: Final = Format(
    name="anthropic",
    title="Anthropic Messages stream",
    recognises=_recognises,
    mapper=AnthropicMapper,
    whole=True,
    client_calls=True,
    limits={
        "messages": "no: a response's start is the root",
        "delivery": "no",
        "results": "only of tools that the provider runs",
        "failures": "only of tools that the provider runs",
        "stops": "of one response: the client's next request goes on with the turn",
        "sessions": "a file is one session",
    },
    rest=Rest(
        ends=r'[^\n]*"(?:message_stop|error)"[^\n]*',
        begins="message_start",
        mapper=lambda: between(AnthropicMapper()),
        anew=frozenset({"_response", "_stop_reason"}),
    ),
)
