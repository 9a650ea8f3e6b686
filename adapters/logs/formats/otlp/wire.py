"""The wire of OTLP/JSON traces, typed: what a line holds, and a span's attributes as plain values."""

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec

from ..fields import MisfitError, Object, objects, records

_DEPTH: Final = 32
"""Levels of an attribute's value that are looked at: messages have five."""
_DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The event of a span whose attributes are the span's own, moved there because they are large."""
_EXCEPTION: Final = "exception"
EVENTS: Final = frozenset((_DETAILS, _EXCEPTION))
"""The events of a span that mean something."""
_SIGNALS: Final = {"resourceSpans", "resourceLogs", "resourceMetrics", "resourceProfiles"}
REMOTE: Final = 0x300
"""The bits of a span's flags that say: it is known whether the parent is a span of another process, and it is."""

ERRORS: Final = (2, "STATUS_CODE_ERROR")
OK: Final = (1, "STATUS_CODE_OK")
"""The codes of a status, each in both of its spellings."""

_VALUES: Final = ("stringValue", "arrayValue", "kvlistValue", "intValue", "doubleValue", "boolValue")

Attributes = dict[str, Any]


class _KeyValue(msgspec.Struct):
    key: str
    value: dict[str, Any] | None = None


class _SpanEvent(msgspec.Struct):
    name: str = ""
    attributes: list[_KeyValue] = []


class _Status(msgspec.Struct):
    code: int | str = 0
    message: str = ""


class Head(msgspec.Struct, rename="camel"):
    """A span without its attributes. Times may be strings, as the encoding of 64 bits says."""

    trace_id: str
    span_id: str
    start_time_unix_nano: int
    end_time_unix_nano: int
    parent_span_id: str | None = None
    name: str = ""
    flags: int = 0
    status: _Status | None = None

    def exception(self) -> str | None:
        """Return the type of the last exception that the span recorded."""
        return None


class Span(Head, rename="camel"):
    """A span, of which the fields that decide are decoded."""

    attributes: list[_KeyValue] = []
    events: list[_SpanEvent] = []

    def values(self) -> Attributes:
        """Return the attributes as plain values."""
        details = [pair for event in self.events if event.name == _DETAILS for pair in event.attributes]
        return {pair.key: plain(pair.value) for pair in (*self.attributes, *details)}

    def exception(self) -> str | None:
        """Return the type of the last exception that the span recorded."""
        types = [
            plain(pair.value)
            for event in self.events
            if event.name == _EXCEPTION
            for pair in event.attributes
            if pair.key == "exception.type"
        ]
        return types[-1] if types and isinstance(types[-1], str) else None


def spans_of(line: Object) -> Iterator[Object]:
    """Yield the spans of a line, as they are. Raises MisfitError where it is none of OTLP, or not whole."""
    if "resourceSpans" not in line:
        if line and _SIGNALS.isdisjoint(line):
            raise MisfitError("resourceSpans is missing")
        return
    for resource in records(line, "resourceSpans"):
        for scope in records(resource, "scopeSpans") if "scopeSpans" in resource else ():
            yield from records(scope, "spans") if "spans" in scope else ()


def span_of(value: Object) -> Span:
    """Return a span. Raises MisfitError for a value that is none."""
    try:
        span = msgspec.convert(value, Span, strict=False)
    except (msgspec.ValidationError, OverflowError, RecursionError) as error:
        raise MisfitError(f"span: {error}") from error
    if not span.trace_id or not span.span_id:
        raise MisfitError("span: its traceId or spanId is empty")
    return span


def plain(value: Object | None, depth: int = 0) -> Any:
    """Return an ``AnyValue`` as a plain value, None where it holds nothing. It has one kind; of several, one counts.

    >>> plain({"arrayValue": {"values": [{"stringValue": "stop"}, {"intValue": "3"}]}})
    ['stop', 3]
    """
    if value is None or depth >= _DEPTH:
        return None
    for kind in _VALUES:
        given = value.get(kind)
        match kind, given:
            case ("stringValue", str()) | ("boolValue", bool()) | ("intValue" | "doubleValue", int() | float()):
                return given
            case "intValue", str() if given.lstrip("-").isdecimal() and len(given) <= 20:
                return int(given)
            case "arrayValue", dict():
                return [plain(one, depth + 1) for one in _values(cast("Object", given))]
            case "kvlistValue", dict():
                pairs = _values(cast("Object", given))
                return {str(pair.get("key")): plain(_object(pair.get("value")), depth + 1) for pair in pairs}
            case _:
                pass
    return None


def _values(given: Object) -> list[Object]:
    return objects(given.get("values"))


def _object(value: object) -> Object | None:
    return cast("Object", value) if isinstance(value, dict) else None
