"""pi's agent: one listener that throws, and the run has no end.

``subscribe`` takes listeners, and each event of the run is handed to them in turn. An exception of one reaches the
loop, counts as a failure of the run, and reporting that failure to the listeners raises again: ``agent_end`` is never
emitted, though the model answered.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Rejected, Signal, ToolError


class ListenerError(Rejected):
    """A listener's exception."""


class Runtime(Coroutines):
    """The log is the first listener; the environment's is the second."""

    can = (*PLAIN, "follow-up", "observer")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.listeners = [self.subscriber]

    def subscriber(self, kind):
        if self.options.observer == "throws":
            raise ListenerError(kind)

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind != "user-message":  # the session logs these itself, before the run
            self.emit(kind)

    def emit(self, kind):
        for listener in self.listeners:
            listener(kind)

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.begin(message)
        else:
            self.waiting.append(message)

    def begin(self, message):
        self.signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.run(self.signal))

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    async def run(self, signal):
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.run_one(call, signal)
        except Aborted:
            self.finish("interrupted")
        except (ModelError, ListenerError):
            self.finish("error")
        else:
            self.finish("completed")

    async def run_one(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    def finish(self, reason):
        self.answer_open("the run ended")
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())
