"""``turncheck verify``."""

import dataclasses
import shlex
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets.registry import Target, open_target
from turncheck.model.core.refused_json import why_refused
from turncheck.model.rendering.printable import NOTHING, fill, lines

from ...generation.situations import STEPS
from ...laws.law import Law
from ...laws.registry import LAWS, selected
from ...report.causes import cause_line, counted_causes
from ...report.law_summary import counted
from ...report.registry import KINDS, on_result
from ...report.text import counterexample_lines, coverage_lines, crash_lines, inferred_lines
from ...verify.outcome.results import CauseFailure, Counterexamples, Crash, Result
from ...verify.variants import verify_variants
from ..baselining import grading, said, show_baseline
from ..options.completing import complete_law, complete_target
from ..options.jobs import jobs_option, workers_for
from ..options.shared import SECONDS, out_option, timeout_option
from ..options.suite import Suite, run_suite, suite_options
from ..printing.output import Progress, echo, emit, hypothesis_elsewhere, notice, style
from ..printing.showing import MARKS, show
from ..reporting import Report, aside, publish, report_option
from ..saving import saved

LAW: Final = "equals-model"
"""The law of a suite, which is judged whatever --laws names."""
QUICK: Final = 10
"""One in so many generated cases is left with --quick, and of the work that shrinking may take."""
EXAMPLES: Final = 300
"""The cases that a whole run generates."""
_CASES: Final = {
    "projector": "generated logs",
    "runtime": f"generated words of up to {STEPS} stimuli",
    "collator": "generated flows of frames",
}
"""Role → what is generated for it."""
RUN_SECONDS: Final = 1800.0
"""Seconds for a whole run: the slowest known runtime takes under two minutes on two busy cores. The length of a suite
is the user's choice, and foretold."""


@click.command()
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--examples", type=click.IntRange(0), default=EXAMPLES, show_default=True, help="Generated logs, words or flows."
)
@click.option("--quick", is_flag=True, help="A tenth of them: for each push, where the whole run is for each night.")
@jobs_option
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
@click.option("--variant", metavar="NAME", help="Only this variant of TARGET; else each one that it has.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option(
    "--baseline", "baseline_file", type=click.Path(path_type=Path), help="A TOML file with the failures to expect."
)
@click.option("--update-baseline", is_flag=True, help="Write what fails into it, and take out what passes.")
@click.option("--dry-run", is_flag=True, help="Say what would be judged, and start nothing.")
@out_option(".turncheck", help="Where counterexamples go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--timings", is_flag=True, help="Say how long each phase took; all else is the same each time.")
@suite_options
@report_option([*KINDS])
@click.pass_context
def command(
    context: click.Context,
    *,
    target: str,
    examples: int,
    quick: bool,
    jobs: int,
    seed: int,
    budget: float | None,
    run_timeout: float | None,
    timeout: float,
    globs: tuple[str, ...],
    profile_file: Path | None,
    variant: str | None,
    fail_fast: bool,
    baseline_file: Path | None,
    update_baseline: bool,
    dry_run: bool,
    out: Path,
    as_json: bool,
    timings: bool,
    reports: tuple[Report, ...],
    suite: Suite | None,
) -> None:
    """Hold an implementation to every law.

    TARGET is python:package.module:attribute, cmd:command line, http://127.0.0.1:PORT/path, reference[:MACHINE], or a
    known runtime such as pi@0.87.1 (`turncheck targets`). Each of its variants is held to them. Failures are shrunk,
    shown, and written as counterexample files that `turncheck replay` reads. Exits 0 when nothing is wrong, 1 when a
    law is broken, 2 when the target broke or no law could be judged. A law that the baseline lists may fail; one that
    it lists and that passes is stale, which exits 1.
    """
    if dry_run and suite is not None:
        raise click.UsageError("--dry-run starts nothing, and a suite is made for what a target declares")
    if quick and suite is not None:
        raise click.UsageError("--quick leaves generated words out, and a suite promises something as a whole")
    if quick:
        examples = -(-examples // QUICK)
    if dry_run:
        _foretell(_laws([*_CASES], globs), examples, seed)
        return
    text = aside(reports, as_json=as_json)
    graded = grading(baseline_file, update=update_baseline, fail_fast=fail_fast)
    profile = None if profile_file is None else _profile(profile_file)
    hypothesis_elsewhere()
    from ...verify.verification import subjects_of, verify_target  # noqa: PLC0415 - Hypothesis takes 0.2 s to import

    started = time.monotonic()
    seconds = run_timeout or (RUN_SECONDS if suite is None else float("inf"))
    until = started + seconds
    workers = workers_for(jobs, target, timeout, profile)
    opens = partial(open_target, target, timeout=timeout, profile=profile, until=until, say=notice)

    def verified(opened: Target, name: str | None) -> tuple[Result, Counterexamples]:
        limits: Any = {
            "seed": seed,
            "budget": budget,
            "until": until,
            "fail_fast": fail_fast,
            "timings": timings,
            "progress": progress.say,
            "workers": None if workers is None else dataclasses.replace(workers, variant=name),
            "known": graded.baseline.cases,
        }
        if suite is None:
            thrift = QUICK if quick else 1
            return verify_target(opened, _laws(subjects_of(opened), globs), examples=examples, thrift=thrift, **limits)
        laws = [law for law in _laws(["runtime"], globs, suite=True) if law.name != LAW]
        return run_suite(opened, suite, [*laws, LAWS[LAW]], **limits)

    with opens(variant=variant) as opened, Progress(target) as progress:
        opening = time.monotonic() - started
        names = opened.variants if variant is None else (variant,)
        if names and variant is None and profile is not None:
            raise click.UsageError(f"--profile is one profile, and {target} has several: choose one with --variant")
        if suite is not None:
            names = names[:1]

        def opens_one(name: str) -> Target:
            return opens(variant=name)

        result, counterexamples = verify_variants(opened, opens_one, verified, names=names, fail_fast=fail_fast)
    if timings:
        result = msgspec.structs.replace(result, timings={"opening": round(opening, 3), **result.timings})
    # A smaller run does not show that nothing fails any more.
    whole = suite is None and variant is None and examples >= EXAMPLES
    result = saved(graded(result, counterexamples), counterexamples, out, whole=whole)
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
    """Print what would be judged in each role, since a target's role is known only after its start."""
    for subject, cases in _CASES.items():
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


def _show(result: Result, counterexamples: Counterexamples) -> None:
    who = result.implementation
    echo(fill("{}  {} {} ({})\n", style(result.target, bold=True), who.name, who.version, who.language))
    if result.crash is not None:
        _show_crash(result, result.crash)
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
    _show_causes(result, counterexamples)
    figures = {name: figure for name, figure in result.coverage.items() if isinstance(figure, int)}
    done = ", ".join(f"{figure:,} {name}" for name, figure in figures.items() if figure or name != "unsettled")
    causes = counted_causes(result)
    echo(fill("\n{}; {}, seed {}", "; ".join(filter(None, [causes, counted(result)])), done, result.seed))
    for one in result.variants:
        parts = ", ".join(f"{count} {verdict}" for verdict, count in one.summary.items() if count)
        echo(fill("variant {}: {}", one.name, parts))
        own = {name: value for name, value in one.inferred.items() if name not in result.inferred}
        show([fill("  {}", line) for line in inferred_lines(own)])
    show(inferred_lines(result.inferred))
    show(coverage_lines(result.coverage))
    if result.timings:
        echo(fill("{}", ", ".join(f"{phase} took {seconds:.1f} s" for phase, seconds in result.timings.items())))
    show_baseline(result)
    for title, said_of_it in result.notes:
        for line in f"{title}: {said_of_it}".splitlines():
            echo(style(line, fg="yellow"))


def _show_crash(result: Result, crash: Crash) -> None:
    """Print how the target broke, on what, and how to see it again."""
    show(crash_lines(crash, style))
    show([fill("{}", style(line)) for line in result.exchange])
    _show_replay(crash)
    show([NOTHING])


def _show_causes(result: Result, counterexamples: Counterexamples) -> None:
    """Print each cause: the counterexample of its root, and a line for each other law that it breaks."""
    excused = {law.law for law in result.laws if law.excused}
    causes = [
        (place, [one for one in cause.failures if one.law not in excused])
        for place, cause in enumerate(result.causes)
        if cause.baseline is None or cause.baseline.state != "known"
    ]
    for place, (root, *others) in ((place, failures) for place, failures in causes if failures):
        echo(fill("\n{}", style(cause_line(result, place), underline=True)))
        show(counterexample_lines(counterexamples.every[root.law][root.number - 1], style))
        _show_replay(root)
        for other in others:
            if LAWS[other.law].suite:  # what it expected is what the suite was made for
                show([NOTHING, *counterexample_lines(counterexamples.every[other.law][other.number - 1], style)])
            else:
                echo(fill("  {}: {}", style("✗ " + other.law, fg="red"), other.message))
            _show_replay(other)


def _show_replay(failure: CauseFailure | Crash) -> None:
    if failure.counterexample is not None:
        echo(fill("  turncheck replay --run {}", shlex.quote(failure.counterexample)))
