"""A session's memory: a fold over its journal, the same while it lives and after a restart (TM-3.5)."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from turncheck.model.core.stimuli import Shown
from turncheck.model.machines.turn import DEFAULTS

from ..history import shown


@dataclass(frozen=True)
class Told:
    """An event's fields that the machine and the refinement read; None for those that it lacks."""

    id: str | None = None
    text: Any = None
    delivery: str | None = None
    key: str | None = None
    identity: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sender: Any = None
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    decision: str | None = None
    output: Any = None
    failure: str | None = None
    message: str | None = None
    tokens: int = 0


@dataclass
class Memory:
    """The session's state from its journal; positions are its lines, from 0.

    ``root`` is the message of the open turn, -1 between turns. A direct turn has ``begun`` with its message; a turn
    whose message waited, with the first request that shows it. ``calls`` are the unanswered ones. A message is in
    ``history`` from the first request on that showed it.
    """

    while_active: str = DEFAULTS["while_active"]
    lines: int = 0
    turns: int = 0
    root: int = -1
    begun: bool = False
    queue: deque[int] = field(default_factory=deque[int])
    unread: list[int] = field(default_factory=list[int])
    calls: dict[str, int] = field(default_factory=dict[str, int])
    keys: dict[str, int] = field(default_factory=dict[str, int])
    told: dict[int, Told] = field(default_factory=dict[int, Told])
    terminals: dict[int, Mapping[str, Any]] = field(default_factory=dict[int, Mapping[str, Any]])
    history: list[Shown] = field(default_factory=list[Shown])

    def add(self, record: Mapping[str, Any]) -> None:
        """Take the next line."""
        match record["type"]:
            case "user-message":
                self._message(record)
            case "model-request":
                self._read()
            case "agent-output":
                self._output(record)
            case "tool-result":
                self._result(record)
            case "run-stop":
                self._stop(record)
            case _:
                pass
        self.lines += 1

    def _message(self, record: Mapping[str, Any]) -> None:
        identity: Mapping[str, Any] = record.get("turn") or {}
        key = key_of(identity)
        self.told[self.lines] = Told(
            id=record.get("id"),
            text=record.get("text"),
            delivery=record.get("delivery"),
            key=key,
            identity=identity,
            sender=record.get("sender"),
        )
        if key is not None:
            self.keys[key] = self.lines
        if self.root < 0:
            self._open(self.lines)
            self.begun = True
        elif (record.get("delivery") or self.while_active) == "steer":
            self.unread.append(self.lines)
        else:
            self.queue.append(self.lines)

    def _open(self, root: int) -> None:
        self.root, self.begun, self.unread = root, False, [root]

    def _read(self) -> None:
        """Move the unread messages into the history: the model is shown them from now on."""
        self.begun = True
        for at in self.unread:
            message = self.told[at]
            self.history.append(Shown(role="user", text=message.text, ids=(message.id,) if message.id else ()))
        self.unread = []

    def _output(self, record: Mapping[str, Any]) -> None:
        self.history += shown([record])
        if record["kind"] == "tool-call":
            call = record["callId"]
            self.calls[call] = self.lines
            decision = self.told.get(self.lines, Told()).decision  # the journal has none: no call of it runs again
            self.told[self.lines] = Told(
                call_id=call, tool=record["tool"], arguments=record.get("arguments"), decision=decision
            )

    def _result(self, record: Mapping[str, Any]) -> None:
        self.calls.pop(record["callId"], None)
        self.history += shown([record])

    def _stop(self, record: Mapping[str, Any]) -> None:
        self.terminals[self.root] = {name: record[name] for name in _TERMINAL if name in record}
        self.turns += 1
        self.root, self.begun, self.unread = -1, False, []
        if self.queue:
            self._open(self.queue.popleft())


def key_of(identity: Mapping[str, Any]) -> str | None:
    """Return a turn's idempotency key, None for a key that is no string (it makes the turn invalid)."""
    key = identity.get("idempotencyKey")
    return key if isinstance(key, str) else None


_TERMINAL: Final = ("turnId", "status", "failure", "why", "nextAction", "recovered")
