"""Make the result of a run: one verdict per law, and a counterexample for each law that failed."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from ..laws.law import Law
from .engine import Run
from .results import AnyCounterexample, Evidence, LawResult, Result, Verdict, plain, summary
from .subject import missing


def result_of(run: Run[Any], laws: Sequence[Law]) -> tuple[Result, dict[str, AnyCounterexample]]:
    """The result of a run with a verdict for each of *laws*, and the smallest counterexample of each that failed."""
    target = run.subject.target
    results = tuple(_verdict(law, run) for law in laws)
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
    )
    failed = {law.name: law for law, one in zip(laws, results, strict=True) if one.verdict == "fail"}
    return result, {name: counterexamples(run, failed[name])[0] for name in run.failures if name in failed}


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
    evidence = Evidence(run.observed[law.name], run.inferred[law.name])

    def graded(verdict: Verdict, why: str | None = None) -> LawResult:
        return LawResult(law.name, law.kind, law.clauses, verdict, evidence, why)

    if absent := missing(law, run.subject.target.profile):
        return graded("skipped", f"not declared: {', '.join(absent)}")
    if law.name in run.failures:
        if run.flaky and law.name not in run.subject.repeating:
            return graded("inconclusive", "the implementation is flaky: the same word gave something else (X-2)")
        return graded("fail", run.failures.of(law.name)[0].finding.message)
    if run.broken is not None:
        return graded("error", run.broken.problem)
    if law.name in run.undecided:
        return graded("inconclusive", run.undecided[law.name])
    if evidence.observed:
        return graded("pass")
    if evidence.adapter:
        return graded("inconclusive", "all evidence was inferred by the adapter")
    return graded("inconclusive", f"no evidence: it needs {law.evidence}")
