"""Lines of ACP transcripts: prompts with their answers, and the updates of sessions; all others are the mapper's."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, json

from turncheck.model.core.events import Event, UserMessage

from ...formats.acp import CHUNKS, AcpMapper
from .reading import LineLoop, Take


class _Part(Struct, gc=False):
    type: str | None = None
    text: str | None = None


class _Object(Struct):
    pass


class _Update(Struct, gc=False):
    sessionUpdate: str  # noqa: N815
    content: _Part | tuple[_Object, ...] | None = None
    toolCallId: str | None = None  # noqa: N815
    status: str | None = None
    kind: str | None = None


class _Params(Struct, gc=False):
    sessionId: str  # noqa: N815
    update: _Update | None = None
    prompt: str | list[Raw] | None = None
    id: None = None


class _Result(Struct, gc=False):
    stopReason: str  # noqa: N815


class _Line(Struct, gc=False):
    jsonrpc: str
    method: str | None = None
    params: _Params | None = None
    id: int | float | str | None = None
    result: _Result | None = None
    error: None = None


class _Wrapped(Struct, gc=False):
    message: _Line
    jsonrpc: UnsetType = UNSET


def _takes(mapper: AcpMapper) -> Take:
    def take(line: _Line | _Wrapped) -> Sequence[Event] | None:
        if isinstance(line, _Wrapped):
            line = line.message
        params = line.params
        if line.method == "session/update":
            return None if params is None or params.update is None else update(params.sessionId, params.update)
        told: list[Event] = []
        if isinstance(line.id, float):
            return None
        if line.method is None:
            return (
                told if line.result is not None and mapper.answer(told, repr(line.id), line.result.stopReason) else None
            )
        if line.method != "session/prompt" or params is None or params.prompt is None:
            return None
        said = params.prompt
        message = UserMessage(text=said) if isinstance(said, str) else UserMessage(content=said)
        mapper.prompt(told, params.sessionId, message, repr(line.id))
        return told

    def update(session: str, given: _Update) -> Sequence[Event] | None:
        state = mapper.session(session)
        if state.loading:
            return ()
        name = given.sessionUpdate
        kind = CHUNKS.get(name)
        told: list[Event] = []
        if kind is not None:
            part = given.content
            if not isinstance(part, _Part):
                return None
            if kind == state.saying and state.said:
                return ()
            said = part.text if part.type == "text" else None
            mapper.chunk(told, session, kind, said or "")
        elif name in ("tool_call", "tool_call_update"):
            call = given.toolCallId
            if call is None:
                return None
            if name == "tool_call":
                mapper.call(told, session, call, given.kind)
            mapper.status(told, session, call, given.status)
        return told

    return take


UPDATES: Final = LineLoop(json.Decoder(_Line).decode, _takes, again=json.Decoder(_Wrapped).decode)
