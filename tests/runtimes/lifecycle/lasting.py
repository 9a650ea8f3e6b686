"""A runtime that conforms, starts sub-agents and survives a kill, and wrong ones that forget whose these are."""

from copy import copy

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.core.stimuli import ResetOptions

from ..right import Right
from .delegating import Delegating

_OF_A_PROCESS = ("given", "profile", "policies", "options", "session", "caller", "inner", "kept", "events", "refused")
"""What of an agent is not stored: what it is given, whose it is, and what it tells now."""


def stored(agent):
    """What is stored of an agent."""
    return copied({name: value for name, value in vars(agent).items() if name not in _OF_A_PROCESS})


def copied(state):
    """A state whose collections are its own."""
    return {name: copy(value) for name, value in state.items()}


class Lasting(Delegating):
    """Each step is stored, by folder; a restart stops the run that was open as an abort does, its sub-agents first."""

    def __init__(self, **given):
        self.kept = {}
        super().__init__(**given)
        self.profile = replace(self.profile, capabilities=(*self.profile.capabilities, "persistence"))

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        kept = self.kept.get(options.state_dir)
        super().reset(options)
        if kept:
            own, others = kept
            vars(self).update(copied(own))
            for call, caller, state in others:
                self.revive(call, caller, state)
            self.events = []
            if self.active:
                self.restarted()
        return self.step()

    def step(self):
        if self.options.state_dir is not None:
            others = [(one.call_of_it, getattr(one.caller, "agent", None), stored(one)) for one in self.inner]
            self.kept[self.options.state_dir] = (stored(self), others)
        return super().step()

    def revive(self, call, caller, state):
        """Load a sub-agent."""
        child = self.made(state["agent"], call)
        child.caller = self.child_named(caller) or self
        vars(child).update(copied(state))
        self.inner.append(child)

    def restarted(self):
        """End the run that a kill cut."""
        self.abort()


class GoesOnAfterAKill(Lasting, openTurnAfterRestart="goes-on"):
    """It conforms: the run and its sub-agents go on where they were."""

    def restarted(self):
        pass


class SaysNothingAtARestart(Lasting):
    """It conforms: a run that a kill cut is over, with its sub-agents, and nobody says so."""

    def restarted(self):
        super().restarted()
        self.events = []


# ---- wrong ones ----


@breaks("restart-reaches-children", "L-S2")
class RestartsTheCallerFirst(Lasting):
    """At a restart the run is ended, and its sub-agents behind it."""

    def restarted(self):
        Right.abort(self)
        self.halt_children()


@breaks("restart-reaches-children", "L-R2")
class ForgetsItsSubAgents(Lasting):
    """Sub-agents are in memory alone: at a restart the run is ended, and their blocks say "working" for ever."""

    def revive(self, call, caller, state):
        pass


@breaks("restart-reaches-children", "L-S2")
class AnswersForThemTwice(Lasting):
    """At a restart a stopped sub-agent's call gets a result as that ends, and one more as the run ends."""

    def restarted(self):
        for child in self.children():
            self.log("tool-result", callId=child.call_of_it.call_id, output="it was cut", isError=True)
        super().restarted()


@breaks("restart-reaches-children", "L-R2")
class SubAgentsGoOnAlone(Lasting):
    """At a restart the run is ended, and its sub-agents ask the model on."""

    def restarted(self):
        Right.abort(self)
