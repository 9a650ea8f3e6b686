"""The baseline: causes of failures that are known, and flaky laws, each with a reason; and results graded by it.

docs/baseline.md explains the file; ``updating`` writes it.
"""

import datetime as dt
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, cast, get_args

import msgspec
from msgspec.structs import replace

from turncheck.adapters.protocol.messages import Role
from turncheck.model.core.stimuli import Word

from ...generation.flows import Flow
from ...laws.law import Law
from ...laws.registry import LAWS, meant
from ..outcome.results import Case, CauseResult, Expectation, Input, LawResult, Result, State

DOCUMENT: Final = "docs/baseline.md"
LISTS: Final = ("known", "flaky", "cause")

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


class CauseEntry(Entry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A known cause: the ``laws`` that it broke, and its ``counterexample``: a word, a log or a flow as JSON."""

    laws: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    counterexample: _Text

    @property
    def case(self) -> Case:
        """The input that the target is given. Raises msgspec.MsgspecError."""
        given = self.counterexample.encode()
        form = msgspec.json.decode(given, type=dict[str, msgspec.Raw])
        if "stimuli" in form:
            return msgspec.json.decode(given, type=Word)
        if "iterations" in form:
            return msgspec.json.decode(given, type=Flow)
        return msgspec.json.decode(given, type=Input)


@dataclass(frozen=True)
class Baseline:
    """Law or glob → entry, in the file's order: failures that are expected, and laws that may pass or fail.

    ``causes`` are entries that hold a counterexample, by their names.
    """

    known: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    flaky: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    causes: Mapping[str, CauseEntry] = field(default_factory=dict[str, CauseEntry])

    def live(self, today: dt.date) -> "Baseline":
        """Leave out the entries that have expired."""
        both = (self.known, self.flaky)
        known, flaky = ({glob: one for glob, one in entries.items() if one.live(today)} for entries in both)
        return Baseline(known, flaky, {name: one for name, one in self.causes.items() if one.live(today)})

    @property
    def cases(self) -> dict[str, Case]:
        """The counterexamples, by the names of their entries."""
        return {name: one.case for name, one in self.causes.items()}


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
    except (ValueError, RecursionError) as error:  # a plain ValueError for an integer of too many digits
        raise BaselineError(f"the baseline {name} is not TOML: {error}") from error
    unknown = [key for key in given if key not in LISTS]
    if unknown:
        raise BaselineError(
            f"the baseline {name}: {unknown[0]!r} is no list; there are [cause.NAME], [known] and [flaky] ({DOCUMENT})"
        )
    known, flaky = (_entries(given.get(which, {}), f"the baseline {name}: {which}") for which in LISTS[:2])
    return Baseline(known, flaky, _causes(given.get("cause", {}), f"the baseline {name}: cause"))


def _causes(given: Any, where: str) -> Mapping[str, CauseEntry]:
    if not isinstance(given, dict):
        raise BaselineError(f"{where} is not a table: expected a table [cause.NAME] for each cause ({DOCUMENT})")
    found: dict[str, CauseEntry] = {}
    for name, value in cast(dict[str, Any], given).items():
        try:
            found[name] = msgspec.convert(value, CauseEntry)
        except msgspec.ValidationError as error:
            expected = "reason, issue, laws, counterexample, and perhaps expires"
            raise BaselineError(f"{where}.{name}: {error}; expected {expected} ({DOCUMENT})") from error
        try:
            found[name].case  # noqa: B018 - only whether it can be read
        except (msgspec.MsgspecError, RecursionError) as error:
            why = f"the counterexample is neither a word, a log nor a flow: {error}"
            raise BaselineError(f"{where}.{name}: {why} ({DOCUMENT})") from error
        for law in found[name].laws:
            _judged_by_verify(law, f"{where}.{name}")
    return found


def _entries(given: Any, where: str) -> Mapping[str, Entry]:
    if not isinstance(given, dict):
        raise BaselineError(f"{where} is not a table: expected [known], then a line for each law ({DOCUMENT})")
    return {glob: _entry(glob, value, f"{where}.{glob}") for glob, value in cast(dict[str, Any], given).items()}


def _entry(glob: str, value: Any, where: str) -> Entry:
    _judged_by_verify(glob, where)
    try:
        return msgspec.convert(value, Entry)
    except msgspec.ValidationError as error:
        raise BaselineError(f"{where}: {error}; expected reason, issue, and perhaps expires ({DOCUMENT})") from error


def _judged_by_verify(glob: str, where: str) -> None:
    if not _fitting(glob, get_args(Role)):
        hint = meant(glob, [law for law in LAWS.values() if law.subject in get_args(Role)])
        raise BaselineError(f"{where}: `verify` judges no law of that name{hint} (`turncheck laws` lists them)")


def _fitting(glob: str, subjects: Iterable[str]) -> list[Law]:
    names = [glob] if glob in LAWS else [name for name in LAWS if fnmatchcase(name, glob)]
    return [LAWS[name] for name in names if LAWS[name].subject in subjects]


def grade(result: Result, baseline: Baseline, today: dt.date) -> Result:
    """Return *result* with the baseline's expectation of each law and cause; ``exit_code`` counts unexcused failures.

    A law is excused where an entry names it, or where entries explain all causes of its counterexamples.
    """
    live = baseline.live(today)
    stale, fixed = stale_entries(result, live), fixed_causes(result, live)
    causes = tuple(replace(cause, baseline=_explained(cause, baseline, live)) for cause in result.causes)

    def said(law: LawResult) -> Expectation | None:
        if law.verdict not in {"pass", "fail"}:
            return None
        flaky = _said("flaky", law.law, live.flaky)
        if flaky is not None or law.verdict == "pass":
            mended = (_of_cause("stale", name, one) for name, one in fixed.items() if law.law in one.laws)
            return flaky or _said("stale", law.law, stale) or next(mended, None)
        own = [cause.baseline for cause in causes if any(one.law == law.law for one in cause.failures)]
        unexplained = [one for one in own if one is None or one.state != "known"]
        explained = own[0] if own and not unexplained else None
        expired = next((one for one in unexplained if one is not None), None)
        known = explained or _said("known", law.law, live.known)
        return known or expired or _said("expired", law.law, {**baseline.known, **baseline.flaky})

    return replace(result, laws=tuple(replace(law, baseline=said(law)) for law in result.laws), causes=causes)


def _explained(cause: CauseResult, baseline: Baseline, live: Baseline) -> Expectation | None:
    """Return what the first entry says whose counterexample has this cause; a live one comes first."""
    states: tuple[tuple[State, Mapping[str, CauseEntry]], ...] = (("known", live.causes), ("expired", baseline.causes))
    found: Iterator[tuple[State, str, CauseEntry]] = (
        (state, name, entries[name]) for state, entries in states for name in cause.known if name in entries
    )
    first = next(found, None)
    return None if first is None else _of_cause(*first)


def _of_cause(state: State, name: str, entry: CauseEntry) -> Expectation:
    return Expectation(state, name, entry.reason, entry.issue)


def fixed_causes(result: Result, live: Baseline) -> dict[str, CauseEntry]:
    """Return the causes that are mended: their counterexamples break none of their laws, and these pass a whole run."""
    verdicts: dict[str, str] = {law.law: law.verdict for law in result.laws}

    def mended(name: str, entry: CauseEntry) -> bool:
        found = {verdicts.get(law) for law in entry.laws}
        replayed = result.replayed.get(name)
        return (
            replayed is not None
            and not {*replayed} & {*entry.laws}
            and "pass" in found
            and found <= {"pass", "skipped"}
        )

    return {name: one for name, one in live.causes.items() if result.cut is None and mended(name, one)}


def _said(state: State, law: str, entries: Mapping[str, Entry]) -> Expectation | None:
    """Return the expectation of the first of *entries* that fits *law*, None where none fits."""
    fitting = (glob for glob in entries if fnmatchcase(law, glob))
    return next((Expectation(state, glob, entries[glob].reason, entries[glob].issue) for glob in fitting), None)


def stale_entries(result: Result, live: Baseline) -> dict[str, Entry]:
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
