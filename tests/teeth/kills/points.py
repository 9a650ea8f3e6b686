"""A word that is killed at each of its points, and what the laws on restarts find there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.conformance.generation.classic_words import starts
from turncheck.conformance.generation.words import explore
from turncheck.conformance.laws.law import Finding, Law
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.observe.driver import Driver, perform, recorded
from turncheck.conformance.verify.exploring.words import PLAIN, RuntimeCourse
from turncheck.conformance.verify.subjects.history_policies import inferred
from turncheck.conformance.verify.subjects.kills import RuntimeKills, inferred_fate
from turncheck.conformance.verify.subjects.runtime import RuntimeSubject
from turncheck.conformance.verify.subjects.subject import Observation, judged, missing
from turncheck.model.core.stimuli import Word

from .outcome import Outcome

CLAUSES = {"L-A7", *(f"L-R{number}" for number in range(1, 7))}
LONGEST = 12
"""Stimuli of a word, at most: a word is applied anew for each kill, so that its cost grows with the square of these."""
_VARIES = re.compile(r"(?<=\b[uc])\d+\b|(?<=input\[)\d+|(?<=\[)'c\d+'(?:, 'c\d+')*(?=\])")
"""Numbers of ids, places, and lists of calls, in a finding's message."""


class Thorough(RuntimeKills):
    """Kills a word behind its last stimulus and within it; ``count`` is the number of kills."""

    both, in_process = True, False
    count = 0

    def killed(self, word, options, *, amid=False, times=1):
        """``RuntimeKills.killed``."""
        before = len(self._killed)
        found = super().killed(word, options, amid=amid, times=times)
        self.count += times * (len(self._killed) - before)
        return found


class _Gatherer:
    """An explorer that keeps its words, and judges none."""

    def __init__(self, runtime: RuntimeTarget) -> None:
        self.words: dict[bytes, Word] = {}
        self.drawn = 0
        self.begin = partial(Driver, runtime)

    def asking(self, act):
        return act()

    def finish(self, driver, taken):
        self.drawn += 1
        word = Word(tuple(step.stimulus for step in driver.steps)[:LONGEST], driver.options)
        if word.stimuli and not driver.unsettled:
            self.words[msgspec.json.encode(word)] = word


def words_for(runtime: RuntimeTarget, count: int, seed: int) -> Sequence[Word]:
    """Return *count* generated words, drawn as `verify` draws them: over the rows that the runtime can take.

    Each is cut to so many stimuli as ``LONGEST`` says; one that begins like another in all of them is left out.
    """
    gatherer, course = _Gatherer(runtime), RuntimeCourse(runtime.profile, {})
    plain, special = starts(frozenset(runtime.profile.capabilities))
    while len(gatherer.words) < count:
        begun = seed + gatherer.drawn
        explore(gatherer, course.rows, course.reached, [*[plain] * PLAIN, *special], words=count, seed=begun)
    return [*gatherer.words.values()][:count]


def killed_everywhere(runtime: RuntimeTarget, words: Sequence[Word], outcome: Outcome) -> Iterator[None]:
    """Kill *runtime* behind and within each stimulus of each word, and add to *outcome*; yield after each word.

    A beginning that several words have in common is killed once. Each is judged by all laws on restarts that the
    runtime's profile does not skip, whole words also with writes that fail.
    """
    subject = RuntimeSubject(runtime, runtime)
    subject.inferred = {**inferred(runtime, lambda _: None), **inferred_fate(runtime)}
    laws = [law for law in LAWS.values() if {*law.clauses} & CLAUSES and not missing(law, runtime.profile)]
    seen = set[bytes]()
    for word in words:
        outcome.words += 1
        outcome.stimuli += len(word.stimuli)
        steps = perform(runtime, word.stimuli, word.options).steps[: len(word.stimuli)]
        kills = Thorough(runtime, lambda _: None)
        for length in range(1, len(steps) + 1):
            beginning = Word(word.stimuli[:length], word.options)
            key = msgspec.json.encode(beginning)
            if key in seen:
                continue
            seen.add(key)
            outcome.beginnings += 1
            answers = [step.answer for step in steps[:length]]
            trace = recorded(beginning.stimuli, answers, [False] * length, word.options, runtime.profile)
            observation = subject.observation(trace)
            observation = replace(observation, means=replace(observation.means, kills=kills))
            whole = length == len(word.stimuli)
            for law in laws:
                if whole or "store-faults" not in law.needs:
                    _judge(law, observation, outcome)
        outcome.kills += kills.count
        yield


def _judge(law: Law, observation: Observation[Word], outcome: Outcome) -> None:
    found = dict[str, None]()
    try:
        for one in judged(law, observation):
            if isinstance(one, Finding):
                found[_VARIES.sub("…", one.message)] = None
            else:
                outcome.evidence[law.name] = outcome.evidence.get(law.name, 0) + 1
    except TargetError as error:
        found[str(error).splitlines()[0]] = None
    for message in found:
        outcome.found(law.name, message, observation.case)
