"""The clients that the harness plays: each hears of one conversation, and comes back with the events that it knows."""

from collections.abc import Mapping
from typing import Any

from turncheck.model.core.stimuli import Client

from .core import durable
from .shell import Shell


class Listener:
    """A client of the conversation *session*; what it hears first, unless it knows some events, is a snapshot."""

    def __init__(self, session: str, known: int | None) -> None:
        self._session, self._known, self._greeted = session, known, False
        self.told: list[Any] = []

    def __call__(self, news: Mapping[str, Any]) -> None:
        """Hear of a change."""
        if news["conversation"] != self._session:
            return
        greeted, self._greeted = self._greeted, True
        if greeted or self._known is not None:
            for event in durable(news["events"]):
                self._known = (self._known or 0) + 1
                self.told.append({**event, "cursor": str(self._known)})
        else:
            self._known = news["known"]
            active = news["state"] in {"awaiting", "executing"}
            cursor = str(self._known)
            self.told.append({"type": "snapshot", "events": news["events"], "active": active, "cursor": cursor})


class Listeners:
    """The clients of *shell*, by their names."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._there: dict[str, Listener] = {}

    def hear(self, stimulus: Client, session: str) -> None:
        """Let a client join, or leave; nothing happens where it is not there."""
        before = self._there.pop(stimulus.client_id, None)
        if before is not None:
            self._shell.clients.remove(before)
        if stimulus.action == "join":
            known = None if stimulus.cursor is None else int(stimulus.cursor)
            listener = self._there[stimulus.client_id] = Listener(session, known)
            self._shell.join(session, listener, known)

    def told(self) -> dict[str, tuple[Any, ...]]:
        """Return what each client was told since the last call."""
        found = {name: tuple(listener.told) for name, listener in self._there.items()}
        for listener in self._there.values():
            listener.told = []
        return found
