"""Runtimes that learning has to end on, or must not believe."""

import random

from turncheck.model.core.stimuli import Step, ToolReturn

from .right import Right


class RefusesByChance(Right):
    """Once in a while a message that comes amid a run is refused."""

    dice = random.Random(0)  # one for all words: the same word has another answer later

    def user(self, message):
        if self.active and self.dice.random() < 0.2:
            self.refuse("rejected", "not now")
        else:
            super().user(message)


class NeverQuiet(Right):
    """Whatever comes amid a run leads to no quiet."""

    def apply(self, stimulus):
        return Step(unsettled=True) if self.active else super().apply(stimulus)


class NoQuietAfterATool(Right):
    """A tool's return leads to no quiet."""

    def apply(self, stimulus):
        return Step(unsettled=True) if isinstance(stimulus, ToolReturn) else super().apply(stimulus)


class AcceptsWhatItRejects(Right, busy="reject"):
    """It declares that it rejects messages amid a run, and queues them."""

    def reset(self, *options):
        step = super().reset(*options)
        self.policies |= {"busy": "followUp"}
        return step
