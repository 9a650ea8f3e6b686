"""opencode's server: the stream fails, and the interface goes on thinking.

A prompt sets the session busy and forks the work. If the work fails, the fork publishes the error, but not that the
session is idle: the spinner waits for an event that never comes.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """A prompt is forked; the status says whether one is under way."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.status, self.waiting = "idle", deque()
        self.controller = Signal()

    def prompt(self, message):
        self.accept(message)
        if self.status == "busy":
            self.waiting.append(message)
        else:
            self.fork(message)

    def fork(self, message):
        self.status, self.controller = "busy", Signal()
        self.spawn(self.work(message, self.controller))

    def abort(self):
        self.controller.abort()

    async def work(self, message, signal):
        self.history.append(asked(message))
        try:
            await self.loop(signal)
        except ModelError as error:
            self.publish_error(str(error))
        except Aborted:
            self.idle("interrupted")
        else:
            self.idle("completed")

    async def loop(self, signal):
        while calls := await self.respond(signal):
            for call in calls:
                try:
                    self.answer(call.call_id, await self.execute(call, signal))
                except ToolError as error:
                    self.answer(call.call_id, str(error), failed=True)

    def publish_error(self, message):
        self.log("fault", message=message)

    def idle(self, reason):
        self.answer_open(reason)
        self.status = "idle"
        self.stop(reason)
        if self.waiting:
            self.fork(self.waiting.popleft())
