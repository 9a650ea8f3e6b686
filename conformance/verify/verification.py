"""Verify a target by every law on its roles: one result, and the counterexamples of each law that failed."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack

from msgspec.structs import replace

from turncheck.adapters.protocol.collator import CollatorTarget
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.registry import Target

from ..laws.law import Law
from .engine import Options, Workers, run_and_judge
from .exploring.flows import explore as explore_flows
from .exploring.logs import explore as explore_logs
from .exploring.words import explore as explore_words
from .outcome.coverage import merged
from .outcome.results import Case, Counterexamples, Result, cut_of, summary
from .outcome.verdict import result_of
from .subjects.collator import CollatorSubject
from .subjects.projector import EXAMPLES, ProjectorSubject
from .subjects.runtime import RuntimeSubject


class Limits(TypedDict, total=False):
    """The limits of a verification: the fields of Options, with *budget* in seconds from now instead of a deadline."""

    seed: int
    budget: float | None
    until: float
    hash_seed: int
    fail_fast: bool
    shrink: bool
    thrift: int
    progress: Callable[[str], None]
    known: Mapping[str, Case]
    timings: bool
    workers: Workers | None


def subjects_of(target: Target) -> list[str]:
    """Return the roles of an open target, as laws name them."""
    return [*target.roles]


def verify_target(
    target: Target, laws: Sequence[Law], *, examples: int, **limits: Unpack[Limits]
) -> tuple[Result, Counterexamples]:
    """Verify each role of *target*, each within *examples* and the budget.

    Returns the result, and for each broken law its counterexamples. Raises the errors of ``verify_projector``,
    ``verify_runtime`` and ``verify_collator``.

    >>> from turncheck.adapters.targets.registry import open_target
    >>> from turncheck.conformance.laws.registry import selected
    >>> with open_target("reference", timeout=5.0) as target:
    ...     result, failed = verify_target(target, selected(["projector"], ["follow-up-fifo"]), examples=5)
    >>> result.exit_code, failed
    (0, {})
    """
    found: list[tuple[Result, Counterexamples]] = []
    if target.projector is not None:
        own = [law for law in laws if law.subject == "projector"]
        found.append(verify_projector(target.projector, own, examples=examples, **limits))
    if target.runtime is not None:
        own = [law for law in laws if law.subject == "runtime"]
        found.append(verify_runtime(target.runtime, own, words=examples, **limits))
    if target.collator is not None:
        own = [law for law in laws if law.subject == "collator"]
        found.append(verify_collator(target.collator, own, examples=examples, **limits))
    results = [result for result, _ in found]
    verdicts = tuple(law for result in results for law in result.laws)
    whole = replace(
        results[0],
        laws=verdicts,
        coverage=merged([result.coverage for result in results]),
        summary=summary(verdicts),
        cut=cut_of(results),
        incomplete=any(result.incomplete for result in results),
        floor=tuple(item for result in results for item in result.floor),
        inferred={name: value for result in results for name, value in result.inferred.items()},
        crash=next((result.crash for result in results if result.crash), None),
        causes=tuple(cause for result in results for cause in result.causes),
        replayed={name: laws for result in results for name, laws in result.replayed.items()},
        timings={phase: sum(result.timings[phase] for result in results) for phase in results[0].timings},
    )
    every = Counterexamples({law: every for _, failed in found for law, every in failed.every.items()})
    every.crash = next((failed.crash for result, failed in found if result.crash is not None), None)
    return whole, every


def verify_projector(
    target: ProjectorTarget, laws: Sequence[Law], *, examples: int = EXAMPLES, **limits: Unpack[Limits]
) -> tuple[Result, Counterexamples]:
    """Hold a projector to *laws*; return the result, and for each broken law its smallest logs (Counterexamples).

    The same seed gives the same result, unless the budget, a broken target or Ctrl-C cut the run, which ``cut`` says.
    Without *shrink* a counterexample is what happened to break the law, as mutation testing needs no more. The target
    stays open. Raises TargetError when its twin process does not start.
    """
    options = _options(**limits)
    with target.again(options.hash_seed) as twin:
        subject = ProjectorSubject(target, twin)
        run = run_and_judge(subject, laws, partial(explore_logs, subject, examples), options)
    return result_of(run, laws)


def verify_runtime(
    target: RuntimeTarget, laws: Sequence[Law], *, words: int, **limits: Unpack[Limits]
) -> tuple[Result, Counterexamples]:
    """Hold a runtime to *laws*, on directed words and on *words* generated ones; its counterexamples are words.

    All else is as in ``verify_projector``; a counterexample is a WordCounterexample.
    """
    options = _options(**limits)
    with target.again(options.hash_seed) as twin:
        subject = RuntimeSubject(target, twin, thrifty=options.thrift > 1)
        run = run_and_judge(subject, laws, partial(explore_words, subject, words), options)
    return result_of(run, laws)


def verify_collator(
    target: CollatorTarget, laws: Sequence[Law], *, examples: int = EXAMPLES, **limits: Unpack[Limits]
) -> tuple[Result, Counterexamples]:
    """Hold a collator to *laws*, on classic flows of frames and on *examples* generated ones.

    All else is as in ``verify_projector``; a counterexample is a FlowCounterexample.

    >>> from turncheck.adapters.targets.registry import open_collator
    >>> from turncheck.conformance.laws.registry import selected
    >>> with open_collator("reference:collation", timeout=5.0) as target:
    ...     verify_collator(target, selected(["collator"], ["one-block-per-call"]), examples=5)[0].exit_code
    0
    """
    options = _options(**limits)
    with target.again(options.hash_seed) as twin:
        run = run_and_judge(CollatorSubject(target, twin), laws, partial(explore_flows, examples), options)
    return result_of(run, laws)


def _options(*, budget: float | None = None, **others: Any) -> Options:
    return Options(time.monotonic() + budget if budget else float("inf"), **others)
