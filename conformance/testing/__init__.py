"""Laws as tests, for pytest: one line in a test module makes a separate test of every law on a target.

    from turncheck.conformance.testing import projector_laws

    test_turns = projector_laws("python:myapp.turns:project")

The target is run once per session, with its first test; docs/pytest.md has the rest.
"""

import datetime as dt
import os
import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.adapters.protocol.messages import Role
from turncheck.adapters.targets.registry import Target
from turncheck.model.rendering.printable import lines

from ..cli.failures import SEND
from ..cli.printing.output import style
from ..laws.registry import selected
from ..report.causes import cause_of
from ..report.text import counterexample_lines
from ..verify.kept.baseline import Baseline, BaselineError, grade, read
from ..verify.outcome.counterexample_files import write
from ..verify.outcome.results import INTERRUPTED, MISSED, AnyCounterexample, LawResult, Result
from .fixtures import TIMEOUT, opened_collator, opened_projector, opened_runtime

HYPOTHESIS_EXAMPLES: Final = 100
"""Hypothesis's default max_examples: a profile with another value was set by the user."""

FLOOR: Final = "evidence-floor"
"""The test beside the laws: whether what has to happen, for their verdicts to mean anything, did happen."""

LawTest = Callable[[str, "Judged | Floor"], None]


@dataclass(frozen=True)
class Suite:
    """The arguments of one line in a test module; None where the command line or the default decides."""

    role: Role
    target: str
    globs: tuple[str, ...]
    timeout: float
    examples: int | None
    seed: int | None
    baseline: str | None


@dataclass(frozen=True)
class Run:
    """The result of one run of a target: every law's verdict, and the counterexamples with their files."""

    result: Result
    counterexamples: Mapping[str, AnyCounterexample]
    files: Mapping[str, Path]


def projector_laws(
    target: str,
    *globs: str,
    timeout: float = TIMEOUT,
    examples: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
) -> LawTest:
    """Make a parametrized test, one case per law on projectors; assign it to a name that begins with ``test_``.

    One case more, ``evidence-floor``, says whether enough took place for the verdicts to mean anything.

    *target* is a target's text, as `turncheck verify` takes it. *globs* choose laws by their names; without any, all
    are judged. *timeout* is in seconds per answer. *examples* (generated logs) and *seed* default to the command line's
    options, then to those of `turncheck verify`. *baseline* is a file of known failures, below pytest's root folder.

    Raises ValueError for a glob that fits no law. The target itself is started by the first test.

    >>> test_turns = projector_laws("python:myapp.turns:project", "follow-up-*", examples=100)
    """
    return _tests(Suite("projector", target, globs, timeout, examples, seed, baseline))


def runtime_laws(
    target: str,
    *globs: str,
    timeout: float = TIMEOUT,
    examples: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
) -> LawTest:
    """Make a parametrized test, one case per law on runtimes. The parameters are those of ``projector_laws``.

    *examples* are generated words of stimuli. Raises ValueError for a glob that fits no law.

    >>> test_agent = runtime_laws("python:adapter:AgentAdapter", "run-ends-once", timeout=10.0)
    """
    return _tests(Suite("runtime", target, globs, timeout, examples, seed, baseline))


def collator_laws(
    target: str,
    *globs: str,
    timeout: float = TIMEOUT,
    examples: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
) -> LawTest:
    """Make a parametrized test, one case per law on collators. The parameters are those of ``projector_laws``.

    *examples* are generated flows of frames. Raises ValueError for a glob that fits no law.

    >>> test_blocks = collator_laws("python:myapp.blocks:Blocks", "one-block-*", examples=100)
    """
    return _tests(Suite("collator", target, globs, timeout, examples, seed, baseline))


def _tests(suite: Suite) -> LawTest:
    names = [*(law.name for law in selected([suite.role], suite.globs)), FLOOR]

    @pytest.mark.xdist_group(f"turncheck:{suite.target}")
    @pytest.mark.parametrize("law", names)
    def test(law: str, turncheck_judged: Judged | Floor) -> None:  # noqa: ARG001 - the fixture reads it
        turncheck_judged.tell()

    test.suite = suite  # type: ignore[attr-defined]
    return test


@dataclass(frozen=True)
class Judged:
    """The verdict of one law in a run."""

    law: LawResult
    run: Run
    strict: bool

    def tell(self) -> None:
        """End the test by the verdict: pass, fail, skip, or xfail where the baseline excuses a failure."""
        law, why = self.law, self.law.why or ""
        if law.baseline is not None and law.excused:
            pytest.xfail(lines(f"{why} (baseline: {law.baseline.reason}, {law.baseline.issue})"))
        if law.baseline is not None and law.baseline.state == "stale":
            _fail(f"{law.law} passes: take {law.baseline.entry!r} out of the baseline ({law.baseline.reason})")
        if law.verdict == "fail":
            _fail(self._counterexample())
        if law.verdict == "skipped":
            pytest.skip(lines(f"{law.law}: {why}"))
        if law.verdict == "inconclusive":
            if self.strict:
                _fail(f"{law.law} is inconclusive: {why}\n{_clauses(law)}")
            if not self.run.result.summary["pass"]:
                _fail(f"{law.law} is inconclusive: {why}, and no law passed: nothing is shown\n{_clauses(law)}")
            pytest.skip(lines(f"{law.law}: inconclusive: {why}"))

    def _counterexample(self) -> str:
        found = self.run.counterexamples.get(self.law.law)
        if found is None:
            return f"{self.law.law}: {self.law.why}\n{_clauses(self.law)}"
        with redirect_stdout(StringIO()):  # no terminal: nothing is coloured
            told = [*counterexample_lines(found, style)]
        result = self.run.result
        cause = [f"  {said}" for said in [cause_of(result, self.law)] if said]
        shown = "\n".join([*told, *cause, f"  target {result.target}, seed {result.seed}\n"])
        text = shown.removeprefix("✗ ")
        if self.law.baseline is not None:
            text += f"  the baseline's entry {self.law.baseline.entry!r} has expired\n"
        file = self.run.files.get(self.law.law)
        return text if file is None else f"{text}  turncheck replay --run {shlex.quote(str(file))}\n"


@dataclass(frozen=True)
class Floor:
    """The evidence floor of a run."""

    result: Result

    def tell(self) -> None:
        """End the test: it fails with what is missing."""
        if self.result.missed:
            _fail("\n  ".join([f"{MISSED}:", *self.result.missed]))


def _fail(text: str) -> NoReturn:
    pytest.fail(lines(text), pytrace=False)


def _clauses(law: LawResult) -> str:
    return f"  clauses: {', '.join(law.clauses) or 'none'}"


_RUNS: Final = pytest.StashKey[dict[Suite, "Run | str"]]()


def judged(request: pytest.FixtureRequest) -> Judged | Floor:
    """Return the verdict of the test's law, or the floor; the first call runs the target, and no other does.

    Fails the setup where the run cannot be made, or the target breaks.
    """
    config, suite = request.config, request.function.suite
    runs = config.stash.setdefault(_RUNS, {})
    if suite not in runs:
        try:
            runs[suite] = _run(config, suite)
        except (TargetError, BadTargetError, BaselineError) as error:
            runs[suite] = f"{suite.target} could not be verified: {error}"
        except Exception as error:
            if not isinstance(error, OSError):
                error.add_note("This is a bug in turncheck, and no fault of the target. " + SEND)
            raise
    run = runs[suite]
    if isinstance(run, str):
        _fail(run)
    name = request.getfixturevalue("law")
    if name == FLOOR:
        if run.result.incomplete:
            _fail(f"{FLOOR} could not be judged: {run.result.cut}")
        return Floor(run.result)
    law = next(one for one in run.result.laws if one.law == name)
    if law.verdict == "error":
        _fail(f"{law.law} could not be judged: {law.why}\n  {run.result.cut or ''}")
    return Judged(law, run, bool(config.getoption("turncheck_strict")))


def _run(config: pytest.Config, suite: Suite) -> Run:
    """Hold the target to the laws. Raises TargetError, BadTargetError and BaselineError."""
    from ..verify.verification import verify_target  # noqa: PLC0415 - Hypothesis takes 0.2 s to import

    file = config.getoption("turncheck_baseline") or (config.rootpath / suite.baseline if suite.baseline else None)
    baseline = read(file) if file else None
    examples, seed = _examples(config, suite), _seed(config, suite)
    laws = selected([suite.role], suite.globs)
    with ExitStack() as stack:
        if suite.role == "projector":
            target = Target(projector=stack.enter_context(opened_projector(suite.target, timeout=suite.timeout)))
        elif suite.role == "collator":
            target = Target(collator=stack.enter_context(opened_collator(suite.target, timeout=suite.timeout)))
        else:
            target = Target(runtime=stack.enter_context(opened_runtime(suite.target, timeout=suite.timeout)))
        result, found = verify_target(target, laws, examples=examples, seed=seed, **_known(baseline))
    if result.cut == INTERRUPTED:
        raise KeyboardInterrupt
    if baseline is not None:
        result = grade(result, baseline, dt.date.today())
    return Run(result, found, _files(config, found))


def _known(baseline: Baseline | None) -> dict[str, Any]:
    """Return the limit ``known`` of a run with a baseline."""
    return {} if baseline is None else {"known": baseline.cases}


def _examples(config: pytest.Config, suite: Suite) -> int:
    """Return the number set by the command line, the test module, the Hypothesis profile, or `verify`'s default."""
    from hypothesis import settings  # noqa: PLC0415 - as above

    from ..verify.subjects.projector import EXAMPLES  # noqa: PLC0415 - as above

    for given in (config.getoption("turncheck_examples"), suite.examples):
        if given is not None:
            return int(given)
    profile: int = settings().max_examples
    return EXAMPLES if profile == HYPOTHESIS_EXAMPLES else profile


def _seed(config: pytest.Config, suite: Suite) -> int:
    """Return the seed set by the command line, the test module, or ``--hypothesis-seed``; else 0."""
    hypothesis = str(config.getoption("--hypothesis-seed", None))
    given = (config.getoption("turncheck_seed"), suite.seed, int(hypothesis) if hypothesis.isdecimal() else None, 0)
    return next(int(seed) for seed in given if seed is not None)


def _files(config: pytest.Config, found: Mapping[str, AnyCounterexample]) -> dict[str, Path]:
    """Write the counterexamples to pytest's cache folder, if there is one; return their files."""
    cache = getattr(config, "cache", None)
    if cache is None:
        return {}
    try:
        folder = cache.mkdir("turncheck")
        return {law: Path(os.path.relpath(write(one, folder))) for law, one in found.items()}
    except OSError:
        return {}
