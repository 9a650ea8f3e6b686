"""The fate of a mutant: what it changes, and what tells."""

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.conformance.laws.law import Finding, first_finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.history_policies import inferred
from turncheck.conformance.verify.subjects.runtime import RuntimeSubject
from turncheck.conformance.verify.subjects.subject import judged, missing
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import User, Word
from wild.bench import GENERATED, Bench, Played, answers
from wild.mutants import Change, difference
from wild.outcome import STILLBORN, SURVIVED, UNSEEN, Outcome

SECONDS = 600.0
"""Seconds for a verification of a mutant: that of the runtime itself takes 100 on a busy machine."""
WHOLE = 300
OVERDUE = "--run-timeout"
"""In what `verify` says of a run that was not over in time: of a busy machine it says more than of the mutant."""
_Fate: TypeAlias = tuple[str, str | None, str | None, str | None]
"""The fate, the law, the words that it took, and what else there is to say."""


class Judge:
    """Holds the mutants on a *bench* to the laws, with words that the runtime itself was given.

    ``failed`` are the laws that the runtime itself fails. Such a law tells a mutant that breaks it on a word on which
    the runtime does not; each other law does that breaks at all. They are found out where they are not given.
    """

    def __init__(
        self,
        bench: Bench,
        words: Sequence[Played],
        seed: int,
        *,
        whole: int = WHOLE,
        failed: Sequence[str] | None = None,
    ) -> None:
        self._bench, self._words, self._seed = bench, words, seed
        self._stages = {"quick": GENERATED, "whole": whole}
        with bench.open() as runtime:
            policies = inferred(runtime)
            if failed is None:
                own, _ = verify_runtime(runtime, selected(["runtime"]), words=whole, seed=seed, shrink=False)
                failed = [law.law for law in own.laws if law.verdict == "fail"]
            self.failed = tuple(failed)
            broken = self._breaks(runtime, range(len(words)), policies)
            self._broken = {(number, law) for number, law, _ in broken}
        self._laws = [law for law in selected(["runtime"]) if law.name not in self.failed]

    def outcome(self, change: Change, numbers: Sequence[int]) -> Outcome:
        """Return the fate of one mutant, whose line the words with these *numbers* come by: no other shows it."""
        bench = self._bench
        source, text = bench.source(change.file), change.make()
        place = (bench.name, Path(change.file).name, change.operator, change.number, change.line, change.definition)
        before, after = difference(source, text)
        with bench.mutated(change.file, text):
            try:
                with bench.open() as runtime:
                    fate = self._on_fixed_words(runtime, numbers)
            except TargetError as error:
                return Outcome(*place, before, after, STILLBORN, why=str(error.problem)[:200])
            fate = fate or self._on_many_words()
            if fate[0] == "error" and not self._begins():
                fate = STILLBORN, None, None, fate[-1]
            return Outcome(*place, before, after, *fate)

    def _on_fixed_words(self, runtime: RuntimeTarget, numbers: Sequence[int]) -> _Fate | None:
        """The fate of a mutant that shows nothing, or that breaks a law on a fixed word; None where it is open.

        The first one that it answers otherwise is judged before all others: `verify` plays them too, and many more.
        """
        first = next((number for number in numbers if self._differs(runtime, self._words[number])), None)
        if first is None:
            return UNSEEN, None, None, None
        rest = (number for number in numbers if number != first)
        for number, law, finding in self._breaks(runtime, [first, *rest]):
            if (number, law) not in self._broken:
                return "law", law, "beside" if law in self.failed else "quick", finding.message
        return None

    @staticmethod
    def _differs(runtime: RuntimeTarget, word: Played) -> bool:
        return bool(answers(runtime, word.options, word.stimuli) != word.answers)

    def _on_many_words(self) -> _Fate:
        """The fate by `verify`: as with ``--quick``, then whole."""
        why = None
        for by, words in self._stages.items():
            fate, law, why = self._verified(words)
            if fate != SURVIVED:
                return fate, law, by, why
        return SURVIVED, None, None, why

    def _begins(self) -> bool:
        """Return whether a session's first message is answered: a constructor may raise, as an import may."""
        starts = {repr(one.options): one for one in self._words if isinstance(one.stimuli[0], User)}
        for one in starts.values():
            with contextlib.suppress(TargetError), self._bench.open() as runtime:
                runtime.reset(one.options)
                runtime.apply(one.stimuli[0])
                return True
        return False

    def _verified(self, words: int) -> tuple[str, str | None, str | None]:
        """What `verify` says of the copy: the fate, the law, and what else there is to say."""
        try:
            with self._bench.open() as runtime:
                result, _ = verify_runtime(
                    *(runtime, self._laws),
                    words=words,
                    seed=self._seed,
                    fail_fast=True,
                    shrink=False,
                    until=time.monotonic() + SECONDS,
                )
        except TargetError as error:
            return "error", None, str(error.problem)[:200]
        failed = next((law for law in result.laws if law.verdict == "fail"), None)
        if failed is not None:
            return "law", failed.law, failed.why
        cut = (result.cut or "").splitlines()
        if cut and OVERDUE in cut[0]:
            return SURVIVED, None, f"its verification was not over after {SECONDS:g} s"
        if result.summary["error"]:
            return "error", None, cut[0] if cut else None
        if result.coverage.get("unsettled"):
            return "unsettled", None, f"exit code {result.exit_code}: {cut[0] if cut else ''}"
        return ("floor", None, "; ".join(result.missed)) if result.missed else (SURVIVED, None, None)

    def _breaks(
        self, runtime: RuntimeTarget, numbers: Iterable[int], policies: Mapping[str, str | int] | None = None
    ) -> Iterator[tuple[int, str, Finding]]:
        """Yield where the copy breaks a law: the word, the law, how. Without *policies* its own are inferred.

        A word here has been closed once, and is closed again: even the runtime itself breaks laws on some.
        """
        subject = RuntimeSubject(runtime, runtime)
        laws = [law for law in selected(["runtime"]) if law.kind == "run" and not missing(law, runtime.profile)]
        try:
            subject.inferred = inferred(runtime) if policies is None else policies
        except TargetError:
            return
        for number, word in ((one, self._words[one]) for one in numbers):
            try:
                observation = subject.observe(Word(word.stimuli, word.options))
            except TargetError:
                continue
            for law in laws if observation is not None else ():
                assert observation is not None
                finding = first_finding(judged(law, observation))
                if finding is not None:
                    yield number, law.name, finding
