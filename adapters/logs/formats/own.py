"""Turncheck's own format: every value is an event of the core, or an anomaly."""

from collections.abc import Iterator
from typing import Any, Final

from turncheck.model.core.decode import judge

from .mapping import Format, Mapped


class OwnMapper:
    """The identity, by the letter of RC-D5."""

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Yield the event that the value is."""
        yield at, judge(value)

    def end(self) -> Iterator[Mapped]:
        """Nothing is ever held back."""
        return iter(())


OWN: Final = Format(
    name="turncheck",
    title="turncheck event log",
    recognises=lambda _: True,  # the registry's order says that nothing else did
    mapper=OwnMapper,
)
