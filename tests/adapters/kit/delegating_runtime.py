"""A small agent on the Python kit whose tool ``delegate`` starts a sub-agent, with a run and a history of its own.

A sub-agent may start one more, and takes messages while it runs: its next request shows them.
"""

import asyncio
import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[3] / "adapters" / "kit"))

from turncheck_kit import Adapter, ModelFailure, serve

DEPTH = 2


class DelegatingRuntime(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "delegating-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": ["tools", "abort", "model-failure", "sub-agents", "model-input"],
        "policies": {
            "busy": "reject",
            "tools": "serial",
            "retries": 0,
            "subAgents": "awaited",
            "subAgentDepth": DEPTH,
            "subAgentMessages": "taken",
        },
    }

    def reset(self, env):
        self.env, self.history, self.open, self.count = env, [], {}, 0

    def user(self, message):
        if message.get("agentId"):
            return self.tell(message)
        if None in self.open:
            return self.env.refuse("rejected", "busy")
        self.begin(Agent(self, None, None, self.history, 0), message["id"], message["text"])
        return None

    def tell(self, message):
        """Take a message for a sub-agent that runs."""
        agent = self.open.get(message["agentId"])
        if agent is None:
            self.env.refuse("not-awaited", "there is no such sub-agent, or none any more")
        else:
            agent.take(message["id"], message["text"])
            agent.unread = True

    def abort(self, stimulus):
        agent = self.open.get(stimulus.get("agentId"))
        if agent is not None:
            agent.task.cancel()

    def begin(self, agent, name, text):
        self.open[agent.name] = agent
        agent.task = self.env.start(agent.guarded(name, text))
        return agent.task

    async def delegate(self, call, depth):
        """Run a sub-agent to its end; return the fields of the result of its call."""
        self.count += 1
        agent = Agent(self, f"agent{self.count}", call["callId"], [], depth)
        task = self.begin(agent, f"task{self.count}", call["arguments"]["task"])
        try:
            reason = await asyncio.shield(task)
        except asyncio.CancelledError:  # of the agent that called it
            task.cancel()
            await task
            raise
        said = agent.history[-1].get("text") if reason == "completed" else f"it ended: {reason}"
        return {"output": said, "isError": None if reason == "completed" else True}


class Agent:
    def __init__(self, session, name, parent, history, depth):
        self.session, self.env, self.name, self.parent, self.history = session, session.env, name, parent, history
        self.depth, self.unanswered, self.unread = depth, [], False

    def take(self, name, text):
        """Log a message, and show it to the model from the next request on."""
        self.log("user-message", id=name, text=text)
        self.history.append({"role": "user", "text": text, "ids": [name]})

    def log(self, kind, /, **fields):
        self.env.log({"type": kind, **fields, "agentId": self.name, "parentCallId": self.parent})

    async def guarded(self, name, text):
        """Run to the end; return how it ended."""
        self.take(name, text)
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
        while await self.ask() or self.unread:
            for call in [*self.unanswered]:
                if call["tool"] == "delegate" and self.depth < DEPTH:
                    fields = await self.session.delegate(call, self.depth + 1)
                elif call["tool"] == "delegate":
                    fields = {"output": "there is no such tool here", "isError": True}
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
        self.unread = False
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
