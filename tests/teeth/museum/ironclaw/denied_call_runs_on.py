"""IronClaw: a call that was denied stays in the state "running", and the conversation with it.

A decision closes its dialog. An approval starts the tool, whose end ends the invocation; after a denial nothing does.
"""

from turncheck.model.core.stimuli import Approve

from ..plumbing import PLAIN
from ..tasks import Aborted, Future
from ..turns import Turns


class Runtime(Turns):
    """A run goes on when the invocations of its calls are over."""

    can = (*PLAIN, "follow-up", "approval")

    async def decided(self, call, decision, signal):
        invocation = Future(self.ready)
        signal.on_abort(lambda: invocation.settle(error=Aborted()))
        if isinstance(decision, Approve):
            await self.use(call, signal)
            invocation.settle()
        await invocation
