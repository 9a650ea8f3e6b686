"""A part of a log between two runs, judged as a log of its own: nothing before it changes what it means.

Whether that is so is known at the end of the part before: there the reader has to be as it is between two runs, and no
run may be open.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from turncheck.adapters.logs.chunks import Chunk
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.formats.resting import at_rest
from turncheck.adapters.logs.ranges import Range, opened_range, places_from
from turncheck.adapters.logs.reading import Log, read_log

from ..judge import judged
from ..results import LogResult, Tally
from .fragment import Summary

_Found: TypeAlias = "LogResult | Summary | Section"
"""The result of a range: here a section, or an error."""
_CUT: Final = "truncated"
"""The law that a run breaks where its log ends."""


class _Part(NamedTuple):
    """The result of one part, and its numbers of positions and lines."""

    result: LogResult
    positions: int
    lines: int


class Section:
    """The result of consecutive parts of one log, between which nothing goes on.

    ``rests``: nothing goes on behind the last one, so that the next one is what it was taken for.
    """

    def __init__(self, part: _Part | None, *, rests: bool) -> None:
        """Take one part, None for one that was not read as what it is in the log."""
        self.rests = rests
        self.part = part
        self._tally: Tally | None = None
        self._at = self._line = 0

    def __len__(self) -> int:
        """The number of findings that are kept."""
        return 0 if self.part is None else len(self.part.result.findings)

    def extend(self, behind: "Section") -> None:
        """Append the part *behind* these, behind which something may go on."""
        last, part = self.part, behind.part
        assert self.rests
        assert last is not None
        self.part, self.rests = part, behind.rests
        if part is not None:
            self._tally = self._tally or _begun(last.result)
            self._at += last.positions
            self._line += last.lines
            self._tally.append(part.result, self._at, self._line)

    @property
    def told(self) -> bool:
        """True if the log has to be judged in one piece."""
        return self.part is None

    def result(self, log: str, *, strict: bool, by_session: bool) -> LogResult:
        """Return the result of the whole *log*. Not where it is ``told``."""
        assert self.part is not None
        form = FORMATS[self.part.result.format]
        tally = self._tally or _begun(self.part.result)
        sessions = [None] if by_session else ()
        return tally.result(log, form.name, sessions, strict=strict or form.whole)


def _begun(first: LogResult) -> Tally:
    tally = Tally(by_session=bool(first.sessions))
    tally.append(first, 0, 0)
    return tally


def joined(parts: Sequence[Range], found: Iterator[_Found], again: Callable[[Range], _Found]) -> Section | LogResult:
    """Return the result of all *parts* of a log, from those *found* in each; an error ends it.

    Where something goes on across a border, the parts on both sides are judged *again* as one, and where it goes on
    behind that, all the rest is: so the work is at most three times that of one process.
    """
    begin, last = parts[0], next(found)
    whole: Section | None = None
    for number, (part, section) in enumerate(zip(parts[1:], found, strict=False), 2):
        if not isinstance(last, Section):
            break
        if last.rests:
            whole = _with(whole, last)
            begin, last = part, section
            continue
        last = again(begin._replace(end=part.end))
        if isinstance(last, Section) and not last.rests and number < len(parts):
            last = again(begin._replace(end=None))
            break
    if isinstance(last, Section):
        return _with(whole, last)
    assert isinstance(last, LogResult)
    return last


def _with(whole: Section | None, last: Section) -> Section:
    if whole is None:
        return last
    whole.extend(last)
    return whole


def judged_section(part: Range, log: str, max_line: int, *, strict: bool, by_session: bool) -> Section:
    """Judge a range that was cut between runs, of the log that is called *log*. Raises OSError."""
    last: Chunk | None = None

    def noted(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        nonlocal last
        for chunk in chunks:
            last = chunk if chunk.count else last
            yield chunk

    with opened_range(part, max_line) as (stream, begin):
        try:
            found = read_log(stream, format_name=part.form, max_line=max_line, behind=part.number > 0)
            again = replace(found, chunks=noted(found.chunks))
            result = judged(log, again, strict=strict, by_session=by_session)
        except ValueError:
            return Section(None, rests=False)
    if found.format.name != part.form:
        return Section(None, rests=False)
    places = _places(part, begin, last, max_line) if part.end is not None else (0, 0)
    return Section(_Part(result, *places), rests=_rests(found, result))


def _rests(log: Log, result: LogResult) -> bool:
    """Return whether nothing goes on behind a part."""
    is_cut = any(finding.law == _CUT for finding in result.findings) or _CUT in result.more
    rest = log.format.rest
    return not is_cut and rest is not None and log.mapper is not None and at_rest(log.mapper, rest)


def _places(part: Range, begin: int, last: Chunk | None, max_line: int) -> tuple[int, int]:
    """The numbers of positions and of lines of a part, whose first byte is at offset *begin*."""
    if last is None:
        return places_from(part, begin, max_line)
    before = last.where()[0][-1]
    origin = last.origin(last.count - 1)
    positions, lines = places_from(part, begin + origin.offset, max_line)
    return before + positions, origin.line - 1 + lines
