"""ACP, the Agent Client Protocol (version 1): the JSON-RPC messages between a client and an agent, one per line.

A prompt is a run: the request is its root, the answer its terminal. Texts come in chunks; a call's result is the first
update with a final status. What is replayed while a session is loaded means nothing. A recorder may have wrapped each
message in an object with the field ``message``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from msgspec import structs

from turncheck.model.core.events import (
    AgentOutput,
    Event,
    Malformed,
    Native,
    OutputKind,
    RunStop,
    StopReason,
    ToolResult,
    UserMessage,
)

from .fields import MisfitError, Object, maybe_text, no_event, record, text, user_message
from .items import NATIVE, Items
from .mapping import Format, Mapped

_REASONS: Final[Mapping[str, StopReason]] = {"cancelled": "interrupted"}
"""``stopReason`` → stop reason; all others (end_turn, max_tokens, max_turn_requests, refusal) complete the run."""
_CHUNKS: Final[Mapping[str, OutputKind]] = {"agent_message_chunk": "assistant", "agent_thought_chunk": "reasoning"}
_FINAL: Final = {"completed", "failed"}


class _Session:
    def __init__(self) -> None:
        self.running = self.over = self.loading = False
        self.calls: set[str] = set()
        self.answered: set[str] = set()


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The builder of a text."""

    kind: OutputKind
    session: str

    def __call__(self, said: str) -> Event:
        if not said:
            return Native(session_id=self.session)
        return AgentOutput(kind=self.kind, text=said, session_id=self.session)


class AcpMapper:
    """Maps the messages of both sides."""

    def __init__(self) -> None:
        self._items = Items()
        self._sessions: dict[str, _Session] = {}
        self._prompts: dict[object, str] = {}  # the client's requests that wait for their answers → their sessions
        self._loads: dict[object, str] = {}
        self._asked: set[object] = set()  # the agent's requests

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the message at position *at*."""
        if not isinstance(value, dict):
            self._items.put(at, no_event(value))
            return self._items.release()
        message = _unwrapped(cast("Object", value))
        try:
            if isinstance(message.get("method"), str):
                self._method(at, text(message, "method"), message)
            else:
                self._answer(at, message)
        except MisfitError as misfit:
            self._items.put(at, Malformed(str(misfit)))
        if self._items.last != at:
            self._items.put(at, NATIVE)
        return self._items.release()

    def end(self) -> Iterator[Mapped]:
        """End the log: open texts end."""
        return self._items.drain()

    def _method(self, at: int, name: str, message: Object) -> None:
        match name:
            case "session/prompt":
                params = record(message, "params")
                session = text(params, "sessionId")
                said = user_message(params, "prompt")
                self._texts_end(session)
                self._put(at, session, said)
                state = self._sessions.setdefault(session, _Session())
                state.running, state.over = True, False
                state.calls.clear()
                state.answered.clear()
                self._prompts[_key(message)] = session
            case "session/load":
                session = text(record(message, "params"), "sessionId")
                self._sessions.setdefault(session, _Session()).loading = True
                self._loads[_key(message)] = session
            case "session/update":
                params = record(message, "params")
                self._update(at, text(params, "sessionId"), record(params, "update"))
            case "session/request_permission":
                self._asked.add(_key(message))
                params = record(message, "params")
                self._asks(at, text(params, "sessionId"), record(params, "toolCall"))
            case _:
                if "id" in message:
                    self._asked.add(_key(message))

    def _update(self, at: int, session: str, update: Object) -> None:
        state = self._sessions.setdefault(session, _Session())
        kind = text(update, "sessionUpdate")
        if state.loading:
            return
        if kind in _CHUNKS:
            content = record(update, "content")
            said = maybe_text(content, "text") if content.get("type") == "text" else None
            self._chunk(at, session, _CHUNKS[kind], said or "")
        elif kind == "tool_call":
            call = text(update, "toolCallId")
            self._texts_end(session)
            self._call(at, session, call, update)
            self._status(at, session, call, update)
        elif kind == "tool_call_update":
            self._status(at, session, text(update, "toolCallId"), update)

    def _chunk(self, at: int, session: str, kind: OutputKind, piece: str) -> None:
        other = (session, "reasoning" if kind == "assistant" else "assistant")
        self._items.finish(other)
        if (session, kind) not in self._items:
            self._root(at, session)
            self._items.begin((session, kind), _Chunks(kind, session))
        self._items.append((session, kind), at, piece)

    def _asks(self, at: int, session: str, call: Object) -> None:
        """Take a call that is asked about before it was told."""
        identity = text(call, "toolCallId")
        if identity not in self._sessions.setdefault(session, _Session()).calls:
            self._texts_end(session)
            self._call(at, session, identity, call)

    def _call(self, at: int, session: str, call: str, update: Object) -> None:
        self._root(at, session)
        tool = maybe_text(update, "kind") or "other"
        self._put(at, session, AgentOutput(kind="tool-call", call_id=call, tool=tool))
        self._sessions[session].calls.add(call)

    def _status(self, at: int, session: str, call: str, update: Object) -> None:
        """Put a result at the first final status of a call; later ones only tell more of it."""
        status, state = maybe_text(update, "status"), self._sessions[session]
        if status in _FINAL and call not in state.answered:
            state.answered.add(call)
            self._texts_end(session)
            self._put(at, session, ToolResult(call_id=call, is_error=status == "failed" or None))

    def _answer(self, at: int, message: Object) -> None:
        identity = _key(message)
        match message.get("result"):
            case {"stopReason": str(reason)} if identity in self._prompts:
                stop = RunStop(reason=_REASONS.get(reason, "completed"), detail=reason)
                self._stop(at, self._prompts.pop(identity), stop)
            case _ if identity in self._loads:
                self._sessions[self._loads.pop(identity)].loading = False
            case _ if "error" in message and identity in self._prompts and identity not in self._asked:
                why = maybe_text(record(message, "error"), "message")
                self._stop(at, self._prompts.pop(identity), RunStop(reason="error", detail=why))
            case _:
                self._asked.discard(identity)

    def _stop(self, at: int, session: str, stop: RunStop) -> None:
        self._texts_end(session)
        self._put(at, session, stop)
        state = self._sessions[session]
        state.running, state.over = False, True

    def _root(self, at: int, session: str) -> None:
        """Make up the root of a run whose prompt stands before the log's beginning."""
        state = self._sessions[session]
        if not state.running and not state.over:
            self._put(at, session, UserMessage(text="", source="adapter"))
            state.running = True

    def _texts_end(self, session: str) -> None:
        for kind in _CHUNKS.values():
            self._items.finish((session, kind))

    def _put(self, at: int, session: str, event: UserMessage | AgentOutput | ToolResult | RunStop) -> None:
        self._items.put(at, structs.replace(event, session_id=session))


def _key(message: Object) -> str:
    return repr(message.get("id"))


def _unwrapped(value: Object) -> Object:
    inner = value.get("message")
    if "jsonrpc" not in value and isinstance(inner, dict) and "jsonrpc" in inner:
        return cast("Object", inner)
    return value


def _recognises(value: Object) -> bool:
    message = _unwrapped(value)
    if message.get("jsonrpc") != "2.0":
        return False
    method, result = message.get("method"), message.get("result")
    if isinstance(method, str):
        return method.startswith("session/")
    return isinstance(result, dict) and not result.keys().isdisjoint({"stopReason", "agentCapabilities"})


ACP: Final = Format(
    name="acp",
    title="ACP transcript (JSON-RPC)",
    recognises=_recognises,
    mapper=AcpMapper,
    limits={"delivery": "no: a prompt amid another one waits for it"},
)
