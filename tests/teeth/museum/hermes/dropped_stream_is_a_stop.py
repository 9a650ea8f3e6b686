"""Hermes: the connection drops in the middle of a sentence, which counts as the answer.

Chunks are collected until there are no more. If the last of them has no finish reason, and some text has come, the
reason is taken to be ``stop``: half a sentence is shown as the model's whole answer.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """``collect`` reads a response and says why it is over."""

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
        self.spawn(self.converse(self.signal))

    async def converse(self, signal):
        try:
            reason, calls = await self.collect(signal)
            while reason == "tool_calls":
                for call in calls:
                    await self.use(call, signal)
                reason, calls = await self.collect(signal)
        except Aborted:
            self.finish("interrupted")
        except ModelError:
            self.finish("error")
        else:
            self.finish("completed")

    async def collect(self, signal):
        before = len(self.history)
        try:
            calls = await self.respond(signal)
        except ModelError:
            said = self.history[before:]
            if not said or any(entry.call_id for entry in said):
                raise
            return "stop", []
        return ("tool_calls" if calls else "stop"), calls

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    def finish(self, reason):
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())
