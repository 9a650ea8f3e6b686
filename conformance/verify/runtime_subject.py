"""A runtime as a subject: it is observed on words, directed ones and then generated ones."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, TypeVar, cast

from msgspec import to_builtins
from msgspec.structs import replace

from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.references.registry import reference_of, reference_runtime
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus, Together, Word, unnamed
from turncheck.model.declaration.machine import Row
from turncheck.model.machines.interaction import tables

from ..generation.classic_words import DEEP, classic_words, starts
from ..generation.situations import Situation, access_words, directed, revisit_words, rows_for
from ..generation.words import explore as generate
from ..generation.words import follow
from ..laws.runtime.subject import Modelled, Rerun
from ..observe.driver import Driver, UnsettledError, observing, perform
from ..observe.runtime_trace import Again, ObservedStep, RuntimeTrace, flat
from .coverage import WordCoverage
from .engine import OverError, Run
from .floor import RuntimeFloor
from .history_policies import inferred
from .results import WordCounterexample
from .subject import Observation

PLAIN: Final = 3
"""Weight of the plain start of generated words, where each special option has the weight 1."""
RELATION_EVERY: Final = 10
"""Every so many generated words, the relation laws observe again: each costs as much as all the rest of a word."""
UNSETTLED: Final = 3
"""Unsettled words after which a run ends: each has cost the adapter's whole patience."""

_T = TypeVar("_T")


class RuntimeSubject:
    """A runtime, and its *twin* in a process with another hash seed; *model* is what a suite was made from.

    ``inferred`` are policies that the profile does not declare, and that the runtime is held to.
    """

    shrink_work: ClassVar[int] = 8_000
    repeating: ClassVar[tuple[str, ...]] = ("run-deterministic", "run-hash-seed")

    def __init__(self, target: RuntimeTarget, twin: RuntimeTarget, model: Modelled | None = None) -> None:
        self.target, self.twin, self.model, self.work = target, twin, model, 0
        self.inferred: Mapping[str, str] = {}
        self.coverage = WordCoverage(target.profile)
        self.floor = RuntimeFloor()
        self.whole = model is None
        self._reference = reference_of(target.profile)

    def observe(self, case: Word) -> Observation[Word] | None:
        """Apply the word, and close it; return None if nothing took place, or it did not settle."""
        driver = perform(self.target, case.stimuli, case.options)
        self.work += len(driver.steps)
        return None if driver.unsettled or not driver.steps else self.observation(driver.trace())

    def observation(self, trace: RuntimeTrace) -> Observation[Word]:
        """Join a trace, under the policies that were inferred too, with the means to observe its word again."""
        trace = dataclasses.replace(trace, policies={**self.inferred, **trace.policies})
        self.floor.add(trace)
        word = tuple(step.stimulus for step in trace.steps if not step.closing)
        reference = None if self._reference is None else observing(self._reference)
        means = Rerun(
            *(trace, self._again(self.target), self._again(self.twin), self._answers, self._restarted),
            *(reference, self.model),
        )
        return Observation(Word(word, trace.options), trace, means)

    def divergence(self, observation: Observation[Word]) -> Hashable:
        """Return the first stimulus after which a reference, under the same policies, says or awaits something else."""
        trace: RuntimeTrace = observation.trace
        profile = replace(self.target.profile, machine="interaction")  # for one that claims no machine
        reference = self._reference or reference_of(profile) or reference_runtime("interaction")
        expected = observing(reference)(tuple(map(unnamed, observation.case.stimuli)), trace.options)
        for ours, theirs in zip(trace.steps, expected.steps, strict=False):
            if _shown(ours) != _shown(theirs):
                return str(to_builtins(ours.stimulus)["kind"]), _shown(theirs), _shown(ours)
        return None

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
        """Yield the word with one option less, or with stimuli one by one, or alone, instead of together."""
        for options in _plainer(case):
            yield Word(case.stimuli, options)
        for place, stimulus in enumerate(case.stimuli):
            if isinstance(stimulus, Together):
                several = stimulus.stimuli
                for some in (*((one,) for one in several), several):
                    yield Word((*case.stimuli[:place], *some, *case.stimuli[place + 1 :]), case.options)

    @staticmethod
    def spellings(case: Word) -> Iterator[Word]:
        """Yield the word unchanged, and then without the ids in its answers.

        Without an id, an answer goes to the oldest request or call that is awaited: ids change where earlier runs are
        left out.
        """
        yield case
        yield Word(tuple(map(unnamed, case.stimuli)), case.options)

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
        def observe(word: Sequence[Stimulus], options: ResetOptions) -> RuntimeTrace:
            driver = perform(runtime, word, options, ())
            self.work += len(driver.steps)
            return driver.trace()

        return observe

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


def _plainer(case: Word) -> Iterator[ResetOptions]:
    """Yield the options of a word with one less, each in turn; a tool that the word calls stays."""
    options, called = case.options, {_tool(one) for stimulus in case.stimuli for one in flat(stimulus)}
    for tool in options.tools:
        if tool.get("name") not in called:
            yield replace(options, tools=tuple(other for other in options.tools if other is not tool))
    for name in ResetOptions.__struct_fields__:
        value, default = getattr(options, name), getattr(ResetOptions(), name)
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            for key in entries:
                yield replace(options, **{name: {other: entries[other] for other in entries if other != key}})
        elif name != "tools" and value != default:
            yield replace(options, **{name: default})


def _tool(stimulus: Any) -> str | None:
    """The tool that a stimulus calls."""
    return getattr(getattr(stimulus, "item", None), "tool", None)


def _shown(step: ObservedStep) -> tuple[Hashable, ...]:
    """Describe a step without names: its refusal, the letters of its events, and the kinds of what it awaits."""
    answer = step.answer
    events = [judge(event) for event in answer.events]
    letters = tuple((symbol_of(event), getattr(event, "reason", None)) for event in events)
    awaiting = tuple(sorted(type(one).__name__ for one in answer.awaiting))
    return answer.refused and answer.refused.why, letters, awaiting


class Player:
    """Plays words on a runtime while they are made, and has each of them judged (an ``Explorer``)."""

    def __init__(self, run: Run[Word], subject: RuntimeSubject) -> None:
        self.run, self.subject = run, subject
        self._first_unsettled = ""

    def begin(self, options: ResetOptions) -> Driver:
        """Start a word."""
        self.run.due()
        return self.asking(lambda: Driver(self.subject.target, options))

    def asking(self, act: Callable[[], _T]) -> _T:
        """Return the result of *act*; a target that breaks ends the run. Raises OverError."""
        return self.run.asking(act)

    def finish(self, driver: Driver, taken: Sequence[Row] = ()) -> None:
        """Close a word, and judge it by all laws; every so often by relation laws too."""
        if not driver.unsettled:
            with contextlib.suppress(UnsettledError):
                self.asking(driver.close)
        self.judge(driver, taken)

    def judge(self, driver: Driver, taken: Sequence[Row] = (), *, again: bool = True) -> None:
        """Judge a word that is closed; by relation laws, which apply it once more, only with *again*."""
        run, subject = self.run, self.subject
        subject.work += len(driver.steps)
        subject.coverage.add(driver.policies, taken)
        words = subject.coverage.cases
        run.options.progress(f"{words} words, {subject.work:,} stimuli, {len(run.failures)} laws broken")
        if driver.unsettled:
            self._unsettled(driver)
        elif driver.steps:
            relations = again and words % RELATION_EVERY == 1
            laws = [law for law in run.laws if relations or law.kind != "relation" or (again and law.each_word)]
            run.judge(subject.observation(driver.trace()), laws)

    def _unsettled(self, driver: Driver) -> None:
        """Count a word that did not settle; the first is reported in a form that `turncheck drive` can apply."""
        kinds = ", ".join(str(to_builtins(step.stimulus)["kind"]) for step in driver.steps)
        told = "\n    ".join([f"first after {kinds}", *self.subject.target.last_words])
        self._first_unsettled = self._first_unsettled or told
        self.subject.coverage.unsettled += 1
        count, first = self.subject.coverage.unsettled, self._first_unsettled
        self.run.undecided["run-never-stuck"] = f"{count} words did not settle, {first.splitlines()[0]}"
        if count >= UNSETTLED:
            self.run.end(f"{UNSETTLED} words were unsettled: no quiet within the adapter's patience, {first}")


def explore(subject: RuntimeSubject, words: int, run: Run[Word]) -> None:
    """Explore *subject* on the directed words, and on *words* generated ones."""
    player, profile = Player(run, subject), subject.target.profile
    capabilities = frozenset(profile.capabilities)
    before: list[Driver] = []
    try:
        subject.inferred = player.asking(partial(inferred, subject.target, before.append))
    except OverError:
        for driver in before:  # all that there is to judge
            player.judge(driver, again=False)
        raise
    rows = rows_for(capabilities, profile.policies)
    subject.coverage = WordCoverage(profile, rows, subject.inferred)
    if before and before[-1].unsettled:
        player.judge(before[-1])
    accesses = access_words(tables(profile.policies), capabilities)
    play_directed(player, sorted(directed(rows, accesses), key=len), capabilities)
    if words:
        again = revisit_words(tables(profile.policies), capabilities)
        reached = [accesses[row] for row in rows if len(accesses[row]) > 1]
        reached += [again[row] for row in rows if row in again]
        plain, special = starts(capabilities)
        generate(player, rows, reached, [*[plain] * PLAIN, *special], words=words, seed=run.options.seed)


def play_directed(player: Player, words: Sequence[Sequence[str]], capabilities: frozenset[str]) -> None:
    """Play *words*, which take every row at least once, and the classic situations of each option."""
    plain, special = starts(capabilities)
    for options, word in (*((plain, word) for word in words), *((one, word) for one in special for word in DEEP)):
        driver = player.begin(options)
        situation = Situation(driver)
        with contextlib.suppress(UnsettledError):
            player.asking(partial(follow, situation, word))
        player.finish(driver, situation.taken)
    for stimuli in classic_words(capabilities):
        driver = player.begin(plain)
        with contextlib.suppress(UnsettledError):
            player.asking(partial(driver.run, stimuli))
        player.finish(driver)
