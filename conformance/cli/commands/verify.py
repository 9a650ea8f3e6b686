"""``turncheck verify``."""

import shlex
import time
from pathlib import Path
from typing import Final

import click
import msgspec

from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets.registry import open_target
from turncheck.model.core.refused_json import why_refused
from turncheck.model.rendering.printable import NOTHING, fill, lines

from ...generation.situations import STEPS
from ...laws.law import Law
from ...laws.registry import LAWS, selected
from ...report.law_summary import counted
from ...report.registry import KINDS, on_result
from ...report.text import counterexample_lines, coverage_lines, inferred_lines
from ...verify.results import AnyCounterexample, LawResult, Result, write
from ..baselining import grading, said, show_baseline
from ..completing import complete_law, complete_target
from ..options import SECONDS, out_option, timeout_option
from ..output import Progress, echo, emit, hypothesis_elsewhere, notice, style
from ..reporting import Report, aside, publish, report_option
from ..showing import MARKS, show
from ..suite_options import Suite, run_suite, suite_options

LAW: Final = "equals-model"
"""The law of a suite, which is judged whatever --laws names."""
RUN_SECONDS: Final = 1800.0
"""Seconds for a whole run: the slowest known runtime takes under two minutes on two busy cores. The length of a suite
is the user's choice, and foretold."""


@click.command()
@click.argument("target", shell_complete=complete_target)
@click.option("--examples", type=click.IntRange(0), default=300, show_default=True, help="Generated logs, or words.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--budget", type=SECONDS, help="Seconds of exploring; what was seen until then is judged.")
@click.option(
    "--run-timeout",
    type=SECONDS,
    help=f"Seconds for the whole run; then it is an error. {RUN_SECONDS:g} by default, and with --suite none.",
)
@timeout_option
@click.option(
    "--laws",
    "globs",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_law,
    help="Only the laws whose names fit; repeatable.",
)
@click.option("--profile", "profile_file", type=click.Path(path_type=Path), help="A JSON file with TARGET's claims.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option(
    "--baseline", "baseline_file", type=click.Path(path_type=Path), help="A TOML file with the failures to expect."
)
@click.option("--update-baseline", is_flag=True, help="Write what fails into it, and take out what passes.")
@click.option("--dry-run", is_flag=True, help="Say what would be judged, and start nothing.")
@out_option(".turncheck", help="Where counterexamples go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@suite_options
@report_option([*KINDS])
@click.pass_context
def command(
    context: click.Context,
    *,
    target: str,
    examples: int,
    seed: int,
    budget: float | None,
    run_timeout: float | None,
    timeout: float,
    globs: tuple[str, ...],
    profile_file: Path | None,
    fail_fast: bool,
    baseline_file: Path | None,
    update_baseline: bool,
    dry_run: bool,
    out: Path,
    as_json: bool,
    reports: tuple[Report, ...],
    suite: Suite | None,
) -> None:
    """Hold an implementation to every law.

    TARGET is python:package.module:attribute, cmd:command line, http://127.0.0.1:PORT/path, reference[:MACHINE], or a
    known runtime such as pi@0.87.1 (`turncheck targets`). Failures are shrunk, shown, and written as counterexample
    files that `turncheck replay` reads. Exits 0 when nothing is wrong, 1 when a law is broken, 2 when the target broke
    or no law could be judged. A law that the baseline lists may fail; one that it lists and that passes is stale, which
    exits 1.
    """
    if dry_run and suite is not None:
        raise click.UsageError("--dry-run starts nothing, and a suite is made for what a target declares")
    if dry_run:
        _foretell(_laws(["projector", "runtime"], globs), examples, seed)
        return
    text = aside(reports, as_json=as_json)
    graded = grading(baseline_file, update=update_baseline, fail_fast=fail_fast)
    profile = None if profile_file is None else _profile(profile_file)
    hypothesis_elsewhere()
    from ...verify.verification import subjects_of, verify_target  # noqa: PLC0415 - Hypothesis takes 0.2 s to import

    seconds = run_timeout or (RUN_SECONDS if suite is None else float("inf"))
    until = time.monotonic() + seconds
    with (
        open_target(target, timeout=timeout, profile=profile, until=until, say=notice) as opened,
        Progress(target) as progress,
    ):
        if suite is not None:
            laws = [law for law in _laws(["runtime"], globs, suite=True) if law.name != LAW]
            result, counterexamples = run_suite(
                *(opened, suite, [*laws, LAWS[LAW]]),
                seed=seed,
                budget=budget,
                until=until,
                fail_fast=fail_fast,
                progress=progress.say,
            )
        else:
            result, counterexamples = verify_target(
                opened,
                _laws(subjects_of(opened), globs),
                examples=examples,
                seed=seed,
                budget=budget,
                until=until,
                fail_fast=fail_fast,
                progress=progress.say,
            )
    result = _written(graded(result), counterexamples, out)
    with text:
        emit(result) if as_json else _show(result, counterexamples)
    publish(reports, lambda kind: on_result(kind)(result, counterexamples))
    context.exit(result.exit_code)


def _laws(subjects: list[str], globs: tuple[str, ...], *, suite: bool = False) -> list[Law]:
    try:
        return selected(subjects, globs, suite=suite)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _foretell(laws: list[Law], examples: int, seed: int) -> None:
    """Print what would be judged in either role, since a target's role is known only after its start."""
    for subject, cases in (("projector", "generated logs"), ("runtime", f"generated words of up to {STEPS} stimuli")):
        judged = [law for law in laws if law.subject == subject]
        if not judged:
            continue
        echo(style(f"if the target is a {subject}", underline=True))
        for law in judged:
            needs = ", ".join(law.needs) or "nothing"
            echo(fill("{}  {:8}  needs {}", style(f"{law.name:26}", bold=True), law.kind, needs))
        echo(fill("{} laws on {} {} with seed {}, and on the classic ones\n", len(judged), examples, cases, seed))


def _profile(path: Path) -> Profile:
    try:
        profile = msgspec.json.decode(path.read_bytes(), type=Profile)
        profile.projection_policies()
    except OSError as error:
        raise click.ClickException(f"the profile {path} cannot be read: {error.strerror or error}") from error
    except msgspec.ValidationError as error:
        raise click.ClickException(f"the profile {path} cannot be used: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = why_refused(path.read_bytes(), error)
        raise click.ClickException(f"the profile {path} cannot be used: {why}") from error
    return profile


def _written(result: Result, counterexamples: dict[str, AnyCounterexample], out: Path) -> Result:
    """The result with the names of the counterexample files that were written."""

    def named(law: LawResult) -> LawResult:
        found = counterexamples.get(law.law)
        if found is None:
            return law
        try:
            return msgspec.structs.replace(law, counterexample=str(write(found, out)))
        except OSError as error:
            why = f"to {error.filename}: {error.strerror}"
            echo(fill("the counterexample of {} cannot be written {}", law.law, why), err=True)
            return law

    return msgspec.structs.replace(result, laws=tuple(map(named, result.laws)))


def _show(result: Result, counterexamples: dict[str, AnyCounterexample]) -> None:
    who = result.implementation
    echo(fill("{}  {} {} ({})\n", style(result.target, bold=True), who.name, who.version, who.language))
    for law in result.laws:
        mark, colour = MARKS[law.verdict]
        why = lines((law.why or str(law.evidence)) + said(law))
        echo(
            fill(
                "{} {:26} {}  {}",
                style(mark, fg=colour, bold=True),
                law.law,
                style(f"{law.verdict:12}", fg=colour),
                why,
            )
        )
    for law in result.laws:
        if law.law in counterexamples and not law.excused:
            show([NOTHING, *counterexample_lines(counterexamples[law.law], style)])
            if law.counterexample is not None:
                echo(fill("  turncheck replay --run {}", shlex.quote(law.counterexample)))
    figures = {name: figure for name, figure in result.coverage.items() if isinstance(figure, int)}
    done = ", ".join(f"{figure:,} {name}" for name, figure in figures.items() if figure or name != "unsettled")
    echo(fill("\n{}; {}, seed {}", counted(result), done, result.seed))
    show(inferred_lines(result.inferred))
    show(coverage_lines(result.coverage))
    show_baseline(result)
    for title, said_of_it in result.notes:
        for line in f"{title}: {said_of_it}".splitlines():
            echo(style(line, fg="yellow"))
