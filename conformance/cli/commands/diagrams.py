"""``turncheck diagrams``."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ..completing import complete_machine
from ..output import Progress

if TYPE_CHECKING:
    from turncheck.model.rendering.scene import Scene

SUFFIXES = {"dot": ".dot", "mermaid": ".mmd", "svg": ".svg"}
LOG = "sequence.jsonl"
_Forms: TypeAlias = Mapping[str, Callable[[Any], str]]


@click.command()
@click.argument("machine", required=False, shell_complete=complete_machine)
@click.option("--format", "only", type=click.Choice(sorted(SUFFIXES)), help="Only this format; all three without it.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("diagrams"),
    show_default=True,
    metavar="DIR",
    help=f"Where the pictures are. The first cycle of a log {LOG} in it is drawn too.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and name each file that differs from its source.")
@click.pass_context
def command(context: click.Context, *, machine: str | None, only: str | None, out: Path, check: bool) -> None:
    """Draw MACHINE, or every machine, from its declaration."""
    pictures: dict[Path, bytes] = {}
    with Progress("diagrams") as progress:
        for name, text in _pictures(machine, only, out):
            pictures[out / name] = text.encode()
            progress.say(name)
    if check:
        drifted = [path for path, picture in pictures.items() if not path.is_file() or path.read_bytes() != picture]
        for path in drifted:
            click.echo(f"{path}: {'differs from its source' if path.exists() else 'is missing'}", err=True)
        if drifted:
            click.echo(
                f"{len(drifted)} of {len(pictures)} pictures drifted; `turncheck diagrams` draws them anew", err=True
            )
        context.exit(1 if drifted else 0)
    out.mkdir(parents=True, exist_ok=True)
    for path, picture in pictures.items():
        path.write_bytes(picture)
        click.echo(str(path))


def _pictures(machine: str | None, only: str | None, out: Path) -> Iterator[tuple[str, str]]:
    from turncheck.model.machines.registry import MACHINES  # noqa: PLC0415
    from turncheck.model.rendering.graphviz_svg import to_svg  # noqa: PLC0415 - a command's start shall cost nothing
    from turncheck.model.rendering.state_diagram import to_dot, to_mermaid  # noqa: PLC0415

    if machine is not None and machine not in MACHINES:
        raise click.BadParameter(
            f"no machine is named {machine!r}; there are: {', '.join(MACHINES)}", param_hint="MACHINE"
        )
    forms: _Forms = {"dot": to_dot, "mermaid": to_mermaid, "svg": lambda spec: to_svg(to_dot(spec))}
    for spec in MACHINES.values() if machine is None else [MACHINES[machine]]:
        yield from _drawn(spec.name, spec, only, forms)
        yield from _story(spec.name, only)
    if machine is None and (out / LOG).is_file():
        yield from _sequence(out / LOG, only)


def _story(machine: str, only: str | None) -> Iterator[tuple[str, str]]:
    """Draw the stories that a machine is told: who says what to whom."""
    from turncheck.model.rendering.stories import engine, event_flow, turn  # noqa: PLC0415

    stories = {"turn": turn.scene, "engine": engine.scene, "event_flow": event_flow.scene}
    if machine in stories:
        yield from _scene(f"{machine}_sequence", stories[machine](), only)


def _sequence(path: Path, only: str | None) -> Iterator[tuple[str, str]]:
    """Draw the first cycle of the log at *path*."""
    from turncheck.model.core.decode import judge  # noqa: PLC0415
    from turncheck.model.core.projection import project  # noqa: PLC0415
    from turncheck.model.rendering.log_scene import requests, session_scene  # noqa: PLC0415

    try:
        log = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise click.ClickException(f"{path}: not a log: {error}") from error
    events = [judge(value) for value in log]
    cycles = project(events).cycles
    if not cycles:
        raise click.ClickException(f"{path}: the log has no cycle to draw")
    end = len(log) if cycles[0].stop is None else cycles[0].stop + 1
    title = f"{cycles[0].kind.capitalize()} cycle, {cycles[0].reason or 'still open'}"
    scene = session_scene(title, log[:end], project(events[:end]), None, requests(cycles[:1]))
    yield from _scene(path.stem, scene, only)


def _scene(name: str, scene: "Scene", only: str | None) -> Iterator[tuple[str, str]]:
    from turncheck.model.rendering.mermaid import to_mermaid  # noqa: PLC0415
    from turncheck.model.rendering.svg import to_svg  # noqa: PLC0415

    return _drawn(name, scene, only, {"mermaid": to_mermaid, "svg": to_svg})


def _drawn(name: str, what: Any, only: str | None, forms: _Forms) -> Iterator[tuple[str, str]]:
    return ((f"{name}{SUFFIXES[form]}", draw(what)) for form, draw in forms.items() if only in {None, form})
