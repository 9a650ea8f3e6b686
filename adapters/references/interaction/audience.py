"""The clients of one log: who is there, and what each of them is told."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from turncheck.model.core.stimuli import Client

Event: TypeAlias = Mapping[str, Any]
_UNTOLD: Final = ("model-request",)
"""Events that are no client's business."""


class Audience:
    """Clients, each of which is told every event from its joining on. A cursor is a number of events of the log.

    >>> audience, log = Audience(), [{"type": "user-message", "id": "u1", "text": "one"}]
    >>> audience.hear(Client(client_id="k1", action="join", cursor="0"), log, active=True)
    >>> audience.told()
    {'k1': ({'type': 'user-message', 'id': 'u1', 'text': 'one', 'cursor': '1'},)}
    """

    def __init__(self) -> None:
        self._there: dict[str, list[Any]] = {}

    def hear(self, stimulus: Client, log: Sequence[Event], *, active: bool) -> None:
        """Let a client leave, or join: anew it is told all at once, else what followed its cursor."""
        told = self._there.pop(stimulus.client_id, [])
        if stimulus.action == "leave":
            return
        self._there[stimulus.client_id] = told
        if stimulus.cursor is not None and stimulus.cursor.isdecimal():
            for at in range(int(stimulus.cursor), len(log)):
                told += _told(log[at], at)
        else:
            events = [event for event in log if event.get("type") not in _UNTOLD]
            told.append({"type": "snapshot", "events": events, "active": active, "cursor": str(len(log))})

    def tell(self, event: Event, at: int) -> None:
        """Tell all clients the event at a position of the log."""
        for told in self._there.values():
            told.extend(_told(event, at))

    def told(self) -> dict[str, tuple[Any, ...]]:
        """Return what each client was told since the last call."""
        found = {name: tuple(told) for name, told in self._there.items()}
        self._there = {name: [] for name in self._there}
        return found

    def clear(self) -> None:
        """Lose all clients, as a process that dies does."""
        self._there = {}


def _told(event: Event, at: int) -> list[Event]:
    return [] if event.get("type") in _UNTOLD else [{**event, "cursor": str(at + 1)}]
