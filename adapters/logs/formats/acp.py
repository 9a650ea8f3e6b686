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
FINAL: Final = {"completed", "failed"}


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
                told.append(structs.replace(user_message(params, "prompt"), session_id=session))
                self.prompt(session, _key(message))
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
                told += self._asks(text(params, "sessionId"), record(params, "toolCall"))
            case _:
                if "id" in message:
                    self._asked.add(_key(message))

    def prompt(self, session: str, request: str) -> None:
        """Take a prompt; *request* is the ``repr`` of its id, by which it will be answered."""
        state = self.session(session)
        state.saying, state.running, state.over = None, True, False
        state.calls.clear()
        state.answered.clear()
        self._prompts[request] = session

    def answer(self, request: str, reason: str) -> RunStop | None:
        """Return the end that the answer to a prompt is, None where no such prompt waits for one."""
        session = self._prompts.pop(request, None)
        return None if session is None else self._stop(session, _REASONS.get(reason, "completed"), reason)

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
            told += self.chunk(session, CHUNKS[kind], said)
        elif kind == "tool_call":
            told += self.call(session, text(update, "toolCallId"), maybe_text(update, "kind"))
            told += self.status(session, text(update, "toolCallId"), maybe_text(update, "status"))
        elif kind == "tool_call_update":
            told += self.status(session, text(update, "toolCallId"), maybe_text(update, "status"))

    def chunk(self, session: str, kind: OutputKind, piece: str | None) -> list[Event]:
        """Take a piece of a text."""
        state = self.session(session)
        told: list[Event] = []
        if state.saying != kind:
            state.saying, state.said = kind, False
            told = self._root(session, state)
        if piece and not state.said:
            state.said = True
            told.append(AgentOutput(kind, piece, session_id=session))
        return told

    def _asks(self, session: str, call: Object) -> list[Event]:
        """Take a call that is asked about before it was told."""
        identity = text(call, "toolCallId")
        if identity in self.session(session).calls:
            return []
        return self.call(session, identity, maybe_text(call, "kind"))

    def call(self, session: str, call: str, tool: str | None) -> list[Event]:
        """Take a call."""
        state = self.session(session)
        state.saying = None
        state.calls.add(call)
        made = AgentOutput("tool-call", None, call, tool or "other", session_id=session)
        return [made] if state.running else [*self._root(session, state), made]

    def status(self, session: str, call: str, status: str | None) -> list[Event]:
        """Put a result at the first final status of a call; later ones only tell more of it."""
        if status not in FINAL:
            return []
        state = self.session(session)
        if call in state.answered:
            return []
        state.answered.add(call)
        state.saying = None
        return [ToolResult(call, status == "failed" or None, session_id=session)]

    def _answer(self, told: list[Event], message: Object) -> None:
        identity = _key(message)
        match message.get("result"):
            case {"stopReason": str(reason)} if (stop := self.answer(identity, reason)) is not None:
                told.append(stop)
            case _ if identity in self._loads:
                self.session(self._loads.pop(identity)).loading = False
            case _ if "error" in message and identity in self._prompts and identity not in self._asked:
                why = maybe_text(record(message, "error"), "message")
                told.append(self._stop(self._prompts.pop(identity), "error", why))
            case _:
                self._asked.discard(identity)

    def _stop(self, session: str, reason: StopReason, detail: str | None) -> RunStop:
        state = self.session(session)
        state.saying, state.running, state.over = None, False, True
        return RunStop(reason, detail, session_id=session)

    def _root(self, session: str, state: Session) -> list[Event]:
        """Make up the root of a run whose prompt stands before the log's beginning."""
        if state.running or state.over:
            return []
        state.running = True
        return [UserMessage("", session_id=session, source="adapter")]


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
