"""The null runtime, slowed: before each request and each item of the model, a thread sleeps."""

import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "adapters" / "kit"))

from null_runtime import NullRuntime, Run, Session, serve

SECONDS = 0.003


async def take_time():
    await asyncio.get_running_loop().run_in_executor(None, time.sleep, SECONDS)


class SlowRun(Run):  # type: ignore[misc]  # null_runtime is found by path
    async def ask(self):
        await take_time()
        if not self.over:
            await super().ask()

    async def output(self, item, request):
        await take_time()
        if not self.over:
            await super().output(item, request)


class SlowSession(Session):  # type: ignore[misc]  # as above
    def start(self, root):
        self.read(root)
        self.run = SlowRun(self)
        self.run.task = self.env.start(self.run.rounds())


class SlowRuntime(NullRuntime):  # type: ignore[misc]  # as above
    def _session(self, stimulus):
        name = stimulus.get("sessionId")
        return self.sessions.setdefault(name, SlowSession(self.env, name))


if __name__ == "__main__":
    serve(SlowRuntime())
