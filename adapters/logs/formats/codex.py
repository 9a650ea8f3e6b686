"""Codex: the rollout files that it keeps, and ``codex exec --json``.

In a rollout an item stands once as the model's (``response_item``) and often once more for a UI (``event_msg``): of the
former come outputs, calls and results, of the latter the user's messages and the turns' ends, which older versions do
not write. ``exec --json`` shows no message of the user, and only tools that ran.
"""

from collections.abc import Sequence
from typing import Final

from turncheck.model.core.events import Event, Fault, RunStop, StopReason, ToolResult

from .fields import Object, maybe_text, record, records, text
from .lines import LineMapper
from .mapping import Format, Rest
from .transcript import RESPONSES, Conversation

STARTS: Final = {"task_started", "turn_started"}
ENDS: Final = {"task_complete", "turn_complete"}
CALLS: Final = {"function_call", "custom_tool_call", "local_shell_call"}
OUTPUTS: Final = {"function_call_output", "custom_tool_call_output"}
TOOLS: Final = {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}
"""Types of the items of ``exec --json`` that are calls of tools."""
FAILED: Final = {"failed", "declined"}


class _Mapper(LineMapper):
    """The mapper that both files share: one conversation, in which the log says how turns begin and end."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation: Final = Conversation()

    def line(self, value: Object) -> Sequence[Event]:
        """Return the events of a line. Raises MisfitError."""
        return self._line(text(value, "type"), value)

    def ending(self) -> Sequence[Event]:
        """Return the end of the last turn where the log never says how one ends: it is over behind an answer."""
        return self.conversation.end()

    def _line(self, name: str, value: Object) -> Sequence[Event]:
        raise NotImplementedError

    def stop(self, reason: StopReason, detail: str | None = None) -> Sequence[Event]:
        """End the turn, says the program."""
        root = self.conversation.root()  # a turn may end before it made anything
        stop = self.conversation.stop(reason, detail, inferred=False)
        return root + (stop or [RunStop(reason=reason, detail=detail)])


class CodexMapper(_Mapper):
    """Maps the lines of a rollout."""

    def __init__(self) -> None:
        super().__init__()
        self.newer = False
        """True once the user's messages come as ``item_completed``."""

    def _line(self, name: str, value: Object) -> Sequence[Event]:
        match name:
            case "response_item":
                return self._item(record(value, "payload"))
            case "event_msg":
                return self._event(record(value, "payload"))
            case _:
                return []

    def _item(self, item: Object) -> Sequence[Event]:
        kind = text(item, "type")
        if kind in CALLS:
            tool = "local_shell" if kind == "local_shell_call" else text(item, "name")
            return self.conversation.take({"type": "function_call", "call_id": text(item, "call_id"), "name": tool})
        if kind in OUTPUTS:
            return self.conversation.take({"type": "function_call_output", "call_id": text(item, "call_id")})
        if kind == "reasoning" or (kind == "message" and item.get("role") == "assistant"):
            return self.conversation.take(item)
        return []

    def _event(self, event: Object) -> Sequence[Event]:
        match text(event, "type"):
            case name if name in STARTS:
                self.conversation.begin()
                return []
            case "item_completed":
                return self._completed(record(event, "item"))
            case "user_message" if not self.newer:
                return self.conversation.take({"role": "user", "content": text(event, "message")})
            case name if name in ENDS:
                error = event.get("error")
                return self.stop("completed" if error is None else "error", _why(error))
            case "turn_aborted":
                reason = maybe_text(event, "reason")
                return self.stop("completed" if reason == "review_ended" else "interrupted", reason)
            case "error" | "stream_error":
                return [Fault()]
            case _:
                return []

    def _completed(self, item: Object) -> Sequence[Event]:
        if item.get("type") != "UserMessage":
            return []
        self.newer = True
        said = [part for part in records(item, "content") if part.get("type") == "text"]
        content: object = text(said[0], "text") if len(said) == 1 else records(item, "content")
        return self.conversation.take({"role": "user", "content": content})


class CodexExecMapper(_Mapper):
    """Maps the lines of ``codex exec --json``."""

    def __init__(self) -> None:
        super().__init__()
        self.called: Final[set[str]] = set()
        """The items of this turn that have started."""

    def _line(self, name: str, value: Object) -> Sequence[Event]:
        match name:
            case "turn.started":
                self.begin()
                return self.conversation.root()
            case "item.started" | "item.completed":
                return self._item(record(value, "item"), completed=name == "item.completed")
            case "turn.completed":
                return self.stop("completed")
            case "turn.failed":
                return self.stop("error", _why(value.get("error")))
            case "error":
                return [Fault()]
            case _:
                return []

    def begin(self) -> None:
        """Begin a turn."""
        self.called.clear()
        self.conversation.begin()

    def _item(self, item: Object, *, completed: bool) -> Sequence[Event]:
        kind, identity = text(item, "type"), text(item, "id")
        if kind in TOOLS:
            called: Sequence[Event] = ()
            if identity not in self.called:
                self.called.add(identity)
                called = self.conversation.take({"type": "function_call", "call_id": identity, "name": kind})
            status = maybe_text(item, "status")
            result = ToolResult(call_id=identity, is_error=status in FAILED or None)
            return [*called, *(self.conversation.results([result]) if completed else ())]
        if not completed:
            return []
        match kind:
            case "agent_message":
                return self.conversation.take({"role": "assistant", "content": text(item, "text")})
            case "reasoning":
                return self.conversation.take({"type": "reasoning", "summary": [{"text": text(item, "text")}]})
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


def _resting(mapper: _Mapper) -> _Mapper:
    """Return a fresh *mapper* as one is between two turns whose beginnings and ends are told."""
    mapper.conversation.begin()
    mapper.conversation.root()
    mapper.conversation.stop("completed")
    return mapper


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
    rest=Rest(
        ends=r'[^\n]*"(?:thread\.started|turn\.completed|turn\.failed|error)"[^\n]*',
        begins="turn.started",
        mapper=lambda: _resting(CodexExecMapper()),
        anew=frozenset({"called", "_held", "_last"} | {f"conversation.{name}" for name in RESPONSES}),
    ),
)
