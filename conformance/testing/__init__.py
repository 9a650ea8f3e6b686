"""Laws as tests, for pytest: one line in a test module makes a separate test of every law on a target.

    from turncheck.conformance.testing import projector_laws

    test_turns = projector_laws("python:myapp.turns:project")

The target is run once per session, with its first test; docs/pytest.md has the rest.
"""

import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Final, NoReturn

import pytest

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.model.rendering.printable import lines

from ..cli.failures import SEND
from ..cli.printing.output import style
from ..laws.registry import selected
from ..report.causes import cause_of
from ..report.law_summary import crash_story
from ..report.text import counterexample_lines
from ..verify.kept.baseline import BaselineError
from ..verify.outcome.results import MISSED, LawResult, Result
from .fixtures import TIMEOUT
from .running import Run, Suite, run

FLOOR: Final = "evidence-floor"
"""The test beside the laws: whether what has to happen, for their verdicts to mean anything, did happen."""

LawTest = Callable[[str, "Judged | Floor"], None]


def projector_laws(
    target: str,
    *globs: str,
    timeout: float = TIMEOUT,
    examples: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
    variant: str | None = None,
) -> LawTest:
    """Make a parametrized test, one case per law on projectors; assign it to a name that begins with ``test_``.

    One case more, ``evidence-floor``, says whether enough took place for the verdicts to mean anything.

    *target* is a target's text, as `turncheck verify` takes it. *globs* choose laws by their names; without any, all
    are judged. *timeout* is in seconds per answer. *examples* (generated logs) and *seed* default to the command line's
    options, then to those of `turncheck verify`. *baseline* is a file of known failures, below pytest's root folder.
    *variant* is one of the target's, or ``"*"``: each of them has tests of its own, ``[VARIANT-LAW]``, and at
    collection the target is asked for their names. Without it there is the default one.

    Raises ValueError for a glob that fits no law. The target itself is started by the first test.

    >>> test_turns = projector_laws("python:myapp.turns:project", "follow-up-*", examples=100)
    """
    return _tests(Suite("projector", target, globs, timeout, examples, seed, baseline, variant))


def runtime_laws(
    target: str,
    *globs: str,
    timeout: float = TIMEOUT,
    examples: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
    variant: str | None = None,
) -> LawTest:
    """Make a parametrized test, one case per law on runtimes. The parameters are those of ``projector_laws``.

    *examples* are generated words of stimuli. Raises ValueError for a glob that fits no law.

    >>> test_agent = runtime_laws("python:adapter:AgentAdapter", "run-ends-once", timeout=10.0)
    """
    return _tests(Suite("runtime", target, globs, timeout, examples, seed, baseline, variant))


def collator_laws(
    target: str,
    *globs: str,
    timeout: float = TIMEOUT,
    examples: int | None = None,
    seed: int | None = None,
    baseline: str | None = None,
    variant: str | None = None,
) -> LawTest:
    """Make a parametrized test, one case per law on collators. The parameters are those of ``projector_laws``.

    *examples* are generated flows of frames. Raises ValueError for a glob that fits no law.

    >>> test_blocks = collator_laws("python:myapp.blocks:Blocks", "one-block-*", examples=100)
    """
    return _tests(Suite("collator", target, globs, timeout, examples, seed, baseline, variant))


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
        law, result = self.law, self.run.result
        cause = [f"  {said}" for said in [cause_of(result, law)] if said]
        shown = "\n".join([*told, *cause, f"  target {result.target}, seed {result.seed}\n"])
        text = shown.removeprefix("✗ ")
        if law.baseline is not None:
            text += f"  the baseline's entry {law.baseline.entry!r} has expired\n"
        files = [file for file in (law.counterexample, *law.others) if file is not None]
        return text + "".join(f"  turncheck replay --run {shlex.quote(file)}\n" for file in files)


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


_RUNS: Final = pytest.StashKey[dict[tuple[Suite, str | None], "Run | str"]]()


def judged(request: pytest.FixtureRequest) -> Judged | Floor:
    """Return the verdict of the test's law, or the floor; the first call runs the target, and no other does.

    Fails the setup where the run cannot be made, or the target breaks.
    """
    config, suite = request.config, request.function.suite
    variant: str | None = request.getfixturevalue("turncheck_variant")
    runs, key = config.stash.setdefault(_RUNS, {}), (suite, variant)
    if key not in runs:
        try:
            runs[key] = run(config, suite, variant)
        except (TargetError, BadTargetError, BaselineError) as error:
            runs[key] = f"{suite.target} could not be verified: {error}"
        except Exception as error:
            if not isinstance(error, OSError):
                error.add_note("This is a bug in turncheck, and no fault of the target. " + SEND)
            raise
    done = runs[key]
    if isinstance(done, str):
        _fail(done)
    name, result = request.getfixturevalue("law"), done.result
    if name == FLOOR:
        if result.incomplete:
            _fail(f"{FLOOR} could not be judged: {result.cut}")
        return Floor(result)
    law = next(one for one in result.laws if one.law == name)
    if law.verdict == "error":
        why = law.why if result.crash is None else f"{result.crash.message}\n{crash_story(result)}"
        _fail(f"{law.law} could not be judged: {why}")
    return Judged(law, done, bool(config.getoption("turncheck_strict")))
