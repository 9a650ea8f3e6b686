"""OpenAI Agents SDK: a call that was approved is asked about again.

The decisions are recorded in the wrapper of the run's context. A run that is resumed, and is given a context, wraps it
anew.
"""

from ..plumbing import PLAIN
from ..turns import Turns


class ContextWrapper:
    """The caller's context, and what was decided: call id → decision."""

    def __init__(self, context, approvals=None):
        self.context, self.approvals = context, approvals or {}


class Runtime(Turns):
    """The run ends where it asks; once all is decided, it is resumed with the same context."""

    can = (*PLAIN, "follow-up", "approval")
    context = "the caller's"

    async def act(self, calls, signal):
        wrapper = ContextWrapper(self.context)
        while calls := await self.execute_all(calls, wrapper, signal):
            async for call, decision in self.decisions(calls, signal):
                wrapper.approvals[call.call_id] = decision
            wrapper = ContextWrapper(self.context)

    async def execute_all(self, calls, wrapper, signal):
        """Execute what may be executed; return the interruptions: calls about which nothing is decided."""
        interruptions = []
        for call in calls:
            if not self.gated(call):
                await self.use(call, signal)
            elif call.call_id in wrapper.approvals:
                await self.decided(call, wrapper.approvals[call.call_id], signal)
            else:
                interruptions.append(call)
        return interruptions
