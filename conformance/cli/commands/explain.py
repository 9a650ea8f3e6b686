"""``turncheck explain``."""

import textwrap
from io import BytesIO
from typing import Final

import click

from turncheck.model.clauses import clause_text
from turncheck.model.rendering.words import event_line

from ...laws.law import Law
from ...laws.registry import LAWS
from ...report.lessons import FlowExample, Lesson, LinesExample, lessons, stories
from ...report.text import counterexample_lines, difference_lines
from ..completing import complete_law
from ..output import style
from ..showing import show
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
        click.echo(mermaid.to_mermaid(scene) if picture == "mermaid" else svg.to_svg(scene), nl=False)


def _show(law: Law, lesson: Lesson, picture: str) -> None:
    click.echo(f"{style(law.name, bold=True)}\n{_prose(f'{law.says[0].upper()}{law.says[1:]}.')}")
    judged = JUDGED.get(law.subject, f"verify, on a {law.subject}")
    click.echo(f"  judged by   {judged} (a {law.kind} law)")
    click.echo(f"  evidence    {law.evidence}")
    if law.needs:
        click.echo(f"  needs       {', '.join(law.needs)}")
    for clause in law.clauses:
        click.echo(f"  {style(f'{clause:11}', dim=True)} {clause_text(clause)}")
    _head("Why it matters")
    click.echo(_prose(stories()[law.name]))
    _head("As small as it gets")
    click.echo(_prose(lesson.fault))
    click.echo()
    for line in picture.splitlines():
        click.echo(f"  {style(line)}")
    click.echo()
    _show_example(law, lesson)
    if lesson.right:
        _head("Right")
        click.echo(_prose("A runtime that conforms and is told the same logs:"))
        for at, event in enumerate(lesson.right):
            click.echo(f"    {at:>3}  {style(event_line(event))}")


def _head(text: str) -> None:
    click.echo(f"\n{style(text, underline=True)}")


def _prose(text: str) -> str:
    return textwrap.fill(text, _WIDE, break_on_hyphens=False)


def _show_example(law: Law, lesson: Lesson) -> None:
    match lesson.wrong:
        case LinesExample() as found:
            _show_lines(found)
        case FlowExample() as found:
            click.echo(f"{style('✗ ' + law.name, fg='red', bold=True)}: {style(found.message)}")
            show(difference_lines(found.expected, found.observed, style))
        case found:
            show(counterexample_lines(found, style, clauses=False))


def _show_lines(found: LinesExample) -> None:
    from ...check.judge import check  # noqa: PLC0415 - the other laws' examples are judged already

    judged = check("example", BytesIO("\n".join(found.lines).encode()))
    for finding in judged.findings:
        message = f"{style(finding.law, fg='yellow')}  {style(finding.message)}"
        click.echo(f"{style('✗', fg='red')} line {finding.line}  {message}")
    for title, lines in (("Wrong", found.lines), ("Right", found.right)):
        _head(title)
        for line in lines:
            click.echo(f"  {style(line)}")
