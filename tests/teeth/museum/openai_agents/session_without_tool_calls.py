"""OpenAI Agents SDK: the tool is called again in every turn, since the session does not know that it was.

A run reads the session, and at its end adds the new items: the input, and the messages of the output. The calls and
their outputs are items of another type, and are left out.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """``session`` is lasting; ``history`` is that of one run."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.session = []

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
        self.history = [*self.session, asked(message)]
        self.spawn(self.run(self.signal))

    async def run(self, signal):
        reason = "completed"
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.invoke(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.save()
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def invoke(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    def save(self):
        new = self.history[len(self.session) :]
        self.session += [item for item in new if item.call_id is None]
