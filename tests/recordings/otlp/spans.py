"""What the scripts of this folder share: a tracer whose clock and ids count, and which writes OTLP JSON, a batch a line."""

import io
import itertools
import json
import re

import opentelemetry.sdk.trace
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator

_BEGIN = 1767225600_000000000
_VARIES = {"exception.stacktrace": "Traceback", "gen_ai.client.operation.time_to_first_chunk": 0.0}
"""Attributes that hold this machine's paths or clock → what is written instead."""
_clock = itertools.count(_BEGIN, 1_000_000)
opentelemetry.sdk.trace.time_ns = lambda: next(_clock)  # a millisecond later at each look


class Counted(IdGenerator):
    def __init__(self):
        self._traces, self._spans = itertools.count(1), itertools.count(1)

    def generate_trace_id(self):
        return next(self._traces) << 64 | 0xA

    def generate_span_id(self):
        return next(self._spans) << 32 | 0xB


class Whole(SimpleSpanProcessor):
    """Hands all spans out at once in the end, as a batch processor does with what ended since its last look."""

    def __init__(self, exporter):
        super().__init__(exporter)
        self._spans = []

    def on_end(self, span):
        self._spans.append(span)

    def force_flush(self, timeout_millis=30000):
        self.span_exporter.export(self._spans)
        return True


def traced(*, whole=False, processors=()):
    """A provider of tracers, and the text that its exporter writes to: a span a line, or *whole* one line."""
    global _clock
    _clock = itertools.count(_BEGIN, 1_000_000)
    written = io.StringIO()
    provider = TracerProvider(
        id_generator=Counted(), resource=Resource({"service.name": "scripted"}), shutdown_on_exit=False
    )
    for processor in processors:
        provider.add_span_processor(processor)
    exporter = FileSpanExporter(stream=written)
    provider.add_span_processor(Whole(exporter) if whole else SimpleSpanProcessor(exporter))
    return provider, written


def tidied(text):
    """The lines, without what differs from run to run or is the machine's own: stack traces, names of tasks, a stop watch."""
    return "".join(json.dumps(_tidied(json.loads(line)), separators=(",", ":")) + "\n" for line in text.splitlines())


def _tidied(value):
    match value:
        case {"key": str(key), "value": {**given}} if key in _VARIES:
            return {"key": key, "value": {kind: _VARIES[key] for kind in given}}
        case dict():
            return {name: _tidied(inner) for name, inner in value.items()}
        case list():
            return [_tidied(inner) for inner in value]
        case str():
            return re.sub(r"cancel scope .*", "cancel scope", value, flags=re.DOTALL)
        case _:
            return value
