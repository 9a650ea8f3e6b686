"""One log of a fleet, or a range of one: what cannot be opened or read is a result too."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from turncheck.adapters.logs import parquet
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.places import opened, without_secrets
from turncheck.adapters.logs.ranges import Range

from ..judge import check
from ..judge import judged as judged_log
from ..results import LogFinding, LogResult
from .fragment import Summary, summarised
from .section import Section, judged_section

Work: TypeAlias = str | Range
"""The path of a log, or a range of a large one."""
Found: TypeAlias = LogResult | Summary | Section
"""The result of a log, or that of a range, which is merged with its neighbours'."""
AUTO: Final = "auto"
"""The format of a result for a log whose format nobody named or recognised."""


@dataclass(frozen=True)
class How:
    """Options of judging logs, as in ``judge.check``; where *tells*, each finding is told as soon as it is certain.

    Where *by_session*, the results list the sessions. *columns* are those of lines and of sessions in Parquet.
    """

    format_name: str | None
    max_line: int
    strict: bool = False
    tells: bool = False
    by_session: bool = False
    columns: tuple[str, str] = parquet.COLUMNS


def judged(
    path: str,
    how: How,
    *,
    found: Callable[[LogFinding], None] = lambda _: None,
    progress: Callable[[int], None] = lambda _: None,
    opened: Callable[[str], AbstractContextManager[Stream]] = opened,
) -> LogResult:
    """Judge the log at *path*; *found* and *progress* are those of ``judge.check``, *found* only where *how* tells.

    >>> judged("nowhere.jsonl", How(None, 1000)).why
    'No such file or directory'
    """
    options: Any = {"strict": how.strict, "by_session": how.by_session}
    options |= {"found": found if how.tells else _ignored, "progress": progress}
    reading: Any = {"format_name": how.format_name, "max_line": how.max_line}
    try:
        if path.endswith(parquet.SUFFIX):
            with parquet.read_table(path, how.columns, **reading) as log:
                return judged_log(shown(path), log, **options)
        with opened(path) as stream:
            return check(shown(path), stream, **reading, **options)
    except (OSError, ValueError) as error:
        return unjudged(path, how, reason(error))


def done(work: Work, how: How, found: Callable[[LogFinding], None] = lambda _: None) -> Found:
    """Judge a log, or a range of one."""
    if isinstance(work, str):
        return judged(work, how, found=found)
    try:
        if work.form is None:
            return summarised(work, how.max_line)
        return judged_section(work, shown(work.path), how.max_line, strict=how.strict, by_session=how.by_session)
    except OSError as error:
        return unjudged(work.path, how, reason(error))


def name_of(work: Work) -> str:
    """Return the name of a log, of a range with its place, as text that can be printed."""
    return shown(work) if isinstance(work, str) else f"{shown(work.path)}, from byte {work.begin:,} on"


def _ignored(_: LogFinding) -> None:
    pass


def unjudged(path: str, how: How, why: str) -> LogResult:
    """Return the result of a log that cannot be judged."""
    return LogResult(shown(path), how.format_name or AUTO, 0, 0, (), "error", why)


def shown(path: str) -> str:
    """Return a path as text that can be printed and encoded, a URL without its secrets."""
    return os.fsencode(without_secrets(path)).decode(errors="replace")


def reason(error: OSError | ValueError) -> str:
    """Say why a log cannot be read, without its name."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
