"""``turncheck matrix``."""

import contextlib
import dataclasses
import datetime as dt
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.adapters.targets.registry import Target, open_target
from turncheck.adapters.targets.runtime_catalog import known
from turncheck.model.rendering.printable import Document
from turncheck.model.writing import make_folder, write_file

from ...laws.registry import selected
from ...report.matrix import Matrix, Unstarted, reasons, to_markdown
from ...verify.outcome.counterexample_files import is_counterexample
from ...verify.outcome.results import INTERRUPTED, Counterexamples, Result
from ...verify.variants import verify_variants
from ..options.completing import complete_target
from ..options.jobs import jobs_option, workers_for
from ..options.shared import SECONDS, out_option
from ..printing.output import Progress, document, emit, hypothesis_elsewhere, notice
from ..saving import saved

if TYPE_CHECKING:
    from ...verify.engine import Workers

COUNTEREXAMPLES: Final = "counterexamples"
"""The folder of the counterexample files, beside the table."""


@click.command()
@click.argument("targets", nargs=-1, shell_complete=complete_target)
@click.option("--examples", type=click.IntRange(0), default=300, show_default=True, help="Generated words per runtime.")
@jobs_option
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--budget", type=SECONDS, help="Seconds for each target.")
@click.option("--timeout", type=SECONDS, default=10.0, show_default=True, help="An answer's.")
@out_option(".turncheck/matrix", show_default=True, help="Where matrix.json, matrix.md and the counterexamples go.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON, not the table.")
@click.pass_context
def command(
    context: click.Context,
    *,
    targets: tuple[str, ...],
    examples: int,
    jobs: int,
    seed: int,
    budget: float | None,
    timeout: float,
    out: Path,
    as_json: bool,
) -> None:
    """Verify several runtimes, and write one table: law by runtime.

    TARGETS are all known runtimes where none is named. Each variant of one has a column of its own. Each red cell has a
    counterexample file, which `turncheck replay --run` reproduces. Exits 0 when nothing is wrong, 1 when a law is
    broken, 2 when a target could not be verified or the evidence floor of one is missed.
    """
    hypothesis_elsewhere()
    try:
        make_folder(out / COUNTEREXAMPLES)  # before the minutes that the targets take
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror}") from error
    results: list[Result] = []
    unstarted: list[Unstarted] = []
    for target in targets or tuple(known()):
        try:
            workers = workers_for(jobs, target, timeout)
            limits = {"examples": examples, "seed": seed, "budget": budget}
            result = _verified(target, out, timeout=timeout, workers=workers, **limits)
        except (TargetError, BadTargetError) as error:
            notice(f"{target}: {error}")
            unstarted.append(Unstarted(target, str(error).splitlines()[0]))
            continue
        results.append(result)
        if result.cut == INTERRUPTED:
            break
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    matrix = Matrix(version("turncheck"), day, seed, examples, tuple(results), tuple(unstarted))
    emit(matrix) if as_json else document(Document(to_markdown(matrix)))
    try:
        _write(matrix, out)
    except OSError as error:
        raise click.ClickException(f"{error.filename} cannot be written: {error.strerror}") from error
    context.exit(matrix.exit_code)


def _verified(target: str, out: Path, *, timeout: float, workers: "Workers | None", **limits: Any) -> Result:
    """Verify one target in each of its variants, and write its counterexamples.

    *limits* are those of ``verify_target``.
    """
    from ...verify.verification import verify_target  # noqa: PLC0415 - Hypothesis takes 0.2 s to import

    laws = selected(["runtime"])

    def opens(name: str | None = None) -> Target:
        return open_target(target, timeout=timeout, say=notice, variant=name)

    def verified(one: Target, name: str | None) -> tuple[Result, Counterexamples]:
        own = None if workers is None else dataclasses.replace(workers, variant=name)
        return verify_target(one, laws, **limits, workers=own, progress=progress.say)

    with opens() as opened, Progress(target) as progress:
        result, found = verify_variants(opened, opens, verified)
    return saved(result, found, out / COUNTEREXAMPLES, lambda path: str(path.relative_to(out)))


def _write(matrix: Matrix, out: Path) -> None:
    """Write the table in the place of an earlier one, and remove the counterexamples that only that one names."""
    old = _named_before(out)
    write_file(out / "matrix.json", msgspec.json.format(msgspec.json.encode(matrix), indent=2) + b"\n")
    write_file(out / "matrix.md", to_markdown(matrix) + "\n" + reasons(matrix))
    for name in old - _named(matrix):
        with contextlib.suppress(FileNotFoundError):
            (out / name).unlink()


def _named(matrix: Matrix) -> set[str]:
    """The counterexample files of a table, as it names them: below its folder."""
    laws = (law for result in matrix.results for law in result.laws)
    broke = (result.crash.counterexample for result in matrix.results if result.crash is not None)
    return {file for file in (*broke, *(one for law in laws for one in (law.counterexample, *law.others))) if file}


def _named_before(out: Path) -> set[str]:
    """The counterexample files of the table in *out*; nothing else in the folder is ours.

    A name that leads elsewhere is none of ours either, and neither is a file that has become something else.
    """
    path = out / "matrix.json"
    try:
        named = _named(msgspec.json.decode(path.read_bytes(), type=Matrix))
    except FileNotFoundError:
        return set()
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        notice(f"{path} is no table of this version, so that its counterexamples stay: {error}")
        return set()
    return {name for name in named if Path(name).parent == Path(COUNTEREXAMPLES) and is_counterexample(out / name)}
