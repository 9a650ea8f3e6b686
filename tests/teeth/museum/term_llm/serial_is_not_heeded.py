"""term-llm: ``parallel_tool_calls=false``, and the tools run at the same time.

The client says whether its tools may run side by side. The request to the model carries that; the loop that executes
registered tools on the server starts them all.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, tools="serial"):
    """It declares that tools run one after the other."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.parallel_tool_calls = self.declares["tools"] == "parallel"

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.begin(message)
        else:
            self.waiting.append(message)

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    def begin(self, message):
        self.signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.run_loop(self.signal))

    async def run_loop(self, signal):
        reason = "completed"
        try:
            while calls := await self.respond(signal):
                await self.execute_calls(calls, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def execute_calls(self, calls, signal):
        running = []
        for call in calls:
            running.append(self.spawn(self.use(call, signal)))  # noqa: PERF401
        await self.gather(running)

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
