"""Codegraff over ACP: Stop waits until the turn is over by itself.

Messages of the client are read from one inbox, in order, and each is dispatched before the next is read. A prompt is
dispatched when its turn has ended; the cancellation lies in the inbox behind it.
"""

from collections import deque
from functools import partial

from ..plumbing import asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, busy="reject"):
    """A server with an inbox; ``serving`` is the message being dispatched."""

    def boot(self):
        self.inbox, self.serving = deque(), False
        self.signal = None

    def prompt(self, message):
        if self.signal is not None:
            self.refuse("rejected", "a turn is active")
            return
        self.accept(message)
        self.signal = Signal()
        self.post(partial(self.session_prompt, message, self.signal))

    def abort(self):
        if self.signal is not None:
            self.post(partial(self.session_cancel, self.signal))

    def post(self, job):
        self.inbox.append(job)
        if not self.serving:
            self.serving = True
            self.spawn(self.serve())

    async def serve(self):
        while self.inbox:
            dispatch = self.inbox.popleft()
            await dispatch()
        self.serving = False

    async def session_cancel(self, signal):
        signal.abort()

    async def session_prompt(self, message, signal):
        self.history.append(asked(message))
        reason = "completed"
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.use(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
