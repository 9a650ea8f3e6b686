"""Mastra: declining a call executes it.

A call that needs approval suspends its step, and a decision runs the step anew. Whether the call needs approval is read
from the policy that came with the request. The snapshot from which the step is resumed does not hold it.
"""

from turncheck.model.core.stimuli import Deny

from ..plumbing import PLAIN
from ..turns import Turns


class Runtime(Turns):
    """Approval is required of the agent as a whole, and not of its tools."""

    can = (*PLAIN, "follow-up", "approval")

    async def act(self, calls, signal):
        self.policy = {call.tool for call in calls if self.gated(call)}
        suspended = [call for call in calls if not await self.step(call, signal)]
        self.policy = set()  # the snapshot does not hold it
        async for call, decision in self.decisions(suspended, signal):
            await self.step(call, signal, resume=decision)

    async def step(self, call, signal, resume=None):
        """Run the step of a call; return whether it is over, and not suspended."""
        needs_approval = call.tool in self.policy
        if needs_approval and resume is None:
            return False
        if needs_approval and isinstance(resume, Deny):
            self.deny(call, resume)
        else:
            await self.use(call, signal)
        return True
