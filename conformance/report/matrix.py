"""One table of several verifications: a row per law, a column per runtime, or per variant of one."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from ..verify.outcome.covered import Covered
from ..verify.outcome.results import BREAKS, Result, Verdict
from .law_summary import MARKS, undecided
from .markdown_text import readable

LEGEND: Final = (
    "✓ pass · ✗ fail (a counterexample file beside this table) · ? inconclusive (no evidence, or all of it inferred by"
    " the adapter) · - skipped (not declared) · ! error"
)


class Unstarted(msgspec.Struct, frozen=True):
    """A target that could not be verified, and why."""

    target: str
    why: str


class Matrix(msgspec.Struct, frozen=True):
    """The object that `matrix --json` prints. ``date`` is ISO 8601."""

    turncheck: str
    date: str
    seed: int
    examples: int
    results: tuple[Result, ...]
    unstarted: tuple[Unstarted, ...] = ()

    @property
    def exit_code(self) -> int:
        """2 when a target could not be verified or its evidence is too little, else 1 when a law is broken, else 0."""
        if self.unstarted or any(result.exit_code == 2 for result in self.results):
            return 2
        return max((result.exit_code for result in self.results), default=2)


def to_markdown(matrix: Matrix) -> str:
    """Write the table, and below it what no cell says: a target that did not start, a cut, a floor that is missed."""
    columns = [column for result in matrix.results for column in _columns(result)]
    lines = [
        f"turncheck {matrix.turncheck}, {matrix.date}, seed {matrix.seed}, {matrix.examples} generated words each.",
        LEGEND,
        "",
        f"| law | {' | '.join(column.name for column in columns)} |",
        f"| --- |{' :-: |' * len(columns)}",
    ]
    marks = [{law: MARKS[verdict] for law, verdict in column.verdicts.items()} for column in columns]
    laws = dict.fromkeys(law for found in marks for law in found)  # in the registry's order
    lines += [f"| {law} | {' | '.join(found.get(law, ' ') for found in marks)} |" for law in laws]
    figures = [
        f"{column.coverage.get('stimuli', 0):,} stimuli, rows {column.coverage.get('rows')}" for column in columns
    ]
    lines += [f"| *applied* | {' | '.join(figures)} |", ""]
    lines += [f"- **{readable(one.target)}** could not be verified: {readable(one.why)}" for one in matrix.unstarted]
    names = [_name(result) for result in matrix.results]
    lines += [
        f"- {MARKS['fail']} **{name}** {readable(BREAKS)}: {readable(result.crash.message)}"
        for name, result in zip(names, matrix.results, strict=True)
        if result.crash is not None
    ]
    lines += [
        f"- **{name}**: {readable(title)}: {readable(said)}"
        for name, result in zip(names, matrix.results, strict=True)
        for title, said in result.notes
    ]
    return "\n".join(lines).rstrip() + "\n"


def reasons(matrix: Matrix) -> str:
    """Write every cell that is neither pass nor skipped, with its reason and its counterexample, as Markdown."""
    lines: list[str] = []
    for result in matrix.results:
        lines += [f"### {_name(result)}", ""]
        told: set[Verdict] = {"fail", "inconclusive", "error"}
        if result.crash is not None:
            file = _link(result.crash.counterexample)
            lines.append(f"- {MARKS['fail']} **{BREAKS}**: {readable(result.crash.message)}{file}")
            lines += [f"- {MARKS['error']} not decided: {', '.join(undecided(result))}"] * bool(undecided(result))
            told -= {"error"}
        for law in result.laws:
            if law.verdict in told:
                lines.append(f"- {MARKS[law.verdict]} **{law.law}**: {readable(law.why)}{_link(law.counterexample)}")
        skipped = ", ".join(law.law for law in result.laws if law.verdict == "skipped")
        lines += [f"skipped: {skipped}" if skipped else "- nothing is skipped", ""]
    return "\n".join(lines).rstrip() + "\n"


class _Column(NamedTuple):
    """A column of the table: a target, or one of its variants."""

    name: str
    verdicts: Mapping[str, Verdict]
    coverage: Covered


def _columns(result: Result) -> Iterator[_Column]:
    if not result.variants:
        yield _Column(_name(result), {law.law: law.verdict for law in result.laws}, result.coverage)
    for one in result.variants:
        yield _Column(f"{_name(result)} {readable(one.name)}", one.verdicts, one.coverage)


def _link(file: str | None) -> str:
    return f" ([counterexample]({quote(file)}))" if file else ""


def _name(result: Result) -> str:
    return readable(result.target if "@" in result.target else f"{result.target} {result.implementation.version}")
