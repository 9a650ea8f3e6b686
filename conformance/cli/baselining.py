"""A baseline in commands: read it, grade by it, write it, show it."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click
from msgspec.structs import replace

from turncheck.model.rendering.printable import fill
from turncheck.model.writing import locked, write_file

from ..verify.kept.baseline import Baseline, BaselineError, grade, parse, read
from ..verify.kept.updating import updated
from ..verify.outcome.results import CauseResult, Counterexamples, LawResult, Result, case_of
from .printing.output import echo, notice, style


@dataclass(frozen=True)
class Grading:
    """A baseline file, with its content at the beginning of the run; ``file`` is None where none was named."""

    file: Path | None
    baseline: Baseline
    update: bool

    def __call__(self, result: Result, found: Counterexamples) -> Result:
        """Grade *result* by the baseline, which is written first with ``--update-baseline``."""
        if self.file is None:
            return result
        today = dt.date.today()
        baseline = self.baseline
        if self.update:
            baseline = self._written(self.file, result, found, today)
            result = _as_known(result, baseline, found)
        return grade(result, baseline, today)

    def _written(self, file: Path, result: Result, found: Counterexamples, today: dt.date) -> Baseline:
        if result.cut is not None:
            notice(f"the baseline {file} is left as it is: the run was cut short")
            return self.baseline
        try:
            with locked(file):  # what another run writes meanwhile is kept: it is read here, not at the beginning
                text = updated(file.read_text("utf-8") if file.exists() else "", result, today, found)
                content = text.encode("utf-8", "replace")
                written = parse(content.decode(), str(file))
                write_file(file, content)
        except (OSError, UnicodeDecodeError, BaselineError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            echo(fill("the baseline {} is left as it is: {}", file, why), err=True)  # the result is told all the same
            return self.baseline
        notice(f"the baseline {file} is written: {_changes(self.baseline, written)}")
        return written


def _changes(before: Baseline, after: Baseline) -> str:
    """Say how many entries were added, removed and renewed, or that none was."""
    old, new = ({("", glob): entry for glob, entry in {**one.known, **one.flaky}.items()} for one in (before, after))
    old |= {("cause", name): entry for name, entry in before.causes.items()}
    new |= {("cause", name): entry for name, entry in after.causes.items()}
    renewed = sum(new[glob] != entry for glob, entry in old.items() if glob in new)
    counted = {"added": len(new.keys() - old.keys()), "taken out": len(old.keys() - new.keys()), "renewed": renewed}
    return ", ".join(f"{count} {what}" for what, count in counted.items() if count) or "nothing has changed"


def _as_known(result: Result, baseline: Baseline, found: Counterexamples) -> Result:
    """Name the entries that were just written for the causes of *result*: their counterexamples are its own."""

    def named(cause: CauseResult) -> CauseResult:
        case = case_of(found.every[cause.root.law][cause.root.number - 1])
        names = [name for name, one in baseline.cases.items() if one == case]
        return replace(cause, known=tuple(dict.fromkeys([*cause.known, *names])))

    return replace(result, causes=tuple(map(named, result.causes)))


def grading(file: Path | None, *, update: bool, fail_fast: bool) -> Grading:
    """Read the baseline before anything is started. A missing file is an error, unless it is about to be written.

    Raises click.ClickException.
    """
    if file is None and update:
        raise click.UsageError("--update-baseline needs --baseline FILE: which file is to be written?")
    if file is not None and fail_fast:
        raise click.UsageError("--baseline does not go with --fail-fast: a failure that is expected would end the run")
    if file is None or (update and not file.exists()):
        return Grading(file, Baseline(), update)
    try:
        return Grading(file, read(file), update)
    except BaselineError as error:
        raise click.ClickException(str(error)) from error


def said(law: LawResult) -> str:
    """The words of the baseline on a law, which follow its verdict; empty without an entry."""
    one = law.baseline
    if one is None:
        return ""
    state = "" if one.state == "known" else f", {one.state}"
    return f" (baseline{state}: {one.reason}, {one.issue})"


def show_baseline(result: Result) -> None:
    """Print how many verdicts have an entry, and the actions that follow."""
    listed = [law.baseline for law in result.laws if law.baseline is not None]
    if listed:
        counted = Counter(one.state for one in listed)
        echo(fill("baseline: {}", ", ".join(f"{count} {state}" for state, count in counted.items())))
    for entry in dict.fromkeys(one.entry for one in listed if one.state == "stale"):
        echo(style(f"  stale: {entry} passes; take it out of the baseline, or --update-baseline", fg="red"))
    for entry in dict.fromkeys(one.entry for one in listed if one.state == "expired"):
        echo(style(f"  expired: {entry} is not excused any more", fg="red"))
