"""One table of several verifications: a row per law, a column per runtime."""

from typing import Final
from urllib.parse import quote

import msgspec

from ..verify.outcome.results import Result
from .law_summary import MARKS
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
    names = [_name(result) for result in matrix.results]
    lines = [
        f"turncheck {matrix.turncheck}, {matrix.date}, seed {matrix.seed}, {matrix.examples} generated words each.",
        LEGEND,
        "",
        f"| law | {' | '.join(names)} |",
        f"| --- |{' :-: |' * len(names)}",
    ]
    marks = [{law.law: MARKS[law.verdict] for law in result.laws} for result in matrix.results]
    laws = dict.fromkeys(law for found in marks for law in found)  # in the registry's order
    lines += [f"| {law} | {' | '.join(found.get(law, ' ') for found in marks)} |" for law in laws]
    figures = [
        f"{result.coverage.get('stimuli', 0):,} stimuli, rows {result.coverage.get('rows')}"
        for result in matrix.results
    ]
    lines += [f"| *applied* | {' | '.join(figures)} |", ""]
    lines += [f"- **{readable(one.target)}** could not be verified: {readable(one.why)}" for one in matrix.unstarted]
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
        for law in result.laws:
            if law.verdict in {"fail", "inconclusive", "error"}:
                file = f" ([counterexample]({quote(law.counterexample)}))" if law.counterexample else ""
                lines.append(f"- {MARKS[law.verdict]} **{law.law}**: {readable(law.why)}{file}")
        skipped = ", ".join(law.law for law in result.laws if law.verdict == "skipped")
        lines += [f"skipped: {skipped}" if skipped else "- nothing is skipped", ""]
    return "\n".join(lines).rstrip() + "\n"


def _name(result: Result) -> str:
    return readable(result.target if "@" in result.target else f"{result.target} {result.implementation.version}")
