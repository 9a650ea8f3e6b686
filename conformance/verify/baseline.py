"""The baseline: laws that are known to be broken, or flaky, each with a reason and an issue; and a result in its light.

The file's shape, and what each word means: docs/baseline.md.
"""

import datetime as dt
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec.structs import replace

from ..laws.law import Law
from ..laws.registry import LAWS, meant
from .results import Expectation, LawResult, Result

DOCUMENT: Final = "docs/baseline.md"
UNFILED: Final = "none yet"
"""The issue that an update writes for a failure that nobody has looked at."""
LISTS: Final = ("known", "flaky")

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class BaselineError(Exception):
    """A baseline that cannot be used: which file, which key, and what was expected there."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a law may fail, where that is followed up, and the last day on which it may (no end, where None)."""

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


def read(path: Path) -> Baseline:
    """Read and check a baseline file. Raises BaselineError."""
    try:
        return parse(path.read_text("utf-8"), str(path))
    except OSError as error:
        raise BaselineError(f"the baseline {path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BaselineError(f"the baseline {path} is not UTF-8: {error}") from error


def parse(text: str, name: str) -> Baseline:
    """The baseline that *text* is; *name* stands in messages. Raises BaselineError."""
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
    """*result* with what the baseline says of each law; its ``exit_code`` then counts what is not excused."""
    stale = _stale(result, baseline, today)
    return replace(result, laws=tuple(_graded(law, baseline, stale, today) for law in result.laws))


def _graded(law: LawResult, baseline: Baseline, stale: Sequence[str], today: dt.date) -> LawResult:
    if law.verdict not in {"pass", "fail"}:
        return law
    flaky = _said(law.law, baseline.flaky, today)
    if flaky is not None:
        return replace(law, baseline=Expectation("flaky", *flaky))
    known = _said(law.law, baseline.known, today)
    if law.verdict == "fail":
        expired = _said(law.law, {**baseline.known, **baseline.flaky}, None)
        found = Expectation("known", *known) if known else Expectation("expired", *expired) if expired else None
        return replace(law, baseline=found)
    glob = next((glob for glob in stale if fnmatchcase(law.law, glob)), None)
    if glob is None:
        return law
    entry = baseline.known[glob]
    return replace(law, baseline=Expectation("stale", glob, entry.reason, entry.issue))


def _said(law: str, entries: Mapping[str, Entry], today: dt.date | None) -> tuple[str, str, str] | None:
    """Glob, reason and issue of the first entry that fits *law*; of those alone that count *today*, where given."""
    for glob, entry in entries.items():
        if fnmatchcase(law, glob) and (today is None or entry.live(today)):
            return glob, entry.reason, entry.issue
    return None


def _stale(result: Result, baseline: Baseline, today: dt.date) -> list[str]:
    """The known entries that nothing needs: all their laws were judged to the end, and passed or were skipped.

    A glob is stale when no law that it fits fails. Inconclusive is no pass, so an entry stays; so it does where the run
    was cut short or left one of its laws out, and for laws that may be flaky. All skipped says nothing.
    """
    if result.cut is not None:
        return []
    verdicts = {law.law: law.verdict for law in result.laws}
    subjects = {LAWS[name].subject for name in verdicts}
    stale: list[str] = []
    for glob, entry in baseline.known.items():
        laws = [law.name for law in _fitting(glob, subjects) if _said(law.name, baseline.flaky, today) is None]
        if entry.live(today) and all(name in verdicts for name in laws):
            found = {verdicts[name] for name in laws}
            if "pass" in found and found <= {"pass", "skipped"}:
                stale.append(glob)
    return stale


_HEADER: Final = (
    "Laws that are known to be broken here, and flaky ones: each with a reason and an issue,",
    "and the last day on which it is excused (expires), if there is one.",
)


def updated(text: str, result: Result, today: dt.date) -> str:
    """The text of a baseline under which *result* has nothing wrong, with the comments of *text* kept.

    Stale and expired entries go; a failure that is left gets an entry of its own, with the reason and the issue of the
    expired one, where there was one. Raises BaselineError for a *text* that is none.
    """
    import tomlkit  # noqa: PLC0415 - for updates alone

    baseline = parse(text, "to update")
    graded = grade(result, baseline, today)
    document = tomlkit.parse(text)
    if not text.strip():
        for line in _HEADER:
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
    for which in LISTS:
        if which not in document:
            document[which] = tomlkit.table()
    tables: dict[str, Any] = {which: document[which] for which in LISTS}
    for glob in _stale(result, baseline, today):
        del tables["known"][glob]
    for which, entries in (("known", baseline.known), ("flaky", baseline.flaky)):
        for glob in [glob for glob, entry in entries.items() if not entry.live(today)]:
            del tables[which][glob]
    for law in graded.laws:
        if law.verdict == "fail" and not law.excused:
            entry = tomlkit.inline_table()
            entry["reason"] = law.baseline.reason if law.baseline else law.why or "not said"
            entry["issue"] = law.baseline.issue if law.baseline else UNFILED
            tables["known"][law.law] = entry
    return tomlkit.dumps(document)
