"""The options of ``verify --suite``, and the function that runs the suite."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from turncheck.adapters.targets.registry import Target
from turncheck.model.machines.interaction import CONCURRENT

from ...laws.law import Law
from ...verify.outcome.results import Case, Counterexamples, Result
from ..printing.output import notice
from .shared import options

if TYPE_CHECKING:
    from ...automata.learn.abstraction import Letter
    from ...verify.engine import Workers

_F = TypeVar("_F", bound=Callable[..., Any])


_OPTIONS: Final = options(
    click.option("--suite", type=click.Choice(["n-complete"]), help="Apply a whole suite in place of generated words."),
    click.option(
        *("-k", "extra"),
        type=click.IntRange(0, 2),
        default=1,
        show_default=True,
        help="With --suite: states of the target beyond the model's.",
    ),
    click.option(
        "--method",
        type=click.Choice(["hsi", "wp", "w"]),
        default="hsi",
        show_default=True,
        help="With --suite: how states are identified.",
    ),
    click.option(
        "--bound",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="With --suite: messages that wait, at most.",
    ),
    click.option("--letters", multiple=True, metavar="GLOB", help="With --suite: the letters that fit; repeatable."),
)


@dataclass(frozen=True)
class Suite:
    """The suite that the options ask for; ``globs`` choose letters."""

    method: str
    k: int
    bound: int
    globs: tuple[str, ...]


def suite_options(command: _F) -> _F:
    """The options of a suite; the command gets ``suite``, None without ``--suite``."""

    @wraps(command)
    def asked(
        *, suite: str | None, extra: int, method: str, bound: int, letters: tuple[str, ...], **others: Any
    ) -> Any:
        return command(suite=None if suite is None else Suite(method, extra, bound, letters), **others)

    return cast(_F, _OPTIONS(asked))


def run_suite(
    target: Target,
    asked: Suite,
    laws: Sequence[Law],
    *,
    seed: int,
    budget: float | None,
    until: float,
    fail_fast: bool,
    timings: bool,
    progress: Callable[[str], None],
    workers: "Workers | None",
    known: Mapping[str, Case],
) -> tuple[Result, Counterexamples]:
    """Apply the suite to the runtime of *target*. Raises TargetError, and click.ClickException without a suite."""
    from ...automata.learn.abstraction import Bounds  # noqa: PLC0415 - --help must not import it
    from ...automata.learn.learning import NondeterministicError, NoQuietError  # noqa: PLC0415
    from ...automata.n_complete.reference import InexactModelError, common_letters, model_of, reference_for  # noqa: PLC0415
    from ...automata.n_complete.run import Plan, verify_suite  # noqa: PLC0415
    from ...verify.engine import Options  # noqa: PLC0415

    runtime = target.runtime
    if runtime is None:
        raise click.ClickException("a suite is for runtimes, and this target is a projector: verify it without --suite")
    if runtime.profile.policies.get("busy") == CONCURRENT:
        why = "the model of a suite has one run at a time, and this runtime several (busy: concurrent)"
        raise click.ClickException(f"{why}: verify it without --suite")
    deadline = time.monotonic() + budget if budget else float("inf")
    with reference_for(runtime.profile) as reference:
        common, beyond = common_letters(runtime.profile, reference)
        letters = chosen_letters(common, asked.globs)
        try:
            model = model_of(reference, letters, Bounds(asked.bound), deadline=min(deadline, until), progress=progress)
            result, found = verify_suite(
                runtime,
                Plan(model, asked.method, asked.k, chosen_letters(beyond, asked.globs, strict=False)),
                laws,
                Options(
                    *(deadline, until),
                    seed=seed,
                    fail_fast=fail_fast,
                    timings=timings,
                    progress=progress,
                    workers=workers,
                    known=known,
                ),
                foretell=notice,
            )
        except (InexactModelError, NondeterministicError, NoQuietError) as error:
            raise click.ClickException(str(error)) from error
    return result, found


def chosen_letters(letters: "Sequence[Letter]", globs: tuple[str, ...], *, strict: bool = True) -> "list[Letter]":
    """Return the letters that fit, without a GLOB the usual ones; where *strict*, a GLOB that fits none is an error."""
    from ...automata.learn.abstraction import LETTERS  # noqa: PLC0415 - --help must not import it

    for glob in globs if strict else ():
        if not any(fnmatchcase(str(letter), glob) for letter in letters):
            raise click.UsageError(f"no letter of this target fits {glob!r}; it has: {', '.join(map(str, letters))}")
    if not globs:
        return [letter for letter in letters if letter in LETTERS]
    return [letter for letter in letters if any(fnmatchcase(str(letter), glob) for glob in globs)]
