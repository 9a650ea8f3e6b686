"""The null runtime: a small conforming agent on the Python kit, without a framework beneath it.

It is the positive control of every law on runtimes, and the yardstick of the kit's speed. Follow-ups wait for the next
run, steers land after the batch of tools, an abort ends the run at once and answers what it skipped.
"""

import asyncio
import json
import sys
from collections import deque
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[3] / "adapters" / "kit"))

from turncheck_kit import Adapter, ModelFailure, ToolFailure, serve

BACKOFF = 1.0  # virtual seconds before the first retry; doubled for each one that follows


class NullRuntime(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "null-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": [
            *("steer", "follow-up", "abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input"),
            *("raw-arguments", "call-ids", "sessions", "together", "limits", "observer", "deaf", "clock", "serial"),
            "terminal-events",
        ],
        "policies": {
            "busy": "followUp",
            "tools": "parallel",
            "steerLands": "after-batch",
            "abortEnds": "at-once",
            "retries": 2,
            "backoff": {"base": BACKOFF},
            "whileActive": "followUp",
            "queueAfterInterrupted": "promote",
            "queueAfterError": "promote",
            "steerHandover": "all",
            "followUpHandover": "one",
        },
    }

    def reset(self, env):
        self.env = env
        self.sessions = {}

    def user(self, stimulus):
        self._session(stimulus).accept(stimulus)

    def abort(self, stimulus):
        self._session(stimulus).abort()

    def _session(self, stimulus):
        name = stimulus.get("sessionId")
        if name not in self.sessions:
            self.sessions[name] = Session(self.env, name)
        return self.sessions[name]


class Session:
    """One conversation: the model's history, the waiting messages, and the active run (or None)."""

    def __init__(self, env, name):
        self.env, self.name = env, name
        self.history = []
        self.steers: deque[Any] = deque()
        self.followups: deque[Any] = deque()
        self.run: Any = None
        self.policies = NullRuntime.profile["policies"] | env.options.get("policies", {})

    def accept(self, message):
        delivery = message.get("delivery") or self.policies["busy"]
        if self.run and delivery == "reject":
            self.env.refuse("rejected", "agent is busy")
            return
        self.log("user-message", id=message["id"], text=message["text"], delivery=message.get("delivery"))
        if not self.run:
            self.start(message)
        else:
            (self.steers if delivery == "steer" else self.followups).append(message)

    def abort(self):
        if self.run:
            run = self.run
            self.stop("interrupted")
            run.cancel()

    def start(self, root):
        self.read(root)
        self.run = Run(self)
        self.run.task = self.env.start(self.run.rounds())

    def stop(self, reason, detail=None):
        """Close the run: answer its open calls, keep its unread steers, take a follow-up."""
        for call in list(self.run.open):
            self.result(call, f"not executed: {detail or reason}", isError=True, synthetic=True)
        self.take_steers()
        self.run = None
        self.log("run-stop", reason=reason, detail=detail)
        policy = {"interrupted": "queueAfterInterrupted", "error": "queueAfterError"}.get(reason)
        after = self.policies[policy] if policy else "promote"
        if after == "drop":
            self.followups.clear()
        if after == "promote" and self.followups:
            self.start(self.followups.popleft())

    def take_steers(self):
        """Show the model the steers that arrived; return whether there were any."""
        taken = bool(self.steers)
        while self.steers:
            self.read(self.steers.popleft())
        return taken

    def read(self, message):
        self.history.append({"role": "user", "text": message["text"], "ids": [message["id"]]})

    def result(self, call, output, **flags):
        del self.run.open[call]
        text = output if isinstance(output, str) else json.dumps(output)
        error = {"isError": True} if flags.get("isError") else {}
        self.history.append({"role": "tool", "callId": call, "text": text} | error)
        self.log("tool-result", callId=call, output=output, **flags)

    def log(self, kind, /, **fields):
        self.env.log({"type": kind, **fields, "sessionId": self.name})


class Run:
    """One run of the agent: rounds of a model request and its calls."""

    def __init__(self, session):
        self.session, self.env = session, session.env
        self.open = {}  # call id -> the call's item, until it has its result
        self.called = set()
        self.tasks = []
        self.task = None

    def cancel(self):
        for task in [self.task, *self.tasks]:
            task.cancel()

    @property
    def over(self):
        """True if the session went on without this run: answers of a deaf model or tool are then ignored."""
        return self.session.run is not self

    async def rounds(self):
        requests, limit = 0, self.env.options.get("limits", {}).get("maxRounds")
        failures = 0
        while limit is None or requests < limit:
            requests += 1
            try:
                await self.ask()
                failures = 0
            except ModelFailure as failure:
                failures += 1
                if self.over:
                    return
                if failure.kind != "retryable" or self.open or failures > self.session.policies["retries"]:
                    self.session.stop("error", str(failure))
                    return
                await asyncio.sleep(BACKOFF * 2 ** (failures - 1))
                continue
            if self.over:
                return
            called = bool(self.open)
            await self.execute()
            if self.over:
                return
            if not (self.session.take_steers() or called):
                self.session.stop("completed")
                return
        self.session.stop("error", f"the bound of {limit} rounds is reached")

    async def ask(self):
        async with self.env.model(self.session.history, session=self.session.name) as request:
            async for item in request:
                if self.over:
                    return
                await self.output(dict(item), request.id)

    async def output(self, item, request):
        history = self.session.history
        if item["kind"] == "tool-call":
            call = item["callId"]
            while item["callId"] in self.called:  # the model may repeat an id, a log may not
                item["callId"] += f"~{len(self.called)}"
            call = item["callId"]
            self.called.add(call)
            self.open[call] = item
            history.append({"role": "assistant", "callId": call, "tool": item["tool"]})
        elif item["kind"] == "assistant":
            history.append({"role": "assistant", "text": item["text"]})
        self.session.log("agent-output", responseId=request, **item)
        await self.observed()

    async def execute(self):
        """Run the open calls, in parallel or one after the other; return when each has its result."""
        for call, item in list(self.open.items()):
            if self.over:
                return
            self.tasks.append(self.env.start(self.call(call, item)))
            if self.session.policies["tools"] == "serial":
                await asyncio.gather(self.tasks.pop(), return_exceptions=True)
        while self.tasks and not self.over:
            await asyncio.gather(self.tasks.pop(), return_exceptions=True)

    async def call(self, call, item):
        arguments, problem = item.get("arguments"), None
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                problem = "the arguments are no JSON"
        tools = self.env.options.get("tools")
        if tools and item["tool"] not in [tool["name"] for tool in tools]:
            problem = f"no such tool: {item['tool']}"
        output = problem
        if problem is None:
            try:
                output = await self.env.tool(call, item["tool"], arguments, session=self.session.name)
            except ToolFailure as failure:
                output = problem = str(failure)
        if not self.over:
            self.session.result(call, output, **({"isError": True} if problem else {}))
            await self.observed()

    async def observed(self):
        """Call the listener, and ignore its error."""
        if self.env.options.get("observer"):
            try:
                await self.env.observe()
            except RuntimeError as error:
                print(error, file=sys.stderr)


if __name__ == "__main__":
    serve(NullRuntime())
