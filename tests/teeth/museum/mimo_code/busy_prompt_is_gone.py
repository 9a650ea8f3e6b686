"""MiMo Code over ACP: a second prompt while a tool runs is neither served nor refused.

The server's route first checks whether the session is busy, and answers 409. The client's side of the protocol does not
surface that answer: the prompt is silently lost. The runner behind the route could have queued it.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """A client, a route, and a runner that serves one prompt after the other."""

    can = (*PLAIN, "follow-up", "together")

    def boot(self):
        self.waiting, self.signal = deque(), None

    def prompt(self, message):
        """The client: it reads only prompts that were served."""
        self.route(message)

    def route(self, message):
        if self.signal is not None:
            return 409
        self.ensure_running(message)
        return 204

    def ensure_running(self, message):
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
        self.spawn(self.run(self.signal))

    async def run(self, signal):
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
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
