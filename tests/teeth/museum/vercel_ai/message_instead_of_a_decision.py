"""Vercel AI SDK: a message that is sent in place of a decision is answered with an error by the provider.

While a call waits for approval, the user may write instead of deciding. The message is submitted with all before it,
and with the call, which has no result.
"""

from ..plumbing import PLAIN, asked
from ..turns import Turns


class Runtime(Turns, busy="steer", steerWhilePaused="instead"):
    """``approvals`` is what is open of the last response; a message takes the place of the decisions."""

    can = (*PLAIN, "steer", "approval")

    def boot(self):
        super().boot()
        self.approvals = None

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.begin(message)
            return
        self.waiting.append(message)
        if self.questions and not self.executions:
            self.submit()

    def submit(self):
        """Go on without the decisions."""
        self.approvals.close()

    async def turn(self, signal):
        while (calls := await self.respond(signal)) or self.waiting:
            await self.act(calls, signal)
            self.read()

    def read(self):
        """Put the messages that came meanwhile behind the results."""
        self.history += map(asked, self.waiting)
        self.waiting.clear()

    def end(self, reason):
        self.answer_open(reason)
        self.read()
        super().end(reason)

    async def act(self, calls, signal):
        for call in calls:
            if not self.gated(call):
                await self.use(call, signal)
        self.approvals = self.decisions([call for call in calls if self.gated(call)], signal)
        async for call, decision in self.approvals:
            await self.decided(call, decision, signal)
