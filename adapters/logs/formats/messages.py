"""Saved lists of messages: OpenAI's (chat, Responses items), Anthropic's, the AI SDK's (UIMessage, ModelMessage).

A log is one list, an array or a message a line, or holds one list on each line, in the field ``messages``: each such
line is a conversation, and a session, of its own.
"""

from collections.abc import Sequence
from typing import Final, cast

from msgspec import structs

from turncheck.model.core.events import Event, Malformed

from .fields import MisfitError, Object, records
from .lines import LineMapper
from .mapping import Format
from .transcript import Conversation

_ROLES: Final = {"user", "assistant", "system", "developer", "tool", "function"}
_ITEMS: Final = {"function_call": {"call_id", "name"}, "function_call_output": {"call_id", "output"}}


class MessagesMapper(LineMapper):
    """Maps messages, or whole lists of them."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation: Final = Conversation()
        self._lists = 0

    def line(self, value: Object) -> Sequence[Event]:
        """Return the events of a message, or of a list of them. Raises MisfitError."""
        return self._whole(value) if isinstance(value.get("messages"), list) else self.conversation.take(value)

    def ending(self) -> Sequence[Event]:
        """The last run of a list is over where its last message is an answer."""
        return self.conversation.end()

    def _whole(self, value: Object) -> Sequence[Event]:
        self._lists += 1
        given = value.get("id")
        session = given if isinstance(given, str) else None if self._lists == 1 else f"list {self._lists}"
        conversation = Conversation()
        events = [event for message in records(value, "messages") for event in _taken(conversation, message)]
        return [structs.replace(event, session_id=session) for event in (*events, *conversation.end())]


def _taken(conversation: Conversation, message: Object) -> Sequence[Event]:
    try:
        return conversation.take(message)
    except MisfitError as misfit:
        return [Malformed(f"message: {misfit}")]


def _recognises(value: Object) -> bool:
    match cast("list[Object] | None", value.get("messages")):
        case [dict() as first, *_]:
            return _is_message(first)
        case _:
            return _is_message(value)


def _is_message(value: Object) -> bool:
    kind, role = value.get("type"), value.get("role")
    if isinstance(kind, str) and kind in _ITEMS:
        return value.keys() >= _ITEMS[kind]
    if not isinstance(role, str) or role not in _ROLES or kind not in (None, "message"):
        return False
    return not value.keys().isdisjoint({"content", "parts", "tool_calls"})


MESSAGES: Final = Format(
    name="messages",
    title="saved list of messages",
    recognises=_recognises,
    mapper=MessagesMapper,
    limits={
        "delivery": "a message amid a run is a steer",
        "failures": "not in OpenAI's lists",
        "stops": "inferred from the next message, or from the last answer",
        "sessions": "one per line with a list of its own, else a file is one session",
    },
)
