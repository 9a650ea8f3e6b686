"""Turncheck's own format: every value is an event of the core, or an anomaly."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from turncheck.model.core.decode import decode_lines, field_rules, judge
from turncheck.model.core.events import Event

from .mapping import Format, Mapped
from .told_ends import ToldEnds


class OwnMapper:
    """The identity mapping; RC-D5 decides which values are events. An end that is told again is an observation."""

    def __init__(self) -> None:
        self._ends = ToldEnds()

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        """Yield the value, which may be an event of the core already, as an event, or as an anomaly."""
        via = cast("Mapping[str, Any]", value).get("via") if isinstance(value, dict) else None
        yield at, self._ends.once(cast(Event, value) if isinstance(value, Struct) else judge(value), via)

    def block(self, text: bytes) -> tuple[Event, ...]:
        """Return the events of whole lines, one a line that is not blank."""
        return self._ends.block(decode_lines(text), text)

    def end(self) -> Iterator[Mapped]:
        """Yield nothing: this mapper never holds an event back."""
        return iter(())


_TYPES: Final = {name for name, *_ in field_rules()}


def _recognises(value: Mapping[str, Any]) -> bool:
    name = value.get("type")
    if not isinstance(name, str) or name not in _TYPES:
        return False
    return name != "tool-result" or "callId" in value  # the AI SDK's parts have a toolCallId


OWN: Final = Format(name="turncheck", title="turncheck event log", recognises=_recognises, mapper=OwnMapper)
