"""``turncheck diagrams``."""

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from turncheck.model.rendering.printable import fill, line
from turncheck.model.writing import write_file

from ..options.completing import complete_machine
from ..options.shared import out_option
from ..printing.output import Progress, echo

if TYPE_CHECKING:
    from turncheck.model.rendering.scene import Scene

SUFFIXES = {"dot": ".dot", "mermaid": ".mmd", "svg": ".svg"}
LOG = "sequence.jsonl"
Draw: TypeAlias = Callable[[], str]


@click.command()
@click.argument("machine", required=False, shell_complete=complete_machine)
@click.option("--format", "only", type=click.Choice(sorted(SUFFIXES)), help="Only this format; all three without it.")
@out_option(
    "diagrams",
    show_default=True,
    metavar="DIR",
    help=f"Where the pictures are. The first cycle of a log {LOG} in it is drawn too.",
)
@click.option("--registers", is_flag=True, help="Show the effects that only keep registers, too.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and name each file that differs from its source.")
@click.pass_context
def command(
    context: click.Context, *, machine: str | None, only: str | None, out: Path, registers: bool, check: bool
) -> None:
    """Draw MACHINE, or every machine, from its declaration."""
    pictures: dict[Path, bytes] = {}
    with Progress("diagrams") as progress:
        for name, draw in _pictures(machine, out, registers=registers):
            if only is None or name.endswith(SUFFIXES[only]):
                pictures[out / name] = draw().encode()
                progress.say(name)
    if check:
        drifted = [path for path, picture in pictures.items() if _read(path) != picture]
        for path in drifted:
            echo(fill("{}: {}", path, "differs from its source" if path.exists() else "is missing"), err=True)
        if drifted:
            echo(
                fill("{} of {} pictures drifted; `turncheck diagrams` draws them anew", len(drifted), len(pictures)),
                err=True,
            )
        context.exit(1 if drifted else 0)
    for path, picture in pictures.items():
        try:
            write_file(path, picture)
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
        echo(line(path))


def _read(path: Path) -> bytes | None:
    """The file's bytes, None where nothing is. Raises ClickException for what is no file that can be read."""
    try:
        if path.exists() and not path.is_file():
            raise click.ClickException(f"{path} cannot be read: it is no file")
        return path.read_bytes()
    except FileNotFoundError as error:
        if path.is_symlink():
            raise click.ClickException(f"{path} cannot be read: the link leads nowhere") from error
        return None
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from error


def _pictures(machine: str | None, out: Path, *, registers: bool) -> Iterator[tuple[str, Draw]]:
    """Yield each picture's file name, and how to draw it."""
    from turncheck.model.machines.registry import PROOF_ROLES  # noqa: PLC0415 - a command's start shall cost nothing
    from turncheck.model.rendering import machine_figure  # noqa: PLC0415
    from turncheck.model.rendering.graphviz_svg import FIGURE, to_svg  # noqa: PLC0415
    from turncheck.model.rendering.state_diagram import to_mermaid  # noqa: PLC0415
    from turncheck.model.rendering.stories import engine, event_flow, turn  # noqa: PLC0415
    from turncheck.model.rendering.stories.paths import PATHS  # noqa: PLC0415

    if machine is not None and machine not in PROOF_ROLES:
        raise click.BadParameter(
            f"no machine is named {machine!r}; there are: {', '.join(PROOF_ROLES)}", param_hint="MACHINE"
        )
    stories = {"turn": turn.scene, "engine": engine.scene, "event_flow": event_flow.scene}
    for roles in PROOF_ROLES.values() if machine is None else [PROOF_ROLES[machine]]:
        spec = roles.machine
        for name, part in machine_figure.figures(roles).items():
            dot = machine_figure.to_dot(roles, part, registers=registers)
            yield f"{name}.dot", partial(str, dot)
            yield f"{name}.svg", partial(to_svg, dot, FIGURE)
        yield f"{spec.name}.mmd", partial(to_mermaid, spec)
        if spec.name in PATHS:
            yield from _drawn(f"{spec.name}_path", PATHS[spec.name].scene())
        if spec.name in stories:
            yield from _drawn(f"{spec.name}_sequence", stories[spec.name]())
    if machine is None and os.path.lexists(out / LOG):
        yield from _drawn(Path(LOG).stem, _sequence(out / LOG))


def _sequence(path: Path) -> "Scene":
    """Lay out the first cycle of the log at *path*."""
    from turncheck.model.core.decode import judge  # noqa: PLC0415
    from turncheck.model.core.projection import project  # noqa: PLC0415
    from turncheck.model.rendering.log_scene import requests, session_scene  # noqa: PLC0415

    try:
        log = [json.loads(line) for line in (_read(path) or b"").decode().splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{path}: not a log: {error}") from error
    events = [judge(value) for value in log]
    cycles = project(events).cycles
    if not cycles:
        raise click.ClickException(f"{path}: the log has no cycle to draw")
    end = len(log) if cycles[0].stop is None else cycles[0].stop + 1
    title = f"{cycles[0].kind.capitalize()} cycle, {cycles[0].reason or 'still open'}"
    return session_scene(title, log[:end], project(events[:end]), None, requests(cycles[:1]))


def _drawn(name: str, scene: "Scene") -> Iterator[tuple[str, Draw]]:
    from turncheck.model.rendering.mermaid import to_mermaid  # noqa: PLC0415
    from turncheck.model.rendering.svg import to_svg  # noqa: PLC0415

    yield f"{name}.mmd", partial(to_mermaid, scene)
    yield f"{name}.svg", partial(to_svg, scene)
