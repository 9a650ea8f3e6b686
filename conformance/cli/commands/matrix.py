"""``turncheck matrix``."""

import datetime as dt
from importlib.metadata import version
from pathlib import Path

import click
import msgspec

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.adapters.targets.registry import open_target
from turncheck.adapters.targets.runtime_catalog import known

from ...laws.registry import selected
from ...report.matrix import Matrix, Unstarted, reasons, to_markdown
from ...verify.results import INTERRUPTED, Result, write
from ..completing import complete_target
from ..options import SECONDS
from ..output import Progress, emit, hypothesis_elsewhere, notice


@click.command()
@click.argument("targets", nargs=-1, shell_complete=complete_target)
@click.option("--examples", type=click.IntRange(0), default=300, show_default=True, help="Generated words per runtime.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--budget", type=SECONDS, help="Seconds for each target.")
@click.option("--timeout", type=SECONDS, default=10.0, show_default=True, help="An answer's.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(".turncheck/matrix"),
    show_default=True,
    help="Where matrix.json, matrix.md and the counterexamples go.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON, not the table.")
@click.pass_context
def command(
    context: click.Context,
    *,
    targets: tuple[str, ...],
    examples: int,
    seed: int,
    budget: float | None,
    timeout: float,
    out: Path,
    as_json: bool,
) -> None:
    """Verify several runtimes, and write one table: law by runtime.

    TARGETS are all known runtimes where none is named. Each red cell has a counterexample file, which `turncheck replay
    --run` reproduces. Exits 0 when nothing is wrong, 1 when a law is broken, 2 when a target could not be verified.
    """
    hypothesis_elsewhere()
    results: list[Result] = []
    unstarted: list[Unstarted] = []
    for target in targets or tuple(known()):
        try:
            result = _verified(target, out, examples=examples, seed=seed, budget=budget, timeout=timeout)
        except (TargetError, BadTargetError) as error:
            notice(f"{target}: {error}")
            unstarted.append(Unstarted(target, str(error).splitlines()[0]))
            continue
        results.append(result)
        if result.cut == INTERRUPTED:
            break
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    matrix = Matrix(version("turncheck"), day, seed, examples, tuple(results), tuple(unstarted))
    try:
        _write(matrix, out)
    except OSError as error:
        raise click.ClickException(f"the matrix cannot be written: {error}") from error
    emit(matrix) if as_json else click.echo(to_markdown(matrix))
    context.exit(matrix.exit_code)


def _verified(target: str, out: Path, *, examples: int, seed: int, budget: float | None, timeout: float) -> Result:
    from ...verify.verification import verify_target  # noqa: PLC0415 - Hypothesis takes 0.2 s to import

    with open_target(target, timeout=timeout, say=notice) as opened, Progress(target) as progress:
        laws = selected(["runtime"])
        result, found = verify_target(opened, laws, examples=examples, seed=seed, budget=budget, progress=progress.say)
    files = {law: str(write(one, out / "counterexamples").relative_to(out)) for law, one in found.items()}
    named = tuple(msgspec.structs.replace(law, counterexample=files.get(law.law)) for law in result.laws)
    return msgspec.structs.replace(result, laws=named)


def _write(matrix: Matrix, out: Path) -> None:
    """Write the table, and leave no counterexample of an earlier one beside it."""
    out.mkdir(parents=True, exist_ok=True)
    named = {law.counterexample for result in matrix.results for law in result.laws}
    for path in (out / "counterexamples").glob("*.json"):
        if str(path.relative_to(out)) not in named:
            path.unlink()
    (out / "matrix.json").write_bytes(msgspec.json.format(msgspec.json.encode(matrix), indent=2) + b"\n")
    (out / "matrix.md").write_text(to_markdown(matrix) + "\n" + reasons(matrix), encoding="utf-8")
