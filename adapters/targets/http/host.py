"""The interfaces that a session needs: its host, and a way to post."""

from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol

from .client.run_reader import LogEvent
from .jsons import Object


class Post(Protocol):
    """Posts a RunAgentInput to the endpoint, and calls *sent* when that is done (see ``client.run_events``)."""

    def __call__(self, run_input: Object, sent: Callable[[], None]) -> AsyncGenerator[Any, None]:
        """Yield the values of the stream. Raises what ``run_events`` does."""
        ...


class Host(Protocol):
    """The driver to which a session belongs."""

    def log(self, name: str | None, event: LogEvent) -> None:
        """Something happened in the session of that name that is logged."""
        ...

    def moved(self) -> None:
        """Something happened: it is not quiet."""
        ...

    def rejected(self, message: LogEvent, why: str) -> None:
        """The endpoint refused *message*, which was logged a moment ago."""
        ...

    def broke(self, error: Exception) -> None:
        """The endpoint can't be reached any more, or we failed ourselves."""
        ...
