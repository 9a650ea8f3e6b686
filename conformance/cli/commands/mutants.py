"""``turncheck mutants``."""

from typing import Any

import click

from turncheck.model.machines.registry import PROOF_ROLES
from turncheck.model.rendering.printable import fill

from ..printing.output import Progress, echo, emit, hypothesis_elsewhere, style


@click.command()
@click.argument("machines", nargs=-1, type=click.Choice(sorted(PROOF_ROLES)))
@click.option(
    "--seeds", type=click.IntRange(1), default=1, show_default=True, help="Seeds of generation, from --seed on."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--examples", type=click.IntRange(0), default=300, show_default=True, help="Generated words and logs.")
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, help="Run one mutant in so many.")
@click.option(
    "--verified", type=click.IntRange(1), default=10, show_default=True, help="Have `verify` judge one in so many."
)
@click.option(
    "--verify-seeds", type=click.IntRange(1), default=1, show_default=True, help="Under so many of the seeds."
)
@click.option("--jobs", "-j", type=click.IntRange(1), help="Processes; as many as processors.")
@click.option("--survivors", is_flag=True, help="Name every survivor, not the first ten of a machine.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per machine.")
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    machines: tuple[str, ...],
    seeds: int,
    seed: int,
    survivors: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Mutate the rows of MACHINES (all of them, where none is named), and say what finds the faults.

    A mutant is one edited row; with *hidden* ones the edit shows only after the row was taken once. Equivalent ones are
    recognised by bisimulation, and counted apart. A transition tour is the baseline; k=0 and k=1 are the n-complete
    suites; Hypothesis has the default budget of `verify`; and `verify` itself judges the rows that can be run as an
    implementation. Exits 1 where k=0 lets a first-order mutant live, or k=1 any, else 0.
    """
    hypothesis_elsewhere()
    from ...automata.mutation.report import Report  # noqa: PLC0415 - Hypothesis takes 0.2 s to import
    from ...automata.mutation.running import run  # noqa: PLC0415

    def show(report: Report) -> None:
        echo(
            fill(
                "{}  {} mutants, {} equivalent",
                style(f"{report.machine}", bold=True),
                report.mutants,
                report.equivalent,
            )
        )
        for rate in report.rates:
            what = "hidden-state" if rate.hidden else "first-order"
            least = f", at least {rate.least}" if len(report.seeds) > 1 else ""
            echo(
                fill(
                    "  {:10} {:12} {:7.1%}  {:g} of {}{}",
                    rate.method,
                    what,
                    rate.share,
                    rate.killed,
                    rate.mutants,
                    least,
                )
            )
        for law in report.laws:
            echo(fill("  {:26} breaks on {}, alone on {}", law.law, law.kills, law.alone))
        shown = report.survivors if survivors else report.survivors[:10]
        for one in shown:
            echo(fill("  {} misses {}: {}; {}", one.method, one.mutant, one.row, one.edit))
            echo(fill("    told apart by {}", ", ".join(one.word)))
        if len(shown) < len(report.survivors):
            echo(fill("  and {} more: --survivors", len(report.survivors) - len(shown)))

    alive = False
    for machine in machines or tuple(PROOF_ROLES):
        with Progress(machine) as progress:
            report = run(machine, seeds=range(seed, seed + seeds), progress=progress.say, **how)
        alive = alive or any(one.method in {"k=0", "k=1"} for one in report.survivors)
        emit(report) if as_json else show(report)
    context.exit(1 if alive else 0)
