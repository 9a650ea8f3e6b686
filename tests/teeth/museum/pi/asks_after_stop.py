"""pi's agent loop: one Stop, and two things are cancelled.

The signal is set while a tool runs. The tool's result says so, and the loop goes on: it reads the steers, asks the
model with the aborted signal, and that request is aborted too. It uses up a steer that waited.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """Steers come before the next request, follow-ups are runs of their own."""

    can = (*PLAIN, "steer", "follow-up")

    def boot(self):
        self.steering, self.following = deque(), deque()
        self.signal = None

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.begin(message)
        else:
            (self.steering if message.delivery == "steer" else self.following).append(message)

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    def begin(self, message):
        self.signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.run(self.signal))

    async def run(self, signal):
        reason = "completed"
        try:
            await self.loop(signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open("the run ended")
        self.take_steers()
        self.signal = None
        self.stop(reason)
        if self.following:
            self.begin(self.following.popleft())

    async def loop(self, signal):
        more = True
        while more or self.steering:
            self.take_steers()
            calls = await self.respond(signal)
            await self.execute_all(calls, signal)
            more = bool(calls)

    def take_steers(self):
        while self.steering:
            self.history.append(asked(self.steering.popleft()))

    async def execute_all(self, calls, signal):
        for call in calls:
            if signal.aborted:
                break
            try:
                output = await self.execute(call, signal)
            except ToolError as error:
                self.answer(call.call_id, str(error), failed=True)
            except Aborted:
                self.answer(call.call_id, "aborted", synthetic=True)
            else:
                self.answer(call.call_id, output)
