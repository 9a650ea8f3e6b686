"""opencode's prompt loop: a cancel deletes the session's state, and prompts that wait in it wait for ever.

A prompt that comes while the loop runs leaves a callback in the session's state, for its turn. ``cancel`` aborts the
loop and deletes the state; the callbacks in it are neither called nor rejected.
"""

from dataclasses import dataclass, field

from ..plumbing import PLAIN, asked
from ..tasks import Aborted, Coroutines, ModelError, Signal, ToolError


@dataclass
class State:
    """The state of a session whose loop runs."""

    signal: Signal = field(default_factory=Signal)
    callbacks: list[object] = field(default_factory=list)


class Runtime(Coroutines):
    """Prompts of a busy session wait in its state."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.state = None

    def prompt(self, message):
        self.accept(message)
        if self.state is None:
            self.start(message, [])
        else:
            self.state.callbacks.append(lambda rest: self.start(message, rest))

    def start(self, message, waiting):
        self.state = State(callbacks=waiting)
        self.history.append(asked(message))
        self.spawn(self.loop(self.state))

    def abort(self):
        if self.state is not None:
            self.cancel()

    def cancel(self):
        state, self.state = self.state, None
        state.signal.abort()
        state.callbacks.clear()

    async def loop(self, state):
        reason = "completed"
        try:
            while calls := await self.respond(state.signal):
                for call in calls:
                    await self.run_one(call, state.signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.answer_open(reason)
        self.state = None
        self.stop(reason)
        if state.callbacks:
            first, *rest = state.callbacks
            first(rest)

    async def run_one(self, call, signal):
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)
