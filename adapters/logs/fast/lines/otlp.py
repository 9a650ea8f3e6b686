"""Lines of OTLP traces: of a span's attributes only those are decoded that are read, and of inputs what is new."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Raw, Struct, ValidationError, json

from ...formats.otlp.given import INPUT, OPERATION, OUTPUT, SESSIONS, SPAN_KIND, Given, first_choice, kind_of
from ...formats.otlp.messages import MADE, NOTHING, Asked, asked_of, genai_messages, spread_messages
from ...formats.otlp.reader import OtlpMapper
from ...formats.otlp.spread import ALONE, ANSWERED, OTHER, PLACES, ROLE, Leaf, Number, Spread
from ...formats.otlp.steps import Step, step_of
from ...formats.otlp.wire import EVENTS, Head, plain
from ..spans import REFUSALS
from .histories import Histories
from .reading import Feed, Heard, LineLoop

_string: Final = json.Decoder(str).decode
_decode: Final = json.Decoder().decode


class _Value(Struct, gc=False):
    stringValue: Raw = Raw()  # noqa: N815
    arrayValue: Raw = Raw()  # noqa: N815


class _KeyValue(Struct, gc=False):
    key: str
    value: _Value | None = None


class _SpanEvent(Struct, gc=False):
    name: str = ""
    attributes: tuple[_KeyValue, ...] = ()


class _Span(Head, rename="camel", gc=False):
    """A span whose attributes are decoded where they are read."""

    attributes: tuple[_KeyValue, ...] = ()
    events: tuple[_SpanEvent, ...] = ()


class _Scope(Struct, gc=False):
    spans: tuple[_Span, ...] = ()


class _Resource(Struct, gc=False):
    scopeSpans: tuple[_Scope, ...] = ()  # noqa: N815


class _Line(Struct, gc=False):
    resourceSpans: tuple[_Resource, ...]  # noqa: N815


_Values: TypeAlias = dict[str, _Value | None]


def _feeds(mapper: OtlpMapper) -> Feed:
    histories, batch = Histories(), mapper.batch

    def steps_of(line: _Line | None) -> list[Step] | None:
        steps: list[Step] = []
        if line is None:
            return None
        try:
            for resource in line.resourceSpans:
                for scope in resource.scopeSpans:
                    for span in scope.spans:
                        steps.append(step_of(span, _given(span, histories)))  # noqa: PERF401 - faster
        except REFUSALS:
            return None
        return steps

    def feed(lines: Iterable[Any], first: int, heard: Heard) -> None:
        for at, steps in enumerate([*map(steps_of, lines)], first):
            if steps is None:
                heard.leave(at)
            else:
                told = batch(steps)
                if told:
                    heard.add(at, told)

    return feed


class _Given(Given, gc=False):
    """Attributes that are decoded where they are asked for: ``values`` has them as they are written."""

    def plain(self, name: str) -> Any:
        """Return an attribute as a plain value, None where there is none."""
        return _plain(self.values[name]) if name in self.values else None

    def first(self, names: Sequence[str]) -> str | None:
        """Return the first of some attributes that is a text, and not empty."""
        values = self.values
        for name in names:
            value = values.get(name)
            if value is not None:
                found = _string(value.stringValue) if value.stringValue else _plain(value)
                if found and isinstance(found, str):
                    return found
        return None


def _given(span: _Span, histories: Histories) -> Given:
    """Return the attributes of a span. Raises ValidationError for one that is left to the mapper."""
    if not span.trace_id or not span.span_id or (span.events and _tells(span.events)):
        raise ValidationError
    written: _Values = {pair.key: pair.value for pair in span.attributes}
    name = OPERATION if OPERATION in written else SPAN_KIND
    kind = kind_of(name, _plain(written[name]) if name in written else None)
    given = _Given(kind, written)
    session = given.session = given.first(SESSIONS)
    if kind == "tool" or kind == "other":  # noqa: PLR1714 - faster
        return given
    if INPUT in written:
        given.asked = _genai(written[INPUT], histories, session or span.trace_id)
    if kind == "model":
        given.made = first_choice(given.plain(OUTPUT))
    if given.asked is None or (given.made is None and kind == "model"):
        _spread(given, written)
    return given


def _tells(events: Sequence[_SpanEvent]) -> bool:
    return any(event.name in EVENTS for event in events)


def _genai(value: _Value | None, histories: Histories, conversation: str) -> Asked | None:
    asked = histories.asked(conversation, value.stringValue) if value is not None and value.stringValue else None
    if asked is None:
        messages = genai_messages(_plain(value))
        asked = None if messages is None else asked_of(messages)
    return asked


def _spread(given: _Given, written: _Values) -> None:
    """Take the messages of OpenInference, where there are no others. Of those without news the role alone is read."""
    inputs: list[tuple[Number, Leaf, _Value | None]] = []
    outputs: Spread = {}
    last = ALONE  # the number of the model's last message
    for key, value in reversed(written.items()):  # the latest messages, which are new, mostly stand last
        place = PLACES[key]
        if place is None:
            continue
        message, leaf = place.message, place.leaf
        if place.made:
            outputs.setdefault(message, {})[leaf] = None if leaf is OTHER else _plain(value)
        elif message > last:
            if leaf is ROLE and _plain(value) in MADE:
                last = message
            else:
                inputs.append((message, leaf, value))
    if given.asked is None and (inputs or last is not ALONE):
        users = {message for message, leaf, value in inputs if leaf is ROLE and _plain(value) == "user"}
        new: Spread = {}
        for message, leaf, value in inputs:
            if message > last and (leaf is ANSWERED or (message in users and leaf is not OTHER)):
                new.setdefault(message, {})[leaf] = _plain(value)
        messages = spread_messages(new)
        given.asked = NOTHING if messages is None else asked_of(messages)
    if given.made is None and given.kind == "model":
        given.made = spread_messages(outputs)


def _plain(value: _Value | None) -> Any:
    """Return a plain value. Raises ValidationError for one that is left to the mapper."""
    if value is None:
        return None
    if value.stringValue:
        return _string(value.stringValue)
    if not value.arrayValue:
        raise ValidationError
    found = plain({"arrayValue": _decode(value.arrayValue)})
    if found is None:
        raise ValidationError
    return found


SPANS: Final = LineLoop(json.Decoder(_Line, strict=False).decode, _feeds)
