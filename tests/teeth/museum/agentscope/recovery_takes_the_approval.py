"""AgentScope for Java: a call that was approved is never executed.

With ``enablePendingToolRecovery``, each call in the memory without a result gets one that says it failed, before the
incoming message is read. A call that is asked about is such a call, and the message is its confirmation.
"""

from ..plumbing import PLAIN, unanswered
from ..turns import Turns


class Runtime(Turns):
    """``asking`` are the ids of the calls in the state ASKING."""

    can = (*PLAIN, "follow-up", "approval")

    def boot(self):
        super().boot()
        self.asking = set()

    async def act(self, calls, signal):
        asking = [call for call in calls if self.gated(call)]
        self.asking = {call.call_id for call in asking}
        for call in calls:
            if call not in asking:
                await self.use(call, signal)
        async for call, confirm_result in self.decisions(asking, signal):
            self.recover_pending()
            if call.call_id in unanswered(self.history):
                await self.decided(call, confirm_result, signal)

    def recover_pending(self):
        """Answer the calls that a broken run left without a result."""
        for call_id in unanswered(self.history):
            self.answer(call_id, "the tool call was not completed", synthetic=True)
