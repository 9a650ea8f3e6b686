"""Pi's agent events, bare or as ``pi --mode json`` prints them (with a header, the queues and the retries).

A message stands where the model receives it, and several follow-ups may be answered in one agent run: the mapper makes
the boundary before each explicit. ``agent_end`` has no status; the last assistant message has it. A retry is a second
agent run without a user message: the ``agent_end`` before it is no stop, so it is held back until a later line decides.
"""

from collections.abc import Mapping
from typing import Any, Final

from turncheck.model.core.events import Delivery, OutputKind, RunStop, ToolResult, UserMessage

from . import pi_messages
from .dispatch import Dispatcher
from .fields import MisfitError, Object, items, maybe_flag, records, user_message
from .items import NATIVE, Slot, Whole, nothing, said
from .mapping import Format, Rest
from .wires import Wire, anything, handlers, maybe_records, whole
from .wires import items as items_at
from .wires import maybe_flag as maybe_flag_at
from .wires import maybe_text as maybe_text_at
from .wires import number as number_at
from .wires import records as records_at
from .wires import text as text_at

_QUEUES: Final[tuple[tuple[str, Delivery], ...]] = (("steering", "steer"), ("followUp", "followUp"))
_TEXTS: Final[Mapping[str, OutputKind]] = {"text": "assistant", "thinking": "reasoning"}
_INDEX: Final = number_at("assistantMessageEvent.contentIndex")
_DELTA: Final = "assistantMessageEvent.delta"
_UPDATE: Final = text_at("assistantMessageEvent.type")
_ROLE: Final = anything("message.role")
_RESULT: Final = (text_at("message.toolCallId"), maybe_flag_at("message.isError"))
_ASKED: Final = (anything("message.content", str | list[Any] | None), anything("message.id", str | None))
_ANSWER: Final = (
    records_at("message.content"),
    maybe_text_at("message.stopReason"),
    maybe_text_at("message.errorMessage"),
)
_FAMILIES: Final = ("text", "toolcall", "thinking")
WIRES: Final = (
    *(
        Wire("message_update", "piece", (one, _INDEX, text_at(_DELTA)), (_UPDATE, (f"{one}_delta",)), _DELTA)
        for one in _FAMILIES
    ),
    *(Wire("message_update", "piece", (one, _INDEX, ""), (_UPDATE, (f"{one}_start",))) for one in _FAMILIES),
    *(Wire("message_update", "piece", (one, _INDEX, ""), (_UPDATE, (f"{one}_end",))) for one in _TEXTS),
    Wire("message_update", "end_call", (_INDEX, whole("assistantMessageEvent.toolCall")), (_UPDATE, ("toolcall_end",))),
    Wire("message_update", None, (_UPDATE,)),
    Wire("message_start", "begin_answer", (), (_ROLE, ("assistant",))),
    Wire(
        "message_start",
        "result",
        _RESULT,
        (_ROLE, ("toolResult",)),
    ),
    Wire("message_start", "ask", _ASKED, (_ROLE, ("user",))),
    Wire("message_start"),
    Wire("message_end", "end_answer", _ANSWER, (_ROLE, ("assistant",))),
    Wire("message_end", None, (), (_ROLE, ("user", "toolResult", "system"))),
    Wire("message_end"),
    Wire("turn_end", "end_turn", (items_at("toolResults"),)),
    Wire("agent_start", "begin_run"),
    Wire("agent_end", "end_run", (maybe_records("messages"), maybe_flag_at("willRetry"))),
    *(Wire(f"tool_execution_{name}") for name in ("start", "update", "end")),
    *(Wire(name) for name in ("turn_start", "agent_settled")),
)
"""The events that the fast loop reads, and other kinds of them, the most frequent first."""
_BEFORE_RETRY: Final = {"auto_retry_start", "compaction_start", "compaction_end"}
"""Types after ``agent_end`` that leave open whether the agent goes on by itself."""
_TYPES: Final = {
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "queue_update",
}


class PiMapper(Dispatcher):
    """Maps pi's agent events."""

    def __init__(self) -> None:
        super().__init__()
        self._open = False  # a cycle is under way
        self._again = False  # the agent will start once more for the same cycle
        self._started: Slot | None = None  # the agent run's start, until its first message
        self._stop: tuple[Slot, RunStop] | None = None  # the agent run's end, until a line decides if it ends the cycle
        self._responses = 0
        self._last: Object = {}  # the latest assistant message of this agent run
        self._answered = False  # the turn before ended with an answer rather than with tool results
        self._queues: dict[str, list[object]] = {field: [] for field, _ in _QUEUES}
        self._taken: tuple[str, Delivery] | None = None  # the message that left a queue on the line before
        self.handlers = {
            **handlers(self, WIRES),
            "queue_update": self._queue_update,
            "auto_retry_start": self._go_on,
            "auto_retry_end": self._auto_retry_end,
            "compaction_end": self._compaction_end,
        }

    @property
    def calm(self) -> bool:
        """True while nothing waits for the next line to decide."""
        return self._stop is None and self._taken is None

    def ready(self) -> bool:
        """Confirm the stop that was held back, as any event of ``WIRES`` does; return whether no more is to be done."""
        if self._stop is not None:
            self.finish()
        return self._taken is None

    def take(self, at: int, name: str, event: Object) -> None:
        """Handle one event; most types confirm that the previous agent run was the cycle's last."""
        if name not in _BEFORE_RETRY:
            self.finish()
        super().take(at, name, event)
        if name != "queue_update":
            self._taken = None

    def finish(self) -> None:
        """Confirm the stop that was held back."""
        if self._stop is not None:
            slot, stop = self._stop
            slot.event, self._stop, self._open = stop, None, False

    # Agent runs

    def begin_run(self, at: int) -> None:
        """Note that an agent run starts. Raises MisfitError amid another."""
        if self._open and not self._again:
            raise MisfitError("the agent run before has not ended")
        self._started, self._again = self.items.hold(at), False
        self._last, self._answered = {}, False

    def _begin(self, *, by_user: bool) -> None:
        """Take the agent run's first message: if no user sent it, the start itself is the root of a new cycle."""
        if self._started is not None:
            rootless = not by_user and not self._open
            self._started.event = UserMessage(text="", source="adapter") if rootless else NATIVE
            self._started, self._open = None, True

    def end_run(self, at: int, messages: list[Object] | None, again: bool | None) -> None:  # noqa: FBT001
        """Note that an agent run ends; its messages are added. Raises MisfitError."""
        answers = [message for message in messages or () if message.get("role") == "assistant"]
        stop = pi_messages.stop(answers[-1] if answers else self._last)
        self._begin(by_user=False)
        self.items.finish_all()
        self._stop = self.items.hold(at), stop
        if again:
            self._go_on(at, {})

    def _go_on(self, _at: int, _event: Object) -> None:
        """Drop the stop that was held back: the agent starts once more by itself, within the same cycle."""
        if self._stop is not None:
            self._stop[0].event = NATIVE
            self._stop, self._again = None, True

    def _auto_retry_end(self, at: int, event: Object) -> None:
        """Put the stop of a retry that was given up while it waited: no agent run reports it."""
        if not maybe_flag(event, "success") and self._open and self._again:
            self.items.put(at, RunStop(reason="error", source="adapter"))
            self._open = self._again = False

    def _compaction_end(self, at: int, event: Object) -> None:
        if maybe_flag(event, "willRetry"):
            self._go_on(at, event)
        else:
            self.finish()

    # Messages

    def end_turn(self, _at: int, results: list[object]) -> None:
        """Note how a turn ended."""
        self._answered = not results

    def result(self, at: int, call_id: str, is_error: bool | None) -> None:  # noqa: FBT001
        """Put the result of a call."""
        self.items.put(at, ToolResult(call_id=call_id, is_error=is_error or None))

    def ask(self, at: int, content: object, name: object) -> None:
        """Put a user's message, behind the boundary that a follow-up needs. Raises MisfitError."""
        message = {"content": content, "id": name}
        delivery = self._delivery(message)
        root_or_steer = user_message(message, "content", delivery=delivery)
        self._begin(by_user=True)
        if delivery == "followUp":
            self.items.put(at, RunStop(reason="completed", source="adapter"))
        self.items.put(at, root_or_steer)
        self._open, self._answered = True, False

    def _delivery(self, message: Object) -> Delivery | None:
        """The delivery of a user's message: from the queue that it left, or else from the previous turn."""
        if not self._open:
            return None
        if self._taken is not None and self._taken[0] == _plain(message):
            return self._taken[1]
        return "followUp" if self._answered else "steer"

    def _queue_update(self, _at: int, event: Object) -> None:
        now = {field: items(event, field) for field, _ in _QUEUES}
        self._taken = None
        for field, delivery in _QUEUES:
            before = self._queues[field]
            gone = [entry for entry in before if before.count(entry) > now[field].count(entry)]
            if gone and self._taken is None:
                self._taken = str(gone[0]), delivery
        self._queues = now

    # Responses

    def begin_answer(self, _at: int) -> None:
        """Begin a response."""
        self._begin(by_user=False)
        self.items.finish_all()
        self._responses += 1

    def piece(self, at: int, family: str, index: int, piece: str) -> None:
        """Add to an item, which begins with its first line. It has the text of its pieces, or what its end tells."""
        if index not in self.items:
            self.items.begin(index, said(_TEXTS[family], self._response()) if family in _TEXTS else nothing, at)
        self.items.append(index, at, piece)

    def end_call(self, at: int, index: int, call: Object) -> None:
        """Note a call that is whole. Raises MisfitError."""
        event = pi_messages.output(call, self._response())
        self.piece(at, "toolcall", index, "")
        if event is not None:
            self.items.rebuild(index, Whole(event))

    def end_answer(self, at: int, content: list[Object], reason: str | None, why: str | None) -> None:
        """End a response, which is told as a whole. Raises MisfitError."""
        outputs = [pi_messages.output(part, self._response()) for part in content]
        for index, output in enumerate(outputs):
            if index in self.items:
                self.items.finish(index, output or NATIVE)
            elif output is not None:
                self.items.put(at, output)
        self.items.finish_all(NATIVE)
        self._last = {"stopReason": reason, "errorMessage": why}

    def _response(self) -> str:
        """The id of the current response, made up: pi's responses have none."""
        return f"response-{self._responses}"


def _plain(message: Object) -> object:
    """A user's message as the queues show it: its text."""
    match message.get("content"):
        case str(said):
            return said
        case _:
            return next((part.get("text") for part in records(message, "content")), None)


def _recognises(value: Object) -> bool:
    name = value.get("type")
    if not isinstance(name, str) or name not in _TYPES:
        return pi_messages.is_header(value)  # which its session files have too
    message = value.get("message", {})
    return isinstance(message, dict) and "type" not in message  # Anthropic's has one


PI: Final = Format(
    name="pi",
    title="pi agent events",
    recognises=_recognises,
    mapper=PiMapper,
    limits={"delivery": "from the queues of JSON mode, else from the turn before", "sessions": "a file is one session"},
    rest=Rest(
        ends=r'[^\n]*"(?:agent_end|agent_settled|queue_update)"[^\n]*',
        begins="agent_start",
        mapper=PiMapper,
        anew=frozenset({"_responses", "_last", "_answered"}),
    ),
)
