"""A job summary in GitHub's Markdown: verdicts as a table, each failure folded, coverage, and how to replay.

Text of an implementation is escaped for its place: as entities in a line, and in blocks by ``<pre>``, where Markdown
means nothing.
"""

import html
from collections.abc import Iterator, Mapping

from ...verify.results import AnyCounterexample, Result
from ..law_summary import MARKS, counted, line, story, why
from ..markdown_text import inline
from ..text import coverage_lines


def render(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> str:
    """Write *result* as Markdown."""
    return "\n".join(_lines(result, counterexamples)) + "\n"


def _lines(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> Iterator[str]:
    who = result.implementation
    yield f"## turncheck: {inline(result.target)}"
    yield ""
    yield f"{inline(f'{who.name} {who.version} ({who.language})')}: {counted(result)}; seed {result.seed}"
    for title, said in result.notes:
        yield f"\n**{title.capitalize()}**: {inline(said)}"
    yield from ["", "| | law | verdict | clauses | |", "| :-: | --- | --- | --- | --- |"]
    for law in result.laws:
        verdict = "known" if law.excused else law.verdict
        yield f"| {MARKS[law.verdict]} | {law.law} | {verdict} | {', '.join(law.clauses)} | {inline(why(law))} |"
    for law in result.laws:
        if law.verdict == "fail":
            summary = f"{MARKS[law.verdict]} {law.law}: {line(why(law))}"
            yield from _block(summary, story(law, counterexamples) or why(law))
    shown = "\n".join(coverage_lines(result.coverage))
    if shown:
        yield from _block("Coverage", shown)


def _block(summary: str, text: str) -> Iterator[str]:
    yield from ["", "<details>", f"<summary>{html.escape(summary)}</summary>", "", f"<pre>{html.escape(text)}</pre>"]
    yield from ["", "</details>"]
