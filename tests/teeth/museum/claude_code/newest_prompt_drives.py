"""Claude Code's prompt queue: the prompt typed first is not answered first.

Prompts that are sent while the agent works are queued. When the turn ends the newest of them drives the next turn. (In
the report the older ones are folded into that turn as reminders; here they wait on.)
"""

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines):
    """One turn at a time, out of a queue of prompts."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.queued, self.turn = [], None

    def prompt(self, message):
        self.accept(message)
        self.queued.append(message)
        if self.turn is None:
            self.next_turn()

    def abort(self):
        if self.turn is not None:
            self.turn.abort()

    def next_turn(self):
        if self.queued:
            active = self.queued.pop()
            self.turn = Signal()
            self.history.append(asked(active))
            self.spawn(self.take_turn(self.turn))

    async def take_turn(self, signal):
        reason = "completed"
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.use(call, signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open("interrupted by the user")
        self.turn = None
        self.stop(reason)
        self.next_turn()

    async def use(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
