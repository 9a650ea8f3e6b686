"""The result of ``check`` on one log: its findings, the verdict, and what a session has of both."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from turncheck.model.core.cycles import Anomaly, Cycle
from turncheck.model.core.events import session_and_agent

from ..laws.law import first_finding
from ..laws.log import LOG_LAWS

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "error"]

LISTED: Final = 1000
"""Findings of a law that are listed, the first ones; further ones are counted. A listed one takes 0.8 KB of memory."""


class LogFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """A law that the log breaks: ``at`` is the event's position, ``line`` its physical line (1-based).

    ``session`` and ``agent`` name whose event it is, where it says so.
    """

    law: str
    clauses: tuple[str, ...]
    at: int
    line: int
    message: str
    session: str | None = None
    agent: str | None = None


class SessionResult(msgspec.Struct, frozen=True):
    """A session of a log, or a sub-agent: its closed cycles, its findings, and whether a run is open at the end."""

    session: str | None
    agent: str | None
    cycles: int
    findings: int
    open: bool


class LogResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The object that `check --json` prints for one log; ``why`` says why there was nothing to judge.

    That is the verdict ``error`` for a log that is empty or cannot be read, ``inconclusive`` for one without a run.
    ``findings`` lists the first thousand of each law; ``more`` counts, by law, those that are not listed. ``sessions``
    is empty unless it was asked for.
    """

    log: str
    format: str
    events: int
    cycles: int
    findings: tuple[LogFinding, ...]
    verdict: Verdict
    why: str | None = None
    more: dict[str, int] = {}
    sessions: tuple[SessionResult, ...] = ()

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


class Tally:
    """Counts what is found in one log, in order, and makes the result of it; *tell* hears of each finding.

    Where *by_session*, cycles and findings are counted by session too.
    """

    def __init__(self, tell: Callable[[LogFinding], None] = lambda _: None, *, by_session: bool = False) -> None:
        self.events = self.cycles = 0
        self._tell, self._by_session = tell, by_session
        self._counts: Counter[str] = Counter()  # law → its findings, those that are not listed too
        self._findings: list[LogFinding] = []
        self._cut = 0  # runs that the log's end cut while they were not paused
        self._by: dict[str | None, list[int]] = {}  # session → its cycles, its findings, 1 where its run is open

    def closed(self, cycles: Sequence[tuple[str | None, Cycle]]) -> None:
        """Take the cycles that were closed."""
        self.cycles += len(cycles)
        if self._by_session:
            for session, _ in cycles:
                self._of(session)[0] += 1

    def add(self, session: str | None, cycles: int) -> None:
        """Take a number of closed cycles of a session."""
        self.cycles += cycles
        if self._by_session:
            self._of(session)[0] += cycles

    def find(self, session: str | None, anomaly: Anomaly, line: int, more: str = "") -> None:
        """Take an anomaly and the line of its position; *more* is what the event itself says."""
        law = LOG_LAWS[anomaly.kind]
        broken = first_finding(law.judge(anomaly))
        assert broken is not None
        message = f"{broken.message}: {more}" if more else broken.message
        finding = LogFinding(law.name, law.clauses, anomaly.at, line, message, *session_and_agent(session))
        self._counts[law.name] += 1
        if self._by_session:
            self._of(session)[1] += 1
        if self._counts[law.name] <= LISTED:
            self._findings.append(finding)
        self._tell(finding)

    def unlisted(self, session: str | None, law: str, count: int) -> None:
        """Take findings that are only counted, behind all that are listed."""
        self._counts[law] += count
        if self._by_session:
            self._of(session)[1] += count

    def append(self, behind: LogResult, at: int, line: int) -> None:
        """Take the result of the part of the log that comes *behind* what was taken, as if it were a log of its own.

        Its first event has the position *at*, its first line comes behind *line* lines. The log's format has one
        session.
        """
        self.events += behind.events
        self.cycles += behind.cycles
        for one in behind.findings:
            self._counts[one.law] += 1
            if self._counts[one.law] <= LISTED:
                self._findings.append(msgspec.structs.replace(one, at=one.at + at, line=one.line + line))
        for law, count in behind.more.items():
            self._counts[law] += count
        self._cut += behind.verdict == "fail"  # it counts where nothing else was found
        for row in behind.sessions:
            own = self._of(row.session)
            own[:] = own[0] + row.cycles, own[1] + row.findings, int(row.open)

    def ends_open(self, session: str | None, at: int, line: int, *, paused: bool) -> None:
        """Take a run, whose root stands *at* a position, that is open at the log's end."""
        self._cut += not paused
        if self._by_session:
            self._of(session)[2] = 1
        self.find(session, Anomaly("truncated", at), line, "it is paused" if paused else "")

    def _of(self, session: str | None) -> list[int]:
        return self._by.setdefault(session, [0, 0, 0])

    def result(self, log: str, form: str, sessions: Iterable[str | None], *, strict: bool) -> LogResult:
        """Return the result of the log, in the format *form*; *sessions* are all of its sessions, in order."""
        verdict, why = self._verdict(strict=strict)
        more = {law: count - LISTED for law, count in self._counts.items() if count > LISTED}
        rows: list[SessionResult] = []
        for session in sessions if self._by_session else ():
            cycles, findings, is_open = self._by.get(session, (0, 0, 0))
            rows.append(SessionResult(*session_and_agent(session), cycles, findings, bool(is_open)))
        return LogResult(log, form, self.events, self.cycles, tuple(self._findings), verdict, why, more, tuple(rows))

    def _verdict(self, *, strict: bool) -> tuple[Verdict, str | None]:
        """The verdict behind the end, and why where there was nothing to judge."""
        if not self.events:
            return "error", "the log is empty: there is nothing to judge"
        if not self._counts:
            nothing = "no event opens a run: there is nothing to judge"
            return ("pass", None) if self.cycles else ("inconclusive", nothing)
        open_only = self._counts.keys() == {"truncated"}
        return ("inconclusive" if open_only and not (strict and self._cut) else "fail"), None
