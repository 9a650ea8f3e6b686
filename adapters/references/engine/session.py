"""A session: its messages and metadata, and the outputs' effects on them (RS-2, RS-3, RS-4.3, RS-4.4, RS-8)."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec

from turncheck.model.core.stimuli import Shown
from turncheck.model.declaration.vocabulary import Output

from ..history import as_text

SUMMARY: Final = "[summary]"
"""First words of the message that replaces a compacted prefix (RS-3.1)."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of the history: a text, a call (with ``call_id`` and ``tool``), or a call's result."""

    role: Literal["user", "assistant", "call", "result"]
    text: str = ""
    id: str | None = None
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    is_error: bool = False


class Session(msgspec.Struct):
    """The stored part of a chat; ``last_active`` is an RFC 3339 time."""

    session_id: str
    messages: list[Message] = []
    metadata: dict[str, Any] = {}
    last_active: str | None = None


def rfc3339() -> str:
    """Return the time now, as RFC 3339 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Mutations:
    """Applies outputs to a session, in their order (RS-8).

    *limit* is ``max_history_messages``; *clock* returns the time as RFC 3339.
    """

    def __init__(self, session: Session, limit: int, clock: Callable[[], str] = rfc3339) -> None:
        self.session = session
        self._limit, self._clock = limit, clock
        self._user: Message | None = None
        self._call: Message | None = None

    def apply(self, output: Output) -> None:
        """Apply one output; outputs that mutate nothing are ignored."""
        messages = self.session.messages
        match output.name, output.arguments:
            case "accept", (name, text):
                self._user = Message("user", text, id=name)
            case "push-user", () if self._user is not None:
                messages.append(self._user)
            case "summarise", (text,):
                messages[: cut(messages, self._limit)] = [Message("assistant", f"{SUMMARY} {text}")]
            case "truncate", ():
                messages[:] = without_orphans(messages[cut(messages, self._limit) :])
            case "call", (call, tool, arguments, _):
                self._call = Message("call", call_id=call, tool=tool, arguments=arguments)
            case "result", (call, result, how) if self._call is not None:
                messages += [self._call, Message("result", as_text(result), call_id=call, is_error=how != "done")]
            case "merge-metadata", (metadata,):
                self.session.metadata |= metadata
            case "push-text", (deltas,) if deltas:
                messages.append(Message("assistant", "".join(deltas)))
            case "touch", ():
                self.session.last_active = self._clock()
            case _:
                return


def cut(messages: Sequence[Message], limit: int) -> int:
    """Return the length of the prefix to compact; it ends before a user message, at the latest the last one (RS-D0).

    It is the shortest such prefix that, replaced by one message, leaves at most *limit* messages; where none does, all
    messages before the last user message.
    """
    boundaries = [place for place, message in enumerate(messages) if message.role == "user" and place]
    return next((place for place in boundaries if 1 + len(messages) - place <= limit), max(boundaries, default=0))


def without_orphans(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages without results whose call is not among them (RS-3.2)."""
    called: set[str | None] = set()
    for message in messages:
        if message.role == "call":
            called.add(message.call_id)
        if message.role != "result" or message.call_id in called:
            yield message


def shown(messages: Sequence[Message]) -> tuple[Shown, ...]:
    """Return the messages as the model is shown them."""
    return tuple(map(_shown, messages))


def _shown(message: Message) -> Shown:
    match message.role:
        case "user":
            return Shown(role="user", text=message.text, ids=() if message.id is None else (message.id,))
        case "assistant":
            return Shown(role="assistant", text=message.text)
        case "call":
            return Shown(role="assistant", call_id=message.call_id, tool=message.tool)
        case "result":
            return Shown(
                role="tool", text=message.text, call_id=message.call_id, is_error=True if message.is_error else None
            )
