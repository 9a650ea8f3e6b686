"""Learned machines on a terminal: one, or the comparison of two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from turncheck.model.clauses import clause_text

from .output import style

if TYPE_CHECKING:
    from ..learn.learned import Comparison, Conflict, Learned


def show_learned(found: "Learned") -> None:
    """Print a paragraph per state: the shortest letters that lead there, and the letters with an effect."""
    from ..learn.learned import LOCAL_TEXTS  # noqa: PLC0415 - a command's start shall cost nothing
    from ..learn.output_abstraction import ARROW, QUIET  # noqa: PLC0415

    for number, state in enumerate(found.states):
        way = ", ".join(state.access) or "the start"
        click.echo(f"{style(f'{number:>3}', bold=True)}  awaits {state.awaits}; after {way}")
        for one in found.transitions:
            quiet = one.source == one.dest and one.output.partition(ARROW)[0] == QUIET
            if one.source == number and one.output not in LOCAL_TEXTS and not quiet:
                click.echo(f"       {one.letter:18} {style(one.output)}  ({one.dest})")
    click.echo()
    _tell(found)


def show_comparison(found: "Comparison", left_out: Sequence[str]) -> None:
    """Print the shortest letters to each difference, with each machine's output."""
    for number, one in enumerate(found.differences, start=1):
        click.echo(f"{style(f'{number:>3}', bold=True)}  {', '.join(one.word)}")
        click.echo(f"       {style('missing', fg='red')}  {style(one.expected)}")
        click.echo(f"       {style('extra', fg='blue')}    {style(one.observed)}")
    if found.differences:
        click.echo()
    _tell(found.target)
    _tell(found.reference)
    if left_out:
        click.echo(f"left out, since the latter has no such thing: {', '.join(left_out)}")
    counts = ", ".join(f"{count} {share}" for share, count in found.counts.items())
    told = f"{len(found.differences)} differences" if found.differences else "no difference"
    click.echo(f"{told}; transitions: {counts}")


def show_conflict(found: "Conflict") -> None:
    """Print the word that had two answers, which X-2 forbids."""
    click.echo(
        f"{style('✗ not deterministic', fg='red', bold=True)}: the same stimuli had two answers of {found.target}"
    )
    for letter in found.word:
        click.echo(f"  → {style(letter, bold=True)}")
    click.echo(f"  first  {style(found.first)}")
    click.echo(f"  then   {style(found.then)}")
    click.echo(f"  {style('X-2       ', dim=True)}{clause_text('X-2')}")


def _tell(found: "Learned") -> None:
    figures = found.figures
    size = f"{len(found.states)} states over {len(found.letters)} letters"
    taken = f"{figures.words:,} words, {figures.stimuli:,} stimuli, {figures.rounds} conjectures"
    click.echo(f"{style(found.target, bold=True)}: {size}; {taken}")
    if found.cut:
        click.echo(
            style(f"  cut short: {found.cut}. This is the last conjecture, and nothing is claimed of it", fg="yellow")
        )
    else:
        click.echo(f"  {found.claim}")
