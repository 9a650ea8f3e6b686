"""AG-UI's middleware for LangGraph: after a turn with a tool, the result stands behind the answer.

A result is streamed under a made-up id. At the run's end a snapshot of the messages is merged by id: the streamed
result is in no snapshot and is dropped, and the snapshot's result, which the client has not seen, is appended at the
tail. The next run sends that history, and the provider refuses it.
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, asked, result, said, unanswered
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """``thread`` is the server's; ``messages`` is the client's. Both are lists of (id, message)."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.signal = deque(), None
        self.messages, self.thread = [], []
        self.made = 0

    def prompt(self, message):
        self.accept(message)
        if self.signal is None:
            self.run_agent(message)
        else:
            self.waiting.append(message)

    def abort(self):
        if self.signal is not None:
            self.signal.abort()

    def run_agent(self, message):
        """The client sends all its messages along: they are the thread."""
        self.messages.append((self.fresh(), asked(message)))
        self.thread = list(self.messages)
        self.signal = Signal()
        self.spawn(self.run(self.signal))

    def fresh(self):
        self.made += 1
        return f"m{self.made}"

    def emit(self, name, message, streamed=None):
        """Keep a message in the thread, and stream it to the client."""
        self.thread.append((name, message))
        self.messages.append((streamed or name, message))

    async def run(self, signal):
        reason = "completed"
        try:
            while calls := await self.model_node(signal):
                for call in calls:
                    await self.tool_node(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        for name in unanswered([message for _, message in self.thread]):
            self.log("tool-result", callId=name, output="not executed", isError=True, synthetic=True)
            self.emit(self.fresh(), result(name, "not executed", failed=True))
        self.merge(self.thread)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.run_agent(self.waiting.popleft())

    async def model_node(self, signal):
        response, calls = self.stream([message for _, message in self.thread], signal), []
        async for item in response:
            self.say(item, response.id)
            self.emit(self.fresh(), said(item))
            calls += [item] if isinstance(item, ToolCall) else []
        return calls

    async def tool_node(self, call, signal):
        failed = False
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            output, failed = str(error), True
        self.log("tool-result", callId=call.call_id, output=output, isError=failed or None)
        message = result(call.call_id, output, failed=failed)
        name = self.fresh()
        self.emit(name, message, streamed=f"uuid-{name}")

    def merge(self, snapshot):
        """MESSAGES_SNAPSHOT: keep what both know, in the client's order; append what is new."""
        known = {name for name, _ in snapshot}
        kept = [(name, message) for name, message in self.messages if name in known]
        seen = {name for name, _ in kept}
        self.messages = kept + [(name, message) for name, message in snapshot if name not in seen]
