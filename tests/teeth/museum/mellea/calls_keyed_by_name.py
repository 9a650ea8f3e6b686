"""Mellea: the same tool twice in one response, and it runs once.

The calls of a response are kept in a dict from the tool's name to its call. The second call of a tool overwrites the
first before anything is executed; the first is silently dropped.
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """A response is a thunk with its text and its calls."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None

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
        self.spawn(self.react(self.signal))

    async def react(self, signal):
        reason = "completed"
        try:
            while calls := await self.thunk(signal):
                for call in calls.values():
                    await self.call_tool(call, signal)
        except Aborted:
            reason = "interrupted"
            self.answer_open(reason)
        except ModelError:
            reason = "error"
            self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def thunk(self, signal):
        response, calls = self.stream(signal=signal), {}
        async for item in response:
            self.say(item, response.id)
            if isinstance(item, ToolCall):
                calls[item.tool] = item
        return calls

    async def call_tool(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
