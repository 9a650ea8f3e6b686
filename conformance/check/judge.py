"""``check``: judge a recorded log by the laws that need only the log."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from turncheck.adapters.logs.chunks import Chunk
from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.reading import MAX_LINE, Log, read_log
from turncheck.model.core.cycles import Anomaly
from turncheck.model.core.decode import Batch, completed
from turncheck.model.core.events import Malformed, RunPause, RunResume, RunStop, UnknownType
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import LogProjector
from turncheck.model.core.session_state import Progress

from .results import LogFinding, LogResult, Tally

_SHOWN: Final = 80
"""Characters of an unknown type's name that a finding shows."""
_PARTS: Final = 64
"""Ranges of lines to keep before old ones are dropped: some thirty thousand events."""


def check(
    name: str,
    stream: Stream,
    *,
    format_name: str | None = None,
    max_line: int = MAX_LINE,
    strict: bool = False,
    policies: Policies = DEFAULT,
    live: bool = False,
    by_session: bool = False,
    found: Callable[[LogFinding], None] = lambda _: None,
    progress: Callable[[int], None] = lambda _: None,
) -> LogResult:
    r"""Judge one log, called *name* in the result, by the laws on logs (RC-D4, RC-D5).

    *stream* is read once, in blocks; memory holds the open cycles, the queues, a word per session, and the findings:
    up to ``LISTED`` of each law.
    *format_name* is a name of the registry, a family or ``python:module:NAME``; by default the format is recognised.
    *max_line* is in bytes. A log that is merely
    ``truncated`` is inconclusive, unless *strict*, or its format says that it is whole. One that ends while its runs
    are paused is inconclusive, whatever *strict* says. So is one in which no event
    opens a run or breaks a law, whatever *strict* says; an empty log is an ``error``.
    *policies* are those of the projection. Where *by_session*, the result lists the sessions.
    *progress* is called with the number of events read, block by block, *found* with each finding as soon as it is
    certain. A *live* log is still being written, and never counts as whole.

    Raises OSError, KeyError (unknown format name), MissingExtraError, and ValueError for a log that is not read:
    UnrecognisedError where no format fits, or not the one that is named; UnsupportedFormatError, TooLargeError,
    BrokenCompressionError.

    >>> from io import BytesIO
    >>> log = b'{"type":"user-message","text":"hi"}\n{"type":"run-stop","reason":"completed"}\n'
    >>> check("hi.jsonl", BytesIO(log)).verdict
    'pass'
    """
    log = read_log(stream, format_name=format_name, max_line=max_line, live=live)
    options = {"strict": strict, "live": live, "by_session": by_session}
    return judged(name, log, policies=policies, found=found, progress=progress, **options)


def judged(
    name: str,
    log: Log,
    *,
    strict: bool = False,
    policies: Policies = DEFAULT,
    live: bool = False,
    by_session: bool = False,
    found: Callable[[LogFinding], None] = lambda _: None,
    progress: Callable[[int], None] = lambda _: None,
) -> LogResult:
    """Judge a log that is read already, as ``check`` does. Raises UnrecognisedError, OSError.

    >>> from io import BytesIO
    >>> judged("", read_log(BytesIO(b'{"type":"user-message","text":"hi"}'))).verdict
    'inconclusive'
    """
    if log.doubt is not None:
        raise UnrecognisedError(log.doubt)
    tally = Tally(found, by_session=by_session)
    judge = _Judge(log, policies, tally)
    for chunk in log.chunks:
        judge.take(chunk)
        progress(tally.events)
    judge.end()
    return tally.result(name, log.format.name, judge.sessions, strict=strict or (log.format.whole and not live))


class _Places:
    """The lines of the events that a later anomaly can name: one range while lines and positions grow in step."""

    def __init__(self) -> None:
        self._parts: list[tuple[Sequence[int], Sequence[int]]] = []
        self._enough = _PARTS

    def add(self, ats: Sequence[int], lines: Sequence[int]) -> None:
        """Take the positions and lines of the next events."""
        together = (ats, lines, *self._parts[-1]) if self._parts else ()
        if together and all(isinstance(part, range) and part.step == 1 for part in together):
            before, numbers = self._parts[-1]
            if (before[-1] + 1, numbers[-1] + 1) == (ats[0], lines[0]):
                self._parts[-1] = range(before[0], ats[-1] + 1), range(numbers[0], lines[-1] + 1)
                return
        self._parts.append((ats, lines))

    def line(self, at: int) -> int:
        """Return the line of a position."""
        ats, lines = self._parts[bisect_right(self._parts, at, key=lambda part: part[0][0]) - 1]
        return lines[bisect_left(ats, at)]

    def forget(self, sessions: LogProjector) -> None:
        """Drop positions that no later anomaly can name, rarely enough to be linear over all chunks."""
        if len(self._parts) > self._enough:
            at = sessions.oldest
            self._parts = [part for part in self._parts if at is not None and part[0][-1] >= at]
            self._enough = max(_PARTS, 2 * len(self._parts), len(sessions.projectors) // _PARTS)


class _Judge:
    """The sessions, run over the chunks; each anomaly gets its line."""

    def __init__(self, log: Log, policies: Policies, tally: Tally) -> None:
        self._format = log.format
        self._tally = tally
        self._sessions = LogProjector(policies)
        self._places = _Places()
        self._paused: dict[str | None, int] = {}  # session → where it paused

    def take(self, chunk: Chunk) -> None:
        if not chunk.count:
            return
        self._tally.events += chunk.count
        self._places.add(*chunk.where())
        if chunk.pauses or self._paused:
            self._note_pauses(chunk.heard)
        progress = self._sessions.feed(chunk.heard)
        self._tally.closed(progress.cycles)
        if progress.anomalies:
            self._judge(progress, chunk.heard)
        self._places.forget(self._sessions)

    @property
    def sessions(self) -> Iterable[str | None]:
        """The sessions, in the order in which they appeared."""
        return self._sessions.projectors

    def end(self) -> None:
        """Judge the log's end: its findings come last."""
        for session, anomaly in self._sessions.ending():
            paused = self._paused.get(session, -1) > anomaly.at
            self._tally.ends_open(session, anomaly.at, self._places.line(anomaly.at), paused=paused)

    def _note_pauses(self, batch: Batch) -> None:
        """Note which sessions are paused; one look at a batch's types is all that a log without pauses costs."""
        if not self._paused and RunPause not in map(type, batch.events):
            return
        for event, at in zip(*batch, strict=True):
            if isinstance(event, RunPause):
                self._paused[event.session_id] = at
            elif isinstance(event, RunResume | RunStop):
                self._paused.pop(event.session_id, None)

    def _judge(self, progress: Progress, batch: Batch) -> None:
        excused = excused_calls(progress) if self._format.client_calls else ()
        for session, anomaly in progress.anomalies:
            if anomaly.kind != "unanswered-call" or anomaly.at not in excused:
                line = self._places.line(anomaly.at)
                self._tally.find(session, anomaly, line, detail(anomaly, batch))


def excused_calls(progress: Progress) -> set[int]:
    """The positions of open calls in runs that completed: a client may still answer them in the next run's input.

    Such a call is told as its run closes, so that both are found in one order: to list all that these runs hold took
    some 0.15 of the yardstick in a log of model responses, each of which ends with a call.
    """
    cycles = iter(progress.cycles)
    session, cycle = next(cycles, (None, None))
    excused: set[int] = set()
    for owner, anomaly in progress.anomalies:
        if anomaly.kind == "unanswered-call":
            while cycle is not None and (session != owner or not cycle.holds(anomaly.at)):
                session, cycle = next(cycles, (None, None))
            if cycle is not None and cycle.reason == "completed":
                excused.add(anomaly.at)
    return excused


def detail(anomaly: Anomaly, batch: Batch) -> str:
    """The fault that the event itself names, if any; several events may share the position."""
    events, ats = batch
    index = bisect_left(ats, anomaly.at)
    while index < len(ats) and ats[index] == anomaly.at:
        event = events[index]
        match anomaly.kind, event if isinstance(event, UnknownType | Malformed) else completed(event):
            case "malformed", Malformed(why=why):
                return why
            case "unknown-type", UnknownType(name=name):
                return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
            case _:
                index += 1
    return ""
