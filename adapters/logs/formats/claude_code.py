"""Claude Code: the session files that it keeps, and ``--output-format stream-json``.

Both hold messages of Anthropic's kind, one content block a line. A sub-agent's lines (``isSidechain``,
``parent_tool_use_id``) are a session of their own. What the program says in the user's name (``isMeta``, summaries,
output of local commands) means nothing to the core. A session file has no terminals but interruptions and errors of
the model; in the stream ``result`` is the terminal.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, cast

from msgspec import structs

from turncheck.model.core.events import Event, Fault, Native, RunStop, StopReason

from .fields import MisfitError, Object, maybe_flag, maybe_text, record, text, user_message
from .lines import LineMapper
from .mapping import Aspect, Format
from .transcript import Conversation

_INTERRUPTED: Final = "[Request interrupted by user"
_LOCAL: Final = ("<local-command-", "<command-name>", "<command-message>", "<bash-input>", "<bash-stdout>")
"""Beginnings of the user's messages that only the program sees: commands that it runs itself, and their output."""
SYNTHETIC: Final = "<synthetic>"
"""The model of messages that the program makes itself."""
KEPT_IDS: Final = 1 << 16
"""Lines within which a repeated one is known again, or half as many: 11 MB."""
_UNSAID: Final = ("isMeta", "isSynthetic", "isCompactSummary", "isVisibleInTranscriptOnly")


class _Mapper(LineMapper):
    """The mapper that both files share: messages of several conversations, the main one and its sub-agents'."""

    def __init__(self) -> None:
        super().__init__()
        self._conversations: dict[str | None, Conversation] = {None: Conversation()}

    def conversation(self, session: str | None) -> Conversation:
        """Return the conversation of a session; a sub-agent's begins with its first line."""
        found = self._conversations.get(session)
        if found is None:
            found = self._conversations[session] = Conversation()
        return found

    def line(self, value: Object) -> Sequence[Event]:
        """Return the events of a line, each in the session of its conversation. Raises MisfitError."""
        name, session = _type(value), self._session(value)
        events = self._line(name, value, self.conversation(session))
        return events if session is None else [structs.replace(event, session_id=session) for event in events]

    def silent(self, value: Object) -> Event:
        """Return the event of a line that means nothing, in its session."""
        return Native(session_id=self._session(value))

    def ending(self) -> Iterator[Event]:
        """End the runs that only wait for their inferred end."""
        for session, conversation in self._conversations.items():
            for event in conversation.end():
                yield structs.replace(event, session_id=session)

    def _session(self, value: Object) -> str | None:
        raise NotImplementedError

    def _line(self, name: str, value: Object, conversation: Conversation) -> Sequence[Event]:
        raise NotImplementedError


def _type(value: Object) -> str:
    name = value.get("type")
    if isinstance(name, str):
        return name
    raise MisfitError("type is no string")


class ClaudeCodeMapper(_Mapper):
    """Maps the lines of a session file."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, None] = {}
        """The ids of the latest lines: a session that was resumed may repeat lines."""

    def see(self, identity: str) -> None:
        """Remember a line; of too many the older half is forgotten."""
        self.seen[identity] = None
        if len(self.seen) > KEPT_IDS:
            for old in [*islice(self.seen, KEPT_IDS // 2)]:
                del self.seen[old]

    def _session(self, value: Object) -> str | None:
        if not value.get("isSidechain"):
            return None
        agent = value.get("agentId")
        return agent if isinstance(agent, str) else "sub-agent"

    def _line(self, name: str, value: Object, conversation: Conversation) -> Sequence[Event]:
        match name:
            case "user" | "assistant":
                identity = value.get("uuid")
                if isinstance(identity, str):
                    if identity in self.seen:
                        return []
                    self.see(identity)
                return _user(value, conversation) if name == "user" else _assistant(value, conversation)
            case "attachment":
                return _queued(value, conversation)
            case "system" if value.get("subtype") == "api_error":
                return [Fault()]
            case _:
                return []


class ClaudeStreamMapper(_Mapper):
    """Maps the lines of ``stream-json``."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = False
        """True while the program has begun a run that has no message yet."""

    def _session(self, value: Object) -> str | None:
        agent = value.get("parent_tool_use_id")
        return agent if isinstance(agent, str) else None

    def _line(self, name: str, value: Object, conversation: Conversation) -> Sequence[Event]:
        match name:
            case "user":
                if _is_interruption(record(value, "message")):
                    return []  # ``result`` follows
                return _user(value, conversation)
            case "assistant":
                return [] if value.get("error") else _assistant(value, conversation)
            case "system" if value.get("subtype") == "init":
                self.begun = True
                return []
            case "result":
                return self._result(value, conversation)
            case _:
                return []

    def _result(self, value: Object, conversation: Conversation) -> Sequence[Event]:
        subtype, ended = text(value, "subtype"), maybe_text(value, "terminal_reason")
        return self.result(subtype, ended, conversation, failed=bool(maybe_flag(value, "is_error")))

    def result(self, subtype: str, ended: str | None, conversation: Conversation, *, failed: bool) -> Sequence[Event]:
        """End the run, says the program."""
        reason: StopReason = "completed"
        if ended is not None and ended.startswith("aborted"):
            reason = "interrupted"
        elif subtype != "success" or failed:
            reason = "error"
        root = conversation.root() if self.begun else []  # where it ended before it said anything
        self.begun = False
        stop = conversation.stop(reason, ended or subtype, inferred=False)
        return [*root, *(stop or [RunStop(reason=reason, detail=ended or subtype)])]


def _user(value: Object, conversation: Conversation) -> Sequence[Event]:
    message = record(value, "message")
    if _is_interruption(message):
        return conversation.stop("interrupted", inferred=False)
    if any(value.get(field) for field in _UNSAID) or _beginning(message).startswith(_LOCAL):
        return []
    return conversation.take({**message, "role": "user"})


def _assistant(value: Object, conversation: Conversation) -> Sequence[Event]:
    message = record(value, "message")
    if maybe_flag(value, "isApiErrorMessage"):
        return conversation.stop("error", _beginning(message) or None, inferred=False)
    if message.get("model") == SYNTHETIC:
        return []
    return conversation.take({**message, "role": "assistant", "type": "message"})


def _queued(value: Object, conversation: Conversation) -> Sequence[Event]:
    """A message of the user that was queued while the agent worked, where the model receives it: a steer."""
    attachment = record(value, "attachment")
    if attachment.get("type") != "queued_command" or not conversation.running:
        return []
    return [user_message({"role": "user", "content": attachment.get("prompt")}, "content", delivery="steer")]


def _is_interruption(message: Object) -> bool:
    return _beginning(message).startswith(_INTERRUPTED)


def _beginning(message: Object) -> str:
    """The text of a message, or of its first part."""
    match cast("str | list[object] | None", message.get("content")):
        case str(said):
            return said
        case [{"type": "text", "text": str(said)}, *_]:
            return said
        case _:
            return ""


_KEPT_TYPES: Final = {"queue-operation", "file-history-snapshot", "last-prompt", "cost-state", "attachment", "system"}


def _recognises_session(value: Object) -> bool:
    match value:
        case {"session_id": _}:  # the stream's lines have that
            return False
        case {"type": "user" | "assistant", "message": {"role": str()}}:
            return "uuid" in value or value.keys() >= {"sessionId", "isSidechain"}
        case {"type": "summary", "summary": str(), "leafUuid": str()}:
            return True
        case {"type": str(name)} if name in _KEPT_TYPES:
            return "sessionId" in value or "snapshot" in value
        case _:
            return False


def _recognises_stream(value: Object) -> bool:
    match value:
        case {"type": "assistant" | "user", "message": dict(), "session_id": str()}:
            return "parent_tool_use_id" in value
        case {"type": "system" | "result" | "stream_event", "session_id": str()}:
            return True
        case _:
            return False


_LIMITS: Final[Mapping[Aspect, str]] = {"sessions": "the conversation, and one per sub-agent"}

CLAUDE_CODE: Final = Format(
    name="claude-code",
    title="Claude Code session file",
    recognises=_recognises_session,
    mapper=ClaudeCodeMapper,
    limits={
        **_LIMITS,
        "delivery": "a message that was queued is a steer",
        "stops": "interruptions and errors of the model; all else is inferred",
    },
)
CLAUDE_STREAM: Final = Format(
    name="claude-code-stream",
    title="Claude Code stream-json",
    recognises=_recognises_stream,
    mapper=ClaudeStreamMapper,
    family="claude-code",
    limits={
        **_LIMITS,
        "messages": "only with --replay-user-messages; else a run's first output is the root",
        "delivery": "a message amid a run is a steer",
    },
)
