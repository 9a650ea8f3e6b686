"""The reader of OTLP traces: it keeps the spans of each trace until the trace is whole."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from turncheck.model.core.events import Event, Malformed

from ..fields import MisfitError, Object, objects
from ..lines import LineMapper
from ..mapping import Format
from .given import OPERATION, SPAN_KIND, given_of
from .steps import Step, step_of
from .traces import Trace
from .wire import span_of, spans_of

_WAIT: Final = 64
"""Lines for which a trace that seems to lack a response or a result is kept: a tool may end behind its agent."""
_OPEN: Final = 1000
"""Traces that are kept at once; the one that was touched first is read as it is."""
_REMEMBERED: Final = 1000
"""Traces that were read, whose spans mean nothing when an exporter repeats them. Others that come late are a run
without an end: what they belong to is read already."""


class OtlpMapper(LineMapper):
    """Maps lines of spans. The events of a trace stand at the line that completes it, or where the log ends."""

    def __init__(self) -> None:
        super().__init__()
        self._traces: dict[str, Trace] = {}  # the one that was touched first stands first
        self._due: dict[int, list[str]] = {}  # line → the traces that are read there, if nothing comes for them before
        self._read: dict[str, frozenset[str]] = {}  # trace → its spans
        self._number = 0

    def line(self, value: Object) -> list[Event]:
        """Return the events of the traces that this line completes, and why a span is none."""
        return self.batch(_steps(value))

    def batch(self, found: Iterable[Step | Malformed]) -> list[Event]:
        """Take the spans of a line; return the events of the traces that it completes, and why a span is none."""
        self._number = number = self._number + 1
        traces = self._traces
        told: list[Event] = []
        ready = [name for name in self._due.pop(number) if self._waited(name)] if number in self._due else []
        touched: dict[str, Trace] = {}
        for step in found:
            if isinstance(step, Malformed):
                told.append(step)
                continue
            name = step.trace
            if name in self._read and step.span in self._read[name]:
                continue
            trace = traces.pop(name, None) or Trace()
            traces[name] = touched[name] = trace
            trace.take(step, number)
        for name, trace in touched.items():
            if not trace.missing and self._ready(name, trace):
                ready.append(name)
        for name in dict.fromkeys(ready) if ready else ():
            told += self._closed(name)
        while len(traces) > _OPEN:
            told += self._closed(next(iter(traces)))
        return told

    def ending(self) -> list[Event]:
        """Read what is there of the traces that are not whole."""
        return [event for name in [*self._traces] for event in self._closed(name)]

    def _ready(self, name: str, trace: Trace) -> bool:
        """Return whether a trace that has every parent is read here; one that lacks little is waited for."""
        complete = trace.complete()
        if not complete:
            self._due.setdefault(self._number + _WAIT, []).append(name)
        return complete

    def _waited(self, name: str) -> bool:
        trace = self._traces.get(name)
        return trace is not None and not trace.missing and trace.touched + _WAIT == self._number

    def _closed(self, name: str) -> list[Event]:
        trace = self._traces.pop(name)
        spans = frozenset(trace.steps)
        self._read[name] = spans | self._read.pop(name) if name in self._read else spans
        if len(self._read) > _REMEMBERED:
            del self._read[next(iter(self._read))]
        return trace.events()


def _steps(line: Object) -> Iterator[Step | Malformed]:
    """Yield the steps that a line's spans are, and why something is none."""
    try:
        for found in spans_of(line):
            try:
                span = span_of(found)
                yield step_of(span, given_of(span.values()))
            except MisfitError as misfit:
                yield Malformed(str(misfit))
    except MisfitError as misfit:
        yield Malformed(str(misfit))


def _recognises(value: Object) -> bool:
    """Return whether a span is of the GenAI conventions or of OpenInference: OTLP alone may be of any program."""
    if "resourceSpans" not in value:
        return False
    with suppress(MisfitError):
        return any(_tells(span) for span in spans_of(value))
    return False


def _tells(span: Object) -> bool:
    return any(pair.get("key") in (OPERATION, SPAN_KIND) for pair in objects(span.get("attributes")))


OTLP: Final = Format(
    name="otlp",
    title="OpenTelemetry traces (OTLP JSON) of the GenAI conventions or OpenInference",
    recognises=_recognises,
    mapper=OtlpMapper,
    limits={
        "messages": "the first of a run, where content is captured",
        "delivery": "no",
        "outputs": "where content is captured",
        "calls": "of tools with spans, and where content is captured",
        "results": "of tools with spans, and in the next request where content is captured",
        "stops": "errors, and cancels that a span names; else completed, inferred where no output is stated",
    },
)
