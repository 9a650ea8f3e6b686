"""smolagents: of three parallel calls one fails, and the results of the other two are lost.

The outputs of a step are collected from its futures one by one; the first that raises ends the collection, after which
the observations would be set. The step is reported as failed, and the model repeats the calls.
"""

from collections import deque

from ..plumbing import asked
from ..tasks import Coroutines, ModelError, ToolError


class Runtime(Coroutines, tools="parallel", abortEnds=None):
    """Steps: a response, and the outputs of its calls."""

    can = ("tools", "tool-failure", "model-failure", "model-input", "follow-up")

    def boot(self):
        self.waiting, self.active = deque(), False

    def prompt(self, message):
        self.accept(message)
        if self.active:
            self.waiting.append(message)
        else:
            self.begin(message)

    def abort(self):
        """There is none."""

    def begin(self, message):
        self.active = True
        self.history.append(asked(message))
        self.spawn(self.run())

    async def run(self):
        reason = "completed"
        try:
            while calls := await self.respond():
                await self.process_tool_calls(calls)
        except ModelError:
            self.answer_open("the model failed")
            reason = "error"
        self.active = False
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def process_tool_calls(self, calls):
        futures = [self.spawn(self.execute(call)) for call in calls]
        observations = {}
        try:
            for call, future in zip(calls, futures, strict=True):
                observations[call.call_id] = await future, False
        except ToolError as error:
            for future in futures:
                future.cancel()
            observations = {call.call_id: (f"the step failed: {error}", True) for call in calls}
        for name, (output, failed) in observations.items():
            self.answer(name, output, failed=failed)
