"""Pi's session files: a tree of messages. The branch that ends in the last line is the conversation.

No line is a terminal: a run's end is inferred from the last message's ``stopReason``. Since only the last line decides
which branch counts, the mapper keeps the events of all lines until the log is over.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from msgspec import structs

from turncheck.model.core.events import AgentOutput, Event, Malformed, RunStop, ToolResult, UserMessage

from . import pi_messages
from .fields import MisfitError, Object, maybe_text, no_event, record, user_message
from .items import NATIVE
from .mapping import Format, Mapped


@dataclass(frozen=True)
class _Response:
    items: list[AgentOutput]
    stop: RunStop | None  # None while its calls keep the run going


@dataclass(frozen=True)
class _Retry:
    target: str | None  # the entry that a later answer replaces


_Meaning: TypeAlias = UserMessage | _Response | ToolResult | _Retry | Malformed | None


@dataclass(frozen=True)
class _Line:
    at: int
    meaning: _Meaning
    id: str | None = None
    parent: str | None = None


class PiSessionMapper:
    """Maps the entries of a session file."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the entry at position *at*; nothing is settled before the end."""
        match value:
            case {"type": str(name)}:
                try:
                    line = _Line(at, _meaning(name, value), maybe_text(value, "id"), maybe_text(value, "parentId"))
                except MisfitError as misfit:
                    line = _Line(at, Malformed(f"{name}: {misfit}"))
            case _:
                line = _Line(at, no_event(value))
        self._lines.append(line)
        return iter(())

    def end(self) -> Iterator[Mapped]:
        """Yield the branch that ends in the last entry; entries on other branches mean nothing."""
        lines = _branch(self._lines)
        retried = _retried(lines)
        running = False
        for index, line in enumerate(lines):
            events, running = _events(line.meaning, running=running, retried=index in retried)
            for event in events:
                yield line.at, event


def _meaning(name: str, entry: Object) -> _Meaning:
    if name == "context_edit":
        return _Retry(maybe_text(entry, "targetId")) if entry.get("replacement") is None else None
    if name != "message":
        return None
    message = record(entry, "message")
    match message.get("role"):
        case "user":
            return user_message(message, "content")
        case "assistant":
            outputs = pi_messages.outputs(message, maybe_text(entry, "id"))
            items = [output for output in outputs if output is not None]
            stop = pi_messages.stop(message, "adapter")
            goes_on = stop.reason == "completed" and any(item.kind == "tool-call" for item in items)
            return _Response(items, None if goes_on else stop)
        case "toolResult":
            return pi_messages.result(message)
        case _:
            return None


def _branch(lines: list[_Line]) -> list[_Line]:
    """Return all lines; those on abandoned branches lose their meaning.

    Lines without an id (version 1) are on every branch. The line before replaces a missing parent, whose line may be
    unreadable.
    """
    places = {line.id: index for index, line in enumerate(lines) if line.id is not None}
    counted: set[int] = set()
    index = max(places.values(), default=-1)
    while index >= 0:
        line = lines[index]
        counted.add(index)
        if line.parent is not None:
            index = min(places.get(line.parent, index), index - 1)
        else:
            index = -1 if line.id is not None else index - 1
    return [
        line if line.id is None or index in counted else replace(line, meaning=None) for index, line in enumerate(lines)
    ]


def _retried(lines: list[_Line]) -> set[int]:
    """Indexes of failed responses that ended no run: a response follows, or an edit removes them from the context."""
    targets = {line.meaning.target for line in lines if isinstance(line.meaning, _Retry)}
    found: set[int] = set()
    follower: _Meaning = None
    for index in reversed(range(len(lines))):
        match lines[index].meaning:
            case _Response(_, RunStop(reason="error")) as response:
                if isinstance(follower, _Response) or lines[index].id in targets:
                    found.add(index)
                follower = response
            case UserMessage() | _Response() | ToolResult() as message:
                follower = message
            case _:
                pass
    return found


def _events(meaning: _Meaning, *, running: bool, retried: bool) -> tuple[list[Event], bool]:
    """Return the events of a line, and whether a run is open after it."""
    match meaning:
        case UserMessage():
            return [structs.replace(meaning, delivery="steer") if running else meaning], True
        case _Response(items, stop):
            # An extension may have started the run: then no user message is its root.
            events: list[Event] = [*items] if running else [UserMessage(text="", source="adapter"), *items]
            if stop is None or retried:
                return events or [NATIVE], True
            return [*events, stop], False
        case ToolResult() | Malformed():
            return [meaning], running
        case _:
            return [NATIVE], running


_ENTRIES: Final = {
    *("message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message"),
    *("label", "session_info", "context_edit"),
}
"""Types of entries; other programs' trees have others."""


def _recognises(value: Object) -> bool:
    name = value.get("type")
    entry = isinstance(name, str) and name in _ENTRIES and {"id", "parentId"} <= value.keys()
    return entry or pi_messages.is_header(value)


PI_SESSION: Final = Format(
    name="pi-session",
    title="pi session file",
    recognises=_recognises,
    mapper=PiSessionMapper,
    family="pi",
    limits={
        "delivery": "a message amid a run is a steer",
        "stops": "inferred from the last answer",
        "sessions": "a file is one session",
    },
)
