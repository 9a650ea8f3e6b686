"""A small agent on the Python kit whose tool ``delegate`` starts a sub-agent, with a run and a history of its own."""

import asyncio
import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[3] / "adapters" / "kit"))

from turncheck_kit import Adapter, ModelFailure, serve


class DelegatingRuntime(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "delegating-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": ["tools", "abort", "model-failure", "sub-agents", "model-input"],
        "policies": {"busy": "reject", "tools": "serial", "retries": 0, "subAgents": "awaited"},
    }

    def reset(self, env):
        self.env, self.history, self.open, self.count = env, [], {}, 0

    def user(self, message):
        if None in self.open:
            return self.env.refuse("rejected", "busy")
        agent = Agent(self, None, None, self.history)
        self.open[None] = self.env.start(agent.guarded(message["id"], message["text"]))
        return None

    def abort(self, stimulus):
        task = self.open.get(stimulus.get("agentId"))
        if task is not None:
            task.cancel()

    async def delegate(self, call):
        """Run a sub-agent to its end; return the fields of the result of its call."""
        self.count += 1
        agent = Agent(self, f"agent{self.count}", call["callId"], [])
        self.open[agent.name] = task = self.env.start(agent.guarded(f"task{self.count}", call["arguments"]["task"]))
        try:
            reason = await asyncio.shield(task)
        except asyncio.CancelledError:  # of the agent that called it
            task.cancel()
            await task
            raise
        said = agent.history[-1].get("text") if reason == "completed" else f"it ended: {reason}"
        return {"output": said, "isError": None if reason == "completed" else True}


class Agent:
    def __init__(self, session, name, parent, history):
        self.session, self.env, self.name, self.parent, self.history = session, session.env, name, parent, history
        self.unanswered = []

    def log(self, kind, /, **fields):
        self.env.log({"type": kind, **fields, "agentId": self.name, "parentCallId": self.parent})

    async def guarded(self, name, text):
        """Run to the end; return how it ended."""
        self.log("user-message", id=name, text=text)
        self.history.append({"role": "user", "text": text, "ids": [name]})
        try:
            await self.answer()
            reason = "completed"
        except asyncio.CancelledError:
            reason = "interrupted"
        except ModelFailure:
            reason = "error"
        for call in [*self.unanswered]:
            self.result(call, output="not executed", isError=True, synthetic=True)
        del self.session.open[self.name]
        self.log("run-stop", reason=reason)
        return reason

    async def answer(self):
        while await self.ask():
            for call in [*self.unanswered]:
                if call["tool"] == "delegate" and self.name is None:
                    fields = await self.session.delegate(call)
                else:
                    one = self.env.tool(call["callId"], call["tool"], call["arguments"], agent=self.name)
                    fields = {"output": await one}
                self.result(call, **fields)

    def result(self, call, **fields):
        self.unanswered.remove(call)
        self.log("tool-result", callId=call["callId"], **fields)
        shown = {"text": fields["output"], "isError": fields.get("isError")}
        self.history.append({"role": "tool", "callId": call["callId"], **shown})

    async def ask(self):
        async with self.env.model(self.history, agent=self.name, parent=self.parent) as request:
            async for item in request:
                self.log("agent-output", responseId=request.id, **item)
                if item["kind"] == "tool-call":
                    self.unanswered.append(item)
                shown = {name: item[name] for name in ("text", "callId", "tool", "arguments") if name in item}
                self.history.append({"role": "assistant", **shown})
        return self.unanswered


if __name__ == "__main__":
    serve(DelegatingRuntime())
