"""Agent Framework for Go: the request is cancelled in the first of two tools, and the second is started.

Calls run one after the other. Each gets the context and may check it; the loop over the calls does not, and hands a
cancelled context to a tool that ignores it.
"""

from ..plumbing import asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, busy="reject", abortEnds=None):
    """Only the tool that runs when the context is cancelled notices."""

    def boot(self):
        self.context = None

    def prompt(self, message):
        if self.context is not None:
            self.refuse("rejected", "a run is active")
            return
        self.accept(message)
        self.context = Signal()
        self.history.append(asked(message))
        self.spawn(self.run(self.context))

    def abort(self):
        if self.context is not None:
            self.context.abort()

    async def run(self, context):
        reason = "completed"
        try:
            while calls := await self.respond(context):
                await self.invoke_functions(calls, context)
                context.check()
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.context = None
        self.stop(reason)

    async def invoke_functions(self, calls, context):
        for call in calls:
            cancellable = None if context.aborted else context
            try:
                output = await self.execute(call, cancellable)
            except ToolError as error:
                self.answer(call.call_id, str(error), failed=True)
            except Aborted:
                self.answer(call.call_id, "context canceled", synthetic=True)
            else:
                self.answer(call.call_id, output)
