"""Update a baseline: entries for what fails, without those that nothing needs any more; comments are kept."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from ..outcome.results import CauseResult, Counterexamples, Expectation, Result, case_of
from .baseline import LISTS, Baseline, Entry, fixed_causes, grade, parse, stale_entries

UNFILED: Final = "none yet"
"""The issue that an update writes for a failure that nobody has looked at."""
_HEADER: Final = (
    "Causes of failures that are known here, each with its counterexample, and laws that are known to be broken or",
    "flaky: each with a reason and an issue, and the last day on which it is excused (expires), if there is one.",
)


def updated(text: str, result: Result, today: dt.date, found: Counterexamples = Counterexamples({})) -> str:  # noqa: B008 - never changed
    """Return the text of a baseline under which *result* has no wrong law; comments of *text* are kept.

    Stale and expired entries go. Each cause that no entry explains gets one, with its smallest counterexample of
    *found*; where an entry without a counterexample named its law, or an expired one explained it, with that reason and
    issue, and the former goes. A failure without a cause gets an entry for its law. Raises BaselineError for a *text*
    that is none.
    """
    import tomlkit  # noqa: PLC0415 - for updates alone

    baseline = parse(text, "to update")
    live = baseline.live(today)
    graded = grade(result, baseline, today)
    document = tomlkit.parse(text)
    if not text.strip():
        for line in _HEADER:
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
    for which in LISTS[:2]:
        if which not in document:
            document[which] = tomlkit.table()
    tables: dict[str, Any] = {which: document[which] for which in LISTS[:2]}
    new = [*_new(graded, baseline, found)]
    moved = [glob for glob in live.known if _moved(glob, graded, new)]
    for glob in {*baseline.known} - {*live.known} | {*stale_entries(result, live)} | {*moved}:
        del tables["known"][glob]
    for glob in {*baseline.flaky} - {*live.flaky}:
        del tables["flaky"][glob]
    _update_causes(document, {*baseline.causes} - {*live.causes} | {*fixed_causes(result, live)}, new)
    covered = {law for cause, _, _ in new for law in cause.laws}
    for law in graded.laws:
        if law.verdict == "fail" and not law.excused and law.law not in covered:
            entry = tomlkit.inline_table()
            entry["reason"] = law.baseline.reason if law.baseline else law.why or "not said"
            entry["issue"] = law.baseline.issue if law.baseline else UNFILED
            tables["known"][law.law] = entry
    return tomlkit.dumps(document)


def _update_causes(document: Any, gone: Collection[str], new: Sequence[tuple[CauseResult, Entry, str]]) -> None:
    """Take the entries *gone* out of the causes of a TOML document, and add the *new* ones."""
    import tomlkit  # noqa: PLC0415 - as above

    if new and "cause" not in document:
        document["cause"] = tomlkit.table(is_super_table=True)
    for name in gone:
        del document["cause"][name]
    for cause, entry, case in new:
        table = tomlkit.table()
        given = {"reason": entry.reason, "issue": entry.issue, "expires": entry.expires}
        for key, value in {**given, "laws": list(cause.laws), "counterexample": case}.items():
            if value is not None:
                table[key] = value
        document["cause"][_free(cause.root.law, document["cause"])] = table
    if not document.get("cause", True):
        del document["cause"]


def _new(graded: Result, baseline: Baseline, found: Counterexamples) -> Iterator[tuple[CauseResult, Entry, str]]:
    """Yield the causes that need an entry: what it says, and the counterexample as JSON."""
    said = {law.law: law.baseline for law in graded.laws}
    for cause in graded.causes:
        known = cause.baseline is not None and cause.baseline.state == "known"
        flaky = all((one := said[failure.law]) is not None and one.state == "flaky" for failure in cause.failures)
        if known or flaky or cause.root.law not in found:
            continue
        smallest = found.every[cause.root.law][cause.root.number - 1]
        yield cause, _inherited(cause, said, baseline), msgspec.json.encode(case_of(smallest)).decode()


def _inherited(cause: CauseResult, said: Mapping[str, Expectation | None], baseline: Baseline) -> Entry:
    """Return the entry that said something of the cause or of one of its laws until now, or one that says the least."""
    earlier = [cause.baseline, *(said.get(law) for law in cause.laws)]
    for one in earlier:
        if one is not None and one.state in {"known", "expired"}:
            entry = {**baseline.known, **baseline.flaky, **baseline.causes}[one.entry]
            return Entry(entry.reason, entry.issue, entry.expires if one.state == "known" else None)
    return Entry(cause.root.message or "not said", UNFILED)


def _moved(glob: str, graded: Result, new: Collection[tuple[CauseResult, Entry, str]]) -> bool:
    """True for an entry without a counterexample whose failing laws all have causes with entries of their own now."""
    covered = {one.law for cause, _, _ in new for one in cause.failures}
    failing = {law.law for law in graded.laws if law.verdict == "fail" and law.baseline and law.baseline.entry == glob}
    return bool(failing) and failing <= covered


def _free(law: str, taken: Collection[str]) -> str:
    names = (law if number == 1 else f"{law}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
