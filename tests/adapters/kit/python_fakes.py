"""A runtime that does the action named by the user's message; with the argument ``sync``, a synchronous one."""

import asyncio
import concurrent.futures
import os
import queue
import select
import sys
import threading
import time
from typing import ClassVar

from turncheck_kit import Adapter, Interrupted, ModelFailure, SyncAdapter, ToolFailure, raw_arguments, serve

WORK = 0.05  # real seconds that a thread or a child takes: long after the loop has nothing else to do

CAPABILITIES = ["abort", "tools", "tool-failure", "model-failure", "reasoning", "clock", "deaf", "together", "observer"]
CAPABILITIES += ["approval", "client-tools", "compaction"]


def work():
    select.select([], [], [], WORK)
    return "worked"


class Fakes(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "fakes", "version": "1", "language": "python"}
    profile: ClassVar = {"roles": ["runtime"], "capabilities": CAPABILITIES}
    patience = 0.5

    async def reset(self, env):
        self.env = env
        self.running = []

    async def user(self, stimulus):
        self.running.append(asyncio.current_task())
        await getattr(self, stimulus["text"])()

    async def abort(self, stimulus):
        for task in self.running:
            task.cancel()

    def say(self, what):
        self.env.log({"type": "native", "said": what})

    # What it may be told to do

    async def nothing(self):
        pass

    async def timer(self):
        await asyncio.sleep(5)
        self.say("rang")

    async def three_timers(self):
        for seconds in (3, 1, 2):
            asyncio.get_running_loop().call_later(seconds, self.say, seconds)

    async def chain_of_timers(self):
        for _ in range(3):
            await asyncio.sleep(1)
            self.say(asyncio.get_running_loop().time())

    async def timer_beside_the_model(self):
        asyncio.get_running_loop().call_later(5, self.say, "rang")
        await self.model()

    async def housekeeping(self):
        async def beat():
            while True:
                await asyncio.sleep(30)

        self.beating = asyncio.get_running_loop().create_task(beat())
        self.say("beats")

    async def executor(self):
        self.say(await asyncio.get_running_loop().run_in_executor(None, work))

    async def to_thread(self):
        self.say(await asyncio.to_thread(work))

    async def many_jobs(self):
        self.say(await asyncio.gather(*(asyncio.to_thread(work) for _ in range(12))))

    async def own_pool(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.say(await asyncio.wrap_future(self.pool.submit(work)))

    async def cancelled_job(self):
        job = asyncio.get_running_loop().run_in_executor(None, work)
        job.cancel()
        self.say("cancelled")

    async def anyio_thread(self):
        import anyio.to_thread

        self.say(await anyio.to_thread.run_sync(work))
        self.say("and idle")

    async def anyio_abandoned(self):
        import anyio

        with anyio.move_on_after(0):
            await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        self.say("abandoned")

    async def foreign_thread(self):
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def run():
            work()
            loop.call_soon_threadsafe(done.set)

        threading.Thread(target=run).start()
        await done.wait()
        self.say("woken")

    async def silent_thread(self):
        threading.Thread(target=work).start()

    async def endless_thread(self):
        threading.Thread(target=select.select, args=([], [], [])).start()

    async def child(self):
        code = f"import time; time.sleep({WORK}); print('out')"
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
        self.say((await child.communicate())[0].decode().strip())

    async def silent_child(self):
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", f"import time; time.sleep({WORK})")
        self.say(await child.wait())

    async def endless_child(self):
        self.child_process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=-1)
        await self.child_process.wait()

    async def sockets(self):
        async def echo(reader, writer):
            writer.write(await reader.readline())
            await writer.drain()

        self.server = await asyncio.start_server(echo, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*self.server.sockets[0].getsockname())
        writer.write(b"echoed\n")
        self.say((await reader.readline()).decode().strip())
        await reader.readline()

    async def spin(self):
        while True:
            await asyncio.sleep(0)

    async def loop_for_ever(self):
        while True:
            pass

    async def long_way(self):
        for _ in range(5000):
            await asyncio.sleep(0)
        self.say("there")

    async def ignores_cancellation(self):
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.say("no")

    async def cleans_up(self):
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)
            print("cleaned up")

    async def rubbish(self):
        print("rubbish")
        os.write(1, b"rubbish\n")
        os.system("echo rubbish")
        self.say(sys.stdin.read())

    async def raises(self):
        raise LookupError("broken")

    async def raises_later(self):
        self.env.start(self.after_the_timer())

    async def after_the_timer(self):
        await asyncio.sleep(5)
        raise LookupError("broken later")

    async def logs_no_json(self):
        self.say(object())

    async def logs_nan(self):
        self.say({"x": [float("nan"), 1]})

    async def logs_what_it_changes(self):
        what = ["before"]
        self.say(what)
        what.append("after")

    async def logs_surrogate(self):
        self.say("\ud83d")

    async def clocks(self):
        self.say(
            [asyncio.get_running_loop().time(), time.time(), time.monotonic(), time.time_ns(), time.monotonic_ns()]
        )

    async def refuses(self):
        self.env.refuse("rejected", "busy")

    async def refuses_badly(self):
        self.env.refuse("nope", "busy")

    async def blocks_the_loop(self):
        self.env.tool("c1", "read", {}).wait()

    async def observes(self):
        try:
            await self.env.observe()
        except RuntimeError as error:
            self.say(str(error))

    async def holds_back(self):
        self.env.at_quiet(lambda: self.say("held"))
        self.say("first")

    async def model(self):
        async with self.env.model([{"role": "user", "text": "model"}]) as request:
            try:
                async for item in request:
                    self.say(item.get("text") or raw_arguments(item))
                self.say([request.reason, request.usage])
            except ModelFailure as failure:
                self.say(failure.kind)

    async def model_without_tools(self):
        async with self.env.model([], tools=False):
            await asyncio.Event().wait()

    async def model_unseen(self):
        async with self.env.model(None):
            await asyncio.Event().wait()

    async def leaves_early(self):
        async with self.env.model([]) as request:
            async for _ in request:
                break

    async def tool(self):
        execution = self.env.tool("c1", "read", {"path": "x"})
        try:
            self.say([await execution, execution.data, execution.metadata])
        except ToolFailure as failure:
            self.say(str(failure))

    async def two_tools(self):
        self.say(await asyncio.gather(self.one("a"), self.one("b")))

    async def one(self, which):
        return await self.env.tool("c1", "read", which)

    async def tool_in_a_thread(self):
        self.say(await asyncio.to_thread(lambda: self.env.tool("c1", "read", {}).wait()))

    async def approval(self):
        self.say(await self.env.decision("c1"))

    async def two_decisions(self):
        asked = [self.env.decision("c1"), self.env.decision("c1", "client-tool")]
        self.say([(await one)["kind"] for one in asked])

    async def asks_in_vain(self):
        self.env.decision("c1").close()

    async def decision_in_a_thread(self):
        self.say(await asyncio.to_thread(lambda: self.env.decision("c1").wait()["kind"]))

    async def summary(self):
        async with self.env.model([], purpose="compaction", tools=False):
            await asyncio.Event().wait()

    async def asks_for_something_else(self):
        self.env.model([], purpose="title")

    async def asks_badly(self):
        self.env.decision("c1", "vote")


class SyncFakes(SyncAdapter):  # type: ignore[misc]  # as above
    implementation, profile, patience = Fakes.implementation, Fakes.profile, Fakes.patience

    def reset(self, env):
        self.env = env

    def user(self, stimulus):
        getattr(self, stimulus["text"])()

    def abort(self, stimulus):
        self.env.interrupt()

    def say(self, what):
        self.env.log({"type": "native", "said": what})

    def talk(self):
        try:
            with self.env.model([]) as request:
                for item in request:
                    self.say(item["text"])
            self.say(self.env.tool("c1", "read", {}).wait())
        except Interrupted:
            self.say("interrupted")
        except (ModelFailure, ToolFailure) as failure:
            self.say(str(failure))

    def sleeps(self):
        time.sleep(60)
        self.say(time.monotonic())

    def catches_all(self):
        try:
            self.env.tool("c1", "read", {}).wait()
        except Exception as error:  # noqa: BLE001 - a runtime that takes everything for an error
            self.say(repr(error))

    def raises(self):
        raise LookupError("broken")

    def computes(self):
        work()
        self.say("computed")

    def read(self, call):
        return self.env.tool(call, "read", {}).wait()

    def jobs(self, threads=2, calls=("c1", "c2"), wait=lambda jobs: None):
        """Leave a pool when its jobs, each a call, have returned; *wait* for them first."""
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            jobs = [pool.submit(self.read, call) for call in calls]
            wait(jobs)
        self.say([job.result() for job in jobs])

    def map(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.say(list(pool.map(self.read, ["c1", "c2"])))

    def as_completed(self):
        self.jobs(wait=lambda jobs: list(concurrent.futures.as_completed(jobs)))

    def wait(self):
        self.jobs(wait=concurrent.futures.wait)

    def result_with_a_timeout(self):
        self.jobs(wait=lambda jobs: jobs[0].result(60))

    def timed_out(self):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            try:
                pool.submit(threading.Event().wait, 90).result(60)
            except concurrent.futures.TimeoutError:
                self.say(time.monotonic())
        self.say(time.monotonic())

    def queued(self):
        self.jobs(threads=1)

    def cancelled_in_the_queue(self):
        pool = concurrent.futures.ThreadPoolExecutor(1)
        jobs = [pool.submit(self.read, call) for call in ("c1", "c2")]
        pool.shutdown(wait=False, cancel_futures=True)
        self.say([jobs[0].result(), jobs[1].cancelled()])

    def own_threads(self):
        threads = [threading.Thread(target=self.read, args=(call,)) for call in ("c1", "c2")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.say("joined")

    def work_queue(self):
        calls: queue.Queue[str | None] = queue.Queue()
        outputs: queue.Queue[str] = queue.Queue()

        def work():
            while (call := calls.get()) is not None:
                outputs.put(self.read(call))

        threading.Thread(target=work).start()
        for call in ("c1", "c2"):
            calls.put(call)
        self.say([outputs.get(), outputs.get(timeout=60)])
        calls.put(None)

    def lock_that_another_holds(self):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()

    def observes(self):
        try:
            self.env.observe_now()
            self.say("observed")
        except RuntimeError as error:
            self.say(str(error))


if __name__ == "__main__":
    serve(SyncFakes() if "sync" in sys.argv else Fakes())
