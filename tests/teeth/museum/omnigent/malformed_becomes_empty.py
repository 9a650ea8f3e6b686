"""Omnigent's runner: a call's arguments are not JSON, and the tool runs without any.

``execute_tool`` parses the arguments, and if that fails goes on with none: a call that was cut off in the stream runs
with its tool's defaults.
"""

import json
from collections import deque

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """A loop, and one place where tools are dispatched."""

    can = (*PLAIN, "follow-up", "raw-arguments")

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
                    await self.dispatch(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def dispatch(self, call, signal):
        try:
            output = await self.execute_tool(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    async def execute_tool(self, call, signal):
        arguments = call.arguments
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                arguments = {}
        return await self.execute(call, signal, arguments)
