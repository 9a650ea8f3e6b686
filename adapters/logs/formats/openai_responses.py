"""OpenAI's Responses API: the stream of one response, as SSE or one event per line."""

from typing import Final

from turncheck.model.core.events import StopReason

from .fields import Object
from .items import NATIVE
from .mapping import Format, Rest
from .model_stream import ResponseMapper, between
from .wires import Field, Wire, handlers, maybe_text, number, text

_PIECES: Final = (
    *("output_text", "function_call_arguments", "reasoning_summary_text", "reasoning_text"),
    *("refusal", "custom_tool_call_input"),
)
_CALLS: Final = ("function_call", "custom_tool_call")
_INDEX: Final = number("output_index")
_CALLED: Final = (_INDEX, text("item.call_id"), text("item.name"))
_ITEM: Final = text("item.type")
_VARIES: Final = ("sequence_number", "obfuscation")


def _why(path: str) -> Field:
    """The field that says why a response ended as it did, if any does."""
    return Field(path, _reason, None, needed=False)


def _reason(event: Object, field: str) -> str | None:
    match event.get(field):
        case {"message": str(why)} | {"reason": str(why)}:
            return why
        case _:
            return None


def _end(name: str, reason: StopReason) -> Wire:
    return Wire(name, "end_for", (reason, _why("response.error"), _why("response.incomplete_details")))


WIRES: Final = (
    *(
        Wire(f"response.{one}.delta", "piece", (_INDEX, text("delta")), delta="delta", varies=_VARIES)
        for one in _PIECES
    ),
    Wire("response.output_item.added", "begin_call", (_INDEX,), when=(_ITEM, _CALLS)),
    Wire("response.output_item.added", "begin_text", (_INDEX, "assistant"), when=(_ITEM, ("message",))),
    Wire("response.output_item.added", "begin_text", (_INDEX, "reasoning"), when=(_ITEM, ("reasoning",))),
    Wire("response.output_item.added", "begin_other", (_INDEX,)),
    Wire("response.output_item.done", "end_call", _CALLED, when=(_ITEM, _CALLS)),
    Wire("response.output_item.done", "end_item", (_INDEX,), when=(_ITEM, ("message", "reasoning"))),
    Wire("response.output_item.done", "end_item", (_INDEX,)),
    Wire("response.created", "begin_response", (maybe_text("response.id"),), opens=True),
    _end("response.completed", "completed"),
    _end("response.incomplete", "completed"),
    _end("response.cancelled", "interrupted"),
    _end("response.failed", "error"),
    Wire("error", "fail", (maybe_text("message"), _why("error"))),
)
"""The events, the most frequent first. Items of other types are tools that the provider runs."""


class ResponsesMapper(ResponseMapper):
    """Maps the events of a Responses stream."""

    def __init__(self) -> None:
        super().__init__()
        self._failed = False  # an error ended the latest response, and nothing told it again
        self.handlers = handlers(self, WIRES)

    def fail(self, at: int, message: str | None, error: str | None) -> None:
        """End the response, which failed."""
        self._failed = self.running or not self.over
        self.end_response(at, "error", message or error)

    def end_for(self, at: int, reason: StopReason, error: str | None, incomplete: str | None) -> None:
        """End the response, for the first reason that is given; ``response.failed`` behind an error tells it again."""
        if reason == "error" and self._failed and self.over:
            self.items.put(at, NATIVE)
        else:
            self.end_response(at, reason, error or incomplete)
        self._failed = False


_ONLY: Final = frozenset(("sequence_number", "output_index", "response"))
"""Fields of which each event has one."""


def _recognises(value: Object) -> bool:
    name = value.get("type")
    return isinstance(name, str) and name.startswith("response.") and not _ONLY.isdisjoint(value)


OPENAI_RESPONSES: Final = Format(
    name="openai-responses",
    title="OpenAI Responses stream",
    recognises=_recognises,
    mapper=ResponsesMapper,
    whole=True,
    client_calls=True,
    limits={
        "messages": "no: a response's start is the root",
        "delivery": "no",
        "calls": "of the client's tools",
        "results": "no",
        "failures": "no",
        "stops": "of one response: the client's next request goes on with the turn",
        "sessions": "a file is one session",
    },
    rest=Rest(
        ends=r'[^\n]*"(?:response\.(?:completed|incomplete|cancelled|failed)|error)"[^\n]*',
        begins="response.created",
        mapper=lambda: between(ResponsesMapper()),
        anew=frozenset({"_response", "_failed"}),
    ),
)
