"""gen-code: a cancel while a tool runs does not stop the turn.

The tool is cancelled, and its result says so, like that of any failed tool. The loop knows no more of the
cancellation, and asks the model for its reaction.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """Each piece of work has a signal of its own; a cancel sets that of the one that runs."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.active = deque(), False
        self.current = Signal()

    def prompt(self, message):
        self.accept(message)
        if self.active:
            self.waiting.append(message)
        else:
            self.begin(message)

    def abort(self):
        if self.active:
            self.current.abort()

    def begin(self, message):
        self.active = True
        self.history.append(asked(message))
        self.spawn(self.run())

    async def run(self):
        reason = "completed"
        try:
            while calls := await self.infer():
                for call in calls:
                    await self.run_tool_call(call)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.active = False
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def infer(self):
        self.current = Signal()
        return await self.respond(self.current)

    async def run_tool_call(self, call):
        self.current = Signal()
        try:
            output = await self.execute(call, self.current)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        except Aborted:
            self.answer(call.call_id, "cancelled", synthetic=True)
        else:
            self.answer(call.call_id, output)
