"""Codex's lines: rollout files, and ``exec --json``. A field typed as null is one that the mapper alone knows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET, Struct, UnsetType, json

from turncheck.model.core.events import AgentOutput, Event, OutputKind, RunStop, ToolResult, UserMessage

from ...formats.codex import CALLS, ENDS, FAILED, OUTPUTS, STARTS, TOOLS, CodexExecMapper, CodexMapper
from ...formats.transcript import ROOT
from .parts import Part, made
from .reading import Feed, Heard, LineLoop, Take, one_by_one

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
            return conversation.item(AgentOutput("tool-call", None, payload.call_id, tool, response))
        if kind in OUTPUTS:
            return None if payload.call_id is None else conversation.result(ToolResult(payload.call_id))
        if kind == "reasoning":
            return _thought(payload)
        if kind == "message" and payload.role == "assistant":
            return _said(payload)
        return None if kind is None else _SILENT

    def _said(payload: _Payload) -> _Told:
        if not isinstance(payload.content, list):
            return None
        return made(payload.content, conversation)

    def _thought(payload: _Payload) -> _Told:
        if payload.role is not UNSET:
            return None
        summary = payload.summary if isinstance(payload.summary, list) else ()
        thought = "\n".join(part.text for part in summary if part.text)
        response = conversation.response()
        if not thought:
            return conversation.output(())
        return conversation.item(AgentOutput("reasoning", thought, None, None, response))

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


def _exec(mapper: CodexExecMapper) -> Feed:
    conversation, called = mapper.conversation, mapper.called
    calls = conversation.calls

    def feed(lines: Iterable[_ExecLine | None], first: int, heard: Heard) -> None:
        hear, place = heard.events.append, heard.ats.append
        for at, line in enumerate(lines, first):
            if line is None:
                heard.leave(at)
                continue
            name, item = line.type, line.item
            if item is None:
                if name == "turn.started":
                    mapper.begin()
                    if not conversation.running:
                        conversation.running = True
                        hear(ROOT)
                        place(at)
                elif name == "turn.completed" and conversation.running:
                    conversation.close()
                    hear(RunStop("completed"))
                    place(at)
                elif name in _KNOWN:
                    heard.leave(at)
                continue
            kind, own = item.type, item.id
            if name == "item.completed":
                if kind in TOOLS:
                    result = ToolResult(own, item.status in FAILED or None)
                    if own not in called:
                        heard.add(at, [*_begun(mapper, own, kind), result])
                    else:
                        hear(result)
                        place(at)
                    calls.pop(own, None)
                    conversation.answered, conversation.given = False, True
                elif (said := _TEXTS.get(kind)) is not None:
                    text = item.text
                    if text and conversation.running:
                        response = conversation.response() if conversation.given else conversation.response_id
                        conversation.answered = not calls
                        hear(AgentOutput(said, text, None, None, response))
                        place(at)
                    else:
                        heard.leave(at)
            elif name == "item.started":
                if kind in TOOLS and own not in called:
                    if conversation.running:
                        called.add(own)
                        calls[own] = None
                        response = conversation.response() if conversation.given else conversation.response_id
                        conversation.answered = False
                        hear(AgentOutput("tool-call", None, own, kind, response))
                        place(at)
                    else:
                        heard.add(at, _begun(mapper, own, kind))
            elif name in _KNOWN:
                heard.leave(at)

    return feed


def _begun(mapper: CodexExecMapper, own: str, kind: str) -> Sequence[Event]:
    """Take a call where no run is open, or one that only its end tells."""
    mapper.called.add(own)
    conversation = mapper.conversation
    return conversation.item(AgentOutput("tool-call", None, own, kind, conversation.response()))


_TEXTS: Final[Mapping[str, OutputKind]] = {"agent_message": "assistant", "reasoning": "reasoning"}
ROLLOUT: Final = LineLoop(json.Decoder(_RolloutLine).decode, one_by_one(_rollout))
_KNOWN: Final = frozenset(("turn.started", "turn.completed", "item.started", "item.completed", *_RARE))
"""Types of lines that mean something: those that are not as usual are left to the mapper."""
EXEC: Final = LineLoop(json.Decoder(_ExecLine).decode, _exec)
