"""eve: a call that the client resolves has two results.

A tool that parks its call for the user's answer has to have an ``execute`` like any other. What that returns is a
result of the call, and the answer is another one.
"""

from ..plumbing import PLAIN
from ..turns import Turns


class Runtime(Turns):
    """An authored tool has an executor, even if it is the client that resolves it."""

    can = (*PLAIN, "follow-up", "client-tools")

    async def act(self, calls, signal):
        for call in calls:
            if self.gated(call):
                self.answer(call.call_id, self.stub(call))
            else:
                await self.use(call, signal)
        async for call, decision in self.decisions([call for call in calls if self.gated(call)], signal):
            await self.decided(call, decision, signal)

    def stub(self, call):
        """Execute a tool that does nothing: it is there because one has to be."""
        return f"{call.tool} waits for the user"
