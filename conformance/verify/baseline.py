"""The baseline: laws that are known to be broken, or flaky, each with a reason and an issue; and results graded by it.

docs/baseline.md explains the file.
"""

import datetime as dt
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec.structs import replace

from ..laws.law import Law
from ..laws.registry import LAWS, meant
from .results import Expectation, LawResult, Result, State

DOCUMENT: Final = "docs/baseline.md"
UNFILED: Final = "none yet"
"""The issue that an update writes for a failure that nobody has looked at."""
LISTS: Final = ("known", "flaky")

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class BaselineError(Exception):
    """A baseline that cannot be used: which file, which key, and what was expected there."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason why a law may fail, the issue that follows it up, and the last day of the excuse (None: no end)."""

    reason: _Text
    issue: _Text
    expires: dt.date | None = None

    def live(self, today: dt.date) -> bool:
        """True where it has not expired."""
        return self.expires is None or today <= self.expires


@dataclass(frozen=True)
class Baseline:
    """Law or glob → entry, in the file's order: failures that are expected, and laws that may pass or fail."""

    known: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    flaky: Mapping[str, Entry] = field(default_factory=dict[str, Entry])

    def live(self, today: dt.date) -> "Baseline":
        """Leave out the entries that have expired."""
        both = (self.known, self.flaky)
        return Baseline(*({glob: one for glob, one in entries.items() if one.live(today)} for entries in both))


def read(path: Path) -> Baseline:
    """Read and check a baseline file. Raises BaselineError."""
    try:
        return parse(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise BaselineError(f"the baseline {path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BaselineError(f"the baseline {path} is not UTF-8: {error}") from error


def parse(text: str, name: str) -> Baseline:
    """Parse the text of a baseline; *name* is used in messages. Raises BaselineError."""
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BaselineError(f"the baseline {name} is not TOML: {error}") from error
    unknown = [key for key in given if key not in LISTS]
    if unknown:
        raise BaselineError(
            f"the baseline {name}: {unknown[0]!r} is no list; there are [known] and [flaky] ({DOCUMENT})"
        )
    return Baseline(*(_entries(given.get(which, {}), f"the baseline {name}: {which}") for which in LISTS))


def _entries(given: Any, where: str) -> Mapping[str, Entry]:
    if not isinstance(given, dict):
        raise BaselineError(f"{where} is not a table: expected [known], then a line for each law ({DOCUMENT})")
    return {glob: _entry(glob, value, f"{where}.{glob}") for glob, value in cast(dict[str, Any], given).items()}


def _entry(glob: str, value: Any, where: str) -> Entry:
    if not _fitting(glob, ("projector", "runtime")):
        hint = meant(glob, [law for law in LAWS.values() if law.subject in {"projector", "runtime"}])
        raise BaselineError(f"{where}: `verify` judges no law of that name{hint} (`turncheck laws` lists them)")
    try:
        return msgspec.convert(value, Entry)
    except msgspec.ValidationError as error:
        raise BaselineError(f"{where}: {error}; expected reason, issue, and perhaps expires ({DOCUMENT})") from error


def _fitting(glob: str, subjects: Iterable[str]) -> list[Law]:
    return [law for law in LAWS.values() if law.subject in subjects and fnmatchcase(law.name, glob)]


def grade(result: Result, baseline: Baseline, today: dt.date) -> Result:
    """Return *result* with the baseline's expectation of each law; its ``exit_code`` then counts unexcused failures."""
    live, stale = baseline.live(today), _stale(result, baseline.live(today))

    def said(law: LawResult) -> Expectation | None:
        if law.verdict not in {"pass", "fail"}:
            return None
        flaky = _said("flaky", law.law, live.flaky)
        if flaky is not None or law.verdict == "pass":
            return flaky or _said("stale", law.law, stale)
        known = _said("known", law.law, live.known)
        return known or _said("expired", law.law, {**baseline.known, **baseline.flaky})

    return replace(result, laws=tuple(replace(law, baseline=said(law)) for law in result.laws))


def _said(state: State, law: str, entries: Mapping[str, Entry]) -> Expectation | None:
    """Return the expectation of the first of *entries* that fits *law*, None where none fits."""
    fitting = (glob for glob in entries if fnmatchcase(law, glob))
    return next((Expectation(state, glob, entries[glob].reason, entries[glob].issue) for glob in fitting), None)


def _stale(result: Result, live: Baseline) -> dict[str, Entry]:
    """Return the stale entries among the known ones: all their laws were judged, and passed or were skipped.

    A glob is stale when no law that it fits fails. An entry stays if one of its laws is inconclusive or was left out,
    if all are skipped, or if the run was cut short; entries of flaky laws always stay.
    """
    verdicts: dict[str, str] = {law.law: law.verdict for law in result.laws}
    subjects = {LAWS[name].subject for name in verdicts}

    def passes(glob: str) -> bool:
        laws = [law.name for law in _fitting(glob, subjects) if _said("flaky", law.name, live.flaky) is None]
        found = {verdicts.get(name) for name in laws}
        return "pass" in found and found <= {"pass", "skipped"}

    return {glob: entry for glob, entry in live.known.items() if result.cut is None and passes(glob)}


_HEADER: Final = (
    "Laws that are known to be broken here, and flaky ones: each with a reason and an issue,",
    "and the last day on which it is excused (expires), if there is one.",
)


def updated(text: str, result: Result, today: dt.date) -> str:
    """Return the text of a baseline under which *result* has no wrong law; comments of *text* are kept.

    Stale and expired entries go; a failure that is left gets an entry of its own, with the reason and the issue of the
    expired one, where there was one. Raises BaselineError for a *text* that is none.
    """
    import tomlkit  # noqa: PLC0415 - for updates alone

    baseline = parse(text, "to update")
    live = baseline.live(today)
    stale = _stale(result, live)
    document = tomlkit.parse(text)
    if not text.strip():
        for line in _HEADER:
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
    for which in LISTS:
        if which not in document:
            document[which] = tomlkit.table()
    tables: dict[str, Any] = {which: document[which] for which in LISTS}
    for glob in {*baseline.known} - {*live.known} | {*stale}:
        del tables["known"][glob]
    for glob in {*baseline.flaky} - {*live.flaky}:
        del tables["flaky"][glob]
    for law in grade(result, baseline, today).laws:
        if law.verdict == "fail" and not law.excused:
            entry = tomlkit.inline_table()
            entry["reason"] = law.baseline.reason if law.baseline else law.why or "not said"
            entry["issue"] = law.baseline.issue if law.baseline else UNFILED
            tables["known"][law.law] = entry
    return tomlkit.dumps(document)
