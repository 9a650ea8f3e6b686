"""Expand AG-UI's shorthand: ``*_CHUNK`` events stand for START, a delta and END."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ....logs.formats.ag_ui_items import AMID_CHUNKS
from ..jsons import Object, as_object


class _Family(NamedTuple):
    name: str
    field: str
    delta: str


_FAMILIES: Final = {
    f"{name}_CHUNK": _Family(name, field, delta)
    for name, field, delta in (
        ("TEXT_MESSAGE", "messageId", "CONTENT"),
        ("TOOL_CALL", "toolCallId", "ARGS"),
        ("REASONING_MESSAGE", "messageId", "CONTENT"),
    )
}


class Chunks:
    """Expands the chunks of one stream."""

    def __init__(self) -> None:
        self._open: tuple[_Family, str] | None = None

    def expand(self, value: Any) -> Iterator[Any]:
        """Yield the events for which *value* stands: itself if it is no chunk, or a chunk that continues nothing."""
        event = as_object(value)
        kind = event.get("type")
        kind = kind if isinstance(kind, str) else ""
        family = _FAMILIES.get(kind)
        if family is None:
            if kind not in AMID_CHUNKS:
                yield from self._end()
            yield value
            return
        name = event.get(family.field)
        if name is None and self._open is not None and self._open[0] is family:
            name = self._open[1]
        if not isinstance(name, str):
            yield value
            return
        if self._open != (family, name):
            yield from self._end()
            yield {**event, "type": f"{family.name}_START"}
            self._open = family, name
        if isinstance(event.get("delta"), str):
            yield {"type": f"{family.name}_{family.delta}", family.field: name, "delta": event["delta"]}

    def _end(self) -> Iterator[Object]:
        if self._open is not None:
            family, name = self._open
            self._open = None
            yield {"type": f"{family.name}_END", family.field: name}
