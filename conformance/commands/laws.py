"""``turncheck laws``."""

import click
import msgspec

from turncheck.model.requirements import CLAUSES

from ..laws.registry import LAWS
from .output import style


@click.command()
@click.argument("law", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(*, law: str | None, as_json: bool) -> None:
    """List the laws, or show one with its clauses."""
    if law is not None and law not in LAWS:
        raise click.ClickException(f"no law is called {law!r}; `turncheck laws` lists them")
    chosen = list(LAWS.values()) if law is None else [LAWS[law]]
    if as_json:
        click.echo(msgspec.json.encode(chosen).decode())
        return
    for item in chosen:
        judged = "check, on a log" if item.subject == "log" else f"verify, on a {item.subject}"
        click.echo(f"{style(f'{item.name:24}', bold=True)}  {item.kind:8}  {', '.join(item.clauses):22}  {item.says}")
        if law is not None:
            click.echo(f"  judged by    {judged}")
            click.echo(f"  evidence     {item.evidence}")
            if item.needs:
                click.echo(f"  needs        {', '.join(item.needs)}")
            for clause in item.clauses:
                click.echo(f"  {clause:12} {CLAUSES[clause]}")
