"""Turncheck's own format: every value is an event of the core, or an anomaly."""

from collections.abc import Iterator
from typing import Any, Final

from turncheck.model.core.decode import judge

from .mapping import Format, Mapped


class OwnMapper:
    """The identity mapping; RC-D5 decides which values are events."""

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Yield the value as an event, or as an anomaly."""
        yield at, judge(value)

    def end(self) -> Iterator[Mapped]:
        """Yield nothing: this mapper never holds an event back."""
        return iter(())


OWN: Final = Format(
    name="turncheck",
    title="turncheck event log",
    recognises=lambda _: True,  # the last in the registry's order: no other format recognised the log
    mapper=OwnMapper,
)
