"""Bases of runtimes that ask about calls, or outlive a kill; an exhibit overrides what its report names."""

from collections import deque

from turncheck.model.core.stimuli import Approve, ClientResult, Deny

from .plumbing import PLAIN, asked
from .store import WriteError
from .tasks import Aborted, Coroutines, ModelError, Signal, ToolError


class Turns(Coroutines):
    """One run at a time; messages that come meanwhile wait. Calls that need a decision come after the others."""

    can: tuple[str, ...] = (*PLAIN, "follow-up", "approval", "client-tools")

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
            await self.turn(signal)
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        self.end(reason)

    def end(self, reason):
        """End the run, its calls answered, and begin the next one."""
        self.answer_open(reason)
        self.signal = None
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())

    async def turn(self, signal):
        """Ask the model, and execute its calls, until it has none."""
        while calls := await self.respond(signal):
            await self.act(calls, signal)

    async def act(self, calls, signal):
        """Execute the calls of a response."""
        for call in calls:
            if not self.gated(call):
                await self.use(call, signal)
        async for call, decision in self.decisions([call for call in calls if self.gated(call)], signal):
            await self.decided(call, decision, signal)

    def gated(self, call):
        """Return whether a person or the client decides about the call."""
        return self.options.decider(call.tool) is not None

    async def decided(self, call, decision, signal):
        """Do what was decided about the call."""
        match decision:
            case Approve():
                await self.use(call, signal)
            case Deny():
                self.deny(call, decision)
            case ClientResult():
                self.answer(call.call_id, decision.output)

    def deny(self, call, decision):
        """Answer a call that was denied."""
        self.answer(call.call_id, decision.message or "denied", failed=True)

    async def use(self, call, signal):
        """Execute the call, and answer it."""
        try:
            output = await self.execute(call, signal)
        except ToolError as error:
            self.answer(call.call_id, str(error), failed=True)
        else:
            self.answer(call.call_id, output)


class Kept(Turns):
    """The session is written before a step is told, again where that fails. A run that a kill cut is interrupted."""

    can: tuple[str, ...] = (*PLAIN, "follow-up", "persistence", "store-faults")

    def boot(self):
        super().boot()
        self.load()

    def load(self):
        """Take up what was kept."""
        self.history = self.store.read("history", [])
        self.waiting = deque(self.store.read("waiting", ()))
        if self.store.read("active"):
            self.end("interrupted")

    def quiet(self):
        self.save()

    def save(self):
        """Keep what is new."""
        for name, value in self.record().items():
            if self.store.read(name) != value:
                self.keep(name, value)

    def record(self):
        """Return what is kept, by name."""
        return {"history": self.history, "waiting": self.waiting, "active": self.signal is not None}

    def keep(self, name, value):
        """Write until it works."""
        try:
            self.store.write(name, value)
        except WriteError:
            self.keep(name, value)
