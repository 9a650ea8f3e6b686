"""Make the result of a run: one verdict per law, and a counterexample for each law that failed."""

from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from turncheck.adapters.protocol.errors import DiedError, TargetError
from turncheck.model.core.stimuli import Step, Word

from ...generation.flows import Flow, frames_of
from ...laws.law import Law
from ..engine import Run
from ..subjects.subject import missing
from .results import (
    BREAKS,
    UNDECIDED,
    AnyCounterexample,
    Case,
    CauseFailure,
    CauseResult,
    Counterexample,
    Counterexamples,
    Crash,
    Evidence,
    FlowCounterexample,
    Input,
    LawResult,
    Result,
    Verdict,
    WordCounterexample,
    plain,
    summary,
)


def result_of(run: Run[Any], laws: Sequence[Law]) -> tuple[Result, Counterexamples]:
    """The result of a run with a verdict for each of *laws*, and the counterexamples of each that failed."""
    target = run.subject.target
    results = tuple(_verdict(law, run) for law in laws)
    failed = {law.name: law for law, one in zip(laws, results, strict=True) if one.verdict == "fail"}
    result = Result(
        turncheck=version("turncheck"),
        target=target.name,
        implementation=target.implementation,
        profile=target.profile,
        seed=run.options.seed,
        laws=results,
        coverage=run.subject.coverage.figures(results, run.work),
        summary=summary(results),
        cut=run.cut,
        incomplete=run.incomplete,
        floor=run.floor,
        inferred=dict(run.subject.inferred),
        crash=None if run.crash is None else _crash(run.crash),
        causes=tuple(_causes(run, failed)),
        replayed={name: tuple(one.law for one in failures) for name, failures in run.known.items()},
        timings={phase: round(seconds, 3) for phase, seconds in run.seconds.items()} if run.options.timings else {},
    )
    found = Counterexamples({name: counterexamples(run, law) for name, law in failed.items()})
    if run.crash is not None and run.crash.case is not None:
        found.crash = _broken(run, run.crash)
    return result, found


def _crash(error: TargetError) -> Crash:
    """Say how the target broke, on what, and how its process ended."""
    places: dict[type[Case], str] = {Word: "word", Input: "log", Flow: "flow"}
    case: dict[str, Any] = {} if error.case is None else {places[type(error.case)]: error.case}
    return Crash(error.problem, error.exit if isinstance(error, DiedError) else None, **case)


def _broken(run: Run[Any], error: TargetError) -> AnyCounterexample:
    """Make the file of the case on which the target breaks."""
    target = run.subject.target
    common: dict[str, Any] = {"schema": 1, "target": target.name, "profile": target.profile, "seed": run.options.seed}
    common |= {"law": BREAKS, "clauses": (), "message": error.problem}
    if isinstance(error.case, Word):
        steps = (Step(),) * len(error.case.stimuli)
        return WordCounterexample(word=error.case, applied=error.case.stimuli, steps=steps, **common)
    if isinstance(error.case, Flow):
        return FlowCounterexample(flow=error.case, frames=frames_of(error.case), **common)
    return Counterexample(input=error.case, **common)


def _causes(run: Run[Any], failed: Collection[str]) -> Iterator[CauseResult]:
    """Yield the causes of the laws that failed, each failure by its number among those of its law."""
    for cause in run.causes():
        members = [
            CauseFailure(one.law, one.finding.message, run.failures.of(one.law).index(one) + 1)
            for one in cause.failures
            if one.law in failed
        ]
        if members:
            laws = tuple(law for law in cause.laws if law in failed)
            yield CauseResult(laws, tuple(members), cause.known)


def counterexamples(run: Run[Any], law: Law) -> list[AnyCounterexample]:
    """The distinct counterexamples of *law* that the run holds, the smallest first."""
    target = run.subject.target
    return [  # ``again`` is there where a law on runtimes gives it: a projector's file has no such field
        run.subject.counterexample(
            failure.observation,
            schema=1,
            target=target.name,
            profile=target.profile,
            seed=run.options.seed,
            law=law.name,
            clauses=law.clauses,
            message=failure.finding.message,
            position=failure.finding.at,
            expected=plain(failure.finding.expected),
            observed=plain(failure.finding.observed),
            **({"again": failure.finding.again} if failure.finding.again else {}),
        )
        for failure in run.failures.of(law.name)
    ]


def _verdict(law: Law, run: Run[Any]) -> LawResult:
    after = {what: count for (name, what), count in sorted(run.inferred.items()) if name == law.name}
    evidence = Evidence(run.observed[law.name], sum(after.values()), after or msgspec.UNSET)

    def graded(verdict: Verdict, why: str | None = None) -> LawResult:
        return LawResult(law.name, law.kind, law.clauses, verdict, evidence, why)

    if absent := missing(law, run.subject.target.profile):
        given = absent == ["input any"]
        return graded("skipped", "declared: input valid" if given else f"not declared: {', '.join(absent)}")
    if law.name in run.failures:
        if run.flaky and law.name not in run.subject.repeating:
            return graded("inconclusive", "the implementation is flaky: the same word gave something else (X-2)")
        return graded("fail", run.failures.of(law.name)[0].finding.message)
    if run.broken is not None:
        return graded("error", run.broken.problem if run.crash is None else UNDECIDED)
    if law.name in run.undecided:
        return graded("inconclusive", run.undecided[law.name])
    if evidence.observed:
        return graded("pass")
    if evidence.adapter:
        return graded("inconclusive", "all evidence was inferred by the adapter")
    return graded("inconclusive", f"no evidence: it needs {law.evidence}")
