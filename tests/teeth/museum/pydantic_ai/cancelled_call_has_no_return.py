"""Pydantic AI: a run is cancelled in its first tool, and its messages cannot be used again.

The cancellation is raised in the tool's task and goes up through the graph. The history has the call by then, and gets
no return: "cannot provide a new user prompt when the message history contains unprocessed tool calls".
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, ToolError


class Runtime(Coroutines):
    """A run is a task; to abort is to cancel it."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.task = deque(), None

    def prompt(self, message):
        self.accept(message)
        if self.task is None:
            self.begin(message)
        else:
            self.waiting.append(message)

    def abort(self):
        if self.task is not None:
            self.task.cancel()

    def begin(self, message):
        self.history.append(asked(message))
        self.task = self.spawn(self.run())

    async def run(self):
        reason = "completed"
        try:
            while calls := await self.model_request_node():
                await self.call_tools_node(calls)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.task = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def model_request_node(self):
        try:
            return await self.respond()
        except (Aborted, ModelError):
            self.answer_open("the response was interrupted")
            raise

    async def call_tools_node(self, calls):
        for call in calls:
            try:
                output = await self.execute(call)
            except ToolError as error:
                self.answer(call.call_id, str(error), failed=True)
            else:
                self.answer(call.call_id, output)
