"""Codex: the rollout files that it keeps, and ``codex exec --json``.

In a rollout an item stands once as the model's (``response_item``) and often once more for a UI (``event_msg``): of the
former come outputs, calls and results, of the latter the user's messages and the turns' ends, which older versions do
not write. ``exec --json`` shows no message of the user, and only tools that ran.
"""

from typing import Final

from turncheck.model.core.events import Event, Fault, RunStop, StopReason, ToolResult

from .fields import Object, maybe_text, record, records, text
from .lines import LineMapper
from .mapping import Format
from .transcript import Conversation

_CALLS: Final = {"function_call", "custom_tool_call", "local_shell_call"}
_OUTPUTS: Final = {"function_call_output", "custom_tool_call_output"}
_TOOLS: Final = {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}
"""Types of the items of ``exec --json`` that are calls of tools."""
_FAILED: Final = {"failed", "declined"}


class _Mapper(LineMapper):
    """What both files share: one conversation, in which the log says how turns begin and end."""

    def __init__(self) -> None:
        super().__init__()
        self._conversation = Conversation()

    def line(self, value: Object) -> list[Event]:
        """Return the events of a line. Raises MisfitError."""
        return self._line(text(value, "type"), value)

    def ending(self) -> list[Event]:
        """Where the log never says how a turn ends, the last one is over behind an answer."""
        return self._conversation.end()

    def _line(self, name: str, value: Object) -> list[Event]:
        raise NotImplementedError

    def _stop(self, reason: StopReason, detail: str | None = None) -> list[Event]:
        root = self._conversation.root()  # a turn may end before it made anything
        stop = self._conversation.stop(reason, detail, inferred=False)
        return [*root, *(stop or [RunStop(reason=reason, detail=detail)])]


class CodexMapper(_Mapper):
    """Maps the lines of a rollout."""

    def __init__(self) -> None:
        super().__init__()
        self._newer = False  # the user's messages come as ``item_completed``

    def _line(self, name: str, value: Object) -> list[Event]:
        match name:
            case "response_item":
                return self._item(record(value, "payload"))
            case "event_msg":
                return self._event(record(value, "payload"))
            case _:
                return []

    def _item(self, item: Object) -> list[Event]:
        kind = text(item, "type")
        if kind in _CALLS:
            tool = "local_shell" if kind == "local_shell_call" else text(item, "name")
            return self._conversation.take({"type": "function_call", "call_id": text(item, "call_id"), "name": tool})
        if kind in _OUTPUTS:
            return self._conversation.take({"type": "function_call_output", "call_id": text(item, "call_id")})
        if kind == "reasoning" or (kind == "message" and item.get("role") == "assistant"):
            return self._conversation.take(item)
        return []

    def _event(self, event: Object) -> list[Event]:
        match text(event, "type"):
            case "task_started" | "turn_started":
                self._conversation.begin()
                return []
            case "item_completed":
                return self._completed(record(event, "item"))
            case "user_message" if not self._newer:
                return self._conversation.take({"role": "user", "content": text(event, "message")})
            case "task_complete" | "turn_complete":
                error = event.get("error")
                return self._stop("completed" if error is None else "error", _why(error))
            case "turn_aborted":
                reason = maybe_text(event, "reason")
                return self._stop("completed" if reason == "review_ended" else "interrupted", reason)
            case "error" | "stream_error":
                return [Fault()]
            case _:
                return []

    def _completed(self, item: Object) -> list[Event]:
        if item.get("type") != "UserMessage":
            return []
        self._newer = True
        said = [part for part in records(item, "content") if part.get("type") == "text"]
        content: object = text(said[0], "text") if len(said) == 1 else records(item, "content")
        return self._conversation.take({"role": "user", "content": content})


class CodexExecMapper(_Mapper):
    """Maps the lines of ``codex exec --json``."""

    def __init__(self) -> None:
        super().__init__()
        self._called: set[str] = set()  # items of this turn that have started

    def _line(self, name: str, value: Object) -> list[Event]:
        match name:
            case "turn.started":
                self._called.clear()
                self._conversation.begin()
                return self._conversation.root()
            case "item.started" | "item.completed":
                return self._item(record(value, "item"), completed=name == "item.completed")
            case "turn.completed":
                return self._stop("completed")
            case "turn.failed":
                return self._stop("error", _why(value.get("error")))
            case "error":
                return [Fault()]
            case _:
                return []

    def _item(self, item: Object, *, completed: bool) -> list[Event]:
        kind, identity = text(item, "type"), text(item, "id")
        if kind in _TOOLS:
            called: list[Event] = []
            if identity not in self._called:
                self._called.add(identity)
                called = self._conversation.take({"type": "function_call", "call_id": identity, "name": kind})
            status = maybe_text(item, "status")
            result = ToolResult(call_id=identity, is_error=status in _FAILED or None)
            return [*called, *(self._conversation.answer(result) if completed else ())]
        if not completed:
            return []
        match kind:
            case "agent_message":
                return self._conversation.take({"role": "assistant", "content": text(item, "text")})
            case "reasoning":
                return self._conversation.take({"type": "reasoning", "summary": [{"text": text(item, "text")}]})
            case _:
                return []


def _why(error: object) -> str | None:
    match error:
        case {"message": str(why)}:
            return why
        case _:
            return None


def _recognises_rollout(value: Object) -> bool:
    match value:
        case {"type": "response_item" | "event_msg", "payload": {"type": str()}}:
            return True
        case {"type": "session_meta" | "turn_context" | "compacted", "payload": dict(), "timestamp": _}:
            return True
        case _:
            return False


def _recognises_exec(value: Object) -> bool:
    match value:
        case {"type": "thread.started", "thread_id": str()} | {"type": "turn.started"} | {"type": "turn.failed"}:
            return True
        case {"type": "turn.completed", "usage": _}:
            return True
        case {"type": "item.started" | "item.updated" | "item.completed", "item": {"id": str(), "type": str()}}:
            return True
        case _:
            return False


CODEX: Final = Format(
    name="codex",
    title="Codex rollout file",
    recognises=_recognises_rollout,
    mapper=CodexMapper,
    limits={
        "delivery": "a message amid a turn is a steer",
        "failures": "no",
        "stops": "inferred in the files of versions that write no ends",
        "sessions": "a file is one session",
    },
)
CODEX_EXEC: Final = Format(
    name="codex-exec",
    title="codex exec --json",
    recognises=_recognises_exec,
    mapper=CodexExecMapper,
    family="codex",
    limits={
        "messages": "no: a turn's start is the root",
        "delivery": "no",
        "calls": "of tools that ran",
        "stops": "none where the program was stopped",
        "sessions": "a file is one session",
    },
)
