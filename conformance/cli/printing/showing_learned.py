"""Learned machines on a terminal: one, or the comparison of two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turncheck.model.clauses import clause_text
from turncheck.model.rendering.printable import fill

from .output import echo, style

if TYPE_CHECKING:
    from ...automata.learn.learned import Comparison, Conflict, Learned


def show_learned(found: "Learned") -> None:
    """Print a paragraph per state: the shortest letters that lead there, and the letters with an effect."""
    from ...automata.learn.learned import LOCAL_TEXTS  # noqa: PLC0415 - a command's start shall cost nothing
    from ...automata.learn.output_abstraction import ARROW, QUIET  # noqa: PLC0415

    for number, state in enumerate(found.states):
        way = ", ".join(state.access) or "the start"
        echo(fill("{}  awaits {}; after {}", style(f"{number:>3}", bold=True), state.awaits, way))
        for one in found.transitions:
            quiet = one.source == one.dest and one.output.partition(ARROW)[0] == QUIET
            if one.source == number and one.output not in LOCAL_TEXTS and not quiet:
                echo(fill("       {:18} {}  ({})", one.letter, style(one.output), one.dest))
    echo()
    _tell(found)


def show_comparison(found: "Comparison", left_out: Sequence[str]) -> None:
    """Print the shortest letters to each difference, with each machine's output."""
    for number, one in enumerate(found.differences, start=1):
        echo(fill("{}  {}", style(f"{number:>3}", bold=True), ", ".join(one.word)))
        echo(fill("       {}  {}", style("missing", fg="red"), style(one.expected)))
        echo(fill("       {}    {}", style("extra", fg="blue"), style(one.observed)))
    if found.differences:
        echo()
    _tell(found.target)
    _tell(found.reference)
    if left_out:
        echo(fill("left out, since the latter has no such thing: {}", ", ".join(left_out)))
    counts = ", ".join(f"{count} {share}" for share, count in found.counts.items())
    told = f"{len(found.differences)} differences" if found.differences else "no difference"
    echo(fill("{}; transitions: {}", told, counts))


def show_conflict(found: "Conflict") -> None:
    """Print the word that had two answers, which X-2 forbids."""
    echo(
        fill(
            "{}: the same stimuli had two answers of {}",
            style("✗ not deterministic", fg="red", bold=True),
            found.target,
        )
    )
    for letter in found.word:
        echo(fill("  → {}", style(letter, bold=True)))
    echo(fill("  first  {}", style(found.first)))
    echo(fill("  then   {}", style(found.then)))
    echo(fill("  {}{}", style("X-2       ", dim=True), clause_text("X-2")))


def _tell(found: "Learned") -> None:
    figures = found.figures
    size = f"{len(found.states)} states over {len(found.letters)} letters"
    taken = f"{figures.words:,} words, {figures.stimuli:,} stimuli, {figures.rounds} conjectures"
    echo(fill("{}: {}; {}", style(found.target, bold=True), size, taken))
    if found.cut:
        echo(style(f"  cut short: {found.cut}. This is the last conjecture, and nothing is claimed of it", fg="yellow"))
    else:
        echo(fill("  {}", found.claim))
