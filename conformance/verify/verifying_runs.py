"""Verify a runtime: directed words, then generated ones; the result, and the shortest word for each law that breaks."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Final

import msgspec

from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.references.registry import reference_of
from turncheck.model.core.stimuli import ResetOptions
from turncheck.model.declaration.machine import Row
from turncheck.model.machines.interaction import tables

from ..generation.classic_words import DEEP, classic_words, starts
from ..generation.situations import Situation, access_words, directed, revisit_words, rows_for
from ..generation.words import explore, follow
from ..laws.law import Law
from ..laws.run_relations import Modelled
from .coverage import run_figures
from .driving import UnsettledError
from .judging_runs import REPEATING, Failure, OverError, RuntimeVerification
from .needs import missing
from .results import INTERRUPTED, Evidence, LawResult, Result, Verdict, WordCounterexample, plain, summary

PLAIN: Final = 3
"""Generated words start plainly so many times as often as with any one special option."""
SETTLING: Final = 10
"""Seconds beyond the budget for shrinking what was found."""


def verify_runtime(
    runtime: RuntimeTarget,
    laws: Sequence[Law],
    *,
    words: int,
    seed: int = 0,
    budget: float | None = None,
    hash_seed: int,
    fail_fast: bool = False,
    shrink: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Result, dict[str, WordCounterexample]]:
    """Hold a runtime to *laws*; return the result, and for each broken law its shortest word.

    The same seed gives the same result, unless *budget* (seconds), a broken target or Ctrl-C cut the run, which ``cut``
    says. Without *shrink* a word is what happened to break the law, as mutation testing needs no more. The target stays
    open. Raises TargetError when its twin process does not start.
    """
    profile = runtime.profile
    capabilities = frozenset(profile.capabilities)
    rows = rows_for(capabilities, profile.policies)
    accesses = access_words(tables(profile.policies), capabilities)

    def apply(run: RuntimeVerification) -> None:
        _directed(run, rows, accesses, capabilities)
        if words:
            again = revisit_words(tables(profile.policies), capabilities)
            reached = [accesses[row] for row in rows if len(accesses[row]) > 1]
            reached += [again[row] for row in rows if row in again]
            plain_start, special = starts(capabilities)
            options = [*[plain_start] * PLAIN, *special]
            explore(run, rows, reached, options, words=words, seed=seed)

    deadline = time.monotonic() + budget if budget else float("inf")
    options = Options(deadline, hash_seed, seed, fail_fast, shrink)
    run, result, found = hold(runtime, laws, apply, options, progress=progress)
    return msgspec.structs.replace(result, coverage=run_figures(rows, run, result.laws)), found


@dataclass(frozen=True)
class Options:
    """How a runtime is held: until ``deadline`` (monotonic seconds), with which seeds, and what is done of failures."""

    deadline: float
    hash_seed: int
    seed: int = 0
    fail_fast: bool = False
    shrink: bool = True


def hold(
    runtime: RuntimeTarget,
    laws: Sequence[Law],
    apply: Callable[[RuntimeVerification], None],
    options: Options,
    *,
    model: Modelled | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[RuntimeVerification, Result, dict[str, WordCounterexample]]:
    """Hold a runtime to *laws* on the words that *apply* plays: the run, a result without coverage, failures."""
    profile, seed = runtime.profile, options.seed
    applicable = [law for law in laws if not missing(law, profile)]
    with runtime.again(options.hash_seed) as twin:
        reference = reference_of(profile)
        run = RuntimeVerification(
            runtime, twin, applicable, options.deadline, options.fail_fast, progress, reference, model
        )
        shrink = options.shrink
        try:
            apply(run)
            _settle(run, applicable if shrink else ())
        except OverError:
            if run.broken is None and shrink:
                _settle_quietly(run, applicable)
        except KeyboardInterrupt:
            run.cut = INTERRUPTED  # what was found until now stands
    results = tuple(_verdict(law, run) for law in laws)
    result = Result(
        turncheck=version("turncheck"),
        target=runtime.name,
        implementation=runtime.implementation,
        profile=profile,
        seed=seed,
        laws=results,
        coverage={},
        summary=summary(results),
        cut=run.cut,
    )
    failed = {law.law for law in results if law.verdict == "fail"}
    found = {law: _counterexample(law, failure, runtime, seed, laws) for law, failure in run.failures.items()}
    return run, result, {law: one for law, one in found.items() if law in failed}


def _directed(
    run: RuntimeVerification, rows: Sequence[Row], accesses: Mapping[Row, tuple[str, ...]], capabilities: frozenset[str]
) -> None:
    """The words that take every row at least once, shortest first, and the classic situations of each option."""
    plain_start, special = starts(capabilities)
    for word in sorted(directed(rows, accesses), key=len):
        _follow(run, plain_start, word)
    for option in special:
        for word in DEEP:
            _follow(run, option, word)
    for stimuli in classic_words(capabilities):
        driver = run.begin(plain_start)
        with contextlib.suppress(UnsettledError):
            run.asking(partial(driver.run, stimuli))
        run.finish(driver, ())


def _follow(run: RuntimeVerification, options: ResetOptions, word: Sequence[str]) -> None:
    driver = run.begin(options)
    situation = Situation(driver)
    situation.refresh()
    with contextlib.suppress(UnsettledError):
        run.asking(lambda: follow(situation, word))
    run.finish(driver, situation.taken)


def _settle(run: RuntimeVerification, laws: Sequence[Law]) -> None:
    """Shrink what broke, and make sure that it breaks again."""
    for law in laws:
        if law.name in run.failures and (law.name in REPEATING or run.confirm(law.name)):
            run.reduce(law)


def _settle_quietly(run: RuntimeVerification, laws: Sequence[Law]) -> None:
    late = time.monotonic() > run.deadline
    run.deadline = time.monotonic() + SETTLING if late else float("inf")
    with contextlib.suppress(OverError):
        _settle(run, laws)


def _verdict(law: Law, run: RuntimeVerification) -> LawResult:
    evidence = Evidence(run.observed[law.name], run.inferred[law.name])

    def graded(verdict: Verdict, why: str | None = None) -> LawResult:
        return LawResult(law.name, law.kind, law.clauses, verdict, evidence, why)

    absent = missing(law, run.runtime.profile)
    if absent:
        return graded("skipped", f"not declared: {', '.join(absent)}")
    if law.name in run.failures:
        if run.flaky is not None and law.name not in REPEATING:
            return graded("inconclusive", "the implementation is flaky: the same word gave something else (X-2)")
        return graded("fail", run.failures[law.name].finding.message)
    if run.broken is not None:
        return graded("error", run.broken.problem)
    if run.unsettled and law.name == "run-never-stuck":
        return graded("inconclusive", f"{run.unsettled} words did not settle, {run.first_unsettled.splitlines()[0]}")
    if evidence.observed:
        return graded("pass")
    if evidence.adapter:
        return graded("inconclusive", "all evidence was inferred by the adapter")
    return graded("inconclusive", f"no evidence: it needs {law.evidence}")


def _counterexample(
    name: str, failure: Failure, runtime: RuntimeTarget, seed: int, laws: Sequence[Law]
) -> WordCounterexample:
    finding = failure.finding
    return WordCounterexample(
        schema=1,
        target=runtime.name,
        profile=runtime.profile,
        seed=seed,
        law=name,
        clauses=next((law.clauses for law in laws if law.name == name), ()),
        message=finding.message,
        word=failure.word,
        steps=tuple(move.step for move in failure.play.moves),
        applied=tuple(move.stimulus for move in failure.play.moves),
        position=finding.at,
        expected=plain(finding.expected),
        observed=plain(finding.observed),
    )
