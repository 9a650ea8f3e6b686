"""Google ADK: calls beside one that needs confirmation are executed, and the model never sees their results.

The event with the responses of a step is yielded behind the one that asks for the confirmation, and appended to the
session when it is taken. Who waits for the user takes no further event. After the approval the confirmed call alone is
executed.
"""

from ..plumbing import PLAIN
from ..turns import Turns


class Runtime(Turns):
    """``untaken`` are the ids of the calls whose responses are in an event that nobody took."""

    can = (*PLAIN, "follow-up", "approval")

    def boot(self):
        super().boot()
        self.untaken = set()

    async def turn(self, signal):
        while calls := await self.respond(signal, self.session_events()):
            await self.act(calls, signal)

    def session_events(self):
        return [entry for entry in self.history if entry.role != "tool" or entry.call_id not in self.untaken]

    async def act(self, calls, signal):
        parallel = [call for call in calls if not self.gated(call)]
        for call in parallel:
            await self.use(call, signal)
        to_confirm = [call for call in calls if self.gated(call)]
        if to_confirm:
            self.untaken |= {call.call_id for call in parallel}
        async for call, decision in self.decisions(to_confirm, signal):
            await self.decided(call, decision, signal)
