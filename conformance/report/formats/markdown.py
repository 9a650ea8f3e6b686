"""A job summary in GitHub's Markdown: how the target broke, verdicts as a table, each failure folded, coverage.

Text of an implementation is escaped for its place: as entities in a line, and in blocks by ``<pre>``, where Markdown
means nothing.
"""

import html
from collections.abc import Iterator, Mapping

from ...verify.outcome.results import BREAKS, AnyCounterexample, Result
from ..causes import by_cause, cause_line, cause_of, counted_causes
from ..law_summary import MARKS, counted, crash_story, line, story, why
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
    if result.crash is not None:
        yield f"\n{MARKS['fail']} **{BREAKS}**: {inline(result.crash.message)}"
        yield from _block("How the target broke", crash_story(result))
    for title, said in result.notes:
        yield f"\n**{title.capitalize()}**: {inline(said)}"
    yield from ["", "| | law | verdict | clauses | |", "| :-: | --- | --- | --- | --- |"]
    for law in result.laws:
        verdict = "known" if law.excused else law.verdict
        yield f"| {MARKS[law.verdict]} | {law.law} | {verdict} | {', '.join(law.clauses)} | {inline(why(law))} |"
    if result.causes:
        yield from ["", f"**{counted_causes(result)}**", ""]
        yield from (f"{place}. {inline(cause_line(result, place - 1))}" for place in range(1, len(result.causes) + 1))
    for law in by_cause(result):
        if law.verdict == "fail":
            summary = f"{MARKS[law.verdict]} {law.law}: {line(why(law))}"
            told = filter(None, [cause_of(result, law), story(law, counterexamples) or why(law)])
            yield from _block(summary, "\n".join(told))
    shown = "\n".join(coverage_lines(result.coverage))
    if shown:
        yield from _block("Coverage", shown)


def _block(summary: str, text: str) -> Iterator[str]:
    yield from ["", "<details>", f"<summary>{html.escape(summary)}</summary>", "", f"<pre>{html.escape(text)}</pre>"]
    yield from ["", "</details>"]
