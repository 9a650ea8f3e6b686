"""Codex: input that was queued at an interrupt comes back, glued to the next input.

An interrupt puts input that is queued while a turn runs back into the composer. The user then sends the composer's
whole text: two intents, sent at two times, are one message of the next turn.
"""

from msgspec.structs import replace

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Runtime(Coroutines, queueAfterInterrupted="drop", queueAfterError="promote"):
    """Submissions are operations, handled one by one; a turn is a task."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.queued, self.composer = [], []
        self.turn = None

    def prompt(self, message):
        self.accept(message)
        self.submit("user-input", message)

    def abort(self):
        self.submit("interrupt")

    def submit(self, operation, message=None):
        match operation:
            case "interrupt" if self.turn is not None:
                self.turn.abort()
            case "user-input" if self.turn is not None:
                self.queued.append(message)
            case "user-input":
                self.start_turn(self.composed(message))

    def composed(self, message):
        """The composer's text, as one message."""
        parts, self.composer = [*self.composer, message], []
        entry = asked(message)
        return replace(entry, text="\n".join(one.text for one in parts), ids=tuple(one.id for one in parts))

    def start_turn(self, entry):
        self.turn = Signal()
        self.history.append(entry)
        self.spawn(self.run_turn(self.turn))

    async def run_turn(self, signal):
        try:
            while calls := await self.respond(signal):
                for call in calls:
                    await self.handle(call, signal)
        except Aborted:
            self.turn_aborted()
        except ModelError:
            self.turn_over("error")
        else:
            self.turn_over("completed")

    async def handle(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)

    def turn_aborted(self):
        self.answer_open("aborted")
        self.turn = None
        self.stop("interrupted")
        self.composer += self.queued
        self.queued.clear()

    def turn_over(self, reason):
        self.answer_open(reason)
        self.turn = None
        self.stop(reason)
        if self.queued:
            self.start_turn(asked(self.queued.pop(0)))
