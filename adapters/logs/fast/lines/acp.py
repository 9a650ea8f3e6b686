"""Lines of ACP transcripts: the updates of sessions; requests and answers are the mapper's."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType, json

from turncheck.model.core.events import Event

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
    update: _Update


class _Line(Struct, gc=False):
    jsonrpc: str
    method: str
    params: _Params


class _Wrapped(Struct, gc=False):
    message: _Line
    jsonrpc: UnsetType = UNSET


def _takes(mapper: AcpMapper) -> Take:
    def take(line: _Line | _Wrapped) -> Sequence[Event] | None:
        if isinstance(line, _Wrapped):
            line = line.message
        if line.method != "session/update":
            return None
        session, update = line.params.sessionId, line.params.update
        name = update.sessionUpdate
        kind = CHUNKS.get(name)
        state = mapper.session(session)
        if state.loading:
            return ()
        told: list[Event] = []
        if kind is not None:
            part = update.content
            if not isinstance(part, _Part):
                return None
            if kind == state.saying and state.said:
                return told
            said = part.text if part.type == "text" else None
            mapper.chunk(told, session, kind, said or "")
        elif name in ("tool_call", "tool_call_update"):
            call = update.toolCallId
            if call is None:
                return None
            if name == "tool_call":
                mapper.call(told, session, call, update.kind)
            mapper.status(told, session, call, update.status)
        return told

    return take


UPDATES: Final = LineLoop(json.Decoder(_Line).decode, _takes, again=json.Decoder(_Wrapped).decode)
