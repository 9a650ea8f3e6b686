"""``turncheck verify``."""

import shlex
from pathlib import Path
from typing import Final

import click
import msgspec

from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets.registry import open_target

from ...generation.situations import STEPS
from ...laws.law import Law
from ...laws.registry import LAWS, selected
from ...report.law_summary import counted
from ...report.registry import KINDS, on_result
from ...report.text import counterexample_lines, coverage_lines, inferred_lines
from ...verify.results import AnyCounterexample, LawResult, Result, write
from ..baselining import grading, said, show_baseline
from ..completing import complete_law, complete_target
from ..options import SECONDS, timeout_option
from ..output import Progress, emit, hypothesis_elsewhere, notice, style
from ..reporting import Report, aside, publish, report_option
from ..showing import MARKS, show
from ..suite_options import Suite, run_suite, suite_options

LAW: Final = "equals-model"
"""The law of a suite, which is judged whatever --laws names."""


@click.command()
@click.argument("target", shell_complete=complete_target)
@click.option("--examples", type=click.IntRange(0), default=300, show_default=True, help="Generated logs, or words.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--budget", type=SECONDS, help="Seconds for the whole run.")
@timeout_option
@click.option(
    "--laws",
    "globs",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_law,
    help="Only the laws whose names fit; repeatable.",
)
@click.option("--profile", "profile_file", type=click.Path(path_type=Path), help="A JSON file with what TARGET claims.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option(
    "--baseline", "baseline_file", type=click.Path(path_type=Path), help="A TOML file with the failures to expect."
)
@click.option("--update-baseline", is_flag=True, help="Write what fails into it, and take out what passes.")
@click.option("--dry-run", is_flag=True, help="Say what would be judged, and start nothing.")
@click.option("--out", type=click.Path(path_type=Path), default=Path(".turncheck"), help="Where counterexamples go.")
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

    with open_target(target, timeout=timeout, profile=profile, say=notice) as opened, Progress(target) as progress:
        if suite is not None:
            laws = [law for law in _laws(["runtime"], globs, suite=True) if law.name != LAW]
            result, counterexamples = run_suite(
                *(opened, suite, [*laws, LAWS[LAW]]),
                seed=seed,
                budget=budget,
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
    """What would be judged. Which role a target has, only starting it tells."""
    for subject, cases in (("projector", "generated logs"), ("runtime", f"generated words of up to {STEPS} stimuli")):
        judged = [law for law in laws if law.subject == subject]
        if not judged:
            continue
        click.echo(style(f"if the target is a {subject}", underline=True))
        for law in judged:
            needs = ", ".join(law.needs) or "nothing"
            click.echo(f"{style(f'{law.name:26}', bold=True)}  {law.kind:8}  needs {needs}")
        click.echo(f"{len(judged)} laws on {examples} {cases} with seed {seed}, and on the classic ones\n")


def _profile(path: Path) -> Profile:
    try:
        profile = msgspec.json.decode(path.read_bytes(), type=Profile)
        profile.projection_policies()
    except OSError as error:
        raise click.ClickException(f"the profile {path} cannot be read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise click.ClickException(f"the profile {path} cannot be used: {error}") from error
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
            click.echo(f"the counterexample of {law.law} cannot be written: {error}", err=True)
            return law

    return msgspec.structs.replace(result, laws=tuple(map(named, result.laws)))


def _show(result: Result, counterexamples: dict[str, AnyCounterexample]) -> None:
    who = result.implementation
    click.echo(f"{style(result.target, bold=True)}  {who.name} {who.version} ({who.language})\n")
    for law in result.laws:
        mark, colour = MARKS[law.verdict]
        why = (law.why or f"{law.evidence.observed + law.evidence.adapter:,} times") + said(law)
        click.echo(f"{style(mark, fg=colour, bold=True)} {law.law:26} {style(f'{law.verdict:12}', fg=colour)}  {why}")
    for law in result.laws:
        if law.law in counterexamples and not law.excused:
            show(["", *counterexample_lines(counterexamples[law.law], style)])
            if law.counterexample is not None:
                click.echo(f"  turncheck replay --run {shlex.quote(law.counterexample)}")
    figures = {name: figure for name, figure in result.coverage.items() if isinstance(figure, int)}
    done = ", ".join(f"{figure:,} {name}" for name, figure in figures.items() if figure or name != "unsettled")
    click.echo(f"\n{counted(result)}; {done}, seed {result.seed}")
    show(inferred_lines(result.inferred))
    show(coverage_lines(result.coverage))
    show_baseline(result)
    if result.cut:
        for line in f"the run was cut short: {result.cut}".splitlines():
            click.echo(style(line, fg="yellow"))
