"""AgentScope for Java: an interruption leaves the session as it was before the call.

The state is loaded when a call begins, and saved by the last operator of its chain. An interruption is an exception: it
bypasses that operator, and reaches a handler that saves nothing.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """``saved`` is the session's state; the history is loaded from it for each call."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.saved = ()

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.call(message)
        else:
            self.waiting.append(message)

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    def call(self, message):
        self.signal = Signal()
        self.history = [*self.saved, asked(message)]
        self.spawn(self.do_call(self.signal))

    async def do_call(self, signal):
        reason = "completed"
        try:
            await self.inner(signal)
        except Aborted:
            reason = "interrupted"
            self.handle_interrupt()
        except ModelError:
            reason = "error"
            self.answer_open("the model failed")
            self.save_state()
        else:
            self.save_state()
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.call(self.waiting.popleft())

    async def inner(self, signal):
        while calls := await self.respond(signal):
            for call in calls:
                try:
                    output = await self.execute(call, signal)
                except ToolError as error:
                    self.answer(call.call_id, str(error), failed=True)
                else:
                    self.answer(call.call_id, output)

    def handle_interrupt(self):
        self.answer_open("interrupted")

    def save_state(self):
        self.saved = tuple(self.history)
