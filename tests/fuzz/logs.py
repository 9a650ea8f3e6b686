"""The code that takes recorded logs: readers of each format, the decoder, the projection, redaction."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from typing import Any, Final, TypeAlias
from unittest.mock import patch

import msgspec

from turncheck.adapters.logs import reading
from turncheck.adapters.logs.compression import BrokenCompressionError
from turncheck.adapters.logs.fast.lines.registry import READS
from turncheck.adapters.logs.fast.registry import LOOPS
from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.adapters.logs.formats.registry import UnsupportedFormatError
from turncheck.adapters.logs.framing import Origin
from turncheck.adapters.logs.reading import MAX_LINE, Log, read_log, read_values
from turncheck.conformance.check.judge import check, judged
from turncheck.conformance.check.redaction import _FIELDS, _WORDS, redact
from turncheck.conformance.check.results import LogResult
from turncheck.model.checking import oracle
from turncheck.model.checking.oracle import Interpreter
from turncheck.model.checking.reference_views import views
from turncheck.model.core import decode
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import Batch, decode_line, decode_lines, is_blank, judge_line, lines_of
from turncheck.model.core.events import (
    AgentOutput,
    Event,
    Native,
    RunStop,
    ToolResult,
    UserMessage,
    symbol_of,
)
from turncheck.model.core.policies import VALUES, Policies
from turncheck.model.core.projection import LogProjector, LogViewProjector, Projector, ViewProjector, project
from turncheck.model.machines.request_cycle import SPEC, tables

PIECE: Final = 61
"""Bytes per read of a slow stream, which cuts lines, marks and characters in two. Pieces of 7 halve the speed."""
LIMIT: Final = 128
"""Bytes of the longest line for inputs of odd length: short inputs can reach this limit."""
EVERY_POLICIES: Final = tuple(
    Policies(first, interrupted, error)  # type: ignore[arg-type]
    for first in VALUES["whileActive"]
    for interrupted in VALUES["queueAfterInterrupted"]
    for error in VALUES["queueAfterError"]
)
NESTING: Final = 200
"""Levels of JSON that every reader must take (docs/log-format.md)."""


class Pieces:
    """A binary stream that gives at most *size* bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = BytesIO(data)
        self._size = size

    def read1(self, size: int = -1, /) -> bytes:
        return self._data.read1(min(size, self._size) if size > 0 else self._size)


# ---- readers ----

_Found: TypeAlias = list[tuple[int, Event, Origin]]


def reader(name: str | None, data: bytes, *, whole: bool) -> None:
    """A log of any bytes is read once, each position in order and with its line, and judged by those lines.

    The *whole*, where no line nests too deep: cut into pieces, it is the same log, and by the mapper alone; no position
    is lost; ``check`` says the same.
    """
    limit = LIMIT if len(data) % 2 else MAX_LINE
    found, result = _judged(data, name, limit)
    if not whole or _shallow(data) != data:
        return
    assert found == _read(data, name, limit, PIECE)[0], "cut into pieces, it is another log"
    with mapper_alone():
        assert (found, result) == _judged(data, name, limit), "the mapper alone makes another log of it"
    if found is not None:
        positions = {at for at, _, _ in found}
        with suppress(UnsupportedFormatError):
            values = list(read_values(BytesIO(data), max_line=limit)[1])
            assert len(values) - values.count("[DONE]") <= len(positions) <= len(values), "a position is lost"
    if result is not None:
        assert check("-", BytesIO(data), format_name=name, max_line=limit) == result


def _judged(data: bytes, name: str | None, limit: int) -> tuple[_Found | None, LogResult | None]:
    found, log = _read(data, name, limit, len(data) + 1)
    if found is None or log is None:
        return None, None
    before = -1
    for at, _, origin in found:
        assert at >= before
        assert origin.line == data.count(b"\n", 0, origin.offset) + 1
        before = at
    if log.doubt is not None:
        return found, None
    result = judged("-", log)
    assert (result.exit_code == 2) == (result.why is not None)
    assert result.events == len(found)
    if result.findings:
        lines = {at: origin.line for at, _, origin in found}
        assert all(finding.line == lines[finding.at] for finding in result.findings)
    return found, result


def _read(data: bytes, name: str | None, limit: int, piece: int) -> tuple[_Found | None, Log | None]:
    """Return the events of a log with their positions and origins, and the log, which can be judged still."""
    try:
        log = read_log(Pieces(data, piece), format_name=name, max_line=limit)
        chunks = list(log.chunks)
    except (UnsupportedFormatError, BrokenCompressionError):
        return None, None
    fast = log.format.name in LOOPS or log.format.name in READS
    found = [
        (at, known(event) if fast else event, chunk.origin(index))
        for chunk in chunks
        for index, (event, at) in enumerate(zip(*chunk.batch, strict=True))
    ]
    return found, Log(log.format, iter(chunks), log.doubt)


@contextmanager
def mapper_alone() -> Iterator[None]:
    """Nothing is read fast."""
    with patch.multiple(reading, LOOPS={}, READS={}):
        yield


def known(event: Event) -> Event:
    """What fast reading knows of an event: not what a text or a part says, only that there is one."""
    match event:
        case AgentOutput(text=str(text)) if text:
            return msgspec.structs.replace(event, text="…")
        case UserMessage(content=list(parts)):
            return msgspec.structs.replace(event, content=[msgspec.Raw(b"{}")] * len(parts))
        case _:
            return event


# ---- the decoder ----


def seen(event: Event) -> tuple[Any, ...]:
    """Return an event's meaning to the core and its views."""
    symbol = symbol_of(event)
    given = (symbol, event.session_id)
    if symbol in ("malformed", "unknown-type"):
        return given
    match event:
        case AgentOutput(kind="tool-call"):
            return (*given, event.call_id, event.tool, event.response_id, event.source)
        case AgentOutput():
            return (*given, event.kind, event.text, event.response_id, event.source)
        case ToolResult():
            return (*given, event.call_id, event.is_error, event.synthetic, event.source)
        case UserMessage():
            parts = None if event.content is None else len(event.content)
            return (*given, event.text, parts, event.id, event.delivery, event.source)
        case RunStop():
            return (*given, event.reason, event.detail, event.source)
        case Native():
            return (*given, event.source)
        case _:
            return given


def _shallow(data: bytes) -> bytes:
    """Return *data* without lines that nest deeper than a reader must take: the stack decides if they are readable."""
    return b"\n".join(line for line in data.split(b"\n") if line.count(b"[") + line.count(b"{") <= NESTING)


def decoder(data: bytes, *, whole: bool) -> None:
    """A log's events are those of its lines by the exact judge: one by one, and in batches of any size.

    The *whole*: as a block too, and in batches of the usual size.
    """
    data = _shallow(data)
    every = lines_of(data)
    lines = [line for line in every if not is_blank(line)]
    expected = [seen(judge_line(line)) for line in lines]
    assert [seen(decode_line(line)) for line in lines] == expected, "line by line"
    if whole:
        events, number, _ = decode_lines(data)
        assert (list(map(seen, events)), number) == (expected, len(every)), "as a block"
        _in_batches(data, expected)
    with patch.multiple(decode, _LEAST=2, _SIZE=64, _FEW=len(data) % 4):
        _in_batches(data, expected)


def _in_batches(data: bytes, expected: list[tuple[Any, ...]]) -> None:
    taken = list(decode.batches(BOM_UTF8 + data))
    assert [seen(event) for batch in taken for event in batch.events] == expected, "in batches"
    assert [at for batch in taken for at in batch.ats] == list(range(len(expected)))


# ---- the projection ----


@cache
def _interpreter(policies: Policies) -> Interpreter:
    return Interpreter(SPEC, tables(policies))


def _by_the_rows(events: Sequence[Event], policies: Policies) -> Projection:
    """Return the oracle's projection; its machine is made once, and begins anew."""
    machine = _interpreter(policies)
    machine.context, machine.state = SPEC.fresh(tables(policies)), SPEC.initial
    return oracle.project(events, policies, machine)


def projection(data: bytes, *, whole: bool) -> None:
    """The generated loops project a log alike, in one batch or several; the first byte is for the policies.

    The *whole*: as the rows do; and session by session, with views and without.
    """
    first = data[0] if data else 0
    policies = EVERY_POLICIES[first % len(EVERY_POLICIES)]
    events = decode_lines(data[1:]).events
    size, ats = 1 + first % 5, range(len(events))
    batches = [Batch(events[at : at + size], ats[at : at + size]) for at in ats[::size]]
    expected = project(events, policies)
    viewing, cutting = ViewProjector(policies), Projector(policies)
    closed: list[Any] = []
    anomalies: list[Any] = []
    for batch in batches:
        viewing.feed(*batch)
        progress = cutting.feed(*batch)
        closed += [cycle for _, cycle in progress.cycles]
        anomalies += [anomaly for _, anomaly in progress.anomalies]
    assert viewing.projection() == expected, "batch by batch, the views are others"
    assert _joined(cutting, closed, anomalies, events) == expected, "batch by batch, the cycles are others"
    if whole:
        assert expected == _by_the_rows(events, policies), "the loop with views differs from the rows"
        sessions = _by_session(events, batches, policies)
        if len(sessions) == 1:
            assert [*sessions.values()] == [expected]


def _by_session(events: Sequence[Event], batches: Sequence[Batch], policies: Policies) -> dict[str | None, Projection]:
    """Return each session's projection, which is the same with views and without."""
    sessions, viewed = LogProjector(policies), LogViewProjector(policies)
    told: dict[str | None, tuple[list[Any], list[Any]]] = {}
    for batch in batches:
        viewed.feed(batch)
        done = sessions.feed(batch)
        for name, cycle in done.cycles:
            told.setdefault(name, ([], []))[0].append(cycle)
        for name, anomaly in done.anomalies:
            told.setdefault(name, ([], []))[1].append(anomaly)
    found = {
        name: _joined(projector, *told.get(name, ([], [])), events) for name, projector in sessions.projectors.items()
    }
    assert found == viewed.projections(), "session by session, cycles and views differ"
    return found


def _joined(projector: Projector, closed: list[Any], anomalies: list[Any], events: Sequence[Event]) -> Projection:
    last = projector.open_cycle()
    cycles = [*closed, *([] if last is None else [last])]
    every = (*anomalies, *projector.ending())
    return Projection(tuple(views(cycle, events) for cycle in cycles), projector.queued, projector.dropped, every)


# ---- redaction ----

_SAFE: Final = re.compile(r"\d+ characters|[mcrs]\d+")
_KEY: Final = re.compile(r"key\d+")
_LENGTH: Final = re.compile(r"\d+ characters")


def redaction(data: bytes, *, whole: bool) -> None:
    """Redaction keeps only a log's sizes, new names and the format's own words.

    The *whole*: its verdict stays the same, and its shape when it is redacted again.
    """
    data = _shallow(data)
    try:
        lines = list(redact(BytesIO(data), MAX_LINE, format_name="turncheck"))
    except (UnsupportedFormatError, BrokenCompressionError):
        return
    for line in lines:
        if line != "unreadable":
            _is_safe(json.loads(line))
    if not whole:
        return
    text = "".join(f"{line}\n" for line in lines).encode()
    assert _verdict(text) == _verdict(data), "redacted, it has another verdict"
    again = list(redact(BytesIO(text), MAX_LINE, format_name="turncheck"))
    assert [_LENGTH.sub("#", line) for line in again] == [_LENGTH.sub("#", line) for line in lines], "not idempotent"


def _is_safe(value: Any) -> None:
    if not isinstance(value, dict):
        _is_hidden(value)
        return
    for field, item in value.items():
        assert field in _FIELDS or _KEY.fullmatch(field), field
        if field == "tool" and isinstance(item, str):
            continue
        if isinstance(item, str) and item in _WORDS.get(field, ()):
            continue
        if field not in ("seq", "timestamp"):
            _is_hidden(item)


def _is_hidden(value: Any) -> None:
    match value:
        case str():
            assert _SAFE.fullmatch(value), value
        case list():
            for item in value:
                _is_hidden(item)
        case dict():
            assert all(map(_KEY.fullmatch, value))
            _is_hidden(list(value.values()))
        case _:
            assert value in (None, 0, True), value


def _verdict(data: bytes) -> tuple[Any, ...] | None:
    """Return the verdict, with findings by their event's number: in server-sent events a position is a line's."""
    try:
        result = check("-", BytesIO(data), format_name="turncheck")
    except UnrecognisedError:
        return None
    numbers = {at: number for number, (at, *_) in enumerate(_read(data, None, MAX_LINE, len(data) + 1)[0] or ())}
    found = [(finding.law, numbers[finding.at]) for finding in result.findings]
    return result.verdict, result.events, result.cycles, found
