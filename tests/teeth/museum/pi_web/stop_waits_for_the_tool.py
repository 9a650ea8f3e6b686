"""pi-web: the Stop button is dead while a tool that ignores the signal runs.

The tool gets the signal, and its promise is awaited nevertheless. A tool that ignores the signal holds the run until it
ends by itself; the session still runs, and the request to stop it stays open.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, Future, ModelError, Signal, ToolError


class Runtime(Coroutines, abortEnds="at-once"):
    """Stop is answered when the session is idle."""

    can = (*PLAIN, "follow-up", "deaf")

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
        self.spawn(self.run(self.signal))

    async def run(self, signal):
        reason = "completed"
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    signal.check()
                    await self.run_one(call, signal)
                signal.check()
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def run_one(self, call, signal):
        ended = Future(self.ready)
        name = self.run_tool(
            call, lambda what, value: ended.settle(value, ToolError(value) if what == "fail" else None)
        )
        signal.on_abort(lambda: self.tell(name, ended))
        try:
            output = await ended
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    def tell(self, name, ended):
        """Give the tool the signal, which ends a tool that listens at once."""
        if not self.options.deaf_tools:
            self.cancel_tool(name)
            ended.settle(error=Aborted())
