"""Pi's session files: a tree of messages. The branch that ends in the last line is the conversation.

No line is a terminal: a run's end is inferred from the last message's ``stopReason``. Since only the last line decides
which branch counts, the mapper keeps the events of all lines until the log is over.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct, structs

from turncheck.model.core.events import AgentOutput, Event, Malformed, RunStop, ToolResult, UserMessage

from . import pi_messages
from .fields import MisfitError, Object, maybe_text, no_event, record, user_message
from .items import NATIVE
from .mapping import Format, Mapped


class Response(Struct, gc=False):
    """A response of the model: its items, and the end of the run, None while its calls keep that going."""

    items: list[AgentOutput]
    stop: RunStop | None


class _Retry(Struct, gc=False):
    target: str | None  # the entry that a later answer replaces


Meaning: TypeAlias = UserMessage | Response | ToolResult | _Retry | Malformed | None


class PiSessionMapper:
    """Maps the entries of a session file. What each means is kept until the end, with its ids: some 400 bytes."""

    def __init__(self) -> None:
        self.meanings: Final[list[Meaning]] = []
        self.ids: Final[list[str | None]] = []
        self.parents: Final[list[str | None]] = []
        self._ats: list[int] = []

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the entry at position *at*; nothing is settled before the end."""
        self._ats.append(at)
        self.told(value)
        return iter(())

    def told(self, value: Any) -> None:
        """Take an entry."""
        meaning: Meaning
        identity = parent = None
        match value:
            case {"type": str(name)}:
                try:
                    meaning = _meaning(name, value)
                    identity, parent = maybe_text(value, "id"), maybe_text(value, "parentId")
                except MisfitError as misfit:
                    meaning, identity = Malformed(f"{name}: {misfit}"), None
            case _:
                meaning = no_event(value)
        self.keep(meaning, identity, parent)

    def keep(self, meaning: Meaning, identity: str | None, parent: str | None) -> None:
        """Take what an entry means, with its id and its parent's."""
        self.meanings.append(meaning)
        before = self.ids[-1] if self.ids else None
        self.parents.append(before if parent == before else parent)  # one object for one text
        self.ids.append(identity)

    def end(self) -> Iterator[Mapped]:
        """Yield the branch that ends in the last entry; entries on other branches mean nothing."""
        for at, told in zip(self._ats, self.events(), strict=True):
            for event in told or (NATIVE,):
                yield at, event

    def events(self) -> Iterator[Sequence[Event]]:
        """Yield the events of each entry, none where it means nothing; to be asked once, behind the last one."""
        meanings = self.meanings
        if not self._in_row():
            self._leave_branches()
        retried = self._retried()
        running = False
        for index, meaning in enumerate(meanings):
            meanings[index] = None
            if isinstance(meaning, Response):
                told: list[Event] = [*meaning.items]
                if not running:  # an extension may have started the run: then no user message is its root
                    told.insert(0, UserMessage(text="", source="adapter"))
                running = meaning.stop is None or index in retried
                if meaning.stop is not None and not running:
                    told.append(meaning.stop)
                yield told
            elif isinstance(meaning, UserMessage):
                yield (structs.replace(meaning, delivery="steer") if running else meaning,)
                running = True
            elif isinstance(meaning, ToolResult | Malformed):
                yield (meaning,)
            else:
                yield ()

    def _in_row(self) -> bool:
        """Return whether each entry follows from the one before; the first one may be a header."""
        ids, parents = self.ids, self.parents
        begins = parents[1:2] == ids[:1] or self.meanings[:1] == [None]
        return begins and parents[2:] == ids[1:-1]

    def _leave_branches(self) -> None:
        """Take the meaning from all lines on abandoned branches.

        Lines without an id (version 1) are on every branch. The line before replaces a missing parent, whose line may
        be unreadable.
        """
        ids, parents = self.ids, self.parents
        places = {own: index for index, own in enumerate(ids) if own is not None}
        counted = bytearray(len(ids))
        index = max(places.values(), default=-1)
        while index >= 0:
            counted[index] = 1
            parent = parents[index]
            if parent is not None:
                index = min(places.get(parent, index), index - 1)
            else:
                index = -1 if ids[index] is not None else index - 1
        for index, own in enumerate(ids):
            if own is not None and not counted[index]:
                self.meanings[index] = None

    def _retried(self) -> set[int]:
        """Indexes of failed responses that ended no run: a response follows, or an edit takes them from the context."""
        targets = {meaning.target for meaning in self.meanings if type(meaning) is _Retry}
        found: set[int] = set()
        failed = -1  # the last message is a response that failed
        for index, meaning in enumerate(self.meanings):
            if isinstance(meaning, Response):
                if failed >= 0:
                    found.add(failed)
                failed = -1
                if meaning.stop is not None and meaning.stop.reason == "error":
                    failed = index
                    if self.ids[index] in targets:
                        found.add(index)
            elif isinstance(meaning, UserMessage | ToolResult):
                failed = -1
        return found


def _meaning(name: str, entry: Object) -> Meaning:
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
            return response(items, pi_messages.stop(message, "adapter"))
        case "toolResult":
            return pi_messages.result(message)
        case _:
            return None


def response(items: list[AgentOutput], stop: RunStop) -> Response:
    """Return what a response means: calls keep the run going, unless it failed or was aborted."""
    goes_on = stop.reason == "completed" and any(item.kind == "tool-call" for item in items)
    return Response(items, None if goes_on else stop)


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
