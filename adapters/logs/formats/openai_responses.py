"""OpenAI's Responses API: the stream of one response, as SSE or one event per line."""

from typing import Final

from turncheck.model.core.events import StopReason

from .fields import Object, maybe_text, number, record, text
from .mapping import Format
from .model_stream import ResponseMapper

_PIECES: Final = (
    *("output_text", "refusal", "function_call_arguments", "custom_tool_call_input"),
    *("reasoning_summary_text", "reasoning_text"),
)
_CALLS: Final = {"function_call", "custom_tool_call"}


class ResponsesMapper(ResponseMapper):
    """Maps the events of a Responses stream."""

    def __init__(self) -> None:
        super().__init__()
        self.handlers = {
            "response.created": self._created,
            "response.output_item.added": self._added,
            "response.output_item.done": self._done,
            **{f"response.{name}.delta": self._delta for name in _PIECES},
            "response.completed": lambda at, event: self._ended(at, event, "completed"),
            "response.incomplete": lambda at, event: self._ended(at, event, "completed"),
            "response.cancelled": lambda at, event: self._ended(at, event, "interrupted"),
            "response.failed": lambda at, event: self._ended(at, event, "error"),
            "error": self._error,
        }

    def _created(self, at: int, event: Object) -> None:
        self.begin_response(at, maybe_text(record(event, "response"), "id"))

    def _added(self, at: int, event: Object) -> None:
        index, kind = number(event, "output_index"), text(record(event, "item"), "type")
        if kind in _CALLS:
            self.begin_call(at, index)
        elif kind == "message":
            self.begin_text(index, "assistant")
        elif kind == "reasoning":
            self.begin_text(index, "reasoning")
        else:  # the provider runs it
            self.begin_other(index)

    def _delta(self, at: int, event: Object) -> None:
        self.piece(at, number(event, "output_index"), text(event, "delta"))

    def _done(self, _at: int, event: Object) -> None:
        index, item = number(event, "output_index"), record(event, "item")
        kind = text(item, "type")
        if kind not in _CALLS:
            self.end_item(index)
            return
        self.end_call(index, text(item, "call_id"), text(item, "name"))

    def _ended(self, at: int, event: Object, reason: StopReason) -> None:
        response = record(event, "response")
        self.end_response(at, reason, _why(response.get("error")) or _why(response.get("incomplete_details")))

    def _error(self, at: int, event: Object) -> None:
        self.end_response(at, "error", maybe_text(event, "message"))


def _why(detail: object) -> str | None:
    match detail:
        case {"message": str(why)} | {"reason": str(why)}:
            return why
        case _:
            return None


def _recognises(value: Object) -> bool:
    name = value.get("type")
    return isinstance(name, str) and name.startswith("response.") and "sequence_number" in value


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
)
