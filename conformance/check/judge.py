"""``check``: judge a recorded log by the laws that need only the log."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from turncheck.adapters.logs.chunks import Chunk
from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.reading import MAX_LINE, Log, read_log
from turncheck.model.core.cycles import Anomaly, Cycle
from turncheck.model.core.decode import Batch, completed
from turncheck.model.core.events import Malformed, RunPause, RunResume, RunStop, UnknownType
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import LogProjector
from turncheck.model.core.session_state import Progress

from ..laws.law import first_finding
from ..laws.log import LOG_LAWS

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "error"]

LISTED: Final = 1000
"""Findings of a law that are listed, the first ones; further ones are counted. A listed one takes 0.8 KB of memory."""
_SHOWN: Final = 80
"""Characters of an unknown type's name that a finding shows."""


_PARTS: Final = 64
"""Ranges of lines to keep before old ones are dropped: some thirty thousand events."""


class LogFinding(msgspec.Struct, frozen=True):
    """A law that the log breaks: ``at`` is the event's position, ``line`` its physical line (1-based)."""

    law: str
    clauses: tuple[str, ...]
    at: int
    line: int
    message: str


class LogResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The object that `check --json` prints for one log; ``why`` says why there was nothing to judge.

    That is the verdict ``error`` for a log that is empty or cannot be read, ``inconclusive`` for one without a run.
    ``findings`` lists the first thousand of each law; ``more`` counts, by law, those that are not listed.
    """

    log: str
    format: str
    events: int
    cycles: int
    findings: tuple[LogFinding, ...]
    verdict: Verdict
    why: str | None = None
    more: dict[str, int] = {}

    @property
    def exit_code(self) -> int:
        """1 when a law is broken, 2 when there was nothing to judge, else 0; for several logs, the greatest counts."""
        if self.why is not None:
            return 2
        return 1 if self.verdict == "fail" else 0


def more_lines(result: LogResult) -> Iterator[str]:
    """Say how many findings of each law are not listed."""
    for law, count in result.more.items():
        yield f"… and {count:,} more of {law}"


def check(
    name: str,
    stream: Stream,
    *,
    format_name: str | None = None,
    max_line: int = MAX_LINE,
    strict: bool = False,
    policies: Policies = DEFAULT,
    live: bool = False,
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
    *policies* are those of the projection. *progress* is called with the number of events read, block by block,
    *found* with each finding as soon as it is certain. A *live* log is still being written, and never counts as whole.

    Raises OSError, KeyError (unknown format name), MissingExtraError, and ValueError for a log that is not read:
    UnrecognisedError where no format fits, or not the one that is named; UnsupportedFormatError, TooLargeError,
    BrokenCompressionError.

    >>> from io import BytesIO
    >>> log = b'{"type":"user-message","text":"hi"}\n{"type":"run-stop","reason":"completed"}\n'
    >>> check("hi.jsonl", BytesIO(log)).verdict
    'pass'
    """
    log = read_log(stream, format_name=format_name, max_line=max_line, live=live)
    return judged(name, log, strict=strict, policies=policies, live=live, found=found, progress=progress)


def judged(
    name: str,
    log: Log,
    *,
    strict: bool = False,
    policies: Policies = DEFAULT,
    live: bool = False,
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
    judge = _Judge(log, policies, found)
    for chunk in log.chunks:
        judge.take(chunk)
        progress(judge.events)
    findings = judge.ending()
    verdict, why = judge.verdict(strict=strict or (log.format.whole and not live))
    return LogResult(
        log=name,
        format=log.format.name,
        events=judge.events,
        cycles=judge.cycles,
        findings=findings,
        verdict=verdict,
        why=why,
        more={law: count - LISTED for law, count in judge.counts.items() if count > LISTED},
    )


class _Places:
    """The lines of the events that a later anomaly can name: one range while lines and positions grow in step."""

    def __init__(self) -> None:
        self._parts: list[tuple[Sequence[int], Sequence[int]]] = []
        self._enough = _PARTS

    def add(self, ats: Sequence[int], lines: Sequence[int]) -> None:
        """Take the positions and lines of the next events."""
        if self._parts and all(isinstance(part, range) for part in (ats, lines, *self._parts[-1])):
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

    def __init__(self, log: Log, policies: Policies, tell: Callable[[LogFinding], None] = lambda _: None) -> None:
        self._format = log.format
        self._tell = tell
        self._sessions = LogProjector(policies)
        self._places = _Places()
        self._findings: list[LogFinding] = []
        self._paused: dict[str | None, int] = {}  # session → where it paused
        self._cut = 0  # runs that the log's end cut while they were not paused
        self.counts: Counter[str] = Counter()
        """Law → its findings, those that are not listed too."""
        self.events = 0
        self.cycles = 0

    def take(self, chunk: Chunk) -> None:
        if not chunk.ats:
            return
        self.events += len(chunk.ats)
        self._places.add(chunk.ats, chunk.lines())
        self._note_pauses(chunk.heard)
        progress = self._sessions.feed(chunk.heard)
        self.cycles += len(progress.cycles)
        if progress.anomalies:
            self._judge(progress, chunk.heard)
        self._places.forget(self._sessions)

    def ending(self) -> tuple[LogFinding, ...]:
        """The listed findings in the order of the lines that reveal them, those of the log's end last."""
        for session, anomaly in self._sessions.ending():
            paused = anomaly.kind == "truncated" and self._paused.get(session, -1) > anomaly.at
            self._cut += not paused
            self._find(anomaly, "it is paused" if paused else "")
        return tuple(self._findings)

    def verdict(self, *, strict: bool) -> tuple[Verdict, str | None]:
        """The verdict behind the end, and why where there was nothing to judge."""
        if not self.events:
            return "error", "the log is empty: there is nothing to judge"
        if not self.counts:
            nothing = "no event opens a run: there is nothing to judge"
            return ("pass", None) if self.cycles else ("inconclusive", nothing)
        open_only = self.counts.keys() == {"truncated"}
        return ("inconclusive" if open_only and not (strict and self._cut) else "fail"), None

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
        excused = excused_calls(cycle for _, cycle in progress.cycles) if self._format.client_calls else ()
        for _, anomaly in progress.anomalies:
            if anomaly.kind != "unanswered-call" or anomaly.at not in excused:
                self._find(anomaly, detail(anomaly, batch))

    def _find(self, anomaly: Anomaly, more: str = "") -> None:
        law = LOG_LAWS[anomaly.kind]
        broken = first_finding(law.judge(anomaly))
        assert broken is not None
        message = f"{broken.message}: {more}" if more else broken.message
        finding = LogFinding(law.name, law.clauses, anomaly.at, self._places.line(anomaly.at), message)
        self.counts[law.name] += 1
        if self.counts[law.name] <= LISTED:
            self._findings.append(finding)
        self._tell(finding)


def excused_calls(cycles: Iterable[Cycle]) -> set[int]:
    """The positions of calls in runs that completed: a client may still answer them in the next run's input."""
    return {at for cycle in cycles if cycle.reason == "completed" for at in cycle.items}


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
