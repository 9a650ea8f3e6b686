"""OpenClaw: of two messages sent amid a turn, the later is delivered first.

The first is registered as a queued steer, and waits for a control point. While it is registered, the next message takes
another way: it is put into the pending input, which is read before the steers.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, busy="steer"):
    """Queue mode ``steer``: messages sent amid a turn are shown in it."""

    can = (*PLAIN, "steer")

    def boot(self):
        self.steers, self.pending = deque(), deque()
        self.signal = None

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.signal = Signal()
            self.history.append(asked(message))
            self.spawn(self.turn(self.signal))
        elif self.steers:
            self.pending.append(message)
        else:
            self.steers.append(message)

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    async def turn(self, signal):
        reason = "completed"
        try:
            while True:
                calls = await self.respond(signal)
                for call in calls:
                    await self.use(call, signal)
                if not self.control_point() and not calls:
                    break
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.control_point()
        self.signal = None
        self.stop(reason)

    def control_point(self):
        """Show the model the messages sent meanwhile; return whether there were any."""
        sent = [*self.pending, *self.steers]
        self.history += map(asked, sent)
        self.pending.clear()
        self.steers.clear()
        return bool(sent)

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
