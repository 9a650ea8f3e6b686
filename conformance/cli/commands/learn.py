"""``turncheck learn``."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.references.registry import REFERENCES
from turncheck.adapters.targets.registry import open_runtime
from turncheck.model.extras import needs_extra
from turncheck.model.writing import write_file

from ..options.shared import SECONDS, timeout_option
from ..options.suite import chosen_letters
from ..printing.output import Progress, emit
from ..printing.showing_learned import show_comparison, show_conflict, show_learned

_DEFAULT: Final = "interaction"
_REFERENCE: Final = "its reference"


@click.command()
@click.argument("target")
@click.option(
    "--diff",
    "other",
    is_flag=False,
    flag_value=_REFERENCE,
    metavar="[OTHER]",
    help="Compare it with the machine of OTHER; without OTHER, with the reference of the machine that TARGET claims.",
)
@click.option("--bound", type=click.IntRange(1), default=1, show_default=True, help="Messages that wait, at most.")
@click.option("--calls", type=click.IntRange(1), default=1, show_default=True, help="Calls of a response, at most.")
@click.option("-k", "--extra", type=click.IntRange(0), default=1, show_default=True, help="More states to test for.")
@click.option("-a", "--alphabet", "globs", multiple=True, metavar="GLOB", help="Only the letters that fit; repeatable.")
@click.option("--policy", "policies", multiple=True, metavar="NAME=VALUE", help="Start with this policy; repeatable.")
@click.option("--rounds", type=click.IntRange(1), help="Start with limits.maxRounds: requests of a run.")
@click.option("--stimuli", type=click.IntRange(1), default=1_000_000, show_default=True, help="At most, per machine.")
@click.option("--budget", type=SECONDS, help="Seconds per machine.")
@timeout_option
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw it into this file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(
    context: click.Context,
    *,
    target: str,
    other: str | None,
    bound: int,
    calls: int,
    extra: int,
    globs: tuple[str, ...],
    policies: tuple[str, ...],
    rounds: int | None,
    stimuli: int,
    budget: float | None,
    timeout: float,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Learn the machine of TARGET, a runtime, from output queries only: KV with a Wp oracle, over an abstract alphabet.

    Exits 0 when it was learned, with --diff when the two agree; 1 when they differ, and when the same stimuli had two
    answers, which are shown; 2 when TARGET broke or did not settle, and when a budget cut the comparison.
    """
    needs_extra("learn", "turncheck learn")
    if svg is not None:
        needs_extra("diagrams", "--svg")
    from ...automata.learn.abstraction import ALPHABET, Bounds, Letter, letters_of  # noqa: PLC0415 - --help must not import it
    from ...automata.learn.learned import Conflict, Learned, compare, learn_runtime  # noqa: PLC0415
    from ...automata.learn.learning import NondeterministicError, NoQuietError  # noqa: PLC0415
    from ...report.learned_diagram import comparison_svg, machine_svg  # noqa: PLC0415

    given = _policies(policies)

    def learned(runtime: RuntimeTarget, letters: Sequence[Letter], given: Mapping[str, Any] = given) -> Learned:
        try:
            with Progress(runtime.name) as progress:
                return learn_runtime(
                    runtime,
                    letters,
                    bounds=Bounds(bound, calls),
                    policies=given,
                    limits={"maxRounds": rounds} if rounds and runtime.profile.can("limits") else {},
                    extra=extra,
                    stimuli=stimuli,
                    seconds=budget,
                    progress=progress.say,
                )
        except NondeterministicError as error:
            conflict = Conflict(runtime.name, error.letters, error.first, error.then)
            emit(conflict) if as_json else show_conflict(conflict)
            context.exit(1)
        except NoQuietError as error:
            raise click.ClickException(f"{runtime.name}: {error}") from error

    with open_runtime(target, timeout=timeout) as runtime:
        letters = chosen_letters(letters_of(runtime.profile.capabilities, ALPHABET), globs)
        if other is None:
            found = learned(runtime, letters)
            _write(svg, lambda: machine_svg(found))
            emit(found) if as_json else show_learned(found)
            context.exit(0)
        with open_runtime(_named(other, runtime), timeout=timeout) as reference:
            shared = letters_of(reference.profile.capabilities, ALPHABET)
            common = [letter for letter in letters if letter in shared]
            theirs = _as_declared(reference, runtime, given)
            compared = compare(learned(runtime, common), learned(reference, common, theirs))
    _write(svg, lambda: comparison_svg(compared))
    left_out = [str(letter) for letter in letters if letter not in shared]
    emit(compared) if as_json else show_comparison(compared, left_out)
    cut = compared.target.cut or compared.reference.cut
    context.exit(1 if compared.differences else 2 if cut else 0)


def _named(other: str, runtime: RuntimeTarget) -> str:
    """Return the target of --diff; without a value, the reference of the machine that the runtime claims."""
    if other != _REFERENCE:
        return other
    machine = runtime.profile.machine
    return f"reference:{machine if machine in REFERENCES else _DEFAULT}"


def _as_declared(reference: RuntimeTarget, runtime: RuntimeTarget, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policies of the reference: for the interaction machine, those that the runtime declares."""
    if reference.name != f"reference:{_DEFAULT}":
        return {name: value for name, value in given.items() if name in reference.profile.policies}
    from turncheck.model.machines.interaction import POLICIES  # noqa: PLC0415

    names = [name for name, _ in POLICIES.values()]
    return {name: value for name, value in {**runtime.profile.policies, **given}.items() if name in names}


def _policies(given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--policy {text}: expected NAME=VALUE, as in tools=serial")
        found[name] = int(value) if value.isdecimal() else value
    return found


def _write(path: Path | None, draw: Callable[[], str]) -> None:
    if path is None:
        return
    try:
        write_file(path, draw())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise click.ClickException(f"the picture {path} cannot be written: {why}") from error
