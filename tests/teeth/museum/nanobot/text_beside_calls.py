"""nanobot: the model does not see its own text before a tool call again.

Messages are sanitized for the provider. An assistant's message with calls is taken to have no content, as some
providers once required; its text is left out of every later request.
"""

from collections import deque
from itertools import groupby

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """The history is kept whole, and sanitized when it is sent."""

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
        self.history.append(asked(message))
        self.spawn(self.run(self.signal))

    async def run(self, signal):
        reason = "completed"
        try:
            while calls := await self.respond(signal, self.sanitized()):
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

    def sanitized(self):
        """The messages: entries of one role in a row are one."""
        return [
            part for role, parts in groupby(self.history, lambda one: one.role) for part in self.content(role, [*parts])
        ]

    def content(self, role, parts):
        if role == "assistant" and any(part.call_id for part in parts):
            return [part for part in parts if part.call_id]
        return parts

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
