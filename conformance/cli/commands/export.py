"""``turncheck export``."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, cast, get_args

import click

from turncheck.model.rendering.printable import Document
from turncheck.model.writing import write_file

from ..options.completing import complete_machine
from ..options.machines import roles_of
from ..printing.output import document, emit

FORMATS: Final = ("promela", "dot", "json")


@click.command()
@click.argument("form", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("machine", shell_complete=complete_machine)
@click.option(
    "--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="A file; standard output without it."
)
@click.option("--budget", type=click.IntRange(0), default=3, show_default=True, help="promela: events besides answers.")
def command(*, form: str, machine: str, out: Path | None, budget: int) -> None:
    """Write MACHINE as FORMAT: promela (for Spin), dot (for Graphviz) or json (rows, guards, effects and registers).

    MACHINE is a name, or module:NAME for a ProofRoles of your own.
    """
    from turncheck.model.checking.promela import promela  # noqa: PLC0415 - a command's start shall cost nothing
    from turncheck.model.rendering.state_diagram import to_dot  # noqa: PLC0415

    (roles,) = roles_of(machine)
    if form == "json" and out is None:
        emit(described(roles.machine))
        return
    text = {
        "promela": lambda: promela(roles, budget),
        "dot": lambda: to_dot(roles.machine),
        "json": lambda: _json(roles),
    }
    written = text[form]()
    if out is None:
        document(Document(written))
        return
    try:
        write_file(out, written.encode())
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror}") from error


def _json(roles: Any) -> str:
    import msgspec  # noqa: PLC0415

    return msgspec.json.format(msgspec.json.encode(described(roles.machine)), indent=2).decode() + "\n"


def described(machine: Any) -> dict[str, Any]:
    """Return a machine as a JSON value: each guard and effect is its term of the vocabulary, as nested objects."""
    return {
        "name": machine.name,
        "title": machine.title,
        "states": [*machine.states],
        "initial": machine.initial,
        "final": [*machine.final],
        "boundary": machine.boundary,
        "events": {name: [*clauses] for name, clauses in machine.events.items()},
        "registers": dict(machine.registers),
        "guards": {name: _term(term) for name, term in machine.guards.items()},
        "effects": {name: _term(term) for name, term in machine.effects.items()},
        "rows": [
            {
                "event": row.event,
                "source": row.source,
                "dest": row.dest,
                "if": [*row.conditions],
                "unless": [*row.unless],
                "then": [*row.effects],
            }
            for row in machine.rows
        ],
    }


def _term(term: Any) -> Any:
    """Return a term as an object with its ``kind`` and its fields, an enumeration as the list of its values.

    >>> from turncheck.model.declaration.vocabulary import Less, Register, Table
    >>> _term(Less(Register("calls"), Table("max_calls")))["subject"]
    {'kind': 'Register', 'name': 'calls'}
    """
    if is_dataclass(term):
        return {"kind": type(term).__name__} | {one.name: _term(getattr(term, one.name)) for one in fields(term)}
    if isinstance(term, tuple):
        return [*map(_term, cast("tuple[object, ...]", term))]
    return [*get_args(term)] or term
