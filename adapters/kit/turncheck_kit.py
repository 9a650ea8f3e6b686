"""Helper library for adapters of Python agent runtimes: protocol 1, role ``runtime`` (docs/protocol.md#runtimes).

One file, standard library only, Python 3.10 or later; an adapter imports it by path (``PYTHONPATH=adapters/kit``). It
provides the framing, the scripted model and tools, the exact quiet and the virtual clock. A whole adapter::

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
  declare is refused as ``unsupported``, an answer that nothing awaits as ``not-awaited``. An exception that leaves a
  method of the adapter, or a task of ``env.start``, is answered as ``failed`` with its traceback, and the kit goes on.
  stdout belongs to the protocol: printed text goes to stderr; stdin is empty.
- *Cancelling*: when a coroutine that awaits the model or a tool is cancelled, the awaited entry vanishes. Under
  ``deafModel`` and ``deafTools`` it swallows the cancellation and stays (``cancelled: true``) until it is answered.
- *Quiet*, exactly: an event loop calls its selector with a timeout other than zero only when nothing is ready. Then I/O
  that is ready goes on. For an open job of a thread pool (also anyio's), a non-daemon thread, or a living child process
  of asyncio, the kit really waits, at most ``patience`` seconds (then the step is ``unsettled``, and stderr says what
  was busy). Otherwise it is quiet. Sockets and pipes get two milliseconds. Daemon threads are not seen; a child that
  lives on and writes nothing is unsettled.
- *Waiting threads* are not at work: those that wait in the environment, for a Condition and all that is built on one
  (Future.result, as_completed, wait, Event, Semaphore, queue.Queue), or for a thread that waits too (Thread.join,
  leaving a pool), and jobs in the queue of a pool whose threads all wait. A thread that waits for a bare Lock or a
  queue.SimpleQueue, for a thread with a timeout, or for a token of anyio's limiter (40) is at work for ever.
- *The end of a step*: ``env.at_quiet`` is for events that an adapter holds back because later ones may change them.
- *Clock*: ``loop.time()``, ``time.time()``, ``time.monotonic()`` and, in threads of a job, ``time.sleep()`` and the
  timeouts of a Condition and all that is built on one are virtual. Timers fire by themselves while no model and no tool
  is awaited and the clock is auto; otherwise ``advance`` fires them. A timer that repeats and never leads to an event
  is housekeeping: it fires at most IDLE_FIRES times per step. ``sleep(0)`` is a turn of the event loop, and no timer.

A synchronous runtime derives from SyncAdapter: its methods are plain functions, each called in a thread of its own, so
that ``user`` may be the whole run. ``for item in request`` and ``env.tool(...).wait()`` block; ``env.interrupt()``
raises Interrupted in them. ``together`` calls ``user`` twice at once: guard the busy flag by a lock::

    class Mine(SyncAdapter):
        def reset(self, env):
            self.env, self.busy, self.lock = env, False, threading.Lock()

        def user(self, stimulus):
            with self.lock:
                if self.busy:
                    return self.env.refuse("rejected", "agent is busy")
                self.busy = True
                self.env.log({"type": "user-message", "id": stimulus["id"], "text": stimulus["text"]})
            with self.env.model([{"role": "user", "text": stimulus["text"]}]) as request:
                for item in request:               # all else as above; env.log may be called in any thread
                    self.env.log({"type": "agent-output", "responseId": request.id, **item})
            self.busy = False
            self.env.log({"type": "run-stop", "reason": "completed"}, source="adapter")

        def abort(self, stimulus):
            self.env.interrupt(stimulus.get("sessionId"))
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
import queue
import selectors
import sys
import threading
import time
import traceback
from collections import Counter, deque
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
"""Turns of a busy loop between two checks of the time: a step of pydantic-ai takes 7, and 30 at most (measured)."""

POOL: Final = 64
"""Threads of a loop's own pool: each may be blocked in a tool, and a job that finds no thread is never quiet."""

LOOPBACK_GRACE: Final = 0.002
"""Real seconds given to sockets and pipes before quiet: the kernel may hand loopback data to a thread of its own."""

SLICE: Final = 0.001
"""Real seconds between two checks of plain threads, whose end nothing announces."""

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
    """Raised by a reset in threads that still wait; no handler of a runtime may take it for an error."""


class _BadMessageError(ValueError):
    """A message or stimulus does not follow the protocol."""


def raw_arguments(item: Json) -> str:
    """Return the arguments of a tool-call item as the text that a model sends: a string unchanged, all else as JSON.

    *item* comes from iterating a request; a string may be no JSON (capability ``raw-arguments``).

    >>> raw_arguments({"kind": "tool-call", "callId": "c1", "tool": "read", "arguments": {"path": "x"}})
    '{"path": "x"}'
    """
    arguments = item.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)


# --- Threads --------------------------------------------------------------------------------------


class _Threads:
    """Knows the threads at work: jobs of pools and of the kit, which are counted, and plain non-daemon threads.

    A thread is not at work while it waits at a gate, or for the end of a thread that waits; nor is a job in the queue
    of a pool whose threads all wait. A released thread counts as at work before it runs, so that no moment is missed.
    """

    def __init__(self) -> None:
        self.wake: Callable[[], object] = _nothing
        self.loop: SettlingLoop | None = None
        self._lock = threading.Lock()
        self._local = threading.local()
        self._known = set(threading.enumerate())
        self._pooled: Any = {}
        self._open = 0  # jobs, those in queues included
        self._queued: Counter[Any] = Counter()  # pool -> jobs that none of its threads took yet
        self._jobs: Counter[threading.Thread] = Counter()  # thread -> open jobs that it works on
        self._gated: set[threading.Thread] = set()
        self._joining: dict[threading.Thread, threading.Thread] = {}  # thread -> the thread whose end it waits for

    def begin(self) -> None:
        """Open a job; ``end`` closes it."""
        with self._lock:
            self._open += 1

    def end(self) -> None:
        """Close a job, after everything that it passed to the loop."""
        with self._lock:
            self._open -= 1
        self.wake()

    def at_work(self) -> bool:
        """Return whether a job or a plain thread is at work."""
        if not self._open and threading.active_count() == 1:
            return False
        with self._lock:
            return self._job_at_work() or any(self._busy())

    def polled(self) -> bool:
        """Return whether only plain threads are at work: unlike a job, they end without notice."""
        with self._lock:
            return not self._job_at_work()

    def busy(self) -> list[threading.Thread]:
        """Return the threads that are at work."""
        with self._lock:
            return list(self._busy())

    def living(self) -> list[threading.Thread]:
        """Return the threads with something to do, waiting or not."""
        return [thread for thread in threading.enumerate() if thread in self._jobs or self._plain(thread)]

    def working(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call *function* as an open job of this thread, or as a part of one."""
        thread = threading.current_thread()
        with self._lock:
            self._jobs[thread] += 1
        try:
            return function(*arguments)
        finally:
            with self._lock:
                self._jobs[thread] -= 1
                if not self._jobs[thread]:
                    del self._jobs[thread]

    def in_job(self) -> bool:
        """Return whether this thread works on an open job."""
        return threading.current_thread() in self._jobs

    def gate(self) -> _Gate:
        """Return a closed gate for the calling thread."""
        return _Gate(self)

    def block(self, gate: _Gate) -> None:
        """Note that the thread of *gate* waits there, unless the gate is open by now."""
        with self._lock:
            if not gate.opened:
                self._gated.add(gate.thread)
        self.wake()

    def unblock(self, gate: _Gate) -> bool:
        """Let the thread of *gate* go on; return False if the gate was open already."""
        with self._lock:
            news, gate.opened = not gate.opened, True
            if news:
                self._gated.discard(gate.thread)
        return news

    def wait_at(self, gate: _Gate, seconds: float | None) -> bool:
        """Wait at *gate*, at most *seconds* of the virtual clock; return whether it was released before that."""
        loop, timer = self.loop, list[asyncio.Handle]()
        if seconds is None or loop is None:
            gate.wait()
            return True

        def set_timer() -> None:
            timer.append(loop.call_later(seconds, gate.expire) if seconds > 0 else loop.call_soon(gate.expire))

        loop.call_soon_threadsafe(set_timer)
        gate.wait()
        if not gate.expired:
            loop.call_soon_threadsafe(lambda: timer[0].cancel())  # noqa: PLW0108 - it may not be there yet
        return not gate.expired

    def start(self, function: Callable[[], None]) -> None:
        """Run *function* as a job in a new thread."""
        self.begin()

        def run() -> None:
            try:
                self.working(function)
            finally:
                self.end()

        _JobThread(target=run).start()

    def _waits(self, thread: threading.Thread) -> bool:
        for _ in range(len(self._joining) + 1):  # threads that wait for each other to end are stuck: at work for ever
            if thread in self._gated:
                return True
            if thread not in self._joining:
                return False
            thread = self._joining[thread]
        return False

    def _job_at_work(self) -> bool:
        waiting = sum(jobs for thread, jobs in self._jobs.items() if self._waits(thread))
        for pool, jobs in self._queued.items():
            threads = list(getattr(pool, "_threads", ()))
            if threads and all(map(self._waits, threads)):
                waiting += jobs
        return self._open > waiting

    def _busy(self) -> Iterator[threading.Thread]:
        return (
            thread
            for thread in threading.enumerate()
            if (thread in self._jobs or self._plain(thread)) and not self._waits(thread)
        )

    def _plain(self, thread: threading.Thread) -> bool:
        return not (
            thread.daemon
            or isinstance(thread, _JobThread)
            or thread in self._known
            or thread in self._pooled
            or type(thread).__module__.startswith("anyio.")
        )

    def _seen(self) -> bool:
        """Return whether this thread's waiting counts; not while it starts another thread, as this waits unseen."""
        thread = threading.current_thread()
        return (thread in self._jobs or self._plain(thread)) and not getattr(self._local, "starts", False)

    def watch(self) -> Callable[[], None]:
        """Count the jobs of all thread pools, and track waiting threads; return the function that undoes it."""
        undo_each = [self._watch_pools(), self._watch_anyio(), self._watch_conditions(), self._watch_joins()]

        def undo() -> None:
            for one in undo_each:
                one()

        return undo

    def _watch_pools(self) -> Callable[[], None]:
        """Count the jobs of thread pools, asyncio's included.

        A job closes after its result was handed over: therefore the work item is wrapped, and not the function.
        """
        pools = vars(importlib.import_module("concurrent.futures.thread"))
        self._pooled = pools["_threads_queues"]
        pool_type, item = pools["ThreadPoolExecutor"], pools["_WorkItem"]
        submit, create, run = pool_type.submit, item.__init__, item.run

        def take(work: Any) -> bool:
            with self._lock:
                first, work.taken = not work.taken, True
                if first:
                    self._queued[work.pool] -= 1
                    if not self._queued[work.pool]:
                        del self._queued[work.pool]
            return first

        @functools.wraps(submit)
        def submitting(pool: Any, *arguments: Any, **more: Any) -> Any:
            self._local.pool = pool
            try:
                return submit(pool, *arguments, **more)
            finally:
                self._local.pool = None  # a pool without references ends its threads

        @functools.wraps(create)
        def queued(work: Any, future: Future[Any], *arguments: Any, **more: Any) -> None:
            create(work, future, *arguments, **more)
            work.pool, work.taken = getattr(self._local, "pool", None), False
            with self._lock:
                self._open += 1
                self._queued[work.pool] += 1
            future.add_done_callback(lambda _: self.end() if future.cancelled() and take(work) else None)

        @functools.wraps(run)
        def closing(work: Any, *arguments: Any) -> None:
            if not take(work):  # it was cancelled in the queue
                run(work, *arguments)
                return
            try:
                self.working(run, work, *arguments)
            finally:
                self.end()

        pool_type.submit, item.__init__, item.run = submitting, queued, closing

        def undo() -> None:
            pool_type.submit, item.__init__, item.run = submit, create, run

        return undo

    def _watch_conditions(self) -> Callable[[], None]:
        """Give a gate to each thread that waits for a Condition (so also a Future, an Event, a Queue) by a lock."""
        module: Any = threading
        allocate = module._allocate_lock  # noqa: SLF001 - Condition.wait alone calls it, in Python 3.10 to 3.14
        module._allocate_lock = lambda: _Waiter(self) if self._seen() else allocate()  # noqa: SLF001

        def undo() -> None:
            module._allocate_lock = allocate  # noqa: SLF001

        return undo

    def _watch_joins(self) -> Callable[[], None]:
        thread_type: Any = threading.Thread
        start, join = thread_type.start, thread_type.join

        @functools.wraps(start)
        def starting(thread: threading.Thread) -> None:
            self._local.starts = True
            try:
                start(thread)
            finally:
                self._local.starts = False

        @functools.wraps(join)
        def joining(thread: threading.Thread, timeout: float | None = None) -> None:
            if timeout is not None or not self._seen():
                join(thread, timeout)
                return
            this = threading.current_thread()
            with self._lock:
                self._joining[this] = thread
            self.wake()
            try:
                join(thread)
            finally:
                with self._lock:
                    del self._joining[this]

        thread_type.start, thread_type.join = starting, joining

        def undo() -> None:
            thread_type.start, thread_type.join = start, join

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


class _JobThread(threading.Thread):
    """A thread of the kit's own; no daemon, as the threads that it starts would then be unseen daemons too."""


class _Gate:
    """A gate at which the thread that made it waits until another thread releases it, or lets it expire."""

    def __init__(self, threads: _Threads) -> None:
        self.thread: Final = threading.current_thread()
        self.opened = self.expired = False  # opened: by _Threads, under its lock
        self._threads = threads
        self._lock = threading.Lock()
        self._lock.acquire()

    def wait(self) -> None:
        self._threads.block(self)
        self._lock.acquire()

    def release(self) -> None:
        if self._threads.unblock(self):
            self._lock.release()

    def expire(self) -> None:
        if self._threads.unblock(self):
            self.expired = True
            self._lock.release()


class _Waiter(_Gate):
    """The lock that Condition.wait makes and acquires; acquiring it a second time is the wait."""

    _made = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - as a lock's
        if not self._made:
            self._made = True
        elif not blocking:
            return self.opened
        elif timeout < 0:
            self.wait()
        elif self._threads.in_job():
            return self._threads.wait_at(self, timeout)
        else:
            return self._lock.acquire(timeout=timeout)
        return True


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
        if not self._running:  # the coroutine was cancelled before a thread took the job
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


def _stack(coroutine: Any) -> Iterator[str]:
    """Yield the frames at which a suspended coroutine stands, the outermost first."""
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        yield "".join(traceback.format_stack(frame, limit=1)).rstrip()
        coroutine = coroutine.cr_await


# --- The loop that knows when it is quiet ---------------------------------------------------------


class _Selector(selectors.DefaultSelector):
    """A selector that calls the loop's ``idle`` when nothing is ready."""

    loop: SettlingLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            self.loop.turn()
            return [] if self.alone() else super().select(0)
        return self.loop.idle(timeout)

    def alone(self) -> bool:
        """Return whether only the loop's own wake-up pipe is registered."""
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
        threads.wake, threads.loop = self._wake, self

    def time(self) -> float:
        return self.now

    def settle(self) -> bool:
        """Run until quiet; return False if the patience ends first. ``due``: seconds to the earliest timer."""
        self._settled, self._turns, self._began, self.due = True, 0, 0.0, None
        self.run_forever()
        return self._settled

    def advance(self, seconds: float) -> bool:
        """Let *seconds* pass: the timers fire in due order, with quiet after each; then settle as usual."""
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
        """Decide how to go on when nothing is ready. A thread calls the loop, then ends: so check its end first."""
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
        if self._settled and now - self._began > self._patience:
            self._settled = False
            self._tell_what_is_busy()
            self.stop()

    def _tell_what_is_busy(self) -> None:
        print(f"turncheck: unsettled: no quiet within {self._patience:g} s; what is busy:", file=sys.stderr)
        frames = sys._current_frames()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        threads = [thread for thread in self._threads.busy() if thread.ident in frames]
        for thread in threads:
            print(f"thread {thread.name}:", file=sys.stderr)
            traceback.print_stack(frames[cast("int", thread.ident)], file=sys.stderr)
        for child in self._children if self._alive() else ():
            print(f"the child process {child.get_pid()}", file=sys.stderr)
        if not threads and not self._alive():  # the loop itself never comes to rest
            for task in asyncio.all_tasks(self):
                print(task, *_stack(task.get_coro()), sep="\n", file=sys.stderr)

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
    """An outstanding answer: its entry under ``awaiting``, and its waiter (a coroutine of the loop, or a thread)."""

    def __init__(self, env: Environment, key: str, session: str | None, shown: Json, *, deaf: bool) -> None:
        self.id: Final = key
        self.session: Final = session
        self.cancelled = False
        self._env, self._deaf = env, deaf
        self._shown = _encode(shown | {"sessionId": session} if session is not None else shown)
        self._waiter: asyncio.Future[None] | _Gate | None = None
        self._interrupted = False

    def shown(self) -> str:
        """Return the entry of ``awaiting``, encoded."""
        return f'{self._shown[:-1]},"cancelled":true}}' if self.cancelled else self._shown

    def show(self, field: str) -> None:
        """Add *field* (encoded) to the entry of ``awaiting``."""
        self._shown = f"{self._shown[:-1]},{field}}}"

    def arrived(self) -> bool:
        """Return whether there is something to take."""
        raise NotImplementedError

    def notify(self) -> None:
        """Wake the waiter: something arrived."""
        with self._env.lock:
            waiter, self._waiter = self._waiter, None
        if isinstance(waiter, _Gate):
            waiter.release()
        elif waiter is not None and not waiter.done():
            waiter.set_result(None)

    def cancel(self) -> bool:
        """Cancel this for the runtime; return True if it is deaf to that, and stays awaited."""
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
        """Return whether there is an item or the end."""
        return bool(self._items) or self.reason is not None or self.failure is not None

    def take(self, stimulus: Json) -> None:
        """Take the model's item, stop or failure."""
        kind = stimulus["kind"]
        if kind == "model-output":
            self._items.append(stimulus["item"])
        else:
            self._env.forget(self)
            self.usage = stimulus.get("usage")
            self.reason, self.failure = stimulus.get("reason"), stimulus.get("class")
        self.notify()

    def close(self) -> None:
        """Stop listening: the request is no longer awaited (under ``deafModel`` it stays, cancelled)."""
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
        """Return whether the tool ended."""
        return self._returned is not None

    def take(self, stimulus: Json) -> None:
        """Take the tool's output or failure."""
        self._env.forget(self)
        self.data, self.metadata = stimulus.get("data"), stimulus.get("metadata")
        self._returned = stimulus
        self.notify()

    def wait(self) -> Any:
        """Block until the tool ended; return its output. Raises ToolFailure and Interrupted."""
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


class Decision(_Awaited):
    """A call that waits for a person or the client: ``await`` it, or in a thread ``wait()``, for the stimulus.

    It is ``{"kind": "approve"}``, ``{"kind": "deny", "message"?}`` or ``{"kind": "client-result", "output"}``. Close it
    where the run ends, or goes on, without a decision.
    """

    def __init__(self, env: Environment, key: str, session: str | None, shown: Json) -> None:
        super().__init__(env, key, session, shown, deaf=False)
        self.call_id: Final[str] = shown["callId"]
        self.kind: Final[str] = shown["kind"]
        self._stimulus: Json | None = None

    def arrived(self) -> bool:
        """Return whether it is decided."""
        return self._stimulus is not None

    def take(self, stimulus: Json) -> None:
        """Take the decision."""
        self._env.forget(self)
        self._stimulus = stimulus
        self.notify()

    def close(self) -> None:
        """Stop asking: the decision is no longer awaited."""
        if self._stimulus is None:
            self.cancel()

    def wait(self) -> Json:
        """Block until it is decided; return the stimulus. Raises Interrupted."""
        self.block()
        return self._stimulus or {}

    def __await__(self) -> Generator[Any, None, Json]:
        yield from self.arrival().__await__()  # its value is None
        return self._stimulus or {}


class Environment:
    """The environment of an adapter from one reset to the next: options, log, model and tools.

    ``options`` are those of the reset, absent where they were not sent: ``options["tools"]`` is a list of ``{"name",
    "schema"}``, ``options["limits"]`` has ``maxRounds``, the bound on model requests of a run, and ``contextWindow``,
    in tokens, ``options["observer"]`` is "throws" or "slow" (``observe`` does it). ``variant`` is the name of the
    variant to be, None without any. ``loop`` is this environment's event loop. Each reset makes a new environment;
    events logged to an old one are lost.

    With sessions, give ``session=`` (the stimulus's ``sessionId``) to ``model``, ``tool`` and ``decision``, and
    ``"sessionId"`` to each event that is logged. Where runs of one session are concurrent, give ``run=`` to ``model``,
    and ``"runId"`` to each event of a run. With sub-agents, give ``agent=`` to ``model`` and ``tool``, ``parent=`` to
    ``model``, and ``"agentId"`` and ``"parentCallId"`` to each event of a sub-agent.
    """

    def __init__(self, options: Json, patience: float, threads: _Threads) -> None:
        self.options: Final = options
        self.threads: Final = threads
        self.loop: Final = SettlingLoop(threads, patience, self._timers_may_fire)
        self.thread: Final = threading.get_ident()
        self.lock: Final = threading.RLock()
        self.closed = False
        self.variant: str | None = None
        self._manual = options.get("clock") == "manual"
        self._awaited: dict[str, ModelRequest | ToolExecution | Decision] = {}
        self._events: list[str] = []
        self._told: dict[str, list[str]] = {}
        self._refusal: Json | None = None
        self._failure: BaseException | None = None
        self._requests, self._executions = itertools.count(1), itertools.count(1)
        self._decisions = itertools.count(1)
        self._idle_fires = 0
        self._at_quiet: Callable[[], object] = _nothing

    def log(self, event: Json, *, source: str | None = None, via: str | None = None) -> None:
        """Log *event* as it is now; fields that are None are left out. ``source="adapter"`` marks an inferred event.

        *via* says how a ``run-stop`` was seen: ``event`` (the default), ``exception`` or ``close``, a stream or call
        that just ended. Log each that you see: turncheck knows which are one end. Raises TypeError for a value in it
        that is no JSON.
        """
        shown = {name: value for name, value in event.items() if value is not None}
        shown |= {name: value for name, value in (("source", source), ("via", via)) if value is not None}
        self._events.append(_encode(shown))
        self._idle_fires = 0

    def tell(self, client: str, event: Json) -> None:
        """Note that a client was told *event*: one of the log, or ``{"type": "snapshot", "events": [...]}``.

        A snapshot takes the place of all that this client was told before; its ``active`` says if a run is open.
        ``cursor``, a string, is the place from which the client could go on. Fields that are None are left out. Raises
        TypeError for a value in it that is no JSON.
        """
        shown = {name: value for name, value in event.items() if value is not None}
        self._told.setdefault(client, []).append(_encode(shown))
        self._idle_fires = 0

    def model(
        self,
        context: list[Json] | None,
        *,
        session: str | None = None,
        run: str | None = None,
        agent: str | None = None,
        parent: str | None = None,
        tools: bool = True,
        purpose: str | None = None,
    ) -> ModelRequest:
        """Send the scripted model a request, and log ``model-request``. *context* is its ``input``, None if unseen.

        *run* is the event's ``runId``, where runs of one session are concurrent. *agent* is the sub-agent that asks,
        and *parent* the call that started it. *tools* is False for a request that offers no tools (a last summary):
        the model then calls none. *purpose* is "compaction" for a request that asks for a summary of the history.
        Raises ValueError for another.
        """
        if purpose not in (None, "compaction"):
            raise ValueError(f'the purpose of a request is "compaction" or None, not {purpose!r}')
        with self.lock:
            key = f"r{next(self._requests)}"
            shown: Json = {"kind": "model", "requestId": key} | ({} if purpose is None else {"purpose": purpose})
            shown |= {} if context is None else {"input": context}
            shown |= {} if agent is None else {"agentId": agent}
            request = ModelRequest(self, key, session, shown, deaf=bool(self.options.get("deafModel")))
            # a context is long, and is encoded only once: the event reuses the text of the entry
            event = '{"type":"model-request",' + request.shown().removeprefix('{"kind":"model",')
            for name, value in (("runId", run), ("parentCallId", parent)):
                event = event if value is None else f'{event[:-1]},"{name}":{_encode(value)}}}'
            self._events.append(event)
            if not tools:
                request.show('"tools":false')
            self._idle_fires = 0
            self._awaited[key] = request
        return request

    def tool(
        self, call_id: str, tool: str, arguments: Any, *, session: str | None = None, agent: str | None = None
    ) -> ToolExecution:
        """Run the scripted *tool* for a call: await the returned execution, or ``wait()`` for it in a thread.

        *agent* is the sub-agent whose call it is.
        """
        with self.lock:
            key = f"e{next(self._executions)}"
            shown = {"kind": "tool", "callId": call_id, "execution": key, "tool": tool, "arguments": arguments}
            shown |= {} if agent is None else {"agentId": agent}
            deaf = bool(self.options.get("deafTools"))
            execution = ToolExecution(self, key, session, shown, call_id=call_id, deaf=deaf)
            self._awaited[key] = execution
        return execution

    def decision(self, call_id: str, kind: str = "approval", *, session: str | None = None) -> Decision:
        """Ask about a call: await the returned decision, or ``wait()`` for it in a thread.

        *kind* is "approval" (a person approves or denies the call) or "client-tool" (the client executes it). Raises
        ValueError for another.
        """
        if kind not in ("approval", "client-tool"):
            raise ValueError(f'a decision is an "approval" or a "client-tool", not {kind!r}')
        with self.lock:
            key = f"d{next(self._decisions)}"
            decision = Decision(self, key, session, {"kind": kind, "callId": call_id})
            self._awaited[key] = decision
        return decision

    def refuse(self, why: str, message: str) -> None:
        """Refuse the stimulus under way; the first refusal counts.

        *why* is one of ``rejected``, ``unsupported``, ``not-awaited``. Raises ValueError for any other.
        """
        if why not in _REFUSALS:
            raise ValueError(f"a stimulus is refused as one of {', '.join(_REFUSALS)}, not {why!r}")
        self._refusal = self._refusal or {"why": why, "message": message}

    async def observe(self) -> None:
        """Act as a listener by ``options.observer``: raise RuntimeError, or give up the event loop three times."""
        self._throw()
        if self.options.get("observer") == "slow":
            for _ in range(3):
                await asyncio.sleep(0)

    def observe_now(self) -> None:
        """Act as a listener that is a plain function: raise RuntimeError, or in a thread let others go on."""
        self._throw()
        if self.options.get("observer") == "slow" and threading.get_ident() != self.thread:
            time.sleep(0)

    def at_quiet(self, callback: Callable[[], object]) -> None:
        """Call *callback* at the end of each step, when it is quiet: its events are the last of the step.

        Use it for events that are held back because later ones may change them: a delta, a result.
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
        """Remove *awaited*, which is answered or cancelled."""
        self._awaited.pop(awaited.id, None)

    def fail(self, error: BaseException) -> None:
        """Note that the adapter failed; the first error counts."""
        self._failure = self._failure or error

    def answer(self, stimulus: Json) -> None:
        """Hand a stimulus of the model or a tool to the request or execution that awaits it."""
        session = stimulus.get("sessionId")
        wanted = _ADDRESSEES.get(stimulus["kind"], ToolExecution)
        decides = "client-tool" if stimulus["kind"] == "client-result" else "approval"
        key = stimulus.get("requestId") or stimulus.get("execution")
        for awaited in list(self._awaited.values()):
            if (
                type(awaited) is wanted
                and awaited.session == session
                and key in (None, awaited.id)
                and (isinstance(awaited, ModelRequest) or awaited.call_id == stimulus["callId"])
                and (not isinstance(awaited, Decision) or awaited.kind == decides)
            ):
                awaited.take(stimulus)
                return
        what = "the model" if wanted is ModelRequest else f"call {stimulus['callId']!r}"
        what = f"a decision about {what}" if wanted is Decision else what
        there = ", ".join(f"{awaited.id}" for awaited in self._awaited.values()) or "nothing"
        self.refuse("not-awaited", f"nothing waits for {what}{f' ({key})' if key else ''}; awaited: {there}")

    def step(self, *, settled: bool) -> str:
        """Return the answer's fields since the last step, encoded. Raises the error with which the adapter failed."""
        self._at_quiet()
        failure, self._failure = self._failure, None
        events, self._events = self._events, []
        refusal, self._refusal = self._refusal, None
        told, self._told = self._told, {}
        self._idle_fires = 0
        if failure is not None:
            raise failure
        awaiting = [awaited.shown() for awaited in list(self._awaited.values())]
        if self.loop.due is not None:
            awaiting.append(f'{{"kind":"timer","in":{round(self.loop.due, 6)}}}')
        refused = "" if refusal is None else f',"refused":{_encode(refusal)}'
        unsettled = "" if settled else ',"unsettled":true'
        clients = ",".join(f"{_encode(name)}:[{','.join(each)}]" for name, each in told.items())
        heard = f',"clients":{{{clients}}}' if told else ""
        return f'"events":[{",".join(events)}],"awaiting":[{",".join(awaiting)}]{refused}{unsettled}{heard}'

    def close(self) -> bool:
        """End everything that still runs; return False if a thread does not end. stderr names what ignored its end."""
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
        if living := self.threads.living():
            print(f"turncheck: at the reset these threads did not end: {living}", file=sys.stderr)
        self.loop.close()
        return settled

    def _throw(self) -> None:
        if self.options.get("observer") == "throws":
            raise RuntimeError("the observer throws")

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
    """The base of adapters; its methods are coroutine functions, or plain functions that do not block.

    ``implementation`` is ``{name, version, language, homepage?}``, ``profile`` is ``{roles, capabilities, policies,
    machine?}``, ``patience`` is in real seconds. ``variants`` maps the names of variants, the default first, to what
    each changes of the profile (its ``policies`` are merged); ``env.variant`` says which one to be. A stimulus is the
    JSON object of docs/protocol.md#apply.
    """

    implementation: Json
    profile: Json
    patience: float = PATIENCE
    variants: Json = {}  # noqa: RUF012 - a class of an adapter says its own

    def reset(self, env: Environment) -> Awaitable[None] | None:
        """Start a new, empty runtime for *env*."""
        raise NotImplementedError

    def user(self, stimulus: Json) -> Awaitable[None] | None:
        """Take a message of the user: log it if it is accepted, or refuse it."""
        raise NotImplementedError

    def abort(self, stimulus: Json) -> Awaitable[None] | None:
        """Abort the run, for the user."""
        raise NotImplementedError

    def compact(self, stimulus: Json) -> Awaitable[None] | None:
        """Begin a compaction, for the user."""
        raise NotImplementedError

    def client(self, stimulus: Json) -> Awaitable[None] | None:
        """Let the client ``clientId`` join, from its ``cursor`` if it has one, or leave."""
        raise NotImplementedError

    def store_fail(self, stimulus: Json) -> Awaitable[None] | None:
        """Let the next ``times`` writes to the store fail."""
        raise NotImplementedError


class SyncAdapter(Adapter):
    """An adapter of a synchronous runtime: its methods are plain functions, each called in a thread of its own.

    ``together`` calls several at once, in any order: guard what they share with a lock.
    """


def serve(adapter: Adapter) -> None:
    """Speak the protocol on stdin and stdout until ``stop`` or the end of stdin.

    Raises ValueError if *adapter* declares no implementation, or no profile of a runtime.
    """
    for name, fields in ("implementation", ("name", "version", "language")), ("profile", ("roles", "capabilities")):
        missing = [field for field in fields if field not in getattr(adapter, name, {})]
        if missing:
            raise ValueError(f"{type(adapter).__name__}.{name} lacks {', '.join(missing)}; see {_SEE}#hello")
    if "runtime" not in adapter.profile["roles"]:
        raise ValueError(f"{type(adapter).__name__}.profile has the roles {adapter.profile['roles']}, not runtime")
    requests, answers = _take_pipes()
    server = _Server(adapter)
    undo = server.threads.watch()
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
        if server.threads.living():  # the interpreter would wait for them
            broken = sys.exc_info()[0] is not None
            if broken:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(broken)


def _take_pipes() -> tuple[int, int]:
    """Keep stdin and stdout for the protocol, out of reach of the runtime and its child processes."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, answers


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield the non-blank lines of *descriptor*, each read on demand."""
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
        self._variants: Json = getattr(adapter, "variants", {})
        self._be(next(iter(self._variants), None))
        self._env: Environment | None = None

    def answer(self, line: bytes) -> str | None:
        """Return the answer to one message, None to ``stop``."""
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
        """End the last environment; return False if a thread does not end."""
        env, self._env = self._env, None
        return env is None or env.close()

    def _hello(self, message: Json) -> str:
        if message["protocol"] != _PROTOCOL:
            return _error(None, "unsupported", f"this adapter speaks protocol {_PROTOCOL}, not {message['protocol']}")
        if (variant := message.get("variant")) is not None:
            if variant not in self._variants:
                there = ", ".join(self._variants) or "none"
                return _error(None, "unsupported", f"there is no variant {variant!r}; this adapter has {there}")
            self._be(variant)
        who = {"implementation": self._adapter.implementation, "profile": self._profile}
        variants = {"variants": list(self._variants)} if self._variants else {}
        return _encode({"ok": True, "protocol": _PROTOCOL} | who | variants)

    def _be(self, variant: str | None) -> None:
        """Take the profile of *variant*, the adapter's own where that is None."""
        own = self._adapter.profile
        changed: Json = {} if variant is None else self._variants[variant]
        policies: Json = {**own.get("policies", {}), **changed.get("policies", {})}
        self._profile: Json = {**own, **changed, **({"policies": policies} if policies else {})}
        self._variant = variant
        self._capabilities = frozenset(self._profile["capabilities"])

    def _reset(self, options: Json) -> str:
        _check("options", options, _OPTIONS, "reset")
        settled = self.close()
        env = Environment(options, self._adapter.patience, self.threads)
        env.variant = self._variant
        asyncio.set_event_loop(env.loop)
        for option, capability in _OPTION_CAPABILITIES.items():
            asked = options.get(option)
            if asked and asked != "auto" and capability not in self._capabilities:
                env.refuse("unsupported", f"option {option}: capability {capability!r} is not declared")
        for limit, capability in _LIMIT_CAPABILITIES.items():
            if limit in options.get("limits", {}) and capability not in self._capabilities:
                env.refuse("unsupported", f"option limits.{limit}: capability {capability!r} is not declared")
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
                f"a stimulus came before a successful reset; expected: reset first; see {_SEE}#reset"
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
        elif kind in _METHODS:
            method = _METHODS[kind]
            if getattr(type(self._adapter), method) is getattr(Adapter, method):
                env.refuse("unsupported", f"{kind}: {type(self._adapter).__name__} has no such method")
            else:
                self._call(env, getattr(self._adapter, method), stimulus)
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
        """Put the clocks of the ``time`` module on the virtual one; return the function that undoes it."""

        def now() -> float:
            return 0.0 if self._env is None else self._env.loop.now

        def deadline_clock() -> float:
            """The clock for waits that compute the rest of a timeout by themselves."""
            return now() if self.threads.in_job() else _monotonic()

        def sleep(seconds: float) -> None:
            if self._env is None or not self.threads.in_job():
                _sleep(seconds)
            else:
                self.threads.wait_at(self.threads.gate(), seconds)

        virtual: dict[tuple[Any, str], Callable[..., Any]] = {
            (time, "time"): lambda: EPOCH + now(),
            (time, "time_ns"): lambda: int((EPOCH + now()) * 1e9),
            (time, "monotonic"): now,
            (time, "monotonic_ns"): lambda: int(now() * 1e9),
            (time, "sleep"): sleep,
            (threading, "_time"): deadline_clock,
            (queue, "time"): deadline_clock,
        }
        real = {place: getattr(*place) for place in virtual}
        for (module, name), function in virtual.items():
            setattr(module, name, function)

        def undo() -> None:
            for (module, name), function in real.items():
                setattr(module, name, function)

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
    """The permitted content of a field, in words and as a check; ``required`` unless it may be absent (or null)."""

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
    "hello": {"protocol": _NUMBER.must(), "variant": _TEXT},
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
    "clock": "clock",
    "deafTools": "deaf",
    "deafModel": "deaf",
    "observer": "observer",
    "stateDir": "persistence",
}

_LIMIT_CAPABILITIES: Final = {"maxRounds": "limits", "contextWindow": "context-limit"}

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
    "approve": {"callId": _TEXT.must()},
    "deny": {"callId": _TEXT.must(), "message": _TEXT},
    "client-result": {"callId": _TEXT.must(), "output": _ANY},
    "compact": {},
    "advance": {"seconds": _SECONDS.must()},
    "client": {"clientId": _TEXT.must(), "action": _one_of("join", "leave").must(), "cursor": _TEXT},
    "store-fail": {"times": _NUMBER.must()},
    "together": {"stimuli": _LIST.must()},
}

_ADDRESSEES: Final[dict[str, type[_Awaited]]] = {
    **dict.fromkeys(("model-output", "model-stop", "model-fail"), ModelRequest),
    **dict.fromkeys(("approve", "deny", "client-result"), Decision),
}
"""Stimulus → what takes it; a run of a tool takes all others that answer."""

_ITEMS: Final[dict[str, dict[str, _Field]]] = {
    "assistant": {"text": _TEXT.must()},
    "reasoning": {"text": _TEXT.must()},
    "tool-call": {"callId": _TEXT.must(), "tool": _TEXT.must(), "arguments": _ANY},
}

_ALONE: Final = ("together", "compact", "advance", "client", "store-fail")
"""Stimuli that do not come together with others."""

_METHODS: Final = {
    **{kind: kind for kind in ("user", "abort", "compact", "client")},
    "store-fail": "store_fail",
}
"""Stimulus → the method of the adapter that takes it."""

_KIND_CAPABILITIES: Final = {
    "abort": "abort",
    "model-fail": "model-failure",
    "tool-return": "tools",
    "tool-fail": "tool-failure",
    "approve": "approval",
    "deny": "approval",
    "client-result": "client-tools",
    "compact": "compaction",
    "advance": "clock",
    "client": "clients",
    "store-fail": "store-faults",
    "together": "together",
}


def _needs(stimulus: Json) -> Iterator[str]:
    """Yield the capabilities that *stimulus* needs."""
    capability = _KIND_CAPABILITIES.get(stimulus["kind"])
    if capability is not None:
        yield capability
    if stimulus.get("sessionId") is not None:
        yield "sessions"
    if stimulus.get("agentId") is not None:
        yield "sub-agents"
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
    if not isinstance(kind, str) or kind not in _STIMULI or (inner and kind in _ALONE):
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
        if field not in fields and field not in (tag, "sessionId", "agentId"):
            known = ", ".join(fields) or "none"
            raise _BadMessageError(
                f"{name} has no field {field}: {_excerpt(value)}; it has {known}; see {_SEE}#{section}"
            )
    for field in ("sessionId", "agentId"):
        held = value.get(field)
        if held is not None and not isinstance(held, str):
            raise _BadMessageError(f"{field} of {name} is {_excerpt(held)}; expected a string; see {_SEE}#{section}")


def _excerpt(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}… ({len(text):,} characters)"


def _seq_of(line: bytes) -> int:
    """Return the seq of a line that may be no message, -1 where it has none."""
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
