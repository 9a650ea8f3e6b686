"""``turncheck replay``."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.registry import open_collator, open_projector, open_runtime
from turncheck.model.core.refused_json import why_refused
from turncheck.model.rendering.printable import NOTHING, fill, lines

from ...automata.n_complete.reference import modelled
from ...laws.law import Finding
from ...laws.registry import LAWS
from ...laws.runtime.subject import Modelled
from ...report.text import counterexample_lines
from ...verify.kept.replay import EXIT, Outcome, Replay, asked_collator, asked_projector, asked_runtime, stored
from ...verify.outcome.counterexample_files import is_counterexample, read
from ...verify.outcome.results import BREAKS, AnyCounterexample, Counterexample, FlowCounterexample, WordCounterexample
from ..options.shared import SECONDS
from ..printing.output import echo, emit, notice, style
from ..printing.showing import show

_SUBJECTS: Final = {Counterexample: "projector", WordCounterexample: "runtime", FlowCounterexample: "collator"}
_COLOURS: Final[dict[Outcome, str]] = {"FIXED": "green", "STILL FAILS": "red", "CANNOT RUN": "yellow"}


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--run", is_flag=True, help="Start the target that each file names, and ask it again.")
@click.option("--target", help="Ask this target instead.")
@click.option("--timeout", type=SECONDS, default=5.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each file.")
@click.pass_context
def command(
    context: click.Context,
    *,
    files: tuple[Path, ...],
    run: bool,
    target: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Judge counterexample files again; of a folder, all that are in it.

    Without --run or --target nothing is started: what a file says was observed is judged, and a law that compares two
    observations cannot be. Says for each FIXED (exit code 0), STILL FAILS (1), or CANNOT RUN (2): the target does not
    start, or breaks, or there was nothing to judge by. Of several files the worst counts: 1 before 2 before 0.
    """
    outcomes: list[Outcome] = []
    for file in _expanded(files):
        found = _read(file)
        if not as_json:
            show([*counterexample_lines(found, style), NOTHING])
        text = target or found.target
        starts = run or target is not None
        if starts:
            echo(fill("starting {}", style(text, bold=True)), err=as_json)
        outcome, why = _judged(partial(_asked, found, text, timeout) if starts else partial(stored, found))
        replay = Replay(str(file), found.law, found.clauses, "target" if starts else "stored", text, outcome, why)
        emit(replay) if as_json else _show(replay)
        outcomes.append(outcome)
    if len(outcomes) > 1 and not as_json:
        counted = Counter(outcomes)
        echo(fill("{} files: {}", len(outcomes), ", ".join(f"{counted[one]} {one}" for one in EXIT if counted[one])))
    context.exit(min(map(EXIT.__getitem__, outcomes), key=[1, 2, 0].index))


def _expanded(files: tuple[Path, ...]) -> list[Path]:
    """The files, and in the place of a folder the counterexamples in it. Raises click.ClickException."""
    found: list[Path] = []
    for file in files:
        inside = sorted(path for path in file.glob("*.json") if is_counterexample(path)) if file.is_dir() else [file]
        if not inside:
            raise click.ClickException(f"{file} holds no counterexample file")
        found += inside
    return found


def _judged(judge: Callable[[], Finding | None]) -> tuple[Outcome, str | None]:
    try:
        finding = judge()
    except (TargetError, BadTargetError) as error:
        return "CANNOT RUN", str(error)
    return ("FIXED", None) if finding is None else ("STILL FAILS", finding.message)


def _show(replay: Replay) -> None:
    """Print the outcome; the reason why a file cannot be judged goes to stderr."""
    judged = "what the file stores" if replay.judged == "stored" else replay.target
    said = fill("{}: {}", style(replay.outcome, fg=_COLOURS[replay.outcome], bold=True), style(judged))
    if replay.outcome == "CANNOT RUN":
        notice(fill("{}: {}", said, lines(replay.why)))
    else:
        broken = "{} breaks again: {}" if replay.law == BREAKS else "{} breaks the law: {}"
        kept = "{} does not break" if replay.law == BREAKS else "{} keeps the law"
        echo(fill(broken if replay.why else kept, said, replay.why))


def _read(file: Path) -> AnyCounterexample:
    try:
        found = read(file)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror or error}") from error
    except msgspec.ValidationError as error:
        raise click.ClickException(f"{file} is no counterexample file: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = why_refused(file.read_bytes(), error)
        raise click.ClickException(f"{file} is no counterexample file: {why}") from error
    if found.law != BREAKS and (found.law not in LAWS or LAWS[found.law].subject != _SUBJECTS[type(found)]):
        raise click.ClickException(f"{file} is about {found.law!r}, a law that this version does not have")
    return found


def _asked(found: AnyCounterexample, text: str, timeout: float) -> Finding | None:
    """Return how the target breaks the law on the file's input, if it does. Raises TargetError if the target breaks."""
    if isinstance(found, Counterexample):
        with open_projector(text, timeout=timeout, variant=found.variant) as projector:
            return asked_projector(found, projector)
    if isinstance(found, FlowCounterexample):
        with open_collator(text, timeout=timeout, variant=found.variant) as collator:
            return asked_collator(found, collator)
    with open_runtime(text, timeout=timeout, variant=found.variant) as runtime:
        return asked_runtime(found, runtime, _model(found, runtime))


def _model(found: AnyCounterexample, runtime: RuntimeTarget) -> Modelled | None:
    """The model of a suite, for a law that needs it."""
    return modelled(runtime.profile) if found.law in LAWS and LAWS[found.law].suite else None
