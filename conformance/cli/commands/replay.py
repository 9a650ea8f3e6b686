"""``turncheck replay``."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import msgspec

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.adapters.targets.registry import open_projector, open_runtime

from ...laws.law import Finding
from ...laws.registry import LAWS
from ...n_complete.reference import modelled
from ...report.text import counterexample_lines
from ...verify.replay import EXIT, Outcome, Replay, asked_projector, asked_runtime, stored
from ...verify.results import AnyCounterexample, Counterexample, read
from ..options import SECONDS
from ..output import emit, notice, style
from ..showing import show

_COLOURS: Final[dict[Outcome, str]] = {"FIXED": "green", "STILL FAILS": "red", "CANNOT RUN": "yellow"}


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", is_flag=True, help="Start the target that the file names, and ask it again.")
@click.option("--target", help="Ask this target instead.")
@click.option("--timeout", type=SECONDS, default=5.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(
    context: click.Context, *, file: Path, run: bool, target: str | None, timeout: float, as_json: bool
) -> None:
    """Judge a counterexample file again.

    Without --run or --target nothing is started: what the file says was observed is judged. Says FIXED (exit code 0),
    STILL FAILS (1), or CANNOT RUN (2): the target does not start, or breaks, or there was nothing to judge by.
    """
    found = _read(file)
    if not as_json:
        show([*counterexample_lines(found, style), ""])
    text = target or found.target
    starts = run or target is not None
    if starts:
        click.echo(f"starting {style(text, bold=True)}", err=as_json)
    outcome, why = _judged(lambda: _asked(found, text, timeout) if starts else stored(found))
    replay = Replay(str(file), found.law, found.clauses, "target" if starts else "stored", text, outcome, why)
    emit(replay) if as_json else _show(replay)
    context.exit(EXIT[outcome])


def _judged(judge: Callable[[], Finding | None]) -> tuple[Outcome, str | None]:
    try:
        finding = judge()
    except (TargetError, BadTargetError) as error:
        return "CANNOT RUN", str(error)
    return ("FIXED", None) if finding is None else ("STILL FAILS", finding.message)


def _show(replay: Replay) -> None:
    """Print the outcome; the reason why a file cannot be judged goes to stderr."""
    judged = "what the file stores" if replay.judged == "stored" else replay.target
    said = f"{style(replay.outcome, fg=_COLOURS[replay.outcome], bold=True)}: {style(judged)}"
    if replay.outcome == "CANNOT RUN":
        notice(f"{said}: {replay.why}")
    else:
        click.echo(f"{said} {f'breaks the law: {style(replay.why)}' if replay.why else 'keeps the law'}")


def _read(file: Path) -> AnyCounterexample:
    try:
        found = read(file)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise click.ClickException(f"{file} is no counterexample file: {error}") from error
    subject = "projector" if isinstance(found, Counterexample) else "runtime"
    if found.law not in LAWS or LAWS[found.law].subject != subject:
        raise click.ClickException(f"{file} is about {found.law!r}, a law that this version does not have")
    return found


def _asked(found: AnyCounterexample, text: str, timeout: float) -> Finding | None:
    """Return how the target breaks the law on the file's input, if it does. Raises TargetError if the target breaks."""
    if isinstance(found, Counterexample):
        with open_projector(text, timeout=timeout) as projector:
            return asked_projector(found, projector)
    with open_runtime(text, timeout=timeout) as runtime:
        return asked_runtime(found, runtime, modelled(runtime.profile) if LAWS[found.law].suite else None)
