"""``turncheck replay``."""

from pathlib import Path

import click
import msgspec

from turncheck.adapters.errors import BadTargetError, TargetError
from turncheck.adapters.targets import open_projector, open_runtime

from ..laws.registry import LAWS
from ..replaying import asked_projector, asked_runtime, stored_finding
from ..results import AnyCounterexample, Counterexample, read
from .output import style
from .showing import show_counterexample


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", is_flag=True, help="Start the target that the file names, and ask it again.")
@click.option("--target", help="Ask this target instead.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=5.0, show_default=True)
@click.pass_context
def command(context: click.Context, *, file: Path, run: bool, target: str | None, timeout: float) -> None:
    """Judge a counterexample file again.

    Without --run or --target nothing is started: what the file says was observed is judged. Exits 1 when the law is
    still broken, 0 when it holds, 2 when it cannot be judged.
    """
    found = _read(file)
    show_counterexample(found)
    if not run and target is None:
        broken = stored_finding(found)
        if broken is None:
            click.echo("\none stored observation cannot tell: --run starts the target that the file names")
            context.exit(2)
        click.echo(
            f"\n{style('STILL FAILS', fg='red') if broken else style('HOLDS', fg='green')}: the stored observation"
        )
        context.exit(int(broken))
    text = target or found.target
    click.echo(f"\nstarting {style(text, bold=True)}")
    try:
        broken = _run(found, text, timeout)
    except (TargetError, BadTargetError) as error:
        click.echo(f"{style('CANNOT RUN', fg='yellow')}: {error}", err=True)
        context.exit(2)
    click.echo(style("STILL FAILS", fg="red") if broken else style("FIXED", fg="green"))
    context.exit(int(broken))


def _read(file: Path) -> AnyCounterexample:
    try:
        found = read(file)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise click.ClickException(f"{file} is no counterexample file: {error}") from error
    subject = "projector" if isinstance(found, Counterexample) else "runtime"
    if found.law not in LAWS or LAWS[found.law].subject != subject:
        raise click.ClickException(f"{file} is about {found.law!r}, a law that this version does not have")
    return found


def _run(found: AnyCounterexample, text: str, timeout: float) -> bool:
    """Whether the target breaks the law on the file's input. Raises TargetError where that cannot be told."""
    if isinstance(found, Counterexample):
        with open_projector(text, timeout=timeout) as projector:
            return asked_projector(found, projector)
    with open_runtime(text, timeout=timeout) as runtime:
        return asked_runtime(found, runtime)
