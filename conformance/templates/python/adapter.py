"""The adapter: turncheck plays the user, the model and the tools of the agent in agent.py, and reads its events."""

import asyncio
import json

from agent import Agent, ModelError, ToolError
from turncheck.adapters.kit.turncheck_kit import Adapter, ModelFailure, ToolFailure, raw_arguments


class AgentAdapter(Adapter):
    """Connects turncheck and the agent."""

    implementation = {"name": "toy-agent", "version": "1.0", "language": "python"}
    profile = {  # the agent's claims: one that does not hold is a failure; laws on others are skipped
        "roles": ["runtime"],
        "capabilities": ["abort", "tools", "tool-failure", "model-failure", "model-input", "raw-arguments"],
        "policies": {"busy": "reject", "tools": "serial", "abortEnds": "at-once", "retries": 0},
    }

    def reset(self, env):
        """Begin anew, with a new agent that knows nothing of the previous one."""
        self.env, self.task, self.response = env, None, None
        self.agent = Agent(self.ask, self.execute, self.tell)

    async def user(self, stimulus):
        """The user sends a message."""
        if self.agent.busy:
            self.env.refuse("rejected", "the agent is busy")
            return
        self.env.log({"type": "user-message", "id": stimulus["id"], "text": stimulus["text"]})
        self.task = asyncio.current_task()
        await self.agent.run(stimulus["text"])

    async def abort(self, stimulus):
        """The user presses Stop."""
        if self.agent.busy:
            self.task.cancel()

    async def ask(self, history):
        """The agent's model: turncheck's items, in the form that the agent expects."""
        try:
            async with self.env.model([self.shown(entry) for entry in history]) as request:
                self.response = request.id
                async for item in request:
                    if item["kind"] == "tool-call":
                        yield {"id": item["callId"], "tool": item["tool"], "arguments": raw_arguments(item)}
                    elif item["kind"] == "assistant":
                        yield {"text": item["text"]}
        except ModelFailure as failure:
            raise ModelError(str(failure)) from failure

    async def execute(self, call, arguments):
        """The agent's tools: they return, or fail, when turncheck says so."""
        try:
            return await self.env.tool(call["id"], call["tool"], arguments)
        except ToolFailure as failure:
            raise ToolError(str(failure)) from failure

    def shown(self, entry):
        """Convert an entry of the agent's history to the protocol's form."""
        if entry["role"] == "tool":
            text = entry["text"] if isinstance(entry["text"], str) else json.dumps(entry["text"])
            return {"role": "tool", "callId": entry["id"], "text": text} | (
                {"isError": True} if entry["failed"] else {}
            )
        if "tool" in entry:
            return {"role": "assistant", "callId": entry["id"], "tool": entry["tool"]}
        return {"role": entry["role"], "text": entry["text"]}

    def tell(self, kind, **fields):
        """Log the agent's news as events (docs/log-format.md)."""
        if kind == "text":
            event = {"type": "agent-output", "kind": "assistant", "responseId": self.response, "text": fields["text"]}
        elif kind == "call":
            call = {"callId": fields["id"], "tool": fields["tool"], "arguments": fields["arguments"]}
            event = {"type": "agent-output", "kind": "tool-call", "responseId": self.response} | call
        elif kind == "result":
            status = {"ok": {}, "failed": {"isError": True}, "skipped": {"isError": True, "synthetic": True}}
            event = {"type": "tool-result", "callId": fields["id"], "output": fields["output"]} | status[
                fields["status"]
            ]
        else:
            event = {"type": "run-stop", "reason": fields["reason"]}
        self.env.log(event)
