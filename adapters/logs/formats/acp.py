"""ACP, the Agent Client Protocol (version 1): the JSON-RPC messages between a client and an agent, one per line.

A prompt is a run: the request is its root, the answer its terminal. Texts come in chunks, and stand where the first
one does; a call's result is the first update with a final status. What is replayed while a session is loaded means
nothing. A recorder may have wrapped each message in an object with the field ``message``.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from msgspec import structs

from turncheck.model.core.events import (
    AgentOutput,
    Event,
    Malformed,
    OutputKind,
    RunStop,
    StopReason,
    ToolResult,
    UserMessage,
)

from .fields import MisfitError, Object, maybe_text, record, text, user_message
from .lines import LineMapper
from .mapping import Format

_REASONS: Final[Mapping[str, StopReason]] = {"cancelled": "interrupted"}
"""``stopReason`` → stop reason; all others (end_turn, max_tokens, max_turn_requests, refusal) complete the run."""
CHUNKS: Final[Mapping[str, OutputKind]] = {"agent_message_chunk": "assistant", "agent_thought_chunk": "reasoning"}
_FINAL: Final = {"completed", "failed"}


class Session:
    """The state of a session."""

    def __init__(self) -> None:
        self.running = self.over = self.loading = False
        self.calls: set[str] = set()
        self.answered: set[str] = set()
        self.saying: OutputKind | None = None  # the kind of the text that is open
        self.said = False  # it has its event: it had a piece that is not empty


class AcpMapper(LineMapper):
    """Maps the messages of both sides. Of a text its first piece is kept."""

    def __init__(self) -> None:
        super().__init__()
        self._sessions: dict[str, Session] = {}
        self._prompts: dict[str, str] = {}  # the client's requests that wait for their answers → their sessions
        self._loads: dict[object, str] = {}
        self._asked: set[object] = set()  # the agent's requests

    def judged(self, value: Object) -> Sequence[Event]:
        """Return the events of a message; where it is malformed in part, that is the last one."""
        message = _unwrapped(value)
        told: list[Event] = []
        try:
            if isinstance(message.get("method"), str):
                self._method(told, text(message, "method"), message)
            else:
                self._answer(told, message)
        except MisfitError as misfit:
            told.append(Malformed(str(misfit)))
        return told

    def _method(self, told: list[Event], name: str, message: Object) -> None:
        match name:
            case "session/prompt":
                params = record(message, "params")
                session = text(params, "sessionId")
                self.prompt(told, session, user_message(params, "prompt"), _key(message))
            case "session/load":
                session = text(record(message, "params"), "sessionId")
                self.session(session).loading = True
                self._loads[_key(message)] = session
            case "session/update":
                params = record(message, "params")
                self._update(told, text(params, "sessionId"), record(params, "update"))
            case "session/request_permission":
                self._asked.add(_key(message))
                params = record(message, "params")
                self._asks(told, text(params, "sessionId"), record(params, "toolCall"))
            case _:
                if "id" in message:
                    self._asked.add(_key(message))

    def prompt(self, told: list[Event], session: str, said: UserMessage, request: str) -> None:
        """Take a prompt; *request* is the ``repr`` of its id, by which it will be answered."""
        told.append(structs.replace(said, session_id=session))
        state = self.session(session)
        state.saying, state.running, state.over = None, True, False
        state.calls.clear()
        state.answered.clear()
        self._prompts[request] = session

    def answer(self, told: list[Event], request: str, reason: str) -> bool:
        """Take the answer to a prompt; return whether such a prompt waits for one."""
        session = self._prompts.pop(request, None)
        if session is not None:
            self._stop(told, session, RunStop(reason=_REASONS.get(reason, "completed"), detail=reason))
        return session is not None

    def session(self, session: str) -> Session:
        """Return the state of a session, which begins where it is first named."""
        found = self._sessions.get(session)
        if found is None:
            found = self._sessions[session] = Session()
        return found

    def _update(self, told: list[Event], session: str, update: Object) -> None:
        state = self.session(session)
        kind = text(update, "sessionUpdate")
        if state.loading:
            return
        if kind in CHUNKS:
            content = record(update, "content")
            said = maybe_text(content, "text") if content.get("type") == "text" else None
            self.chunk(told, session, CHUNKS[kind], said or "")
        elif kind == "tool_call":
            self.call(told, session, text(update, "toolCallId"), maybe_text(update, "kind"))
            self.status(told, session, text(update, "toolCallId"), maybe_text(update, "status"))
        elif kind == "tool_call_update":
            self.status(told, session, text(update, "toolCallId"), maybe_text(update, "status"))

    def chunk(self, told: list[Event], session: str, kind: OutputKind, piece: str) -> None:
        """Take a piece of a text."""
        state = self.session(session)
        if state.saying != kind:
            state.saying, state.said = kind, False
            self._root(told, session)
        if piece and not state.said:
            state.said = True
            told.append(AgentOutput(kind=kind, text=piece, session_id=session))

    def _asks(self, told: list[Event], session: str, call: Object) -> None:
        """Take a call that is asked about before it was told."""
        identity = text(call, "toolCallId")
        if identity not in self.session(session).calls:
            self.call(told, session, identity, maybe_text(call, "kind"))

    def call(self, told: list[Event], session: str, call: str, tool: str | None) -> None:
        """Take a call."""
        state = self.session(session)
        state.saying = None
        self._root(told, session)
        told.append(AgentOutput(kind="tool-call", call_id=call, tool=tool or "other", session_id=session))
        state.calls.add(call)

    def status(self, told: list[Event], session: str, call: str, status: str | None) -> None:
        """Put a result at the first final status of a call; later ones only tell more of it."""
        state = self.session(session)
        if status in _FINAL and call not in state.answered:
            state.answered.add(call)
            state.saying = None
            told.append(ToolResult(call_id=call, is_error=status == "failed" or None, session_id=session))

    def _answer(self, told: list[Event], message: Object) -> None:
        identity = _key(message)
        match message.get("result"):
            case {"stopReason": str(reason)} if self.answer(told, identity, reason):
                pass
            case _ if identity in self._loads:
                self.session(self._loads.pop(identity)).loading = False
            case _ if "error" in message and identity in self._prompts and identity not in self._asked:
                why = maybe_text(record(message, "error"), "message")
                self._stop(told, self._prompts.pop(identity), RunStop(reason="error", detail=why))
            case _:
                self._asked.discard(identity)

    def _stop(self, told: list[Event], session: str, stop: RunStop) -> None:
        told.append(structs.replace(stop, session_id=session))
        state = self.session(session)
        state.saying, state.running, state.over = None, False, True

    def _root(self, told: list[Event], session: str) -> None:
        """Make up the root of a run whose prompt stands before the log's beginning."""
        state = self.session(session)
        if not state.running and not state.over:
            told.append(UserMessage(text="", session_id=session, source="adapter"))
            state.running = True


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
