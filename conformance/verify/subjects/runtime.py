"""A runtime as a subject: it is observed on words, directed ones and then generated ones."""

import contextlib
import dataclasses
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from msgspec import to_builtins
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.references.registry import reference_of, reference_runtime
from turncheck.model.core.decode import judge
from turncheck.model.core.events import Fault, Native, symbol_of
from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus, Word, unnamed
from turncheck.model.declaration.machine import Row

from ...laws.runtime.subject import Modelled, Rerun
from ...observe.driver import Driver, UnsettledError, perform, repeating
from ...observe.runtime_trace import Again, Applied, ObservedStep, Repeated, RuntimeTrace
from ..engine import OverError, Run
from ..outcome.coverage import WordCoverage
from ..outcome.floor import RuntimeFloor
from ..outcome.results import WordCounterexample
from .history_policies import inferred, unexplained
from .kills import RuntimeKills, inferred_fate
from .simpler_words import simpler
from .subject import Difference, Observation, on_restarts

RELATION_EVERY: Final = 10
"""Every so many generated words, the relation laws observe again: each costs as much as all the rest of a word."""
UNSETTLED: Final = 3
"""Unsettled words after which a run ends: each has cost the adapter's whole patience."""

_T = TypeVar("_T")


class RuntimeSubject:
    """A runtime, and its *twin* in a process with another hash seed; *model* is what a suite was made from.

    ``inferred`` are policies that the profile does not declare, and that the runtime is held to. A *thrifty* subject
    kills it in short words alone, where a start costs time.
    """

    unit: ClassVar[str] = "words"
    shrink_work: ClassVar[int] = 8_000
    repeating: ClassVar[tuple[str, ...]] = ("run-deterministic", "run-hash-seed")

    def __init__(
        self, target: RuntimeTarget, twin: RuntimeTarget, model: Modelled | None = None, *, thrifty: bool = False
    ) -> None:
        self.thrifty = thrifty
        self.target, self.twin, self.model, self.work = target, twin, model, 0
        self.inferred: Mapping[str, str | int] = {}
        self.coverage = WordCoverage(target.profile)
        self.floor = RuntimeFloor()
        self.whole = model is None
        self._reference = reference_of(target.profile)
        self._second: tuple[Applied, ...] = ()

    def elsewhere(self, target: RuntimeTarget) -> "RuntimeSubject":
        """Return the same subject on another process."""
        return RuntimeSubject(target, target, thrifty=self.thrifty)

    def takes(self, case: object) -> bool:
        """A word."""
        return isinstance(case, Word)

    def observe(self, case: Word) -> Observation[Word] | None:
        """Apply the word, and close it; return None if nothing took place, or it did not settle."""
        driver = perform(self.target, case.stimuli, case.options)
        self.work += len(driver.steps)
        return None if driver.unsettled or not driver.steps else self.observation(driver.trace())

    def observation(self, trace: RuntimeTrace) -> Observation[Word]:
        """Join a trace, under the policies that were inferred too, with the means to observe its word again."""
        trace = self.held(trace)
        self.floor.add(trace)
        word = tuple(step.stimulus for step in trace.steps if not step.closing)
        return self.restored(Observation(Word(word, trace.options), trace))

    def restored(self, observation: Observation[Word]) -> Observation[Word]:
        """Join an observation of another process with the means to observe its word again here."""
        trace: RuntimeTrace = observation.trace
        reference = None if self._reference is None else repeating(self._reference)
        means = Rerun(
            *(trace, self._again(self.target), self._again(self.twin), self._answers, self._restarted),
            *(RuntimeKills(self.target, self._worked, thrifty=self.thrifty), reference),
            *(self.model, lambda: self._second),
        )
        return dataclasses.replace(observation, means=means)

    def held(self, trace: RuntimeTrace) -> RuntimeTrace:
        """Return the trace under the policies that were inferred too."""
        if not self.inferred:
            return trace
        return dataclasses.replace(trace, policies={**self.inferred, **trace.policies})

    def differences(self, observation: Observation[Word]) -> Sequence[Difference]:
        """Return the stimuli after which a reference, under the same policies, says or awaits something else."""
        trace: RuntimeTrace = observation.trace
        profile = replace(self.target.profile, machine="interaction")  # for one that claims no machine
        reference = self._reference or reference_of(profile) or reference_runtime("interaction")
        try:
            expected = repeating(reference)([unnamed(step.stimulus) for step in trace.steps], trace.options)
        except TargetError:  # policies that the machine does not have: nothing to compare with
            return ()
        both = zip(trace.steps, expected.applied, strict=False)
        pairs = [(ours, _shown(theirs.step), _shown(ours.answer)) for ours, theirs in both]
        return [
            Difference(str(to_builtins(ours.stimulus)["kind"]), _apart(wanted, came))
            for ours, wanted, came in pairs
            if wanted != came
        ]

    @staticmethod
    def size(case: Word) -> tuple[int, ...]:
        """Stimuli."""
        return (len(case.stimuli),)

    @staticmethod
    def without(case: Word, places: Collection[int]) -> Word:
        """Leave out the stimuli at *places*."""
        stimuli = (stimulus for place, stimulus in enumerate(case.stimuli) if place not in places)
        return Word(tuple(stimuli), case.options)

    @staticmethod
    def simpler(case: Word) -> Iterator[Word]:
        """Yield the word with one option or detail less."""
        return simpler(case)

    @staticmethod
    def spellings(case: Word) -> Iterator[Word]:
        """Yield the word unchanged, and then without the ids in its answers.

        Without an id, an answer goes to the oldest request or call that is awaited: ids change where earlier runs are
        left out.
        """
        yield case
        yield Word(tuple(map(unnamed, case.stimuli)), case.options)

    @staticmethod
    def telling(case: Word) -> Word:
        """Return the word as it is: its texts are numbered."""
        return case

    def counterexample(self, observation: Observation[Word], **common: Any) -> WordCounterexample:
        """Make the file of a failing word."""
        steps: tuple[ObservedStep, ...] = observation.trace.steps
        return WordCounterexample(
            word=observation.case,
            inferred=dict(self.inferred),
            applied=tuple(step.stimulus for step in steps),
            steps=tuple(step.answer for step in steps),
            **common,
        )

    def _again(self, runtime: RuntimeTarget) -> Again:
        def again(word: Sequence[Stimulus], options: ResetOptions) -> Repeated:
            repeated = repeating(runtime)(word, options)
            self.work += len(repeated.applied)
            self._second = repeated.applied
            return repeated

        return again

    def _worked(self, steps: int) -> None:
        self.work += steps

    def _answers(self, word: Sequence[Stimulus], options: ResetOptions) -> Sequence[Step]:
        self.target.reset(options)
        self.work += len(word)
        return self.target.run(word)

    def _restarted(self, word: Sequence[Stimulus], after: Sequence[Stimulus], options: ResetOptions) -> Sequence[Step]:
        with tempfile.TemporaryDirectory(prefix="turncheck-state-") as folder:
            kept = replace(options, state_dir=folder)
            before = self._answers(word, kept)
            self.target.kill()
            return (*before, *self._answers(after, kept))


def _shown(answer: Step) -> tuple[tuple[Hashable, ...], ...]:
    """Describe a step without names: the letters of its events, its refusal, and the kinds of what it awaits."""
    events = [event for event in map(judge, answer.events) if not isinstance(event, Native | Fault)]
    letters = tuple((symbol_of(event), getattr(event, "reason", None)) for event in events)
    awaiting = tuple(sorted(type(one).__name__ for one in answer.awaiting))
    return letters, (answer.refused and answer.refused.why,), awaiting


def _apart(wanted: Sequence[Sequence[Hashable]], came: Sequence[Sequence[Hashable]]) -> Hashable:
    """Return what is missing and what is too much, however often; nothing of either where the order differs alone.

    Of letters, refusal and awaited answers the first that differs counts: the others follow from it.
    """
    pairs = zip(("letters", "refusal", "awaited"), wanted, came, strict=True)
    what, one, other = next(pair for pair in pairs if pair[1] != pair[2])
    left, right = Counter(one), Counter(other)
    return what, frozenset(left - right), frozenset(right - left)


class Player:
    """Plays words on a runtime while they are made, and has each of them judged (an ``Explorer``).

    *before* is the number of words that the whole run makes before; *unsettled* of these are known not to have settled.
    """

    def __init__(self, run: Run[Word], subject: RuntimeSubject, before: int = 0, unsettled: int = 0) -> None:
        self.run, self.subject, self._before, self._unsettled_before = run, subject, before, unsettled

    def begin(self, options: ResetOptions) -> Driver:
        """Start a word."""
        self.run.due()
        return self.asking(lambda: Driver(self.subject.target, options))

    def asking(self, act: Callable[[], _T]) -> _T:
        """Return the result of *act*; a target that breaks ends the run. Raises OverError."""
        return self.run.asking(act)

    def look(self) -> None:
        """Infer what the profile leaves out of its policies on a history; judge what none explains, or does not settle.

        Raises OverError where the target breaks: then all words until there are judged.
        """
        subject, seen = self.subject, list[Driver]()
        try:
            found = self.asking(partial(inferred, subject.target, seen.append))
            subject.inferred = {**found, **self.asking(partial(inferred_fate, subject.target))}
        except OverError:
            for driver in seen:
                self.judge(driver, again=False)
            raise
        subject.coverage.infer(subject.inferred)
        for driver in seen:
            if driver.unsettled or unexplained(subject.held(driver.trace())):
                self.judge(driver, again=False)

    def finish(self, driver: Driver, taken: Sequence[Row] = (), *, killed: bool = False) -> None:
        """Close a word, and judge it by all laws; every so often by relation laws too, where *killed* by restarts'."""
        if not driver.unsettled:
            with contextlib.suppress(UnsettledError):
                self.asking(driver.close)
        self.judge(driver, taken, killed=killed)

    def judge(self, driver: Driver, taken: Sequence[Row] = (), *, again: bool = True, killed: bool = False) -> None:
        """Judge a word that is closed; by relation laws, which apply it once more, only with *again*.

        A word that is to be *killed* is always judged by those on restarts.
        """
        run, subject = self.run, self.subject
        subject.work += len(driver.steps)
        subject.coverage.add(driver.policies, taken)
        words = self._before + subject.coverage.cases
        run.told(run)
        if driver.unsettled:
            self._unsettled(driver)
        elif driver.steps:
            relations = again and words % RELATION_EVERY == 1
            laws = [
                law
                for law in run.laws
                if relations or law.kind != "relation" or (again and (law.each_word or (killed and on_restarts(law))))
            ]
            run.judge(subject.observation(driver.trace()), laws)

    def _unsettled(self, driver: Driver) -> None:
        """Count a word that did not settle; the first is reported in a form that `turncheck drive` can apply."""
        kinds = ", ".join(str(to_builtins(step.stimulus)["kind"]) for step in driver.steps)
        told = "\n    ".join([f"first after {kinds}", *self.subject.target.last_words])
        coverage = self.subject.coverage
        coverage.unsettled, coverage.first_unsettled = coverage.unsettled + 1, coverage.first_unsettled or told
        end_unsettled(self.run, coverage, self._unsettled_before)


def end_unsettled(run: Run[Word], coverage: WordCoverage, before: int = 0) -> None:
    """Say how many words did not settle; end the run where they and those *before* are too many. Raises OverError."""
    count, first = coverage.unsettled, coverage.first_unsettled
    if count:
        run.undecided["run-never-stuck"] = f"{count} words did not settle, {first.splitlines()[0]}"
    if count + before >= UNSETTLED:
        run.give_up(f"{UNSETTLED} words were unsettled: no quiet within the adapter's patience, {first}")
