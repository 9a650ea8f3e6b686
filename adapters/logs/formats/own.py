"""Turncheck's own format: every value is an event of the core, or an anomaly."""

from collections.abc import Iterator, Sequence
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


def _recognises(_: Sequence[dict[str, Any]]) -> bool:
    """Whether nothing else did is for the registry's order to say."""
    return True


OWN: Final = Format(
    name="turncheck",
    title="turncheck event log",
    whole=False,
    client_calls=False,
    recognises=_recognises,
    mapper=OwnMapper,
)
