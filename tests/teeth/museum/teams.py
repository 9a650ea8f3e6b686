"""The base of runtimes with sub-agents: each member has a history and a signal of its own; an exhibit overrides one."""

from contextlib import contextmanager

from msgspec.structs import replace

from turncheck.model.core.stimuli import Abort, ToolCall, User

from .plumbing import PLAIN, asked
from .tasks import Aborted, Coroutines, Future, ModelError, Signal, ToolError


class Member:
    """The session's own agent, or a sub-agent with its name and the call that started it."""

    def __init__(self, name=None, call=None, history=None):
        self.name, self.call, self.history = name, call, [] if history is None else history
        self.signal, self.unread = Signal(), False


class Team(Coroutines, busy="reject", subAgents="awaited", subAgentDepth=1, subAgentMessages="taken"):
    """One run of each member at a time; what a sub-agent is told while it works its next request shows."""

    can: tuple[str, ...] = (*PLAIN, "sub-agents")

    def boot(self):
        self.open, self.owners, self.begun, self.speaker = {}, {}, 0, None

    @contextmanager
    def acting(self, member):
        """What is logged and kept meanwhile is the member's."""
        before = self.speaker, self.history
        self.speaker, self.history = member, member.history
        yield
        self.speaker, self.history = before

    def log(self, kind, /, **fields):
        name, call = (None, None) if self.speaker is None else (self.speaker.name, self.speaker.call)
        super().log(kind, **fields, agentId=name, parentCallId=call)

    def awaiting(self):
        for one in super().awaiting():
            key = getattr(one, "request_id", None) or one.call_id
            yield replace(one, agent_id=self.owners.get(key))

    def deliver(self, stimulus):
        name = getattr(stimulus, "agent_id", None)
        if name is None or not isinstance(stimulus, User | Abort):
            super().deliver(stimulus)
        elif name not in self.open:
            self.refuse("not-awaited", "no such sub-agent works")
        elif isinstance(stimulus, Abort):
            self.open[name].signal.abort()
        else:
            self.tell(self.open[name], stimulus)

    def tell(self, member, message):
        """Take a message for a sub-agent that works."""
        member.unread = True
        with self.acting(member):
            self.accept(message)
            self.history.append(asked(message))

    def prompt(self, message):
        if None in self.open:
            self.refuse("rejected", "the agent works")
        else:
            self.begin(Member(history=self.history), message)

    def abort(self):
        if None in self.open:
            self.open[None].signal.abort()

    def begin(self, member, message):
        self.open[member.name] = member
        with self.acting(member):
            self.accept(message)
            self.history.append(asked(message))
        return self.spawn(self.run(member))

    async def run(self, member):
        reason = "completed"
        try:
            while await self.round(member) or member.unread:
                pass
        except Aborted:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        del self.open[member.name]
        with self.acting(member):
            self.answer_open(reason)
            self.stop(reason)
        return reason

    async def round(self, member):
        """Ask the member's model, and execute its calls; return them."""
        member.unread = False
        with self.acting(member):
            response = self.stream(signal=member.signal)
        self.owners[response.id] = member.name
        calls = []
        async for item in response:
            with self.acting(member):
                self.say(item, response.id)
            calls += [item] if isinstance(item, ToolCall) else []
        for call in calls:
            await self.use(member, call)
        return calls

    async def use(self, member, call):
        self.owners[call.call_id] = member.name
        failed = False
        try:
            if not self.options.spawns(call.tool):
                output = await self.execute(call, member.signal)
            elif member.name is None:
                output, failed = await self.delegate(member, call)
            else:
                output, failed = "there is no such tool here", True
        except ToolError as error:
            output, failed = str(error), True
        with self.acting(member):
            self.answer(call.call_id, output, failed=failed)

    async def delegate(self, member, call):
        """Run a sub-agent to its end, or until the run is stopped; return its answer, and whether it failed."""
        self.begun += 1
        child = Member(f"agent{self.begun}", call.call_id)
        self.link(member, child)
        over = Future(self.ready)
        task = self.begin(child, User(id=f"task{self.begun}", text=str(call.arguments["task"])))

        async def watch():
            over.settle(await task)

        self.spawn(watch())
        member.signal.on_abort(lambda: over.settle(error=Aborted()))
        reason = await over
        said = [entry.text for entry in child.history if entry.role == "assistant" and entry.text]
        return (said or [""])[-1] if reason == "completed" else f"it ended: {reason}", reason != "completed"

    def link(self, member, child):
        """Stop the sub-agent with the one that called it."""
        member.signal.on_abort(child.signal.abort)
