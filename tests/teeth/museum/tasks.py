"""Coroutines on the plumbing, without an event loop: ready tasks run until none is ready, which is quiet.

A task whose exception nobody awaits is silent, like a promise.
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from .plumbing import Host


class Rejected(Exception):  # noqa: N818 - what rejects a promise
    """The errors that a run can end with."""


class Aborted(Rejected):
    """The user aborted."""


class ModelError(Rejected):
    """The model failed: ``failure`` is retryable, fatal or stream."""

    def __init__(self, failure):
        super().__init__(f"the model failed: {failure}")
        self.failure = failure


class ToolError(Rejected):
    """The tool failed."""


class Signal:
    """An abort signal: set once, and never reset."""

    def __init__(self):
        self.aborted, self.listeners = False, []

    def abort(self):
        """Set it, and call the listeners."""
        if not self.aborted:
            self.aborted = True
            for listener in self.listeners:
                listener()

    def on_abort(self, listener):
        """Call *listener* when it is set, at once if it is set already."""
        if self.aborted:
            listener()
        self.listeners.append(listener)

    def check(self):
        """Raise Aborted if it is set."""
        if self.aborted:
            raise Aborted


class Future:
    """A value that will be there later, or an error."""

    def __init__(self, ready):
        self.ready, self.waiters = ready, []
        self.done, self.value, self.error = False, None, None

    def settle(self, value=None, error=None):
        """Set the value or the error; only the first call counts."""
        if not self.done:
            self.done, self.value, self.error = True, value, error
            self.ready.extend(self.waiters)

    def __await__(self):
        while not self.done:
            yield self
        if self.error is not None:
            raise self.error
        return self.value


class Task(Future):
    """A coroutine that runs by itself."""

    def __init__(self, ready, coroutine):
        super().__init__(ready)
        self.coroutine, self.thrown = coroutine, None
        ready.append(self.go_on)

    def cancel(self):
        """Raise Aborted at the place where it waits."""
        self.thrown = Aborted()
        self.ready.append(self.go_on)

    def go_on(self):
        if self.done:
            return
        thrown, self.thrown = self.thrown, None
        try:
            awaited = self.coroutine.send(None) if thrown is None else self.coroutine.throw(thrown)
        except StopIteration as end:
            self.settle(end.value)
        except Rejected as error:
            self.settle(error=error)
        else:
            awaited.waiters.append(self.go_on)


class Stream:
    """The items of a response, as they come; raises ModelError, or Aborted. ``id`` names the request."""

    def __init__(self, host, shown, signal):
        self.host, self.items, self.over, self.error = host, deque(), False, None
        self.arrived = Future(host.ready)
        self.id = host.ask(self.hear, shown)
        if signal is not None:
            signal.on_abort(self.abort)

    def hear(self, what, value):
        if what == "item":
            self.items.append(value)
        else:
            self.over, self.error = True, ModelError(value) if what == "fail" else None
        arrived, self.arrived = self.arrived, Future(self.host.ready)
        arrived.settle()

    def abort(self):
        if not self.over:
            self.host.close_request(self.id)
            self.over, self.error = True, Aborted()
            self.arrived.settle()

    def __aiter__(self):
        return self

    async def __anext__(self):
        while not self.items and not self.over:
            try:
                await self.arrived
            except Aborted:
                self.host.close_request(self.id)
                raise
        if self.items:
            return self.items.popleft()
        if self.error is not None:
            raise self.error
        raise StopAsyncIteration


class Decisions:
    """What is decided about *calls*, as it comes, each with its call; raises Aborted. Without calls nobody is asked."""

    def __init__(self, host, calls, signal):
        self.host, self.left, self.came, self.aborted = host, len(calls), deque(), False
        self.arrived = Future(host.ready)
        if calls:
            host.ask_about(calls, self.hear)
            signal.on_abort(self.abort)

    def hear(self, call, decision):
        self.left -= 1
        self.came.append((call, decision))
        self.wake()

    def close(self):
        """Wait for no further decision."""
        self.host.withdraw()
        self.left = 0
        self.wake()

    def abort(self):
        self.aborted = True
        self.close()

    def wake(self):
        arrived, self.arrived = self.arrived, Future(self.host.ready)
        arrived.settle()

    def __aiter__(self):
        return self

    async def __anext__(self):
        while self.left and not self.came and not self.aborted:
            await self.arrived
        if self.aborted:
            raise Aborted
        if self.came:
            return self.came.popleft()
        raise StopAsyncIteration


class Coroutines(Host):
    """A runtime whose run is a coroutine."""

    def spawn(self, coroutine):
        """Run *coroutine* by itself."""
        return Task(self.ready, coroutine)

    async def gather(self, tasks):
        """Return the results of *tasks*, in their order; raises the first error at once."""
        over = Future(self.ready)

        async def watch(task):
            try:
                await task
            except Rejected as error:
                over.settle(error=error)
            if all(one.done for one in tasks):
                over.settle()

        for task in tasks:
            self.spawn(watch(task))
        await over
        return [task.value for task in tasks]

    def stream(self, shown=None, signal=None):
        """Ask the model, and read its items."""
        return Stream(self, shown, signal)

    def decisions(self, calls, signal):
        """Ask about *calls*, and read what is decided."""
        return Decisions(self, calls, signal)

    async def respond(self, signal=None, shown=None):
        """Ask the model; log and keep each item as it comes. Return the calls of the response."""
        response, calls = self.stream(shown, signal), []
        async for item in response:
            self.say(item, response.id)
            if isinstance(item, ToolCall):
                calls.append(item)
        return calls

    async def sleep(self, seconds, signal):
        """Wait until so much time is over. Raises Aborted."""
        future = Future(self.ready)
        timer = self.after(seconds, future.settle)
        signal.on_abort(lambda: future.settle(error=Aborted()))
        try:
            await future
        finally:
            self.drop_timer(timer)

    async def execute(self, call, signal=None, arguments=None):
        """Return the tool's output. Raises ToolError or Aborted."""
        future = Future(self.ready)

        def hear(what, value):
            future.settle(value, ToolError(value) if what == "fail" else None)

        name = self.run_tool(call, hear, arguments)
        if signal is not None:
            signal.on_abort(lambda: future.settle(error=Aborted()))
        try:
            return await future
        except Aborted:
            self.cancel_tool(name)
            raise
