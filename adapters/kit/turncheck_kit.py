"""Helper library for adapters of Python agent runtimes: protocol 1, role ``runtime`` (docs/protocol.md#runtimes).

One file, standard library only, Python 3.10 or later; an adapter imports it by path (``PYTHONPATH=adapters/kit``). It
carries the framing, the scripted model and tools, the exact quiet and the virtual clock. A whole adapter::

    import asyncio
    from turncheck_kit import Adapter, ModelFailure, serve

    class Mine(Adapter):
        implementation = {"name": "mine", "version": "1.0", "language": "python"}
        profile = {"roles": ["runtime"], "capabilities": ["model-input", "abort"], "policies": {"busy": "reject"}}

        async def reset(self, env):        # a new agent and new sessions, on a new event loop
            self.env, self.run = env, None

        async def user(self, stimulus):    # a task of its own: it may be the whole run, or start one
            if self.run:
                return self.env.refuse("rejected", "agent is busy")
            self.run = asyncio.current_task()
            self.env.log({"type": "user-message", "id": stimulus["id"], "text": stimulus["text"]})
            try:
                context = [{"role": "user", "text": stimulus["text"]}]
                async with self.env.model(context) as request:     # logs model-request
                    async for item in request:         # {"kind": "assistant", "text": ...}, a reasoning or a tool-call
                        self.env.log({"type": "agent-output", "responseId": request.id, **item})
                reason = "completed"       # request.reason: "end-turn", "tool-use" or "length"; request.usage
            except ModelFailure:           # its kind: "retryable", "fatal" or "stream"
                reason = "error"
            except asyncio.CancelledError:
                reason = "interrupted"
            self.run = None
            self.env.log({"type": "run-stop", "reason": reason}, source="adapter")   # inferred

        async def abort(self, stimulus):
            if self.run:
                self.run.cancel()

    if __name__ == "__main__":
        serve(Mine())

A tool is ``output = await env.tool(call_id, tool, arguments)``; it raises ToolFailure. What the kit does by itself:

- *Messages*: hello, reset, apply, run and stop are read strictly; a stimulus of a capability that the profile does not
  declare is refused as ``unsupported``, one that nobody waits for as ``not-awaited``. An exception that leaves a method
  of the adapter, or a task of ``env.start``, is answered as ``failed`` with its traceback, and the kit lives on.
  stdout belongs to the protocol: what anyone prints goes to stderr; stdin is empty.
- *Cancelling*: when a coroutine that awaits the model or a tool is cancelled, the awaited entry vanishes. Under
  ``deafModel`` and ``deafTools`` it swallows the cancellation and stays (``cancelled: true``) until it is answered.
- *Quiet*, exactly: an event loop asks its selector with a timeout other than zero only when nothing is ready. Then
  I/O that is ready goes on; an open job of a thread pool (also anyio's), a thread that is no daemon, or a living child
  process of asyncio means really waiting, ``patience`` seconds at most (``unsettled``); otherwise it is quiet. A thread
  that is blocked in the environment, or waits for a job's result, is not at work. Sockets and pipes are given two
  milliseconds. Daemon threads are unseen; a child that lives on and says nothing is unsettled.
- *The end of a step*: ``env.at_quiet`` is for what an adapter holds back because more may be said of it.
- *Clock*: ``loop.time()``, ``time.time()``, ``time.monotonic()`` and, in threads of a job, ``time.sleep()`` are
  virtual. Timers fire by themselves while no model and no tool is awaited and the clock is auto; otherwise
  ``advance`` fires them. A timer that repeats and never leads to an event is housekeeping: IDLE_FIRES a step, no more.
- *Synchronous runtimes*: derive from SyncAdapter; its methods are plain functions, each called in a thread of its own.
  There ``for item in request`` and ``env.tool(...).wait()`` block; ``env.interrupt(session)`` ends that (Interrupted).
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import math
import os
import selectors
import sys
import threading
import time
import traceback
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator

__all__ = [
    "Adapter",
    "Environment",
    "Interrupted",
    "ModelFailure",
    "ModelRequest",
    "SyncAdapter",
    "ToolExecution",
    "ToolFailure",
    "raw_arguments",
    "serve",
]

Json: TypeAlias = "dict[str, Any]"

PATIENCE: Final = 2.0
"""Real seconds to wait for threads and child processes: ten times the slowest start of a Python child (0.16 s)."""

IDLE_FIRES: Final = 1000
"""Timers that fire by themselves in one step without an event: 20 ms of work (measured), and ten minutes of a poll."""

SPIN_TURNS: Final = 10_000
"""Turns of a busy loop before its time is looked at: a step of pydantic-ai takes 7, and 30 at most (measured)."""

POOL: Final = 64
"""Threads of a loop's own pool: each may be blocked in a tool, and a job that finds no thread is never quiet."""

LOOPBACK_GRACE: Final = 0.002
"""Real seconds given to sockets and pipes before quiet: the kernel may hand loopback data to a thread of its own."""

SLICE: Final = 0.001
"""Real seconds between two looks at plain threads, whose end nothing announces."""

EPOCH: Final = 1_767_225_600.0
"""``time.time()`` when the virtual clock is at 0: the first second of 2026."""

_monotonic, _sleep = time.monotonic, time.sleep  # the real ones


class ModelFailure(Exception):  # noqa: N818 - the protocol's word
    """The scripted model fails. ``kind`` is ``retryable``, ``fatal`` (before or instead of a stream) or ``stream``."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"the model failed: {kind}")
        self.kind = kind


class ToolFailure(Exception):  # noqa: N818 - as above
    """A scripted tool fails; its text is the stimulus's message."""


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """``env.interrupt`` ended a blocking wait for the model or a tool."""


class _Closed(BaseException):
    """A reset ends what still waits in a thread; no handler of a runtime may take it for an error."""


class _BadMessageError(ValueError):
    """A message or stimulus is not as the protocol says."""


def raw_arguments(item: Json) -> str:
    """The arguments of a tool-call item as the text that a model sends: a string as it is, all else as JSON."""
    arguments = item.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)


# --- Threads --------------------------------------------------------------------------------------


class _Threads:
    """Which threads are at work: jobs of pools and of the kit, counted, and plain threads that are no daemons."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._local = threading.local()
        self._known = set(threading.enumerate())
        self._blocked: set[int] = set()
        self._pooled: Any = {}
        self.wake: Callable[[], object] = _nothing

    def begin(self) -> None:
        """A job opens; it is closed by ``end``."""
        with self._lock:
            self._open += 1

    def end(self) -> None:
        """A job closes: everything that it told the loop was told before."""
        with self._lock:
            self._open -= 1
        self.wake()

    def at_work(self) -> bool:
        """Whether a job is open or a plain thread runs, other than blocked in the environment."""
        if self._open:
            return True
        if threading.active_count() == 1:
            return False
        return any(self._plain(thread) and thread.ident not in self._blocked for thread in threading.enumerate())

    def polled(self) -> bool:
        """Whether what is at work may end without a word: a plain thread, not a job."""
        return not self._open

    def working(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call *function* as (a part of) an open job of this thread."""
        depth = getattr(self._local, "jobs", 0)
        self._local.jobs = depth + 1
        try:
            return function(*arguments)
        finally:
            self._local.jobs = depth

    def in_job(self) -> bool:
        """Whether this thread works on an open job."""
        return bool(getattr(self._local, "jobs", 0))

    def gate(self) -> _Gate:
        """A closed gate for the thread that asks."""
        return _Gate(self)

    def block(self, ident: int, *, counted: bool) -> None:
        """The thread *ident* is not at work until ``unblock``; *counted* says that it works on a job."""
        if counted:
            self.end()
        else:
            self._blocked.add(ident)
            self.wake()

    def unblock(self, ident: int, *, counted: bool) -> None:
        """The thread *ident* goes on."""
        if counted:
            self.begin()
        else:
            self._blocked.discard(ident)

    def start(self, function: Callable[[], None]) -> None:
        """Run *function* as a job in a new thread."""
        self.begin()

        def run() -> None:
            try:
                self.working(function)
            finally:
                self.end()

        threading.Thread(target=run, daemon=True).start()

    def _plain(self, thread: threading.Thread) -> bool:
        return not (
            thread.daemon
            or thread in self._known
            or thread in self._pooled
            or type(thread).__module__.startswith("anyio.")
        )

    def watch_pools(self) -> Callable[[], None]:
        """Count the jobs of all thread pools, asyncio's and anyio's included; returns what undoes it.

        A job closes after its result was handed over, so it is the work item that is wrapped and not the function.
        """
        pools = vars(importlib.import_module("concurrent.futures.thread"))
        self._pooled = pools["_threads_queues"]
        item = pools["_WorkItem"]
        create, run = item.__init__, item.run

        @functools.wraps(create)
        def counted(work: Any, *arguments: Any, **more: Any) -> None:
            create(work, *arguments, **more)
            self.begin()

        @functools.wraps(run)
        def closing(work: Any, *arguments: Any) -> None:
            try:
                self.working(run, work, *arguments)
            finally:
                self.end()

        item.__init__, item.run = counted, closing
        undo_others = self._watch_results(), self._watch_anyio()

        def undo() -> None:
            item.__init__, item.run = create, run
            for one in undo_others:
                one()

        return undo

    def _watch_results(self) -> Callable[[], None]:
        """A thread that waits for a job's result is not at work; it is again before that job closes."""
        future_type: Any = Future
        result, exception = future_type.result, future_type.exception

        def waiting(method: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(method)
            def wait(future: Future[Any], timeout: float | None = None) -> Any:
                if timeout is None and self.in_job() and not future.done():
                    ident = threading.get_ident()
                    self.block(ident, counted=True)
                    future.add_done_callback(lambda _: self.unblock(ident, counted=True))
                return method(future, timeout)

            return wait

        future_type.result, future_type.exception = waiting(result), waiting(exception)

        def undo() -> None:
            future_type.result, future_type.exception = result, exception

        return undo

    def _watch_anyio(self) -> Callable[[], None]:
        if importlib.util.find_spec("anyio") is None:
            return _nothing
        backend: Any = importlib.import_module("anyio._backends._asyncio").AsyncIOBackend
        original = backend.run_sync_in_worker_thread

        async def counted(_: type, function: Callable[..., Any], arguments: Any, *rest: Any, **more: Any) -> Any:
            job = _Abandonable(self, function)
            try:
                return await original(job, arguments, *rest, **more)
            finally:
                job.left()

        backend.run_sync_in_worker_thread = classmethod(counted)

        def undo() -> None:
            backend.run_sync_in_worker_thread = original

        return undo


class _Gate:
    """Where the thread that made it waits until another releases it: from that moment on it counts as at work."""

    def __init__(self, threads: _Threads) -> None:
        self._threads, self._counted, self._ident = threads, threads.in_job(), threading.get_ident()
        self._lock = threading.Lock()
        self._lock.acquire()

    def wait(self) -> None:
        self._threads.block(self._ident, counted=self._counted)
        self._lock.acquire()

    def release(self) -> None:
        self._threads.unblock(self._ident, counted=self._counted)
        self._lock.release()


class _Abandonable:
    """A job that its coroutine may leave while the thread works on: it closes when both are done with it."""

    def __init__(self, threads: _Threads, function: Callable[..., Any]) -> None:
        self._threads, self._function = threads, function
        self._lock = threading.Lock()
        self._running = self._left = False
        threads.begin()

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            self._running = not self._left
        if not self._running:  # the coroutine was cancelled before the thread came to it
            return None
        try:
            return self._threads.working(self._function, *arguments)
        finally:
            with self._lock:
                self._running = False
                close = self._left
            if close:
                self._threads.end()

    def left(self) -> None:
        with self._lock:
            self._left = True
            close = not self._running
        if close:
            self._threads.end()


def _nothing() -> None:
    pass


# --- The loop that knows when it is quiet ---------------------------------------------------------


class _Selector(selectors.DefaultSelector):
    """Asks the loop what to do when it has nothing ready."""

    loop: SettlingLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            self.loop.turn()
            return [] if self.alone() else super().select(0)
        return self.loop.idle(timeout)

    def alone(self) -> bool:
        """Whether the loop's own wake-up pipe is all there is."""
        return len(self.get_map()) <= 1

    def wait(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Really select."""
        return super().select(seconds)


class SettlingLoop(asyncio.SelectorEventLoop):
    """An event loop that runs until it is quiet, on a virtual clock.

    ``may_fire`` says whether a timer may fire by itself now; ``now`` is the virtual time in seconds since the reset.
    """

    def __init__(self, threads: _Threads, patience: float, may_fire: Callable[[], bool]) -> None:
        self.now = 0.0
        self.due: float | None = None
        self._threads, self._patience, self._may_fire = threads, patience, may_fire
        self._until: float | None = None
        self._settled = True
        self._turns = 0
        self._began = 0.0
        self._children: list[asyncio.SubprocessTransport] = []
        self._quiet_selector = _Selector()
        self._quiet_selector.loop = self
        super().__init__(self._quiet_selector)
        self.set_default_executor(ThreadPoolExecutor(POOL))
        threads.wake = self._wake

    def time(self) -> float:
        return self.now

    def settle(self) -> bool:
        """Run until quiet; False where that took more than the patience. ``due``: seconds to the earliest timer."""
        self._settled, self._turns, self._began, self.due = True, 0, 0.0, None
        self.run_forever()
        return self._settled

    def advance(self, seconds: float) -> bool:
        """Let *seconds* pass: the timers fire in due order, quiet after each; then settle as ever."""
        self._until = self.now + seconds
        settled = self.settle()
        self.now, self._until = max(self.now, self._until), None
        return settled and self.settle()

    def turn(self) -> None:
        """Count a turn with work to do: a loop that never comes to rest is unsettled."""
        self._turns += 1
        if self._turns % SPIN_TURNS == 0:
            self._check_patience()

    def idle(self, due: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Nothing is ready: what to go on with. A thread tells the loop, then ends; so its end is looked at first."""
        select = self._quiet_selector.wait
        while self._settled:
            busy = self._threads.at_work()
            if busy or self._alive():
                ready = select(SLICE if busy and self._threads.polled() else self._patience / 8)
            else:
                ready = select(0 if self._quiet_selector.alone() else LOOPBACK_GRACE)
                busy = False
            if ready:
                return ready
            if not busy and not self._alive():
                break
            self._check_patience()
        if self._settled and due is not None and self._fires(due):
            self.now += due
            return []
        self.due = due
        self.stop()
        return []

    def _fires(self, due: float) -> bool:
        if self._until is None:
            return self._may_fire()
        return self.now + due <= self._until + self._clock_slack

    _clock_slack = 1e-9  # asyncio's own resolution: 0.1 + 0.2 seconds is due at 0.3

    def _check_patience(self) -> None:
        now = _monotonic()
        self._began = self._began or now
        if now - self._began > self._patience:
            self._settled = False
            self.stop()

    def _alive(self) -> bool:
        if self._children:
            self._children = [child for child in self._children if child.get_returncode() is None]
        return bool(self._children)

    async def subprocess_exec(self, *arguments: Any, **more: Any) -> Any:
        transport, protocol = await super().subprocess_exec(*arguments, **more)
        self._children.append(transport)
        return transport, protocol

    async def subprocess_shell(self, *arguments: Any, **more: Any) -> Any:
        transport, protocol = await super().subprocess_shell(*arguments, **more)
        self._children.append(transport)
        return transport, protocol

    def _wake(self) -> None:
        if not self.is_closed():
            self.call_soon_threadsafe(_nothing)


# --- The environment ------------------------------------------------------------------------------


class _Awaited:
    """Something outstanding: what it shows, and who waits for it (a coroutine of the loop, or a thread)."""

    def __init__(self, env: Environment, key: str, session: str | None, shown: Json, *, deaf: bool) -> None:
        self.id: Final = key
        self.session: Final = session
        self.cancelled = False
        self._env, self._deaf = env, deaf
        self._shown = _encode(shown | {"sessionId": session} if session is not None else shown)
        self._waiter: asyncio.Future[None] | _Gate | None = None
        self._interrupted = False

    def shown(self) -> str:
        """The entry of ``awaiting``, encoded."""
        return f'{self._shown[:-1]},"cancelled":true}}' if self.cancelled else self._shown

    def arrived(self) -> bool:
        """Whether there is something to take."""
        raise NotImplementedError

    def notify(self) -> None:
        """Something arrived: wake who waits."""
        with self._env.lock:
            waiter, self._waiter = self._waiter, None
        if isinstance(waiter, _Gate):
            waiter.release()
        elif waiter is not None and not waiter.done():
            waiter.set_result(None)

    def cancel(self) -> bool:
        """The runtime cancels this; True where it is deaf to that, and stays awaited."""
        if self._deaf and not self._env.closed:
            self.cancelled = True
            return True
        self._env.forget(self)
        return False

    def interrupt(self) -> None:
        """Raise Interrupted in the thread that waits for this, now or next."""
        if not self.cancel():
            self._interrupted = True
            self.notify()

    async def arrival(self) -> None:
        """Wait until something arrived."""
        while not self.arrived():
            if self._env.closed:
                raise asyncio.CancelledError
            waiter = self._waiter = self._env.loop.create_future()
            try:
                await waiter
            except asyncio.CancelledError:
                if not self.cancel():
                    raise

    def block(self) -> None:
        """Block this thread until something arrived. Raises Interrupted, and RuntimeError in the loop's own thread."""
        if threading.get_ident() == self._env.thread:
            raise RuntimeError("this would block the event loop for ever: await it here, or call it in a thread")
        while True:
            with self._env.lock:
                if self._env.closed:
                    raise _Closed
                if self.arrived():
                    return
                if self._interrupted:
                    raise Interrupted
                gate = self._waiter = self._env.threads.gate()
            gate.wait()


class ModelRequest(_Awaited):
    """One request to the scripted model: iterate it for its items, with ``async for`` or, in a thread, ``for``.

    Use it as a context manager: left before its end, it is no longer awaited. Iterating raises ModelFailure. ``id`` is
    the ``requestId``; ``reason`` and ``usage`` are there after the last item.
    """

    def __init__(self, env: Environment, key: str, session: str | None, shown: Json, *, deaf: bool) -> None:
        super().__init__(env, key, session, shown, deaf=deaf)
        self.reason: str | None = None
        self.usage: Any = None
        self.failure: str | None = None
        self._items: deque[Json] = deque()

    def arrived(self) -> bool:
        """Whether there is an item or the end."""
        return bool(self._items) or self.reason is not None or self.failure is not None

    def take(self, stimulus: Json) -> None:
        """The model says something, stops or fails."""
        kind = stimulus["kind"]
        if kind == "model-output":
            self._items.append(stimulus["item"])
        else:
            self._env.forget(self)
            self.usage = stimulus.get("usage")
            self.reason, self.failure = stimulus.get("reason"), stimulus.get("class")
        self.notify()

    def close(self) -> None:
        """Nobody listens any more: it is no longer awaited (under ``deafModel`` it stays, cancelled)."""
        if self.reason is None and self.failure is None:
            self.cancel()

    def _next(self) -> Json | None:
        if self._items:
            return self._items.popleft()
        if self.failure is not None:
            raise ModelFailure(self.failure)
        return None

    def __aiter__(self) -> ModelRequest:
        return self

    async def __anext__(self) -> Json:
        await self.arrival()
        if (item := self._next()) is None:
            raise StopAsyncIteration
        return item

    def __iter__(self) -> ModelRequest:
        return self

    def __next__(self) -> Json:
        self.block()
        if (item := self._next()) is None:
            raise StopIteration
        return item

    async def __aenter__(self) -> ModelRequest:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __enter__(self) -> ModelRequest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ToolExecution(_Awaited):
    """One run of a scripted tool: ``await`` it, or in a thread ``wait()``, for its output; both raise ToolFailure.

    ``id`` is the ``execution``; ``data`` and ``metadata`` are there with the output.
    """

    def __init__(
        self, env: Environment, key: str, session: str | None, shown: Json, *, call_id: str, deaf: bool
    ) -> None:
        super().__init__(env, key, session, shown, deaf=deaf)
        self.call_id: Final = call_id
        self.data: Any = None
        self.metadata: Any = None
        self._returned: Json | None = None

    def arrived(self) -> bool:
        """Whether the tool ended."""
        return self._returned is not None

    def take(self, stimulus: Json) -> None:
        """The tool returns or fails."""
        self._env.forget(self)
        self.data, self.metadata = stimulus.get("data"), stimulus.get("metadata")
        self._returned = stimulus
        self.notify()

    def wait(self) -> Any:
        """Block until the tool ended; its output."""
        self.block()
        return self._output()

    def __await__(self) -> Generator[Any, None, Any]:
        yield from self.arrival().__await__()  # its value is None
        return self._output()

    def _output(self) -> Any:
        returned = self._returned or {}
        if returned["kind"] == "tool-fail":
            raise ToolFailure(returned["message"])
        return returned.get("output")


class Environment:
    """What an adapter's session meets: the user's options, the log, the model and the tools (ioco's environment).

    ``options`` are those of the reset; ``loop`` is this session's event loop. A new one comes with each reset, and what
    is logged to an old one is lost.
    """

    def __init__(self, options: Json, patience: float, threads: _Threads) -> None:
        self.options: Final = options
        self.threads: Final = threads
        self.loop: Final = SettlingLoop(threads, patience, self._timers_may_fire)
        self.thread: Final = threading.get_ident()
        self.lock: Final = threading.RLock()
        self.closed = False
        self._manual = options.get("clock") == "manual"
        self._awaited: dict[str, ModelRequest | ToolExecution] = {}
        self._events: list[str] = []
        self._refusal: Json | None = None
        self._failure: BaseException | None = None
        self._requests, self._executions = itertools.count(1), itertools.count(1)
        self._idle_fires = 0
        self._at_quiet: Callable[[], object] = _nothing

    def log(self, event: Json, *, source: str | None = None) -> None:
        """Log *event* as it is now; fields that are None are left out. ``source="adapter"`` marks what is inferred.

        Raises TypeError where something in it is no JSON.
        """
        shown = {name: value for name, value in event.items() if value is not None}
        if source is not None:
            shown["source"] = source
        self._events.append(_encode(shown))
        self._idle_fires = 0

    def model(self, context: list[Json] | None, *, session: str | None = None) -> ModelRequest:
        """Ask the scripted model, and log the ``model-request``. *context*: its ``input``, None if unseen."""
        with self.lock:
            key = f"r{next(self._requests)}"
            shown = {"kind": "model", "requestId": key} | ({} if context is None else {"input": context})
            request = ModelRequest(self, key, session, shown, deaf=bool(self.options.get("deafModel")))
            # a context is long, and it is encoded once: the event says what the entry says
            self._events.append('{"type":"model-request",' + request.shown().removeprefix('{"kind":"model",'))
            self._idle_fires = 0
            self._awaited[key] = request
        return request

    def tool(self, call_id: str, tool: str, arguments: Any, *, session: str | None = None) -> ToolExecution:
        """Run the scripted *tool* for a call: await what comes back, or ``wait()`` for it in a thread."""
        with self.lock:
            key = f"e{next(self._executions)}"
            shown = {"kind": "tool", "callId": call_id, "execution": key, "tool": tool, "arguments": arguments}
            deaf = bool(self.options.get("deafTools"))
            execution = ToolExecution(self, key, session, shown, call_id=call_id, deaf=deaf)
            self._awaited[key] = execution
        return execution

    def refuse(self, why: str, message: str) -> None:
        """Refuse the stimulus under way: *why* is one of rejected, unsupported, not-awaited; the first counts."""
        if why not in _REFUSALS:
            raise ValueError(f"a stimulus is refused as one of {', '.join(_REFUSALS)}, not {why!r}")
        self._refusal = self._refusal or {"why": why, "message": message}

    async def observe(self) -> None:
        """What a listener does under ``options.observer``: raises RuntimeError, or gives up the event loop thrice."""
        observer = self.options.get("observer")
        if observer == "throws":
            raise RuntimeError("the observer throws")
        if observer == "slow":
            for _ in range(3):
                await asyncio.sleep(0)

    def at_quiet(self, callback: Callable[[], object]) -> None:
        """Call *callback* at the end of each step, when it is quiet: what it logs is the last of the step.

        For what an adapter holds back because more may be said of it: a delta, a result.
        """
        self._at_quiet = callback

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task; an exception that leaves it means that the adapter failed."""
        task = self.loop.create_task(coroutine)
        task.add_done_callback(self._ended)
        return task

    def interrupt(self, session: str | None = None) -> None:
        """Raise Interrupted in the threads that wait for the model or a tool of *session*."""
        for awaited in [awaited for awaited in self._awaited.values() if awaited.session == session]:
            awaited.interrupt()

    # The rest is the kit's own.

    def forget(self, awaited: _Awaited) -> None:
        """*awaited* is answered or cancelled."""
        self._awaited.pop(awaited.id, None)

    def fail(self, error: BaseException) -> None:
        """The adapter failed; the first counts."""
        self._failure = self._failure or error

    def answer(self, stimulus: Json) -> None:
        """Hand a stimulus of the model or a tool to who waits for it."""
        session = stimulus.get("sessionId")
        wanted = ModelRequest if stimulus["kind"].startswith("model-") else ToolExecution
        key = stimulus.get("requestId") or stimulus.get("execution")
        for awaited in list(self._awaited.values()):
            if (
                type(awaited) is wanted
                and awaited.session == session
                and key in (None, awaited.id)
                and (isinstance(awaited, ModelRequest) or awaited.call_id == stimulus["callId"])
            ):
                awaited.take(stimulus)
                return
        what = "the model" if wanted is ModelRequest else f"call {stimulus['callId']!r}"
        there = ", ".join(f"{awaited.id}" for awaited in self._awaited.values()) or "nothing"
        self.refuse("not-awaited", f"nobody waits for {what}{f' ({key})' if key else ''}; awaited: {there}")

    def step(self, *, settled: bool) -> str:
        """What happened since the last step, encoded. Raises what the adapter failed with."""
        self._at_quiet()
        failure, self._failure = self._failure, None
        events, self._events = self._events, []
        refusal, self._refusal = self._refusal, None
        self._idle_fires = 0
        if failure is not None:
            raise failure
        awaiting = [awaited.shown() for awaited in list(self._awaited.values())]
        if self.loop.due is not None:
            awaiting.append(f'{{"kind":"timer","in":{round(self.loop.due, 6)}}}')
        refused = "" if refusal is None else f',"refused":{_encode(refusal)}'
        unsettled = "" if settled else ',"unsettled":true'
        return f'"events":[{",".join(events)}],"awaiting":[{",".join(awaiting)}]{refused}{unsettled}'

    def close(self) -> bool:
        """End what still runs; False where a thread refuses to. What ignores its end is told on stderr."""
        self.closed = True
        for awaited in list(self._awaited.values()):
            self.forget(awaited)
            awaited.notify()
        settled = True
        for _ in range(3):  # a task may clean up, or swallow one cancellation
            tasks = asyncio.all_tasks(self.loop)
            for task in tasks:
                task.cancel()
            settled = self.loop.settle()
            if not tasks or not settled:
                break
        if settled:
            self.loop.create_task(self.loop.shutdown_asyncgens())
            settled = self.loop.settle()
        for task in asyncio.all_tasks(self.loop):
            print(f"turncheck: at the reset this task ignored three cancellations: {task}", file=sys.stderr)
        if self.threads.at_work():
            print(f"turncheck: at the reset these threads did not end: {threading.enumerate()}", file=sys.stderr)
        self.loop.close()
        return settled

    def _timers_may_fire(self) -> bool:
        if self._awaited or (self._manual and not self.closed) or self._idle_fires >= IDLE_FIRES:
            return False
        self._idle_fires += 1
        return True

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)


def _object(value: Any) -> Json | None:
    """*value*, if it is a JSON object."""
    return cast("Json", value) if isinstance(value, dict) else None


def _array(value: Any) -> list[Any] | None:
    """*value*, if it is a JSON array (a tuple is written as one)."""
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else None


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if (fields := _object(value)) is not None:
        return {name: _without_nan(inner) for name, inner in fields.items()}
    if (elements := _array(value)) is not None:
        return [_without_nan(inner) for inner in elements]
    return value


_fast_encode: Final[Callable[[Any], str]] = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _encode(value: Any) -> str:
    try:
        return _fast_encode(value)
    except ValueError:  # NaN and Infinity are no JSON: null, as in JavaScript
        return _fast_encode(_without_nan(value))


# --- Adapters -------------------------------------------------------------------------------------


class Adapter:
    """What an adapter declares and does; its methods are coroutine functions, or plain ones that do not block.

    ``implementation`` is ``{name, version, language, homepage?}``, ``profile`` is ``{roles, capabilities, policies,
    machine?}``, ``patience`` is in real seconds. A stimulus is the JSON object of docs/protocol.md#apply.
    """

    implementation: Json
    profile: Json
    patience: float = PATIENCE

    def reset(self, env: Environment) -> Awaitable[None] | None:
        """A new, empty runtime for *env*."""
        raise NotImplementedError

    def user(self, stimulus: Json) -> Awaitable[None] | None:
        """The user sends a message: log it where it is accepted, or refuse it."""
        raise NotImplementedError

    def abort(self, stimulus: Json) -> Awaitable[None] | None:
        """The user aborts the run."""
        raise NotImplementedError

    def client(self, stimulus: Json) -> Awaitable[None] | None:
        """A client joins or leaves."""
        raise NotImplementedError


class SyncAdapter(Adapter):
    """An adapter of a synchronous runtime: its methods are plain functions, each called in a thread of its own."""


def serve(adapter: Adapter) -> None:
    """Speak the protocol on stdin and stdout until ``stop`` or the end of stdin.

    Raises ValueError where *adapter* declares no implementation or profile of a runtime.
    """
    for name, fields in ("implementation", ("name", "version", "language")), ("profile", ("roles", "capabilities")):
        missing = [field for field in fields if field not in getattr(adapter, name, {})]
        if missing:
            raise ValueError(f"{type(adapter).__name__}.{name} lacks {', '.join(missing)}; see {_SEE}#hello")
    if "runtime" not in adapter.profile["roles"]:
        raise ValueError(f"{type(adapter).__name__}.profile has the roles {adapter.profile['roles']}, not runtime")
    requests, answers = _take_pipes()
    server = _Server(adapter)
    undo = server.threads.watch_pools()
    restore = server.virtual_time()
    try:
        for line in _lines(requests):
            answer = server.answer(line)
            if answer is None:
                break
            rest = memoryview(answer.encode() + b"\n")
            while rest:
                rest = rest[os.write(answers, rest) :]
        server.close()
    finally:
        restore()
        undo()
    if server.threads.at_work():  # the interpreter would wait for them
        sys.stderr.flush()
        os._exit(0)


def _take_pipes() -> tuple[int, int]:
    """Keep stdin and stdout for the protocol, out of reach of the runtime and of what it starts."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, answers


def _lines(descriptor: int) -> Iterator[bytes]:
    """The non-blank lines of *descriptor*, read when they are asked for."""
    held = b""
    while piece := os.read(descriptor, 1 << 20):
        held += piece
        if b"\n" in piece:
            *whole, held = held.split(b"\n")
            yield from (line for line in whole if line.strip())
    if held.strip():
        yield held


class _Server:
    """Answers messages for one adapter; each reset makes a new environment."""

    def __init__(self, adapter: Adapter) -> None:
        self.threads: Final = _Threads()
        self._adapter = adapter
        self._capabilities = frozenset(adapter.profile["capabilities"])
        self._env: Environment | None = None

    def answer(self, line: bytes) -> str | None:
        """The answer to one message; None to ``stop``."""
        seq: Any = None
        steps: list[str] = []
        try:
            message = _read_message(line)
            command, seq = message["cmd"], message.get("seq")
            if command == "stop":
                return None
            if command == "hello":
                return self._hello(message)
            if command == "reset":
                return f'{{"seq":{seq},"ok":true,{self._reset(message.get("options") or {})}}}'
            if command == "apply":
                return f'{{"seq":{seq},"ok":true,{self._apply(_check_stimulus(message["stimulus"]))}}}'
            if command == "run":
                for stimulus in [_check_stimulus(stimulus) for stimulus in message["word"]]:
                    steps.append(f"{{{self._apply(stimulus)}}}")
                    if steps[-1].endswith(_UNSETTLED):
                        break
                return f'{{"seq":{seq},"ok":true,"steps":[{",".join(steps)}]}}'
            return _error(seq, "unsupported", f"unknown command {command!r}; a runtime knows {', '.join(_COMMANDS)}")
        except _BadMessageError as error:
            return _error(_seq_of(line), "failed", str(error), steps=steps)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is reported
            told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            return _error(seq, "failed", f"{type(error).__name__}: {error}", told[-_DETAIL:], steps)

    def close(self) -> bool:
        """End what the last environment runs."""
        env, self._env = self._env, None
        return env is None or env.close()

    def _hello(self, message: Json) -> str:
        if message["protocol"] != _PROTOCOL:
            return _error(None, "unsupported", f"this adapter speaks protocol {_PROTOCOL}, not {message['protocol']}")
        who = {"implementation": self._adapter.implementation, "profile": self._adapter.profile}
        return _encode({"ok": True, "protocol": _PROTOCOL} | who)

    def _reset(self, options: Json) -> str:
        _check("options", options, _OPTIONS, "reset")
        settled = self.close()
        env = Environment(options, self._adapter.patience, self.threads)
        asyncio.set_event_loop(env.loop)
        for option, capability in _OPTION_CAPABILITIES.items():
            asked = options.get(option)
            if asked and asked != "auto" and capability not in self._capabilities:
                env.refuse("unsupported", f"option {option}: capability {capability!r} is not declared")
        self._env = env
        try:
            self._call(env, self._adapter.reset, env)
            settled = env.loop.settle() and settled
            return env.step(settled=settled)
        except BaseException:
            self.close()
            raise

    def _apply(self, stimulus: Json) -> str:
        env = self._env
        if env is None:
            raise _BadMessageError(
                f"a stimulus came before a reset that was done; expected: reset first; see {_SEE}#reset"
            )
        if stimulus["kind"] == "advance" and "clock" in self._capabilities:
            return env.step(settled=env.loop.advance(stimulus["seconds"]))
        self._deliver(env, stimulus)
        return env.step(settled=env.loop.settle())

    def _deliver(self, env: Environment, stimulus: Json) -> None:
        kind = stimulus["kind"]
        for capability in _needs(stimulus):
            if capability not in self._capabilities:
                env.refuse("unsupported", f"{kind}: capability {capability!r} is not declared")
                return
        if kind == "together":
            for one in stimulus["stimuli"]:
                self._deliver(env, one)
        elif kind in ("user", "abort", "client"):
            if getattr(type(self._adapter), kind) is getattr(Adapter, kind):
                env.refuse("unsupported", f"{kind}: {type(self._adapter).__name__} has no such method")
            else:
                self._call(env, getattr(self._adapter, kind), stimulus)
        else:
            env.answer(stimulus)

    def _call(self, env: Environment, method: Callable[[Any], Any], argument: Any) -> None:
        if not isinstance(self._adapter, SyncAdapter):
            env.start(_awaited(method, argument))
            return

        def run() -> None:
            try:
                method(argument)
            except _Closed:
                pass
            except BaseException as error:  # noqa: BLE001 - whatever the adapter raises is reported
                env.fail(error)

        self.threads.start(run)

    def virtual_time(self) -> Callable[[], None]:
        """Put the clocks of the ``time`` module on the virtual one; returns what undoes it."""
        names = ("time", "time_ns", "monotonic", "monotonic_ns", "sleep")
        real = {name: getattr(time, name) for name in names}

        def now() -> float:
            return 0.0 if self._env is None else self._env.loop.now

        def sleep(seconds: float) -> None:
            env = self._env
            if env is None or not self.threads.in_job():
                _sleep(seconds)
                return
            gate = self.threads.gate()
            env.loop.call_soon_threadsafe(env.loop.call_later, seconds, gate.release)
            gate.wait()

        virtual: dict[str, Callable[..., Any]] = {
            "time": lambda: EPOCH + now(),
            "time_ns": lambda: int((EPOCH + now()) * 1e9),
            "monotonic": now,
            "monotonic_ns": lambda: int(now() * 1e9),
            "sleep": sleep,
        }
        for name, function in virtual.items():
            setattr(time, name, function)

        def undo() -> None:
            for name, function in real.items():
                setattr(time, name, function)

        return undo


async def _awaited(method: Callable[[Any], Any], argument: Any) -> None:
    result = method(argument)
    if inspect.isawaitable(result):
        await result


# --- Messages -------------------------------------------------------------------------------------

_PROTOCOL: Final = 1
_SEE: Final = "docs/protocol.md"
_DETAIL: Final = 8000  # characters of a traceback: its end, where the error is
_EXCERPT: Final = 300  # characters of a message in an error
_UNSETTLED: Final = ',"unsettled":true}'
_REFUSALS: Final = ("rejected", "unsupported", "not-awaited")
_COMMANDS: Final = ("hello", "reset", "apply", "run", "stop")


class _Field:
    """What a field may hold, in words and as a check; ``required`` unless it may be absent (or null)."""

    def __init__(self, what: str, holds: Callable[[Any], bool], *, required: bool = False) -> None:
        self.what, self.holds, self.required = what, holds, required

    def must(self) -> _Field:
        """The same, required."""
        return _Field(self.what, self.holds, required=True)


def _is(what: str, *types: type) -> _Field:
    return _Field(what, lambda value: isinstance(value, types) and not (isinstance(value, bool) and bool not in types))


def _one_of(*values: str) -> _Field:
    return _Field(" or ".join(f'"{value}"' for value in values), lambda value: value in values)


_TEXT, _NUMBER, _OBJECT, _LIST = (
    _is("a string", str),
    _is("an integer", int),
    _is("an object", dict),
    _is("a list", list),
)
_FLAG, _ANY = _is("true or false", bool), _Field("anything", lambda _: True)
_SECONDS: Final = _Field(
    "a number of seconds, not negative",
    lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf,
)

_MESSAGES: Final[dict[str, dict[str, _Field]]] = {
    "hello": {"protocol": _NUMBER.must()},
    "reset": {"seq": _NUMBER.must(), "options": _OBJECT},
    "apply": {"seq": _NUMBER.must(), "stimulus": _OBJECT.must()},
    "run": {"seq": _NUMBER.must(), "word": _LIST.must()},
    "stop": {},
}

_OPTIONS: Final[dict[str, _Field]] = {
    "tools": _Field(
        'a list of {"name", "schema"}',
        lambda tools: all(isinstance((_object(tool) or {}).get("name"), str) for tool in _array(tools) or [None]),
    ),
    "limits": _OBJECT,
    "policies": _OBJECT,
    "clock": _one_of("auto", "manual"),
    "deafTools": _FLAG,
    "deafModel": _FLAG,
    "observer": _one_of("throws", "slow"),
    "stateDir": _TEXT,
}

_OPTION_CAPABILITIES: Final = {
    "limits": "limits",
    "clock": "clock",
    "deafTools": "deaf",
    "deafModel": "deaf",
    "observer": "observer",
    "stateDir": "persistence",
}

_STIMULI: Final[dict[str, dict[str, _Field]]] = {
    "user": {
        "id": _TEXT.must(),
        "text": _TEXT.must(),
        "delivery": _one_of("steer", "followUp"),
        "content": _LIST,
        "sender": _ANY,
        "meta": _ANY,
    },
    "abort": {},
    "model-output": {"item": _OBJECT.must(), "requestId": _TEXT},
    "model-stop": {"reason": _one_of("end-turn", "tool-use", "length").must(), "usage": _ANY, "requestId": _TEXT},
    "model-fail": {"class": _one_of("retryable", "fatal", "stream").must(), "requestId": _TEXT},
    "tool-return": {"callId": _TEXT.must(), "output": _ANY, "data": _ANY, "metadata": _ANY, "execution": _TEXT},
    "tool-fail": {"callId": _TEXT.must(), "message": _TEXT.must(), "execution": _TEXT},
    "advance": {"seconds": _SECONDS.must()},
    "client": {"action": _one_of("join", "leave").must()},
    "together": {"stimuli": _LIST.must()},
}

_ITEMS: Final[dict[str, dict[str, _Field]]] = {
    "assistant": {"text": _TEXT.must()},
    "reasoning": {"text": _TEXT.must()},
    "tool-call": {"callId": _TEXT.must(), "tool": _TEXT.must(), "arguments": _ANY},
}

_KIND_CAPABILITIES: Final = {
    "abort": "abort",
    "model-fail": "model-failure",
    "tool-return": "tools",
    "tool-fail": "tool-failure",
    "advance": "clock",
    "together": "together",
}


def _needs(stimulus: Json) -> Iterator[str]:
    """The capabilities that a runtime must have declared for *stimulus*."""
    capability = _KIND_CAPABILITIES.get(stimulus["kind"])
    if capability is not None:
        yield capability
    if stimulus.get("sessionId") is not None:
        yield "sessions"
    if stimulus.get("content") is not None:
        yield "images"
    item = stimulus.get("item")
    if item is not None and item["kind"] != "assistant":
        yield "reasoning" if item["kind"] == "reasoning" else "tools"


def _read_message(line: bytes) -> Json:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise _BadMessageError(f"not JSON ({error}); came: {_excerpt(line)}; expected a message of {_SEE}") from error
    message = _object(message) or {}
    if not isinstance(message.get("cmd"), str):
        raise _BadMessageError(f'no message: {_excerpt(line)}; expected an object with "cmd"; see {_SEE}')
    command = message["cmd"]
    if command in _MESSAGES:
        _check(command, message, _MESSAGES[command], command, tag="cmd")
    return message


def _check_stimulus(value: Any, *, inner: bool = False) -> Json:
    """*value*, if it is a stimulus. Raises _BadMessageError."""
    stimulus = _object(value) or {}
    kind = stimulus.get("kind")
    if not isinstance(kind, str) or kind not in _STIMULI or (inner and kind in ("together", "advance", "client")):
        kinds = ", ".join(_STIMULI)
        raise _BadMessageError(f"no stimulus: {_excerpt(value)}; expected one of {kinds}; see {_SEE}#apply")
    _check(kind, stimulus, _STIMULI[kind], "apply", tag="kind")
    if kind == "together":
        for one in stimulus["stimuli"]:
            _check_stimulus(one, inner=True)
    elif kind == "model-output":
        item = cast("Json", stimulus["item"])
        fields = _ITEMS.get(str(item.get("kind")))
        if fields is None:
            raise _BadMessageError(f"no item: {_excerpt(item)}; expected one of {', '.join(_ITEMS)}; see {_SEE}#apply")
        _check(item["kind"], item, fields, "apply", tag="kind")
    return stimulus


def _check(name: str, value: Json, fields: dict[str, _Field], section: str, tag: str = "") -> None:
    for field, rule in fields.items():
        held = value.get(field)
        if held is None:
            if rule.required:
                raise _BadMessageError(
                    f"{name} lacks {field}: {_excerpt(value)}; expected {rule.what}; see {_SEE}#{section}"
                )
        elif not rule.holds(held):
            raise _BadMessageError(f"{field} of {name} is {_excerpt(held)}; expected {rule.what}; see {_SEE}#{section}")
    for field in value:
        if field not in fields and field not in (tag, "sessionId"):
            known = ", ".join(fields) or "none"
            raise _BadMessageError(
                f"{name} has no field {field}: {_excerpt(value)}; it has {known}; see {_SEE}#{section}"
            )
    session = value.get("sessionId")
    if session is not None and not isinstance(session, str):
        raise _BadMessageError(f"sessionId of {name} is {_excerpt(session)}; expected a string; see {_SEE}#{section}")


def _excerpt(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}… ({len(text):,} characters)"


def _seq_of(line: bytes) -> int:
    """The seq of what may be no message, -1 where there is none."""
    try:
        seq = json.loads(line)["seq"]
    except (ValueError, TypeError, KeyError):
        return -1
    return seq if isinstance(seq, int) else -1


def _error(seq: Any, kind: str, message: str, detail: str | None = None, steps: list[str] | None = None) -> str:
    error = {"kind": kind, "message": message} | ({} if detail is None else {"detail": detail})
    numbered = "" if seq is None else f'"seq":{_encode(seq)},'
    done = f',"steps":[{",".join(steps)}]' if steps else ""
    return f'{{{numbered}"ok":false,"error":{_encode(error)}{done}}}'
