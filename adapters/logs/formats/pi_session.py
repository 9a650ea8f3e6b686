"""Pi's session files: a tree of messages. The branch that ends in the last line is the conversation.

No line is a terminal: a run's end is inferred from the last message's ``stopReason``. Since only the last line decides
which branch counts, the mapper keeps the events of all lines until the log is over. It takes each for what it is where
no branch is left and nothing is retried; where the file's end says otherwise, all are gone through again.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final, TypeAlias, cast

from msgspec import Struct, json, structs

from turncheck.model.core.events import AgentOutput, Event, Malformed, RunStop, ToolResult, UserMessage

from . import pi_messages
from .fields import MisfitError, Object, maybe_text, no_event, record, user_message
from .items import NATIVE
from .mapping import Format, Mapped
from .transcript import ROOT


class Response(Struct, gc=False):
    """A response of the model: its items, and the end of the run, None while its calls keep that going."""

    items: Sequence[AgentOutput]
    stop: RunStop | None

    @property
    def failed(self) -> bool:
        """True if it failed, which may be retried."""
        return self.stop is not None and self.stop.reason == "error"


class _Retry(Struct, gc=False):
    target: str | None  # the entry that a later answer replaces


Meaning: TypeAlias = UserMessage | Response | ToolResult | _Retry | Malformed | None


class PiSessionMapper:
    """Maps the entries of a session file, which have numbers from 0 on. All is kept until the end.

    ``events`` are those of all entries, ``counts`` says how many each has, ``ids`` are those of the latest entries.
    """

    def __init__(self) -> None:
        self.running = False
        self.failed = False
        """True while the last message is a response that failed."""
        self.retried = False
        """True once a response that failed was followed by another one."""
        self.last: str | None = None
        """The id of the last entry."""
        self.events: list[Event] = []
        self.counts: list[int] = []
        self.ids: list[str | None] = []
        self._packed: list[bytes] = []
        self._in_row = True  # each entry follows from the one before
        self._parents: dict[int, str | None] = {}  # of an entry that does not, or that begins a tree
        self._edits: dict[int, str | None] = {}  # the entry that an edit takes from the context
        self._positions: list[int] = []

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the entry at position *at*; nothing is settled before the end."""
        self._positions.append(at)
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
        if parent is None or parent != self.last:
            self.link(identity, parent)
        self.last = identity
        self.ids.append(identity)
        if isinstance(meaning, Response):
            self.retried = self.retried or self.failed
            self.failed = meaning.failed
        elif isinstance(meaning, UserMessage | ToolResult):
            self.failed = False
        elif isinstance(meaning, _Retry):
            self._edits[len(self.counts)] = meaning.target
        told = self._told(meaning)
        self.events += told
        self.counts.append(len(told))

    def link(self, identity: str | None, parent: str | None) -> None:
        """Note that the next entry begins a tree, or follows from another than the last; the first may be a header."""
        at = len(self.counts)
        if parent != self.last and (at > 1 or (at == 1 and (self.events or self._edits))):
            self._in_row = False
        if parent is not None or identity is not None:
            self._parents[at] = parent

    def pack(self) -> None:
        """Keep ids in less space, once there are many; they are asked for where the file has branches or edits."""
        if len(self.ids) >= _MANY:
            self._packed.append(json.encode(self.ids))
            self.ids.clear()

    def settle(self) -> None:
        """End the file: what is on another branch than the last entry has no events, and a retry is no end."""
        if self._in_row and not self.retried and not self._edits:
            return
        kept = [True] * len(self.counts) if self._in_row else self._counted()
        retried = self._retried(kept)
        events: list[Event] = []
        counts: list[int] = []
        self.running = False
        for at, told in enumerate(self._entries()):
            new = self._told(_meant(told), retried=at in retried) if kept[at] else ()
            events += new
            counts.append(len(new))
        self.events, self.counts = events, counts

    def end(self) -> Iterator[Mapped]:
        """Yield the branch that ends in the last entry; entries on other branches mean nothing."""
        self.settle()
        for at, told in zip(self._positions, self._entries(), strict=True):
            for event in told or (NATIVE,):
                yield at, event

    def _told(self, meaning: Meaning, *, retried: bool = False) -> Sequence[Event]:
        """Return the events of an entry behind those before; a failed response that was *retried* ends no run."""
        if isinstance(meaning, Response):
            told: list[Event] = [*meaning.items]
            if not self.running:  # an extension may have started the run: then no user message is its root
                told.insert(0, ROOT)
            self.running = meaning.stop is None or retried
            if meaning.stop is not None and not retried:
                told.append(meaning.stop)
            return told
        if isinstance(meaning, UserMessage):
            delivered = structs.replace(meaning, delivery="steer") if self.running else meaning
            self.running = True
            return (delivered,)
        return (meaning,) if isinstance(meaning, ToolResult | Malformed) else ()

    def _entries(self) -> Iterator[Sequence[Event]]:
        """Yield the events of each entry."""
        events, begin = self.events, 0
        for count in self.counts:
            end = begin + count
            yield events[begin:end]
            begin = end

    def _every_id(self) -> Iterator[str | None]:
        for ids in map(_IDS.decode, self._packed):
            yield from ids
        yield from self.ids

    def _counted(self) -> Sequence[bool]:
        """Return for each entry whether it is on the branch that ends in the last one.

        Lines without an id (version 1) are on every branch. The line before replaces a missing parent, whose line may
        be unreadable.
        """
        parents = self._parents
        begins, wanted = [*parents], {*parents.values()}
        places: dict[str | None, int] = {}
        counted: list[bool] = []
        index = -1
        for at, own in enumerate(self._every_id()):
            counted.append(own is None)
            if own is not None:
                index = at
            if own in wanted:
                places[own] = at
        while index >= 0:
            number = bisect_right(begins, index) - 1
            begin = begins[number] if number >= 0 else 0
            counted[begin : index + 1] = [True] * (index + 1 - begin)
            parent = parents.get(begin)
            index = -1 if parent is None else min(places.get(parent, begin), begin - 1)
        return counted

    def _retried(self, kept: Sequence[bool]) -> Set[int]:
        """Return the failed responses that ended no run: a response follows, or an edit takes them from the context."""
        targets = {target for at, target in self._edits.items() if kept[at]}
        found: set[int] = set()
        failed = -1  # the last message is a response that failed
        for at, (own, told) in enumerate(zip(self._every_id(), self._entries(), strict=True)):
            meaning = _meant(told) if kept[at] else None
            if isinstance(meaning, Response):
                if failed >= 0:
                    found.add(failed)
                failed = at if meaning.failed else -1
                if meaning.failed and own in targets:
                    found.add(at)
            elif isinstance(meaning, UserMessage | ToolResult):
                failed = -1
        return found


_MANY: Final = 4096
"""Ids that are kept as they are: so those of most files are never packed. Of 40,000 entries one takes 270 bytes at the
peak, and 291 where nothing is packed. From 1 to 16,384 neither that nor the time changes (266 to 271 bytes, 1 %)."""
_IDS: Final = json.Decoder(list[str | None])


def _meant(told: Sequence[Event]) -> Meaning:
    """Return what an entry means that was told so: without an inferred root, and no message a steer."""
    match told:
        case []:
            return None
        case [UserMessage(source=None) as said]:
            return structs.replace(said, delivery=None)
        case [ToolResult() | Malformed() as alone]:
            return alone
        case [UserMessage(), *made] | made:
            stop = made[-1] if isinstance(made[-1], RunStop) else None
            return Response(cast("list[AgentOutput]", made if stop is None else made[:-1]), stop)


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
