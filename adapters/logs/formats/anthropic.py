"""Anthropic's Messages API: the stream of one response, as SSE or one event per line."""

from typing import Final

from turncheck.model.core.events import ToolResult

from .dispatch import ignore
from .fields import Object, maybe_flag, maybe_text, number, record, text
from .mapping import Format
from .model_stream import ResponseMapper

_PIECES: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class AnthropicMapper(ResponseMapper):
    """Maps the events of a Messages stream."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[int, tuple[str, str]] = {}  # the calls that are open
        self._stop_reason: str | None = None
        self.handlers = {
            "message_start": self._message_start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error,
            "ping": ignore,
        }

    def _message_start(self, at: int, event: Object) -> None:
        self.begin_response(at, maybe_text(record(event, "message"), "id"))
        self._stop_reason = None

    def _block_start(self, at: int, event: Object) -> None:
        index, block = number(event, "index"), record(event, "content_block")
        kind = text(block, "type")
        if kind == "text":
            self.begin_text(index, "assistant", maybe_text(block, "text") or "", at)
        elif kind == "thinking":
            self.begin_text(index, "reasoning", maybe_text(block, "thinking") or "", at)
        elif kind.endswith("tool_use"):
            named = text(block, "id"), text(block, "name")
            self.begin_call(at, index)
            self._named[index] = named
        elif kind.endswith("tool_result"):
            result = ToolResult(call_id=text(block, "tool_use_id"), is_error=maybe_flag(block, "is_error") or None)
            self.begin_other(index)
            self.items.put(at, result)
        else:
            self.begin_other(index)

    def _block_delta(self, at: int, event: Object) -> None:
        index, delta = number(event, "index"), record(event, "delta")
        field = _PIECES.get(text(delta, "type"))
        self.piece(at, index, "" if field is None else text(delta, field))

    def _block_stop(self, _at: int, event: Object) -> None:
        index = number(event, "index")
        if index in self._named and index in self.items:
            call_id, tool = self._named.pop(index)
            self.end_call(index, call_id, tool)
        else:
            self.end_item(index)

    def _message_delta(self, _at: int, event: Object) -> None:
        self._stop_reason = maybe_text(record(event, "delta"), "stop_reason") or self._stop_reason

    def _message_stop(self, at: int, _event: Object) -> None:
        self._named.clear()
        self.end_response(at, "completed", self._stop_reason)

    def _error(self, at: int, event: Object) -> None:
        why = maybe_text(record(event, "error"), "message")
        self._named.clear()
        self.end_response(at, "error", why)


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
)
