"""OpenAI's Chat Completions API: the stream of one response, as SSE or one chunk per line."""

from collections.abc import Mapping
from typing import Any, Final, cast

from turncheck.model.core.events import Malformed

from .fields import MisfitError, Object, maybe_text, no_event, number, objects, record, records, text
from .items import NATIVE
from .mapping import Format
from .model_stream import ResponseMapper
from .wires import Delta

_OBJECT: Final = "chat.completion.chunk"
_TEXTS: Final = {
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "content": "assistant",
    "refusal": "assistant",
}
"""Field of a delta → the kind of its text; the first two are those of other providers."""
_DONE: Final = "[DONE]"
DELTAS: Final = tuple(
    Delta(f"choices.0.delta.{field}", varies=("obfuscation",))
    for field in ("content", "tool_calls.0.function.arguments", *(field for field in _TEXTS if field != "content"))
)
"""The texts in which chunks differ, the most frequent first."""
_PLACES: Final = {field: -1 - place for place, field in enumerate(_TEXTS)}
"""Field of a text → its item: calls have the indices from 0."""


class ChatMapper(ResponseMapper):
    """Maps the chunks of a stream. Of several choices the first one counts, as clients take it."""

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._calls_named: dict[int, tuple[str, str]] = {}  # index → id and tool, of the response

    def accept(self, at: int, value: Any) -> None:
        """Take the value at position *at*, or the stream's end ``[DONE]``, which is no event of its own."""
        if value == _DONE:
            self._done(at)
        elif isinstance(value, dict):
            self._given(at, cast("Object", value))
        else:
            self.items.put(at, no_event(value))

    def _given(self, at: int, value: Object) -> None:
        try:
            if value.get("error") is None:
                self._chunk(at, value)
            else:
                self.end_response(at, "error", _why(value["error"]))
        except MisfitError as misfit:
            self.items.put(at, Malformed(f"chunk: {misfit}"))
        if self.items.last != at:
            self.items.put(at, NATIVE)

    def _chunk(self, at: int, chunk: Object) -> None:
        own = maybe_text(chunk, "id") or ""
        first = next((choice for choice in records(chunk, "choices") if number(choice, "index") == 0), None)
        if first is None:  # usage, what Azure says of the prompt, or another choice
            return
        delta, finish = record(first, "delta"), maybe_text(first, "finish_reason")
        texts = _texts(delta)
        calls = records(delta, "tool_calls") if delta.get("tool_calls") is not None else []
        if self.over and own in ("", self._id):
            if not (texts or calls or finish):
                return  # an empty delta, as some providers send with the usage
            if own:
                raise MisfitError(f"the response has finished, and goes on: {finish or 'a delta'}")
        named = self._named(calls, {} if self.over else self._calls_named)
        if not self.running:
            self._begin(at, own)
        elif own and own != self._id:
            self.items.put(at, Malformed(f"chunk: its id is {own:.80}, and the response's is {self._id or 'empty'}"))
            self._id = own
        for field, piece in texts.items():
            self._text(at, field, piece)
        for index, (call_id, tool) in named.items():
            if index not in self.items:
                self.begin_call(at, index)
                self._calls_named[index] = call_id, tool
        if finish is not None:
            self._finish(at, finish)

    def _named(self, calls: list[Object], known: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
        """The calls that begin here, and those that go on. Raises MisfitError."""
        named: dict[int, tuple[str, str]] = {}
        for call in calls:
            index, call_id = _index(call, known | named), maybe_text(call, "id")
            before = named.get(index) or known.get(index)
            if before is None:
                named[index] = text(call, "id"), text(record(call, "function"), "name")
            elif call_id and call_id != before[0]:
                raise MisfitError(f"call {index} begins again: its id is {call_id:.80}, and was {before[0]:.80}")
        return named

    def _begin(self, at: int, own: str) -> None:
        self.begin_response(at, own or None)
        self._id = own
        self._calls_named = {}

    def _text(self, at: int, field: str, piece: str) -> None:
        place = _PLACES[field]
        if place in self.items:
            self.piece(at, place, piece)
        else:
            self.begin_text(at, place, "reasoning" if _TEXTS[field] == "reasoning" else "assistant", piece)

    def _finish(self, at: int, finish: str) -> None:
        for place in _PLACES.values():
            self.items.finish(place)
        for index, (call_id, tool) in self._calls_named.items():
            self.end_call(at, index, call_id, tool)
        self.end_response(at, "error" if finish == "error" else "completed", finish)

    def _done(self, at: int) -> None:
        if self.running:
            self.items.put(at, Malformed(f"{_DONE}: the response has no finish_reason"))
            self.end_response(at, "error", None)


def _texts(delta: Object) -> dict[str, str]:
    """The texts of a delta that are not empty, by their fields. Raises MisfitError.

    Mistral's content is a list where the model thinks: parts of a text, and of thoughts that have parts themselves.
    """
    parts = records(delta, "content") if isinstance(delta.get("content"), list) else None
    found = {field: maybe_text(delta, field) or "" for field in _TEXTS if field != "content" or parts is None}
    if parts is not None:
        thoughts = [inner for part in parts if part.get("type") == "thinking" for inner in records(part, "thinking")]
        found["reasoning"] += "".join(maybe_text(part, "text") or "" for part in thoughts)
        found["content"] = "".join(maybe_text(part, "text") or "" for part in parts)
    return {field: piece for field in _TEXTS if (piece := found[field])}


def _index(call: Object, taken: Mapping[int, tuple[str, str]]) -> int:
    """The place of a call; some providers send calls whole, with an id and without one. Raises MisfitError."""
    if call.get("index") is not None or not call.get("id"):
        return number(call, "index")
    known = (index for index, (call_id, _) in taken.items() if call_id == call.get("id"))
    return next(known, len(taken))


def _why(error: object) -> str | None:
    match error:
        case str(why) | {"message": str(why)}:
            return why
        case _:
            return None


def _recognises(value: Object) -> bool:
    if "object" in value:
        return value["object"] == _OBJECT and isinstance(value.get("choices"), list)
    return "model" in value and any(isinstance(choice.get("delta"), dict) for choice in objects(value.get("choices")))


OPENAI_CHAT: Final = Format(
    name="openai-chat",
    title="OpenAI Chat Completions stream",
    recognises=_recognises,
    mapper=ChatMapper,
    whole=True,
    client_calls=True,
    limits={
        "messages": "no: a response's start is the root",
        "delivery": "no",
        "calls": "of the client's tools, of the first choice",
        "results": "no",
        "failures": "no",
        "stops": "of one response: the client's next request goes on with the turn",
        "sessions": "a file is one session",
    },
)
