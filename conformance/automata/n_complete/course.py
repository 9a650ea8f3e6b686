"""The way in which a runtime is given a suite: shards of its words, and how one is applied."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.registry import Target
from turncheck.model.automata.mealy import Mealy, Word
from turncheck.model.automata.suites import Suite

from ...observe.driver import UnsettledError
from ...verify.engine import Run
from ...verify.subjects.runtime import Player, RuntimeSubject, end_unsettled
from ..learn.abstraction import LOCAL, Abstracted, Bounds
from .reference import Model, reference_for


@dataclass(frozen=True)
class Words:
    """A shard: some words of a suite, of which *first* come before."""

    first: int
    words: Suite


@dataclass(frozen=True)
class SuiteCourse:
    """The way in which a runtime is given a suite: the parts of its model, and the policies that it leaves out.

    A worker makes the *reference* anew, from the target's profile.
    """

    machine: Mealy
    bounds: Bounds
    exact: bool
    inferred: Mapping[str, str | int]
    reference: RuntimeTarget | None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "reference": None}

    def face(self, target: Target) -> Any:
        """Return the runtime."""
        return target.runtime

    def subject(self, target: RuntimeTarget, twin: RuntimeTarget) -> RuntimeSubject:
        """Make a subject that has seen nothing."""
        reference = self.reference or reference_for(target.profile)
        subject = RuntimeSubject(target, twin, Model(self.machine, reference, self.bounds, self.exact).compared)
        subject.inferred = self.inferred
        return subject

    def play(self, run: Run[Any], shard: Words) -> None:
        """Apply the words of *shard*, and judge them."""
        assert isinstance(run.subject, RuntimeSubject)
        player = Player(run, run.subject, shard.first)
        for word in shard.words:
            play(player, self.machine, self.bounds, word)

    def merged(self, run: Run[Any]) -> None:
        """End a run in which too many words did not settle."""
        assert isinstance(run.subject, RuntimeSubject)
        end_unsettled(run, run.subject.coverage)


def play(player: Player, machine: Mealy, bounds: Bounds, word: Word) -> None:
    """Apply one word, and judge it.

    As long as all outputs equal the model's, the target must await the same letters as the model. The first letter for
    which it does not is applied, so that the law sees the difference, and ends the word.
    """
    system = Abstracted(player.subject.target, bounds)
    driver = player.begin(system.options)
    system.begin(driver)
    state, alike = 0, True
    with contextlib.suppress(UnsettledError):
        for letter in word:
            stray = _stray(system, machine, state) if alike else None
            output = player.asking(partial(system.send if alike else system.step, machine.letters[stray or letter]))
            if stray is not None:
                break
            state, said = machine.step(state, letter)
            alike = alike and output == said
        else:
            if alike and (stray := _stray(system, machine, state)) is not None:
                player.asking(partial(system.send, machine.letters[stray]))
    player.finish(driver)


def _stray(system: Abstracted, machine: Mealy, state: int) -> int | None:
    """Return the first letter that only one of target and model does not send, or answers differently by itself."""
    row, reader = machine.table[state], system.reader
    local = (output if output in LOCAL else None for _, output in row)
    found = (place for place, output in enumerate(local) if reader.local(machine.letters[place]) != output)
    return next(found, None)
