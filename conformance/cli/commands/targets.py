"""``turncheck targets``."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from turncheck.adapters.protocol.collator import COLLATOR_CAPABILITIES
from turncheck.adapters.protocol.errors import BadTargetError, StartError
from turncheck.adapters.protocol.messages import CAPABILITIES, RUNTIME_CAPABILITIES
from turncheck.adapters.targets.registry import KINDS
from turncheck.adapters.targets.runtime_catalog import KnownRuntime, find, known
from turncheck.model.rendering.printable import fill, line, lines

from ..printing.output import echo, emit, style


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--make", is_flag=True, help="Make the environments of the known runtimes NAME... or all.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(context: click.Context, *, names: tuple[str, ...], make: bool, as_json: bool) -> None:
    """List the targets: their kinds, the known runtimes, and the capabilities that can be declared.

    A known runtime runs in an environment of its own, made from a lock file when it is first opened, or beforehand with
    --make, where --make all makes every one. Exits 2 when an environment cannot be made.
    """
    failed = False
    if make:
        for runtime in _named(names):
            try:
                folder = runtime.environment.make(lambda notice: echo(line(notice), err=True))
            except StartError as error:
                echo(lines(error), err=True)
                failed = True
            else:
                if not as_json:
                    echo(fill("{}  {}", style(f"{runtime!s:28}", bold=True), folder))
    elif names:
        raise click.UsageError("names are for --make: without it, everything is listed")
    if as_json:
        emit(_plain())
    elif not make:
        _show()
    context.exit(2 if failed else 0)


def _named(names: tuple[str, ...]) -> Iterable[KnownRuntime]:
    """The runtimes of *names*, once each."""
    if names == ("all",):
        return known().values()
    found: dict[str, KnownRuntime] = {}
    for name in names:
        try:
            runtime = find(name)
        except BadTargetError as error:
            raise click.UsageError(str(error)) from error
        if runtime is None:
            raise click.UsageError(f"no known runtime {name!r}: there is {', '.join(known())}, and all for every one")
        found[str(runtime)] = runtime
    if not found:
        raise click.UsageError(f"--make which? {', '.join(known())}, or all")
    return found.values()


def _runtimes() -> Iterator[dict[str, Any]]:
    asked: dict[str, str | None] = {}
    for name, runtime in known().items():
        need = runtime.environment.need
        if str(need) not in asked:
            asked[str(need)] = need.version() if need.met else None
        yield {
            "name": name,
            "description": runtime.description,
            "package": runtime.package,
            "version": runtime.version,
            "needs": str(need),
            "found": asked[str(need)],
            "environment": str(runtime.environment.folder),
            "made": runtime.environment.made,
        }


def _plain() -> dict[str, object]:
    return {
        "kinds": [{"form": kind.form, "description": kind.description} for kind in KINDS.values()],
        "runtimes": [*_runtimes()],
        "capabilities": {
            "projector": CAPABILITIES,
            "runtime": RUNTIME_CAPABILITIES,
            "collator": COLLATOR_CAPABILITIES,
        },
    }


def _show() -> None:
    _rows("kinds of target", {kind.form: kind.description for kind in KINDS.values()})
    rows: dict[str, str] = {}
    for one in _runtimes():
        state = "made" if one["made"] else "to be made" if one["found"] else f"{one['needs']} is missing"
        rows[one["name"]] = f"{one['description']} ({one['needs']}; {state})"
    _rows("known runtimes: without @version, the newest is meant", rows)
    _rows("capabilities of a projector", CAPABILITIES)
    _rows("capabilities of a runtime", RUNTIME_CAPABILITIES)
    _rows("capabilities of a collator", COLLATOR_CAPABILITIES)


def _rows(title: str, rows: Mapping[str, str]) -> None:
    echo(line(title))
    for name, what in rows.items():
        echo(fill("  {}  {}", style(f"{name:28}", bold=True), what))
    echo()
