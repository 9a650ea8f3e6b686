"""Codex: of two calls that wait for approval, one is approved, and both are executed.

Approvals are kept by the turn's id, and not by the request's: one that was given is given to each request of the turn.
"""

from turncheck.model.core.stimuli import Approve

from ..plumbing import PLAIN
from ..turns import Turns


class Runtime(Turns):
    """The calls of a response are one turn's requests for approval."""

    can = (*PLAIN, "follow-up", "approval")

    def decide(self, decision):
        super().decide(decision)
        if isinstance(decision, Approve) and self.refused is None:
            for name in self.approved_by(decision):
                super().decide(Approve(call_id=name))

    def approved_by(self, decision):
        """Return the ids of the other requests that wait for the same approval."""
        return list(self.questions)
