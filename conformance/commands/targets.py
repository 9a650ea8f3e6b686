"""``turncheck targets``."""

import click
import msgspec

from turncheck.adapters.protocol import CAPABILITIES
from turncheck.adapters.targets import KINDS

from .output import style


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
def command(*, as_json: bool) -> None:
    """List the targets that can be verified, and the capabilities that a projector may declare."""
    if as_json:
        kinds = [{"form": kind.form, "description": kind.description} for kind in KINDS.values()]
        click.echo(msgspec.json.encode(kinds).decode())
        return
    for kind in KINDS.values():
        click.echo(f"{style(f'{kind.form:28}', bold=True)}  {kind.description}")
    click.echo("\ncapabilities of a projector")
    for name, what in CAPABILITIES.items():
        click.echo(f"{style(f'{name:28}', bold=True)}  {what}")
