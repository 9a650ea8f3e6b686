"""opencode's processor: the provider fails, and the stream is asked for again, silently and without end.

Each attempt that fails for a transient reason is repeated at once. Nothing is printed, no attempt is counted: an
endpoint that is down looks like an endless hang.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError

RETRIES = 2


class Runtime(Coroutines, retries=RETRIES):
    """It declares two retries."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.begin(message)
        else:
            self.waiting.append(message)

    def begin(self, message):
        self.signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.process(self.signal))

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    async def process(self, signal):
        reason = "completed"
        try:
            while calls := await self.attempt(signal):
                for call in calls:
                    await self.run_one(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def attempt(self, signal):
        attempts = 0
        while True:
            self.answer_open("the response was cut")
            try:
                return await self.respond(signal)
            except ModelError as error:
                attempts += 1
                if error.failure != "retryable":
                    raise

    async def run_one(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
