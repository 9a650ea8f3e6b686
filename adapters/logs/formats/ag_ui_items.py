"""The items of an AG-UI stream: texts, reasoning and tool calls, each with START, deltas and END, or in chunks."""

from collections.abc import Callable, Hashable, Mapping
from typing import Final

from turncheck.model.core.events import AgentOutput, OutputKind

from .ag_ui_parts import ITEMS, Item
from .dispatch import Handler
from .fields import MisfitError, Object, maybe_text, text
from .items import Build, Items, Whole, nothing, said

AMID_CHUNKS: Final = {"RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED"}
"""Chunks stay open across these."""
SAID: Final[Mapping[OutputKind, Build]] = {"assistant": said("assistant"), "reasoning": said("reasoning")}
"""The builders of texts."""
_THINKING: Final = "THINKING"


class Outputs:
    """Gathers the model's items; texts of the user, which come in the same way, go to *begin_user*.

    ``said`` and ``called``: texts and calls since the model's last input. ``calls`` and ``unanswered``: those of this
    run. ``silent``: the model made nothing in this run yet.
    """

    def __init__(self, items: Items, begin_user: Callable[[int, Hashable, str], None]) -> None:
        self.said = self.called = False
        self.calls: set[str] = set()
        self.unanswered: set[str] = set()
        self.silent = True
        self._items = items
        self._begin_user = begin_user
        self._chunk: tuple[str, Hashable] | None = None  # the item that chunks are gathered for, and their type
        self.others: set[Hashable] = set()
        """Messages that are not the model's."""
        self._thinking_span = False

    def handlers(self) -> Mapping[str, Handler]:
        """The handlers of all item events."""
        return {
            **{name: handler for item in ITEMS for name, handler in self._family(item).items()},
            "THINKING_START": self._thinking_start,
            "THINKING_TEXT_MESSAGE_START": self._thinking_text_start,
            "THINKING_TEXT_MESSAGE_CONTENT": lambda at, event: self._append(_THINKING, at, text(event, "delta")),
            "THINKING_TEXT_MESSAGE_END": self._thinking_text_end,
            "THINKING_END": self._thinking_end,
        }

    def before(self, name: str) -> None:
        """Prepare for an event of the type *name*: most types end an item that came in chunks."""
        if self._chunk is not None and name != self._chunk[0] and name not in AMID_CHUNKS:
            self._end_chunk()

    @property
    def chunk(self) -> Hashable | None:
        """The item that chunks are gathered for: its family and its id; None where there is none."""
        return None if self._chunk is None else self._chunk[1]

    def begin_run(self) -> None:
        """Forget the run before."""
        self.calls.clear()
        self.unanswered.clear()
        self.silent = True
        self.given()

    def given(self) -> None:
        """Note that the model received an input: its next item begins a new response."""
        self.said = self.called = False

    def _family(self, item: Item) -> Mapping[str, Handler]:
        family, field = item.family, item.part.field
        begin = {"assistant": self._begin_text, "reasoning": self._begin_reasoning, "tool-call": self._begin_call}[
            item.kind
        ]

        def start(at: int, event: Object) -> None:
            name = text(event, field)
            begin(at, (family, name), event, name)

        def delta(at: int, event: Object) -> None:
            self._append((family, text(event, field)), at, text(event, "delta"))

        def end(_: int, event: Object) -> None:
            self._end((family, text(event, field)))

        def chunk(at: int, event: Object) -> None:
            name, piece = maybe_text(event, field), maybe_text(event, "delta")
            if name is not None and self._chunk != (f"{family}_CHUNK", (family, name)):
                begin(at, (family, name), event, name)
                self._end_chunk()
                self._chunk = f"{family}_CHUNK", (family, name)
            if self._chunk is None:
                raise MisfitError(f"{field} is missing, and no item is open")
            self._append(self._chunk[1], at, piece or "")
            if family == "REASONING_MESSAGE" and piece == "":
                self._end_chunk()  # the protocol's sign for the end of a message in chunks

        return {item.part.begin: start, item.delta: delta, item.part.ends[0]: end, f"{family}_CHUNK": chunk}

    def _begin_text(self, at: int, key: Hashable, event: Object, name: str) -> None:
        role = maybe_text(event, "role") or "assistant"
        if role == "assistant":
            self._items.begin(key, SAID["assistant"])
            self.others.discard(key)
            return
        self.others.add(key)
        if role == "user":
            self._begin_user(at, key, name)
        else:
            self._items.begin(key, nothing)

    def _begin_reasoning(self, _at: int, key: Hashable, _event: Object, _name: str) -> None:
        self._items.begin(key, SAID["reasoning"])

    def _begin_call(self, at: int, key: Hashable, event: Object, name: str) -> None:
        tool = text(event, "toolCallName")
        self._items.begin(key, Whole(AgentOutput(kind="tool-call", call_id=name, tool=tool)), at)
        self.calls.add(name)
        self.unanswered.add(name)
        self.said = self.called = True
        self.silent = False

    def _append(self, key: Hashable, at: int, piece: str) -> None:
        self._items.append(key, at, piece)
        if piece and key not in self.others:
            self.said, self.silent = True, False

    def _end(self, key: Hashable) -> None:
        if key not in self._items:
            raise MisfitError("its item is not open")
        self._items.finish(key)

    def _end_chunk(self) -> None:
        if self._chunk is not None:
            self._items.finish(self._chunk[1])
            self._chunk = None

    # Reasoning as it was before version 1.0: no ids, one item from START to END.

    def _thinking_start(self, _at: int, _event: Object) -> None:
        self._thinking_span = True
        self._items.begin(_THINKING, SAID["reasoning"])

    def _thinking_text_start(self, _at: int, _event: Object) -> None:
        if _THINKING not in self._items:  # no span, or the run before cut one
            self._thinking_span = False
            self._items.begin(_THINKING, SAID["reasoning"])

    def _thinking_text_end(self, _at: int, _event: Object) -> None:
        if not self._thinking_span:
            self._end(_THINKING)

    def _thinking_end(self, _at: int, _event: Object) -> None:
        self._thinking_span = False
        self._end(_THINKING)
