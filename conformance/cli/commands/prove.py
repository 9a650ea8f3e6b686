"""``turncheck prove``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from turncheck.model.extras import needs_extra
from turncheck.model.rendering.printable import fill

from ..options.completing import complete_machine
from ..options.machines import roles_of
from ..printing.output import Progress, echo, emit, style

if TYPE_CHECKING:
    from ...automata.proving import Result


@click.command()
@click.argument("machine", required=False, shell_complete=complete_machine)
@click.option("--theorem", "-t", "wanted", multiple=True, metavar="NAME", help="Only this theorem; may be repeated.")
@click.option(
    "--method", type=click.Choice(["z3", "exploration", "spin"]), help="Only the theorems that this method decides."
)
@click.option("--timings", is_flag=True, help="Show the seconds of each.")
@click.option("--list", "listed", is_flag=True, help="List the theorems, and prove nothing.")
@click.option(
    "--word", metavar="LETTERS", help="Step MACHINE through a word, letters parted by ';', and prove nothing."
)
@click.option(
    "--tables", type=click.IntRange(0), default=0, show_default=True, help="The tables for --word, by number."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per theorem and machine.")
@click.pass_context
def command(
    context: click.Context, /, *, machine: str | None, wanted: tuple[str, ...], timings: bool, as_json: bool, **how: Any
) -> None:
    """Prove what holds of MACHINE, or of every machine, and say how far.

    MACHINE is a name, or module:NAME for a ProofRoles of your own. z3 proves by induction over the rows, for queues,
    maps and counters of any size; exploration visits every state up to a bound; Spin looks for runs without end. A
    theorem that speaks of nothing that a machine has is vacuous. A refutation comes with a shortest word that shows it.

    Exits 0 where nothing is refuted, 1 where something is, 2 where something could not be decided.
    """
    if how["word"] is not None:
        if machine is None:
            raise click.UsageError("--word needs a MACHINE")
        _step(roles_of(machine), how["word"], how["tables"])
        return
    needs_extra("proofs", "turncheck prove")
    from ...automata.proving import results, theorems  # noqa: PLC0415 - z3 takes 0.3 s to import

    known = theorems()
    for name in wanted:
        if name not in known:
            raise click.BadParameter(f"no theorem is named {name!r}; there are: {', '.join(known)}", param_hint="-t")
    chosen = [one for one in known if (not wanted or one in wanted) and how["method"] in {None, known[one][0]}]
    if how["listed"]:
        for name in chosen:
            method, says, clauses = known[name]
            echo(fill("{}  {:11}  {}", style(f"{name:23}", bold=True), method, says))
            echo(fill("{}{}", " " * 25, ", ".join(clauses)))
        return
    standing: list[str] = []
    for roles in roles_of(machine):
        if not as_json:
            echo(style(roles.machine.name, bold=True))
        with Progress(roles.machine.name):
            for result in results(roles, chosen):
                standing.append(result.standing)
                emit(result) if as_json else _show(result, machine or result.machine, timings=timings)
    context.exit(1 if "refuted" in standing else 2 if "not run" in standing else 0)


def _show(result: "Result", machine: str, *, timings: bool) -> None:
    colour = {"refuted": "red", "vacuous": "yellow", "not run": "yellow"}.get(result.standing, "green")
    seconds = f"  {result.seconds:.2f} s" if timings else ""
    told = result.bound if result.standing in {"proved", "explored"} else result.why
    shown = style(f"{result.standing:8}", fg=colour)
    echo(fill("  {:23}  {}  {:11}  {}{}", result.theorem, shown, result.method, told, seconds))
    if result.standing != "refuted":
        return
    if result.row:
        echo(fill("    row     {}", result.row))
    if result.word:
        word = "; ".join(result.word)
        echo(fill("    word    {}", word))
        echo(fill("    replay  turncheck prove {} --tables {} --word '{}'", machine, result.tables, word))
    elif result.method == "z3":
        echo(fill("    no word within the machine's bound shows it: the registers may never occur"))


def _step(chosen: Sequence[Any], word: str, tables: int) -> None:
    needs_extra("proofs", "turncheck prove")
    from turncheck.model.checking.witness import steps  # noqa: PLC0415

    (roles,) = chosen
    if tables >= len(roles.tables):
        raise click.BadParameter(f"the machine has {len(roles.tables)} tables, from 0 on", param_hint="--tables")
    echo(fill("{:12} tables {}", roles.machine.initial, roles.tables[tables]))
    letters = [letter for one in word.split(";") if (letter := one.strip())]
    try:
        for step in steps(roles, letters, tables):
            echo(fill("→ {}", step.letter))
            echo(fill("  row  {}", step.row.label))
            for output in step.outputs:
                echo(fill("  ◂ {}", output))
            echo(fill("{:12}", step.state))
    except ValueError as error:
        raise click.ClickException(str(error)) from error
