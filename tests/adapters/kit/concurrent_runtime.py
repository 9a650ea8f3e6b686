"""A small agent on the Python kit that runs each message at once, beside the runs that are open.

A run works on what had ended when it began, and adds its own part to the session's history at its end: no update is
lost. ``last-writer-wins``, its variant, writes back the history that it began with instead.
"""

import sys
from itertools import count
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[3] / "adapters" / "kit"))

from turncheck_kit import Adapter, serve


class ConcurrentRuntime(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "concurrent-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": ["tools", "model-input", "terminal-events"],
        "policies": {"busy": "concurrent", "tools": "serial", "retries": 0},
    }
    variants: ClassVar[dict[str, dict[str, object]]] = {"merges": {}, "last-writer-wins": {}}

    def reset(self, env):
        self.env, self.history, self.runs = env, [], count(1)

    def user(self, message):
        run = Run(self, f"run{next(self.runs)}")
        run.log("user-message", id=message["id"], text=message["text"])
        self.env.start(run.answer(message))


class Run:
    def __init__(self, session, name):
        self.session, self.env, self.name = session, session.env, name
        self.before = list(session.history)
        self.own = []

    def log(self, kind, /, **fields):
        self.env.log({"type": kind, **fields, "runId": self.name})

    async def answer(self, message):
        self.own.append({"role": "user", "text": message["text"], "ids": [message["id"]]})
        while calls := await self.ask():
            for call in calls:
                output = await self.env.tool(call["callId"], call["tool"], call["arguments"])
                self.own.append({"role": "tool", "callId": call["callId"], "text": output})
                self.log("tool-result", callId=call["callId"], output=output)
        if self.env.variant == "last-writer-wins":
            self.session.history = [*self.before, *self.own]
        else:
            self.session.history += self.own
        self.log("run-stop", reason="completed")

    async def ask(self):
        calls = []
        async with self.env.model([*self.before, *self.own], run=self.name) as request:
            async for item in request:
                self.log("agent-output", responseId=request.id, **item)
                if item["kind"] == "tool-call":
                    calls.append(item)
                shown = {name: item[name] for name in ("text", "callId", "tool", "arguments") if name in item}
                self.own += [{"role": "assistant", **shown}] if item["kind"] != "reasoning" else []
        return calls


if __name__ == "__main__":
    serve(ConcurrentRuntime())
