"""LangGraph's ToolNode: one tool raises, and the results of the others are gone with it.

The calls of a response are gathered. The default handler answers arguments that do not fit, and raises the tool's own
errors; such an error leaves the gathering at once, before any result is written, and ends the run.
"""

from collections import deque

from ..plumbing import asked
from ..tasks import Coroutines, ModelError, ToolError


class Runtime(Coroutines, tools="parallel", abortEnds=None):
    """Nodes: the model, the tools. A node's writes are kept when it is done."""

    can = ("tools", "tool-failure", "model-failure", "model-input", "follow-up")

    def boot(self):
        self.waiting, self.active = deque(), False

    def prompt(self, message):
        self.accept(message)
        if self.active:
            self.waiting.append(message)
        else:
            self.invoke(message)

    def abort(self):
        """There is none."""

    def invoke(self, message):
        self.active = True
        self.history.append(asked(message))
        self.spawn(self.graph())

    async def graph(self):
        reason = "completed"
        try:
            while calls := await self.respond():
                for call, output, failed in await self.tool_node(calls):
                    self.answer(call.call_id, output, failed=failed)
        except ModelError:
            self.answer_open("the model failed")
            reason = "error"
        except ToolError:
            reason = "error"
        self.active = False
        self.stop(reason)
        if self.waiting:
            self.invoke(self.waiting.popleft())

    async def tool_node(self, calls):
        running = [self.spawn(self.run_one(call)) for call in calls]
        try:
            return await self.gather(running)
        finally:
            for task in running:
                task.cancel()

    async def run_one(self, call):
        try:
            return call, await self.execute(call), False
        except ToolError as error:
            return self.handle_tool_error(call, error)

    def handle_tool_error(self, call, error):
        raise error
