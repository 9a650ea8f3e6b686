"""A mapper that passes each event to the handler of its type: the common base of the event stream formats."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from turncheck.model.core.events import Malformed, RunStop

from .fields import MisfitError, Object, no_event
from .items import NATIVE, Items
from .mapping import Mapped

Handler: TypeAlias = Callable[[int, Object], None]


class Dispatcher:
    """Handlers put mapped events into ``items``; a line whose handler puts nothing becomes a ``Native``.

    A handler raises MisfitError before it changes anything. While ``over`` is set, no run is open: an event that has a
    handler is an anomaly even where it maps to nothing, for nothing of a run comes after its terminal (X-3).
    """

    handlers: Mapping[str, Handler]

    def __init__(self) -> None:
        self.items = Items()
        self.running = self.over = False

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Take the value at position *at*; yield what is settled by now."""
        self.accept(at, value)
        return self.items.release()

    def accept(self, at: int, value: Any) -> None:
        """Take the value at position *at*; what is settled by then waits in ``items``."""
        match value:
            case {"type": str(name)}:
                self._event(at, name, value)
            case _:
                self.items.put(at, no_event(value))

    def _event(self, at: int, name: str, event: Object) -> None:
        try:
            self.take(at, name, event)
        except MisfitError as misfit:
            self.items.put(at, Malformed(f"{name}: {misfit}"))
        if self.items.last != at:
            late = self.over and name in self.handlers
            self.items.put(at, Malformed(f"{name}: the run is over") if late else NATIVE)

    def take(self, at: int, name: str, event: Object) -> None:
        """Handle one event. Raises MisfitError."""
        handler = self.handlers.get(name)
        if handler is not None:
            handler(at, event)

    def stop(self, at: int, stop: RunStop) -> None:
        """End the run, and its open items."""
        self.items.finish_all()
        self.items.put(at, stop)
        self.running, self.over = False, True

    def finish(self) -> None:
        """Settle what was held back until the log's end; open items end by themselves."""

    def end(self) -> Iterator[Mapped]:
        """End the log: yield the events that were held back."""
        self.close()
        return self.items.release()

    def close(self) -> None:
        """End the log: nothing that waits in ``items`` is unsettled any more."""
        self.finish()
        self.items.fill()


def ignore(_at: int, _event: Object) -> None:
    """Handle an event that belongs to a run and means nothing to the core."""
