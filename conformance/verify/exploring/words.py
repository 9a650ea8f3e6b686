"""Input for a runtime: words that tell its policies apart, directed words, and then generated ones."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

from turncheck.adapters.protocol.messages import DEPTH_POLICY, Profile
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.registry import Target
from turncheck.model.core.stimuli import Abort, Approve, ClientResult, Deny, ResetOptions, Stimulus, Together, Word
from turncheck.model.declaration.machine import Row
from turncheck.model.machines.interaction import CONCURRENT, tables

from ...generation.classic_words import DEEP, classic_words, starts
from ...generation.lifecycle.agent_words import (
    Deed,
    Delegation,
    delegating,
    directed_delegations,
    drawn_delegation,
    open_delegations,
)
from ...generation.lifecycle.overlapping_words import Letter, Overlap, directed_overlaps, drawn_overlap
from ...generation.rare_words import rare_words
from ...generation.situations import Situation, access_words, directed, follow, revisit_words, rows_for
from ...observe.driver import Driver, UnsettledError
from ..engine import Run
from ..outcome.coverage import WordCoverage
from ..subjects.runtime import Player, RuntimeSubject, end_unsettled
from .shards import SIZE
from .workers import crew

PLAIN: Final = 3
"""Weight of the plain start of generated words, where each special option has the weight 1."""
_BESIDE: Final = 5
"""Of so many generated words one has runs that overlap, or sub-agents, where the runtime has such."""
_STRIDE: Final = 1_000_003
"""Between the seeds of two shards: the seeds that users choose lie closer together. The first shard has the run's."""


class _Directed(NamedTuple):
    """A directed word: *events*, which take rows, *letters* of several runs, *deeds* of several agents, or *stimuli*.

    Some stimuli make a *situation* that no row names. With *killed*, the laws on restarts kill the runtime behind it.
    """

    options: ResetOptions
    events: Sequence[str] | None = None
    letters: Sequence[Letter] = ()
    deeds: Sequence[Deed] = ()
    stimuli: Sequence[Stimulus] = ()
    situation: str | None = None
    killed: bool = False


@dataclass(frozen=True)
class Words:
    """A shard: words from *first* until *end*, in the order of the whole run; generated ones have a *seed*."""

    first: int
    end: int
    seed: int | None = None


@dataclass(frozen=True)
class RuntimeCourse:
    """The way in which a runtime with this profile is given words.

    ``inferred`` are the policies that it leaves out; ``unsettled`` words before any shard did not settle; ``thrifty``
    subjects are made (``RuntimeSubject``).
    """

    profile: Profile
    inferred: Mapping[str, str | int]
    unsettled: int = 0
    thrifty: bool = False

    def face(self, target: Target) -> Any:
        """Return the runtime."""
        return target.runtime

    def subject(self, target: RuntimeTarget, twin: RuntimeTarget) -> RuntimeSubject:
        """Make a subject that has seen nothing."""
        subject = RuntimeSubject(target, twin, thrifty=self.thrifty)
        subject.inferred = self.inferred
        subject.coverage = WordCoverage(self.profile, self.rows)
        subject.coverage.infer(self.inferred)
        return subject

    def shards(self, words: int, seed: int) -> Iterator[Words]:
        """Yield the shards of all directed words and of *words* generated ones."""
        count = len(self.directed)
        for first in range(0, count, SIZE):
            yield Words(first, min(first + SIZE, count))
        for number, first in enumerate(range(count, count + words, SIZE)):
            yield Words(first, min(first + SIZE, count + words), seed + number * _STRIDE)

    def play(self, run: Run[Word], shard: Words) -> None:
        """Make the words of *shard*, apply them, and judge them."""
        assert isinstance(run.subject, RuntimeSubject)
        player = Player(run, run.subject, shard.first, self.unsettled)
        if shard.seed is None:
            for one in self.directed[shard.first : shard.end]:
                _play(player, one)
        else:
            from ...generation.words import explore as generate  # noqa: PLC0415 - Hypothesis, a quarter of a start-up

            plain, special = starts(frozenset(self.profile.capabilities))
            options = [*[plain] * PLAIN, *special]
            words = shard.end - shard.first
            beside = words // _BESIDE if self._concurrent else 0
            below = words // _BESIDE if self._delegates else 0
            generate(player, self.rows, self.reached, options, words=words - beside - below, seed=shard.seed)
            for number in range(below):
                deeds = drawn_delegation(shard.seed + number, frozenset(self.profile.capabilities), self._depth)
                _play(player, _Directed(delegating(plain), deeds=deeds))
            for number in range(beside):
                letters = drawn_overlap(shard.seed + number, frozenset(self.profile.capabilities))
                _play(player, _Directed(plain, letters=letters))

    def merged(self, run: Run[Word]) -> None:
        """End a run in which too many words did not settle."""
        assert isinstance(run.subject, RuntimeSubject)
        end_unsettled(run, run.subject.coverage)

    @cached_property
    def directed(self) -> Sequence[_Directed]:
        """The words that take every row at least once, and the classic situations of each option."""
        capabilities = frozenset(self.profile.capabilities)
        plain, special = starts(capabilities)
        rares = rare_words(capabilities, plain.policies | self.profile.policies)
        overlaps = directed_overlaps(capabilities) if self._concurrent else ()
        delegations = directed_delegations(capabilities, self._depth) if self._delegates else ()
        cut = open_delegations(capabilities, self._depth) if self._delegates else ()
        return [
            *(_Directed(plain, word) for word in sorted(directed(self.rows, self._accesses), key=len)),
            *(_Directed(one, word) for one in special for word in DEEP),
            *(_Directed(plain, stimuli=stimuli) for stimuli in classic_words(capabilities)),
            *(_Directed(one.options, stimuli=one.word, situation=one.name, killed=one.killed) for one in rares),
            *(_Directed(plain, letters=letters) for letters in overlaps),
            *(_Directed(delegating(plain), deeds=deeds) for deeds in delegations),
            *(_Directed(delegating(plain), deeds=deeds, killed=True) for deeds in cut),
        ]

    @property
    def _concurrent(self) -> bool:
        """True where a message begins a run beside the one that is open."""
        return self.profile.policies.get("busy") == CONCURRENT

    @property
    def _delegates(self) -> bool:
        """True where a call can start a sub-agent."""
        return {"tools", "sub-agents"} <= {*self.profile.capabilities}

    @property
    def _depth(self) -> int | None:
        """The declared depth to which sub-agents call sub-agents."""
        return self.profile.policies.get(DEPTH_POLICY)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows that the profile allows."""
        return rows_for(frozenset(self.profile.capabilities), self.profile.policies)

    @cached_property
    def _accesses(self) -> Mapping[Row, tuple[str, ...]]:
        return access_words(tables(self.profile.policies), frozenset(self.profile.capabilities))

    @cached_property
    def reached(self) -> list[tuple[str, ...]]:
        """The words with which generated ones begin."""
        again = revisit_words(tables(self.profile.policies), frozenset(self.profile.capabilities))
        reached = [self._accesses[row] for row in self.rows if len(self._accesses[row]) > 1]
        return [*reached, *(again[row] for row in self.rows if row in again)]


def explore(subject: RuntimeSubject, words: int, run: Run[Word]) -> None:
    """Explore *subject* on the directed words, and on *words* generated ones."""
    player, profile = Player(run, subject), subject.target.profile
    subject.coverage = WordCoverage(profile, RuntimeCourse(profile, {}).rows)
    player.look()
    course = RuntimeCourse(profile, subject.inferred, subject.coverage.unsettled, subject.thrifty)
    with crew(run, course) as playing:
        for shard in course.shards(words, run.options.seed):
            playing.give(shard)
        playing.finish()


def _play(player: Player, one: _Directed) -> None:
    driver = player.begin(one.options)
    if one.events is None:
        with contextlib.suppress(UnsettledError):
            if one.letters:
                player.asking(partial(Overlap(driver).follow, one.letters))
            elif one.deeds:
                player.asking(partial(Delegation(driver).follow, one.deeds))
            else:
                player.asking(partial(driver.run, one.stimuli))
        if one.situation is not None:
            player.subject.coverage.situation(one.situation, made=_made(driver, one.stimuli))
        player.finish(driver, killed=one.killed)
        return
    situation = Situation(driver)
    with contextlib.suppress(UnsettledError):
        player.asking(partial(follow, situation, one.events))
    player.finish(driver, situation.taken)


_MAY_BE_REFUSED: Final = (Together, Abort, Approve, Deny, ClientResult)


def _made(driver: Driver, word: Sequence[Stimulus]) -> bool:
    """Return whether *word* was applied whole; of several at once, some may be refused, and so may late decisions."""
    refused = (step.answer.refused for step in driver.steps if not isinstance(step.stimulus, _MAY_BE_REFUSED))
    return len(driver.steps) >= len(word) and all(one is None or one.why == "rejected" for one in refused)
