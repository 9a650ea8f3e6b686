"""opencode's session lock: the chat is not working, and a prompt is told that the session is busy.

A prompt takes the session's lock, and a second one is refused meanwhile. The lock is released if the loop ends by
itself; after an abort the session is idle and locked. (The report does not say on which path the lock stays.)
"""

from ..plumbing import asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, busy="reject"):
    """One prompt at a time: no queue."""

    def boot(self):
        self.locks = {}

    def prompt(self, message):
        if "session" in self.locks:
            self.refuse("rejected", "session is busy")
            return
        self.accept(message)
        self.locks["session"] = signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.chat(signal))

    def abort(self):
        signal = self.locks.get("session")
        if signal is not None:
            signal.abort()

    def unlock(self):
        self.locks.pop("session")

    async def chat(self, signal):
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.run_one(call, signal)
        except Aborted:
            self.answer_open("aborted")
            self.stop("interrupted")
        except ModelError:
            self.answer_open("the model failed")
            self.unlock()
            self.stop("error")
        else:
            self.unlock()
            self.stop("completed")

    async def run_one(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
