"""Codex: the user interrupts the main agent, and its sub-agents go on.

Each sub-agent has a token of its own, which only its own controls cancel; that of the main agent is not its parent.
(The report shows that they go on, and not why.)
"""

from ..teams import Team


class Runtime(Team):
    """A main agent that starts sub-agents, each with a token of its own."""

    def link(self, member, child):
        self.tokens = {**getattr(self, "tokens", {}), child.name: child.signal}
