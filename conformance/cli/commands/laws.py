"""``turncheck laws``."""

from pathlib import Path
from typing import Final

import click
import msgspec

from turncheck.model.clauses import clause_text

from ...laws.clauses import traced
from ...laws.registry import LAWS, meant
from ..completing import complete_law
from ..output import style

JUDGED: Final = {
    "log": "check, on a log",
    "collation": "turncheck.conformance.laws.collation, on a function that collates frames",
}


_LISTED: Final = ("name", "kind", "clauses", "says", "subject", "evidence", "needs", "suite")
"""The fields that --json prints: a promise (semantic versioning)."""


@click.command()
@click.argument("law", required=False, shell_complete=complete_law)
@click.option("--clauses", is_flag=True, help="List the clauses, each with what judges it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(*, law: str | None, clauses: bool, as_json: bool) -> None:
    """List the laws, or show one with its clauses.

    With --clauses, every clause of the sources: how it is judged, by which laws, on which rows of which machine, and in
    which tests (where the project's tests are at hand).
    """
    if clauses:
        _show_clauses(as_json=as_json)
        return
    if law is not None and law not in LAWS:
        raise unknown(law)
    chosen = list(LAWS.values()) if law is None else [LAWS[law]]
    if as_json:
        click.echo(msgspec.json.encode([{name: getattr(item, name) for name in _LISTED} for item in chosen]).decode())
        return
    for item in chosen:
        verify = "verify --suite n-complete" if item.suite else "verify"
        judged = JUDGED.get(item.subject, f"{verify}, on a {item.subject}")
        click.echo(f"{style(f'{item.name:24}', bold=True)}  {item.kind:8}  {', '.join(item.clauses):22}  {item.says}")
        if law is not None:
            click.echo(f"  judged by    {judged}")
            click.echo(f"  evidence     {item.evidence}")
            if item.needs:
                click.echo(f"  needs        {', '.join(item.needs)}")
            for clause in item.clauses:
                click.echo(f"  {clause:12} {clause_text(clause)}")


def _show_clauses(*, as_json: bool) -> None:
    tests = Path(__file__).parents[3] / "tests"
    found = traced(tests if tests.is_dir() else None)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    for clause in found:
        click.echo(f"{style(f'{clause.name:9}', bold=True)} {clause.way:10} {clause.says}")
        parts = {"laws": clause.laws, "rows": clause.rows, "tests": clause.tests}
        for name, values in parts.items():
            if values:
                click.echo(f"          {style(name, dim=True)} {', '.join(values)}")
        if clause.reason is not None:
            click.echo(f"          {style('why', dim=True)} {clause.reason}")


def unknown(law: str) -> click.ClickException:
    """The error for a law that does not exist; it names the nearest ones."""
    return click.ClickException(f"no law is called {law!r}{meant(law, LAWS.values())}; `turncheck laws` lists them")
