"""The response of a chat completion: chunks of its stream in, items and an end out.

Text, refusal and reasoning are one item each, calls one item per index, in the order in which they began.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec

from turncheck.model.core.stimuli import Item, ModelStop, Reasoning, Text, ToolCall

from ...protocol.errors import excerpt
from .port import Answer, Failed

Reason: TypeAlias = Literal["end-turn", "tool-use", "length"]

DONE: Final = "[DONE]"
"""The data of the event after the last chunk."""
REASONS: Final[dict[str, Reason]] = {
    "stop": "end-turn",
    "content_filter": "end-turn",
    "tool_calls": "tool-use",
    "function_call": "tool-use",
    "length": "length",
}
"""``finish_reason`` → the machine's reason. Another one fails the request: nobody knows whether the turn is over."""
REFUSALS: Final = ("invalid_request_error", "authentication_error", "permission_error", "not_found_error")
"""Types of the error that a provider sends amid a stream in place of a status 4xx."""


class ProviderError(Exception):
    """The request failed; ``failed`` says how."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed: Final = failed


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    index: int
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta
    index: int = 0
    finish_reason: str | None = None


class _Error(msgspec.Struct):
    message: str | None = None
    type: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: dict[str, Any] | None = None
    error: _Error | str | None = None


_TEXTS: Final[dict[str, type[Text | Reasoning]]] = {
    "reasoning_content": Reasoning,
    "reasoning": Reasoning,
    "content": Text,
    "refusal": Text,
}
"""Field of a delta → the item that it is a piece of; the first two are those of other providers."""


class Reader:
    """Folds the chunks of one response. Of several choices the first one counts."""

    def __init__(self) -> None:
        self._items: dict[str | int, list[str]] = {}  # field of a text, or index of a call → its pieces
        self._named: dict[int, _Call] = {}
        self._finish: str | None = None
        self._usage: Any = None

    def take(self, data: str) -> None:
        """Take a chunk, as JSON. Raises ProviderError where it is none, or says that the model failed."""
        try:
            chunk = msgspec.json.decode(data, type=_Chunk)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ProviderError(
                Failed(retryable=False, message=f"the answer is no chat completion: {error}")
            ) from error
        if chunk.error is not None:
            raise ProviderError(_told(chunk.error))
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices:
            if choice.index == 0:
                self._finish = choice.finish_reason or self._finish
                self._add(choice.delta)

    def answer(self) -> Answer:
        """Return the whole answer. Raises ProviderError where the stream ended too early, or ended strangely."""
        if self._finish is None:
            raise ProviderError(Failed(retryable=True, message="the stream ended before the response did"))
        if self._finish not in REASONS:
            why = f"the model stopped for a reason that is not known: {excerpt(self._finish)}"
            raise ProviderError(Failed(retryable=False, message=why))
        items = tuple(self._item(key, "".join(pieces)) for key, pieces in self._items.items())
        return Answer(items, ModelStop(reason=REASONS[self._finish], usage=self._usage))

    def _add(self, delta: _Delta) -> None:
        for field in _TEXTS:
            if piece := getattr(delta, field):
                self._items.setdefault(field, []).append(piece)
        for call in delta.tool_calls or ():
            self._named.setdefault(call.index, call)
            arguments = call.function.arguments if call.function else None
            self._items.setdefault(call.index, []).append(arguments or "")

    def _item(self, key: str | int, whole: str) -> Item:
        if isinstance(key, str):
            return _TEXTS[key](text=whole)
        match self._named[key]:
            case _Call(id=str(name), function=_Function(name=str(tool))):
                return ToolCall(call_id=name, tool=tool, arguments=whole)
            case _:
                why = f"call {key} of the response lacks its id or its tool's name"
                raise ProviderError(Failed(retryable=False, message=why))


def _told(error: _Error | str) -> Failed:
    if isinstance(error, str):
        return Failed(retryable=True, message=f"the model failed amid its response: {excerpt(error)}")
    said = excerpt(error.message or error.type or "no reason given")
    return Failed(error.type not in REFUSALS, f"the model failed amid its response: {said}")
