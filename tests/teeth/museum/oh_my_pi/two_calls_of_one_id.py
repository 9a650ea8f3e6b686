"""oh-my-pi: "tool call result does not follow tool call", after a model that gives two calls one id.

Some models give two calls of a response the same id. Both are executed; the code that pairs calls with results keeps
them in a map by id, which loses one of the two.
"""

from collections import deque

from msgspec.structs import replace

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """A session; the messages are transformed for the provider before each request."""

    can = (*PLAIN, "follow-up", "call-ids")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.seen = []

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
            while calls := await self.turn(signal):
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

    async def turn(self, signal):
        response, calls = self.stream(self.transformed(), signal), []
        async for raw in response:
            item = self.received(raw)
            self.say(item, response.id)
            calls += [item] if isinstance(item, ToolCall) else []
        return calls

    def received(self, item):
        if isinstance(item, ToolCall):
            name = item.call_id
            self.seen.append(name)
            return replace(item, call_id=name)
        return item

    def transformed(self):
        """Each call once, with its result."""
        calls = {entry.call_id: entry for entry in self.history if entry.role == "assistant" and entry.call_id}
        kept = set(map(id, calls.values()))
        return [entry for entry in self.history if entry.role != "assistant" or not entry.call_id or id(entry) in kept]

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
