"""Lines of OTLP traces: of a span's attributes only those are decoded that are read."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Raw, Struct, json

from turncheck.model.core.events import Event

from ...formats.otlp.messages import MADE
from ...formats.otlp.reader import OtlpMapper
from ...formats.otlp.steps import INPUT, OUTPUT, READ, step_of
from ...formats.otlp.wire import Attributes, Head, plain
from ..spans import REFUSALS
from .reading import LineLoop, Take, one_by_one

_decode: Final = json.Decoder().decode
_string: Final = json.Decoder(str).decode


class _KeyValue(Struct, gc=False):
    key: str
    value: dict[str, Raw] | None = None


class _SpanEvent(Struct):
    pass


class _Span(Head, rename="camel"):
    """A span whose attributes are decoded where they are read; one with events is left to the mapper."""

    attributes: tuple[_KeyValue, ...] = ()
    events: tuple[_SpanEvent, ...] = ()

    def given(self) -> Attributes:
        """Return the attributes that are read, as plain values; of messages that the model knows the role alone."""
        found: Attributes = {}
        asked: list[tuple[int, _KeyValue]] = []
        last = -1
        for pair in self.attributes:
            key = pair.key
            if key in READ or key.startswith(OUTPUT):
                found[key] = _plain(pair.value)
            elif key.startswith(INPUT):
                number, _, path = key[len(INPUT) :].partition(".")
                place = _PLACES.get(number, _ODD)
                if path == "message.role":
                    role = found[key] = _plain(pair.value)
                    if role in MADE and place is not _ODD:
                        last = max(last, place)
                else:
                    asked.append((place, pair))
        found |= {pair.key: _plain(pair.value) for place, pair in asked if place > last}
        return found


_PLACES: Final = {str(place): place for place in range(1000)}
_ODD: Final = 1000
"""The place of a message whose number is no plain one, or greater: it is always read."""


def _plain(value: dict[str, Raw] | None) -> Any:
    if value is not None and len(value) == 1 and "stringValue" in value:
        return _string(value["stringValue"])
    return plain(value and {kind: _decode(given) for kind, given in value.items()})


class _Scope(Struct, gc=False):
    spans: tuple[_Span, ...] = ()


class _Resource(Struct, gc=False):
    scopeSpans: tuple[_Scope, ...] = ()  # noqa: N815


class _Line(Struct, gc=False):
    resourceSpans: tuple[_Resource, ...]  # noqa: N815


def _takes(mapper: OtlpMapper) -> Take:
    def take(line: _Line) -> Sequence[Event] | None:
        spans = [span for resource in line.resourceSpans for scope in resource.scopeSpans for span in scope.spans]
        if any(span.events or not span.trace_id or not span.span_id for span in spans):
            return None
        try:
            steps = [step_of(span) for span in spans]
        except REFUSALS:
            return None
        return mapper.batch(steps)

    return take


SPANS: Final = LineLoop(json.Decoder(_Line, strict=False).decode, one_by_one(_takes))
