"""Claude Code's sub-agents: ``maxTurns: 10``, and the agent runs 72.

The agent's definition has the limit, and the loop reads it under another name: it finds none, and runs without limit.
(The report shows that the limit is not enforced, and not why.)
"""

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, busy="reject"):
    """An agent in the background, which takes one message at a time."""

    can = (*PLAIN, "limits")

    def boot(self):
        self.signal = None
        self.definition = {"name": "agent", "maxTurns": self.options.limits.get("maxRounds")}

    def prompt(self, message):
        if self.signal is not None:
            self.refuse("rejected", "the agent runs")
            return
        self.accept(message)
        self.signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.dispatch(self.signal))

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    async def dispatch(self, signal):
        reason, detail = "completed", None
        limit = self.definition.get("max_turns")
        turns = 1
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.use(call, signal)
                if turns == limit:
                    reason, detail = "error", "error_max_turns"
                    break
                turns += 1
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason, detail)

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
