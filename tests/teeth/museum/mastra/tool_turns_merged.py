"""Mastra: two turns that only call tools become one message, as if the tools had run side by side.

Parts are merged into messages by the message's id. A turn without text opens no message: its calls are put into the
last assistant message.
"""

from collections import deque

from turncheck.model.core.stimuli import Text, ToolCall

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """``merged`` is the id of the assistant message that parts are put into."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.merged = None

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
        self.merged = None
        self.history.append(asked(message))
        self.spawn(self.run(self.signal))

    async def run(self, signal):
        reason = "completed"
        try:
            while calls := await self.step(signal):
                for call in calls:
                    await self.use(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def step(self, signal):
        response, calls = self.stream(signal=signal), []
        async for item in response:
            self.say(item, self.message_of(item, response.id))
            calls += [item] if isinstance(item, ToolCall) else []
        return calls

    def message_of(self, item, name):
        """Return the message that a part belongs to."""
        if self.merged is None or isinstance(item, Text):
            self.merged = name
        return self.merged

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
