"""Codex's lines: rollout files, and ``exec --json``. A field typed as null is one that the mapper alone knows."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType, json

from turncheck.model.core.events import AgentOutput, Event, OutputKind, ToolResult, UserMessage

from ...formats.codex import CALLS, ENDS, FAILED, OUTPUTS, STARTS, TOOLS, CodexExecMapper, CodexMapper
from .parts import Part, outputs
from .reading import LineLoop, Take

_SILENT: Final = ()
_RARE: Final = frozenset((None, "turn_aborted", "turn.failed", "error", "stream_error"))
_TOLD: Final = frozenset(("item_completed", "user_message", *STARTS, *ENDS, *_RARE))
"""Types of events that mean something."""
_Told: TypeAlias = Sequence[Event] | None


class _UserItem(Struct, gc=False):
    type: str | None = None
    content: list[Part] | None = None


class _Payload(Struct, gc=False):
    type: str | None = None
    role: str | UnsetType = UNSET
    content: str | list[Part] | None = None
    name: str | None = None
    call_id: str | None = None
    summary: str | list[Part] | None = None
    item: _UserItem | None = None
    message: str | None = None
    error: None = None
    tool_calls: None = None


class _RolloutLine(Struct, gc=False):
    type: str
    payload: _Payload | None = None


def _rollout(mapper: CodexMapper) -> Take:
    conversation = mapper.conversation

    def item(payload: _Payload) -> _Told:
        kind = payload.type
        if kind in CALLS:
            tool = "local_shell" if kind == "local_shell_call" else payload.name
            if tool is None or payload.call_id is None:
                return None
            response = conversation.response()
            return conversation.output([AgentOutput("tool-call", None, payload.call_id, tool, response)])
        if kind in OUTPUTS:
            return None if payload.call_id is None else conversation.results([ToolResult(payload.call_id)])
        if kind == "reasoning":
            return _thought(payload)
        if kind == "message" and payload.role == "assistant":
            return _said(payload)
        return None if kind is None else _SILENT

    def _said(payload: _Payload) -> _Told:
        if not isinstance(payload.content, list):
            return None
        made = outputs(payload.content, conversation.response())
        return None if made is None else conversation.output(made)

    def _thought(payload: _Payload) -> _Told:
        if payload.role is not UNSET:
            return None
        summary = payload.summary if isinstance(payload.summary, list) else ()
        thought = "\n".join(part.text for part in summary if part.text)
        response = conversation.response()
        made = [AgentOutput("reasoning", thought, None, None, response)] if thought else ()
        return conversation.output(made)

    def event(payload: _Payload) -> _Told:
        kind = payload.type
        if kind not in _TOLD:
            return _SILENT
        if kind == "item_completed":
            if payload.item is None:
                return None
            return _user(payload.item) if payload.item.type == "UserMessage" else _SILENT
        if kind in STARTS:
            conversation.begin()
            return _SILENT
        if kind in ENDS:
            return mapper.stop("completed")
        if kind == "user_message" and not mapper.newer:
            return None if payload.message is None else conversation.said(UserMessage(text=payload.message))
        return _SILENT if kind == "user_message" else None

    def _user(item: _UserItem) -> _Told:
        match item.content:
            case [Part(type="text", text=str(text))]:
                mapper.newer = True
                return conversation.said(UserMessage(text=text))
            case _:
                return None

    def take(line: _RolloutLine) -> _Told:
        payload = line.payload
        if line.type == "response_item":
            return None if payload is None else item(payload)
        if line.type == "event_msg":
            return None if payload is None else event(payload)
        return _SILENT

    return take


class _ExecItem(Struct, gc=False):
    type: str
    id: str
    text: str | None = None
    status: str | None = None


class _ExecLine(Struct, gc=False):
    type: str
    item: _ExecItem | None = None


def _exec(mapper: CodexExecMapper) -> Take:
    conversation, called = mapper.conversation, mapper.called

    def take(line: _ExecLine) -> _Told:
        name, item = line.type, line.item
        if name in ("item.started", "item.completed"):
            if item is None:
                return None
            completed = name == "item.completed"
            kind = item.type
            if kind in TOOLS:
                made: Sequence[Event] = _SILENT
                if item.id not in called:
                    called.add(item.id)
                    call = AgentOutput("tool-call", None, item.id, kind, conversation.response())
                    made = conversation.output([call])
                if not completed:
                    return made
                found = conversation.results([ToolResult(item.id, item.status in FAILED or None)])
                return [*made, *found] if made else found
            if not completed:
                return _SILENT
            if kind in _TEXTS:
                if item.text is None:
                    return None
                said = AgentOutput(_TEXTS[kind], item.text, None, None, conversation.response())
                return conversation.output([said] if item.text else [])
            return _SILENT
        if name == "turn.started":
            return mapper.start()
        if name == "turn.completed":
            return mapper.stop("completed")
        return None if name in _RARE else _SILENT

    return take


_TEXTS: Final[Mapping[str, OutputKind]] = {"agent_message": "assistant", "reasoning": "reasoning"}
ROLLOUT: Final = LineLoop(json.Decoder(_RolloutLine).decode, _rollout)
EXEC: Final = LineLoop(json.Decoder(_ExecLine).decode, _exec)
