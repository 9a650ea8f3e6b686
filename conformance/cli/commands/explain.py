"""``turncheck explain``."""

import textwrap
from io import BytesIO
from typing import Final

import click

from turncheck.model.clauses import clause_text
from turncheck.model.rendering.printable import Document, Printable, fill, lines
from turncheck.model.rendering.words import event_line

from ...laws.law import Law
from ...laws.registry import LAWS
from ...report.lessons import Lesson, LinesExample, lessons, stories
from ...report.text import counterexample_lines
from ..options.completing import complete_law
from ..printing.output import document, echo, style
from ..printing.showing import show
from .laws import JUDGED, unknown

_WIDE: Final = 100
"""Columns of prose that are easy to read."""


@click.command()
@click.argument("law", shell_complete=complete_law)
@click.option(
    "--picture", type=click.Choice(["mermaid", "svg"]), help="Print the example's sequence picture, and nothing else."
)
def command(*, law: str, picture: str | None) -> None:
    """Teach LAW: what it says, why it matters, and the smallest example that breaks it.

    `turncheck laws` lists the laws.
    """
    if law not in LAWS:
        raise unknown(law)
    lesson = lessons()[law]
    from turncheck.model.rendering import mermaid, svg, text  # noqa: PLC0415 - --help shall not pay for them

    from ...report import counterexample_diagram  # noqa: PLC0415

    scene = counterexample_diagram.picture(law, lesson)
    if picture is None:
        _show(LAWS[law], lesson, text.to_text(scene))
    else:
        document(Document(mermaid.to_mermaid(scene) if picture == "mermaid" else svg.to_svg(scene)))


def _show(law: Law, lesson: Lesson, picture: str) -> None:
    echo(fill("{}\n{}", style(law.name, bold=True), _prose(f"{law.says[0].upper()}{law.says[1:]}.")))
    judged = JUDGED.get(law.subject, f"verify, on a {law.subject}")
    echo(fill("  judged by   {} (a {} law)", judged, law.kind))
    echo(fill("  evidence    {}", law.evidence))
    if law.needs:
        echo(fill("  needs       {}", ", ".join(law.needs)))
    for clause in law.clauses:
        echo(fill("  {} {}", style(f"{clause:11}", dim=True), clause_text(clause)))
    _head("Why it matters")
    echo(_prose(stories()[law.name]))
    _head("As small as it gets")
    echo(_prose(lesson.fault))
    echo()
    for line in picture.splitlines():
        echo(fill("  {}", style(line)))
    echo()
    _show_example(lesson)
    if lesson.right:
        _head("Right")
        echo(_prose("A runtime that conforms and is told the same logs:"))
        for at, event in enumerate(lesson.right):
            echo(fill("    {:>3}  {}", at, style(event_line(event))))


def _head(text: str) -> None:
    echo(fill("\n{}", style(text, underline=True)))


def _prose(text: str) -> Printable:
    return lines(textwrap.fill(text, _WIDE, break_on_hyphens=False))


def _show_example(lesson: Lesson) -> None:
    match lesson.wrong:
        case LinesExample() as found:
            _show_lines(found)
        case found:
            show(counterexample_lines(found, style, clauses=False))


def _show_lines(found: LinesExample) -> None:
    from ...check.judge import check  # noqa: PLC0415 - the other laws' examples are judged already

    judged = check("example", BytesIO("\n".join(found.lines).encode()))
    for finding in judged.findings:
        said = fill("{}  {}", style(finding.law, fg="yellow"), style(finding.message))
        echo(fill("{} line {}  {}", style("✗", fg="red"), finding.line, said))
    for title, shown in (("Wrong", found.lines), ("Right", found.right)):
        _head(title)
        for line in shown:
            echo(fill("  {}", style(line)))
