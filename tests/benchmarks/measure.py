"""Interleaved measurements: the yardstick and a subject in turn, and the ratio pair by pair.

Absolute times drift with the machine; the ratio of two neighbours does not. The collector's settings are left alone.
"""

import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from typing import Any

from turncheck.conformance.check.judge import check
from turncheck.conformance.check.monitor import Monitor
from turncheck.model.checking.oracle import project as interpret
from turncheck.model.core.cycles import CycleViews
from turncheck.model.core.decode import Batch, batches, decode_lines
from turncheck.model.core.events import Event
from turncheck.model.core.loop import feed_views
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import LogProjector
from turncheck.model.core.session_state import ViewState
from turncheck.model.machines.request_cycle import tables

from . import streams, synthetic, yardstick
from .session_files import registry as session_files

TOGETHER = 1000
"""Events that a monitor is fed at once."""
LONG = 10
"""Events of the other rows to a line of a session file, which has kilobytes."""


@dataclass(frozen=True)
class Row:
    """A row of the table: bytes → …, as a multiple of the yardstick on the same bytes.

    With *stream* the log is in that format, and the yardstick is the generic decoder. With *written* too, both have it
    as that writes it. With *sent*, the subject has the log as server-sent events, and the yardstick decodes their data.
    With *file* it is a session file: its lines are long, and a tenth as many are enough. With *events* the subject has
    what is decoded of the log already, and so has its yardstick, the generated loop.
    """

    name: str
    subject: Callable[[Any], object]
    target: float | None
    goal: float | None
    sessions: int = 1
    filler: int = 0
    spread: int = 0
    stream: str | None = None
    written: Callable[[bytes], bytes] = bytes
    sent: bool = False
    file: str | None = None
    events: bool = False

    @property
    def yardstick(self) -> Callable[[Any], object]:
        """What the row is a multiple of."""
        if self.events:
            return loop_alone
        return yardstick.decode if self.stream is None and self.file is None else yardstick.generic

    def lines(self, events: int) -> int:
        """The lines of the logs, about."""
        return events if self.file is None else events // LONG

    def logs(self, events: int) -> tuple[Any, Any]:
        """The logs that the yardstick and the subject have: mostly the same one."""
        if self.file is not None:
            data = session_files.log(self.file, self.lines(events))
            return data, data
        if self.stream is not None:
            data = self.written(streams.log(self.stream, events))
            return data, streams.sent(data) if self.sent else data
        data = synthetic.log(events, sessions=self.sessions, filler=self.filler, spread=self.spread)
        if self.events:
            decoded = decode_lines(data).events
            return decoded, decoded
        return data, data


def cycles(data: bytes) -> int:
    """Cycles with positions, all anomaly kinds, policies; closed cycles are counted and dropped."""
    sessions = LogProjector()
    return sum(len(progress.cycles) for progress in map(sessions.feed, batches(data)))


def built(data: bytes) -> int:
    """Cycles with steps and rounds built; each is dropped when the next one closes."""
    state = ViewState(None, **tables(Policies()))
    last = deque[CycleViews](maxlen=1)
    for batch in batches(data):
        feed_views(state, last.append, *batch)
    return last[0].root


def judged(data: bytes) -> object:
    """Cycles and all laws that `check` judges, with their findings."""
    return check("log", BytesIO(data))


def by_transitions(data: bytes) -> object:
    """The same rows, driven by `transitions`, one trigger per event."""
    return interpret(decode_lines(data)[0])


def loop_alone(events: Sequence[Event]) -> object:
    """The generated loop on events that are decoded."""
    return LogProjector().feed(Batch(tuple(events), range(len(events))))


def together(events: Sequence[Event]) -> object:
    """A monitor that is fed a thousand events at once."""
    monitor = Monitor()
    for at in range(0, len(events), TOGETHER):
        monitor.feed_all(events[at : at + TOGETHER], session="a")
    return monitor


def one_by_one(form: str, values: Sequence[Any]) -> object:
    """A monitor that is fed values one by one."""
    monitor = Monitor(format_name=form)
    for value in values:
        monitor.feed(value, session="a")
    return monitor


def in_blocks(form: str, data: bytes) -> object:
    """A monitor that is fed blocks of whole lines."""
    monitor, begin = Monitor(format_name=form), 0
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + yardstick.CHUNK) + 1
        monitor.feed_all(data[begin:end], session="a")
        begin = end
    return monitor


WATCHED = ("ag-ui", "ai-sdk")
"""The formats in which a monitor is measured."""
TARGET = {"ag-ui": 2.0, "pi": 1.5, **dict.fromkeys(("ai-sdk", "openai-chat", "openai-responses", "anthropic"), 2.5)}
GOAL = {"ag-ui": 1.2, "pi": 1.0, **dict.fromkeys(("ai-sdk", "openai-chat", "openai-responses", "anthropic"), 1.5)}
SENT = ("ag-ui", "ai-sdk", "openai-chat", "openai-responses", "anthropic")
"""The formats that come as server-sent events."""
ROWS = (
    Row("cycles with positions, anomalies, policies", cycles, 1.85, 1.6),
    Row("the same, 200 sessions interleaved", cycles, 2.1, 1.8, sessions=200),
    Row("the same, events of 1 to 4 kB, evenly spread", cycles, 1.3, 1.15, filler=1000, spread=3000),
    Row("the same, events of 1 kB, no longer (printed, not targeted)", cycles, None, None, filler=1000),
    Row("cycles with steps and rounds built", built, 2.4, 2.0),
    Row("cycles and all log laws in one pass", judged, 3.2, 2.4),
    *(Row(f"{name} → verdict", judged, TARGET.get(name), GOAL.get(name), stream=name) for name in streams.STREAMS),
    *(Row(f"{name}, sent → verdict", judged, TARGET[name], GOAL[name], stream=name, sent=True) for name in SENT),
    Row("ag-ui, a time in each event → verdict", judged, None, None, stream="ag-ui", written=streams.stamped),
    Row("openai-chat, spaced → verdict", judged, 2.5, 1.5, stream="openai-chat", written=streams.spaced),
    Row("a monitor, 1,000 events at once", together, 2.0, None, events=True),
    Row(
        "a monitor, an event at a time (printed, not targeted)",
        partial(one_by_one, "turncheck"),
        None,
        None,
        events=True,
    ),
    Row("a monitor, blocks of lines", partial(in_blocks, "turncheck"), None, None),
    *(Row(f"{name} → a monitor, in blocks", partial(in_blocks, name), None, None, stream=name) for name in WATCHED),
    *(Row(f"{name} → verdict, long lines", judged, 1.5, 1.0, file=name) for name in session_files.FILES),
)


@dataclass(frozen=True)
class Measured:
    """Median of the ratios with the middle half of them, and the yardstick's own nanoseconds per event."""

    ratio: float
    low: float
    high: float
    decode: float


def ratio(row: Row, events: int, repetitions: int = 11) -> Measured:
    """Measure *row* on a log of so many events."""
    found = pairs(row, events, repetitions)
    low, middle, high = statistics.quantiles((subject / base for base, subject in found), n=4)
    return Measured(middle, low, high, statistics.median(base for base, _ in found) / row.lines(events) * 1e9)


def pairs(row: Row, events: int, repetitions: int) -> list[tuple[float, float]]:
    """Seconds of the yardstick and of *row*, by turns on the same log, in a process of its own.

    In one process, memory left in the allocator by earlier rows would count against this one: views took 2.48 after the
    other rows, 2.39 alone.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_pairs, row, events, repetitions).result()


def _pairs(row: Row, events: int, repetitions: int) -> list[tuple[float, float]]:
    plain, data = row.logs(events)
    return [(seconds(row.yardstick, plain), seconds(row.subject, data)) for _ in range(repetitions)]


def seconds(call: Callable[[bytes], object], data: bytes) -> float:
    """The processor time of one call, without the time of other processes on a shared core."""
    started = time.process_time()
    call(data)
    return time.process_time() - started
