"""Apply words to a runtime, judge every run by every law, remember and shrink what breaks."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from msgspec import to_builtins

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import ResetOptions, Stimulus, Word, unnamed
from turncheck.model.declaration.machine import Row

from ..laws.law import Finding, Judgement, Law, Witness, first_finding
from ..laws.registry import PLAY_LAWS, RERUN_LAWS
from ..laws.run_relations import Again, Modelled, Rerun, run_deterministic
from ..laws.runtime_trace import RuntimeTrace
from .driving import Driver, UnsettledError, observing, perform

RELATION_EVERY: Final = 10
"""Every so many generated words, the relation laws observe again: each costs as much as all the rest of a word."""
SHRINK_STIMULI: Final = 4_000
"""Stimuli that shrinking one law's counterexample may apply: a bound by work, or a slow day would give other bytes."""
EACH_WORD: Final = {"equals-machine", "equals-model"}
"""Relation laws that look at every word: a reference in this process costs less than what it is compared with."""
REPEATING: Final = {"run-deterministic", "run-hash-seed"}
"""The laws that a flaky implementation breaks; all others are not judged on a word that gives something else."""
UNSETTLED: Final = 3
"""Unsettled words after which a run ends: each has cost the adapter's whole patience."""


_T = TypeVar("_T")


class OverError(BaseException):
    """The run ends: its budget is used up, or the target broke. Hypothesis catches Exception only."""


@dataclass
class Failure:
    """The shortest word that breaks a law: how long it is, what was found, and the whole play."""

    size: int
    word: Word
    finding: Finding
    play: RuntimeTrace


@dataclass
class RuntimeVerification:
    """Everything a run learns. ``policies`` are those that words were run under, written ``name=value``."""

    runtime: RuntimeTarget
    twin: RuntimeTarget
    laws: Sequence[Law]
    deadline: float
    fail_fast: bool
    progress: Callable[[str], None]
    reference: RuntimeTarget | None = None
    model: Modelled | None = None
    observed: Counter[str] = field(default_factory=Counter[str])
    inferred: Counter[str] = field(default_factory=Counter[str])
    failures: dict[str, Failure] = field(default_factory=dict[str, Failure])
    taken: Counter[Row] = field(default_factory=Counter[Row])
    policies: set[str] = field(default_factory=set[str])
    words: int = 0
    stimuli: int = 0
    unsettled: int = 0
    first_unsettled: str = ""
    broken: TargetError | None = None
    flaky: Word | None = None
    cut: str | None = None

    def begin(self, options: ResetOptions) -> Driver:
        """Start a word."""
        if time.monotonic() > self.deadline:
            self.cut = "the time budget was used up"
            raise OverError
        if self.fail_fast and self.failures:
            raise OverError
        return self.asking(lambda: Driver(self.runtime, options))

    def finish(self, driver: Driver, taken: Sequence[Row]) -> None:
        """Close a word, and judge it by all laws."""
        if not driver.unsettled:
            with contextlib.suppress(UnsettledError):
                self.asking(driver.close)
        self.words += 1
        self.stimuli += len(driver.moves)
        self.taken.update(taken)
        self.policies.update(f"{name}={value}" for name, value in driver.policies.items())
        self.progress(f"{self.words} words, {self.stimuli:,} stimuli, {len(self.failures)} laws broken")
        if driver.unsettled:
            self.unsettled += 1
            self.first_unsettled = self.first_unsettled or _told(driver, self.runtime.last_words)
            if self.unsettled >= UNSETTLED:
                self.cut = (
                    f"{UNSETTLED} words were unsettled: no quiet within the adapter's patience, {self.first_unsettled}"
                )
                raise OverError
            return
        if driver.moves:
            relations = self.words % RELATION_EVERY == 1
            for law, finding in self.judge(driver.play(), relations=relations).items():
                self.remember(law, driver, finding)

    def remember(self, law: str, driver: Driver, finding: Finding) -> bool:
        """Keep the shortest word that breaks a law; whether this one was kept."""
        word = tuple(move.stimulus for move in driver.moves if not move.closing)
        known = self.failures.get(law)
        if known is not None and len(word) >= known.size:
            return False
        self.failures[law] = Failure(len(word), Word(word, driver.options), finding, driver.play())
        return True

    def judge(self, play: RuntimeTrace, *, relations: bool) -> dict[str, Finding]:
        """The laws that a play breaks, each with its first finding; evidence is counted."""
        rerun = Rerun(play, self._again(self.runtime), self._again(self.twin), self._reference(), self.model)
        broken: dict[str, Finding] = {}
        for law in self.laws:
            if law.name in PLAY_LAWS:
                items = [*PLAY_LAWS[law.name](play)]
            elif relations or law.name in EACH_WORD:
                items = self.asking(partial(_collected, RERUN_LAWS[law.name], rerun))
            else:
                continue
            for item in items:
                if isinstance(item, Witness):
                    (self.inferred if item.inferred else self.observed)[law.name] += 1
            found = first_finding(items)
            if found is not None:
                broken[law.name] = found
        return broken

    def reduce(self, law: Law) -> None:
        """Leave stimuli out of the shortest word that breaks *law*, as long as it still does.

        What a stimulus answers it names, and another name is given where earlier runs are left out: each shorter word
        is tried without names too, where the oldest that is awaited is meant.
        """
        budget, size = SHRINK_STIMULI, len(self.failures[law.name].word.stimuli)
        stride = max(size // 2, 1)
        while stride:
            start, before = 0, len(self.failures[law.name].word.stimuli)
            while start < len(self.failures[law.name].word.stimuli):
                known = self.failures[law.name].word
                shorter = (*known.stimuli[:start], *known.stimuli[start + stride :])
                anonymous = tuple(map(unnamed, shorter))
                for word in (shorter, anonymous) if anonymous != shorter else (shorter,):
                    if budget <= 0 or time.monotonic() > self.deadline:
                        return
                    driver = self.asking(partial(perform, self.runtime, word, known.options))
                    budget -= len(driver.moves)
                    finding = None
                    if driver.moves and not driver.unsettled:
                        finding = self._finding(law, driver.play())
                    if finding is not None and self.remember(law.name, driver, finding):
                        break
                else:
                    start += stride
            after = len(self.failures[law.name].word.stimuli)
            stride = stride // 2 if after == before or stride > 1 else stride

    def confirm(self, law: str) -> bool:
        """Whether a word breaks a law again when it is applied again; else the implementation is flaky (X-2)."""
        failure = self.failures[law]
        word = tuple(move.stimulus for move in failure.play.moves)
        rerun = Rerun(failure.play, observing(self.runtime), observing(self.runtime), self._reference())
        for _ in range(2):
            finding = first_finding(self.asking(partial(_collected, run_deterministic, rerun)))
            if finding is not None:
                self.flaky = self.flaky or Word(word, failure.word.options)
                self.failures.setdefault("run-deterministic", replace(failure, finding=finding))
                return False
        return True

    def _finding(self, law: Law, play: RuntimeTrace) -> Finding | None:
        """How a play breaks one law, whatever kind it is; nothing is counted."""
        if law.name in PLAY_LAWS:
            return first_finding([*PLAY_LAWS[law.name](play)])
        rerun = Rerun(play, observing(self.runtime), observing(self.twin), self._reference(), self.model)
        return first_finding(self.asking(partial(_collected, RERUN_LAWS[law.name], rerun)))

    def _reference(self) -> Again | None:
        return None if self.reference is None else observing(self.reference)

    def _again(self, runtime: RuntimeTarget) -> Callable[[Sequence[Stimulus], ResetOptions], RuntimeTrace]:
        def observe(word: Sequence[Stimulus], options: ResetOptions) -> RuntimeTrace:
            driver = perform(runtime, word, options, ())
            self.stimuli += len(driver.moves)
            return driver.play()

        return observe

    def asking(self, act: Callable[[], _T]) -> _T:
        """What *act* returns; a target that breaks ends the run."""
        try:
            return act()
        except TargetError as error:
            self.broken, self.cut = error, f"the target broke: {error}"
            raise OverError from error


def _told(driver: Driver, last_words: Sequence[str]) -> str:
    """The word that did not settle, so that it can be played in `turncheck drive`, and what its process said last."""
    kinds = [str(to_builtins(move.stimulus)["kind"]) for move in driver.moves]
    return "\n    ".join([f"first after {', '.join(kinds)}", *last_words])


def _collected(law: Callable[[Rerun], Judgement], rerun: Rerun) -> list[Finding | Witness]:
    return [*law(rerun)]
