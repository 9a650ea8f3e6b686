"""``verify --suite n-complete``: every word of a W, Wp or HSI suite of the reference's machine, applied to a target.

A letter that the model answers by itself is not sent. The state then stays the same, also in the target, as long
as its outputs equal the model's and it awaits the same letters, which is checked after every step. A word without such
letters therefore stands for all words with them, and the suite's promise holds (``suites``).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import msgspec

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.automata.mealy import Mealy, Word, without_prefixes
from turncheck.model.automata.suites import SUITES, Suite

from ...laws.law import Law
from ...verify.engine import Options, OverError, Run, run_and_judge
from ...verify.exploring.shards import SIZE
from ...verify.exploring.workers import crew
from ...verify.outcome.coverage import WordCoverage
from ...verify.outcome.covered import Covered, SuiteRun
from ...verify.outcome.results import INTERRUPTED, Counterexamples, Result
from ...verify.outcome.verdict import result_of
from ...verify.subjects.runtime import Player, RuntimeSubject
from ..learn.abstraction import LOCAL, Letter
from .course import SuiteCourse, Words, play
from .reference import LEARNED_FOR, Model

LAW: Final = "equals-model"
METHODS: Final = ("hsi", "wp", "w")
SAMPLE: Final = 12
"""Words, spread over the suite, that are applied first to estimate its duration."""
MIDDLES: Final = 500_000
"""Limit on the words of letters after each state's access: a larger suite would fit neither into memory nor a day."""


@dataclass(frozen=True)
class Plan:
    """A suite to apply: for *model*, by *method*, with *k* extra states; ``beyond`` are letters that it lacks."""

    model: Model
    method: str
    k: int
    beyond: Sequence[Letter] = ()

    @cached_property
    def words(self) -> Suite:
        """The words, without letters that are not sent, shortest first. Raises TargetError where they are too many."""
        machine = self.model.machine
        middles = len(machine.table) * len(machine.letters) ** (self.k + 1)
        if middles > MIDDLES:
            size = f"{len(machine.table)} states, {len(machine.letters)} letters and k={self.k}"
            why = f"the suite for {size} would be too large: choose fewer letters (--letters) or a smaller k"
            raise TargetError(why, see="")
        return sent(machine, SUITES[self.method](machine, self.k))

    @cached_property
    def stimuli(self) -> int:
        """Number of stimuli in all words."""
        return sum(map(len, self.words))


def sent(machine: Mealy, words: Suite) -> Suite:
    """Return *words* without the letters that *machine* does not send, and without prefixes, shortest first."""
    found: set[Word] = set()
    for word in words:
        state, kept = 0, list[int]()
        for letter in word:
            state, output = machine.step(state, letter)
            if output not in LOCAL:
                kept.append(letter)
        found.add(tuple(kept))
    return without_prefixes(found)


def verify_suite(
    runtime: RuntimeTarget,
    plan: Plan,
    laws: Sequence[Law],
    options: Options,
    *,
    foretell: Callable[[str], None] = lambda _: None,
) -> tuple[Result, Counterexamples]:
    """Apply the suite of *plan* to *runtime*; all *laws*, ``equals-model`` among them, judge each word.

    *foretell* is called with the suite's size and its expected duration. Raises the errors of ``verify_runtime``,
    TargetError if the suite is too large, and InexactModelError.
    """
    words, reference = plan.words, plan.model.reference
    with runtime.again(options.hash_seed) as twin:
        subject = RuntimeSubject(runtime, twin, plan.model.compared)

        def apply(run: Run[Any]) -> None:
            foretell(f"suite {plan.method}, k={plan.k}: {len(words):,} words, {plan.stimuli:,} stimuli")
            player = Player(run, subject)
            player.look()
            foretell(_estimate(player, plan))
            course = SuiteCourse(plan.model.machine, plan.model.bounds, plan.model.exact, subject.inferred, reference)
            with crew(run, course) as playing:
                for first in range(0, len(words), SIZE):
                    playing.give(Words(first, words[first : first + SIZE]))
                playing.finish()

        run = run_and_judge(subject, laws, apply, options)
    result, found = result_of(run, laws)
    why = _nothing_promised(run, subject.coverage, result, len(words))
    machine = plan.model.machine
    suite = SuiteRun(
        method=plan.method,
        k=plan.k,
        n=len(machine.table),
        reference=plan.model.reference.name,
        letters=tuple(map(str, machine.letters)),
        bounds=msgspec.to_builtins(plan.model.bounds),
        words=len(words),
        stimuli=plan.stimuli,
        complete=why is None,
        guarantee=() if why else tuple(_guarantee(plan)),
        why=why,
    )
    coverage = Covered(
        shares=[share for share in result.coverage.get("shares", ()) if share.what == "clauses"],
        words=subject.coverage.cases,
        stimuli=run.work,
        unsettled=subject.coverage.unsettled,
        suite=suite,
    )
    return msgspec.structs.replace(result, coverage=coverage), found


def _estimate(player: Player, plan: Plan) -> str:
    """Estimate how long the suite will last from a few of its words, which count for nothing else."""
    words = plan.words[:: max(len(plan.words) // SAMPLE, 1)]
    run, given = player.run, player.subject
    subject = RuntimeSubject(given.target, given.twin, given.model)
    trial = Run(subject, run.laws, replace(run.options, fail_fast=False))
    started = time.monotonic()
    try:
        for word in words:
            play(Player(trial, subject), plan.model.machine, plan.model.bounds, word)
    except OverError:
        run.broken, run.cut, run.given_up = trial.broken, trial.cut, trial.given_up
        raise
    took = time.monotonic() - started
    workers = run.options.workers
    seconds = took / len(words) * len(plan.words) / (1 if workers is None else workers.jobs)
    return f"about {max(seconds, 1):,.0f} s, as {len(words)} of its words took {took:.2g} s on the target"


def _nothing_promised(run: Run[Any], coverage: WordCoverage, result: Result, words: int) -> str | None:
    """Return the reason why the suite promises nothing; None where it does."""
    applied, unsettled = coverage.cases, coverage.unsettled
    verdicts = {law.law: law.verdict for law in result.laws}
    if verdicts[LAW] == "fail":
        return "the target differs from the model (equals-model)"
    if run.flaky or verdicts.get("run-deterministic") == "fail":
        return "the target is not deterministic"
    if result.cut is not None and applied < words:
        why = "it was interrupted" if result.cut == INTERRUPTED else result.cut.splitlines()[0]
        return f"{applied:,} of {words:,} words were applied: {why}"
    if applied < words:
        return f"{applied:,} of {words:,} words were applied: it ended at the first failure"
    if unsettled:
        return f"{unsettled} words did not settle"
    return None if verdicts[LAW] == "pass" else f"equals-model is {verdicts[LAW]}"


def _guarantee(plan: Plan) -> list[str]:
    """Return the promise of a suite that was passed, its assumptions, and what it does not cover."""
    model, machine = plan.model, plan.model.machine
    size = len(machine.table)
    most, bounds = size + plan.k, model.bounds
    learned = f"learned: exact if the reference has at most {size + LEARNED_FOR} states"
    exact = "explored, so that it is exact" if model.exact else learned
    lacking = [f"the letters that the model lacks: {', '.join(map(str, plan.beyond))}"] if plan.beyond else []
    uncovered = [
        *lacking,
        "payloads beyond two colours",
        f"more than {bounds.messages} waiting of a kind, or {bounds.calls} calls in a response",
        *("several stimuli within a step", "time", "persistence", "nondeterministic behaviour"),
    ]
    return [
        f"over these {len(machine.letters)} letters the target answers every word as {model.reference.name} does,",
        f"if it is deterministic, can be reset, and has at most {most} states over them ({size} + {plan.k}).",
        f"letters: {', '.join(map(str, machine.letters))}",
        f"bounds: {bounds.messages} waiting of a kind, {bounds.calls} calls in a response",
        f"the model has {size} states; it was {exact}.",
        f"not covered: {'; '.join(uncovered)}.",
    ]
