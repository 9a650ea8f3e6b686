"""AG-UI's middleware for ADK: RUN_ERROR, and then RUN_FINISHED.

The agent runs in the background and puts its events on a queue; a failure is one of them. The queue's reader sees it
run dry, as after any run, and falls through to the event that reports the run as finished.
"""

from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """A producer, a queue of events, and a consumer that writes them to the wire."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.events_queue = deque()

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.start_execution(message)
        else:
            self.waiting.append(message)

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    def start_execution(self, message):
        self.signal = Signal()
        self.history.append(asked(message))
        self.spawn(self.in_background(self.signal))

    async def in_background(self, signal):
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.use(call, signal)
        except ModelError:
            self.events_queue.append("RUN_ERROR")
        except Aborted:
            self.events_queue.append("RUN_CANCELLED")
        self.answer_open("the run is over")
        self.signal = None
        self.consume()
        if self.waiting:
            self.start_execution(self.waiting.popleft())

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    def consume(self):
        ended = False
        while self.events_queue:
            event = self.events_queue.popleft()
            if event == "RUN_ERROR":
                self.stop("error")
            if event == "RUN_CANCELLED":
                self.stop("interrupted")
                ended = True
        if not ended:
            self.stop("completed")
