"""``turncheck laws``."""

from pathlib import Path
from typing import Final

import click

from turncheck.model.clauses import clause_text
from turncheck.model.rendering.printable import fill

from ...laws.clauses import traced
from ...laws.registry import LAWS, meant
from ..options.completing import complete_law
from ..printing.output import echo, emit, style

JUDGED: Final = {"log": "check, on a log"}


_LISTED: Final = ("name", "kind", "clauses", "says", "subject", "evidence", "needs", "suite")
"""The fields that --json prints: a promise (semantic versioning)."""


@click.command()
@click.argument("law", required=False, shell_complete=complete_law)
@click.option("--clauses", is_flag=True, help="List the clauses, each with what judges it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(*, law: str | None, clauses: bool, as_json: bool) -> None:
    """List the laws, or show one with its clauses.

    With --clauses, every clause of the sources: how it is judged, by which laws, on which rows of which machine, and in
    which tests (where the project's tests are at hand). Beside a law stand the deliberately wrong implementations that
    break the clause, and with it the law.
    """
    if clauses:
        _show_clauses(as_json=as_json)
        return
    if law is not None and law not in LAWS:
        raise unknown(law)
    chosen = list(LAWS.values()) if law is None else [LAWS[law]]
    if as_json:
        emit([{name: getattr(item, name) for name in _LISTED} for item in chosen])
        return
    for item in chosen:
        verify = "verify --suite n-complete" if item.suite else "verify"
        judged = JUDGED.get(item.subject, f"{verify}, on a {item.subject}")
        echo(
            fill(
                "{}  {:8}  {:22}  {}",
                style(f"{item.name:24}", bold=True),
                item.kind,
                ", ".join(item.clauses),
                item.says,
            )
        )
        if law is not None:
            echo(fill("  judged by    {}", judged))
            echo(fill("  evidence     {}", item.evidence))
            if item.needs:
                echo(fill("  needs        {}", ", ".join(item.needs)))
            for clause in item.clauses:
                echo(fill("  {:12} {}", clause, clause_text(clause)))


def _show_clauses(*, as_json: bool) -> None:
    tests = Path(__file__).parents[3] / "tests"
    found = traced(tests if tests.is_dir() else None)
    if as_json:
        emit(found)
        return
    for clause in found:
        echo(fill("{} {:10} {}", style(f"{clause.name:9}", bold=True), clause.way, clause.says))
        for law, doubles in clause.doubles.items():
            echo(fill("          {} {}: {}", style("law", dim=True), law, ", ".join(doubles)))
        for name, values in {"rows": clause.rows, "tests": clause.tests}.items():
            if values:
                echo(fill("          {} {}", style(name, dim=True), ", ".join(values)))
        if clause.reason is not None:
            echo(fill("          {} {}", style("why", dim=True), clause.reason))


def unknown(law: str) -> click.ClickException:
    """The error for a law that does not exist; it names the nearest ones."""
    return click.ClickException(f"no law is called {law!r}{meant(law, LAWS.values())}; `turncheck laws` lists them")
