"""Strands Agents: the model is asked again, and the user's message is in the history twice.

``invoke_model`` takes the input, appends it to the messages and asks the model. A retry calls it anew, with the same
input.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError

RETRIES = 2


class Runtime(Coroutines, retries=RETRIES):
    """A hook asks for the retry, after a transient failure."""

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
        self.spawn(self.event_loop([asked(message)], self.signal))

    async def event_loop(self, arguments, signal):
        reason = "completed"
        try:
            while calls := await self.invoke_model(arguments, signal, attempt=0):
                arguments = []
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

    async def invoke_model(self, arguments, signal, attempt):
        self.answer_open("the response was cut")
        self.history += arguments
        try:
            return await self.respond(signal)
        except ModelError as error:
            if error.failure != "retryable" or attempt == RETRIES:
                raise
        return await self.invoke_model(arguments, signal, attempt + 1)

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
