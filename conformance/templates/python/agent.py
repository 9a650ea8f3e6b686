"""A toy agent, to be replaced by yours: it sends a request to its model, runs the called tools, and sends the next."""

import asyncio
import json


class ModelError(Exception):
    """The model cannot be reached, or breaks off."""


class ToolError(Exception):
    """A tool fails; the model gets the reason."""


class Agent:
    """One conversation. It reports ``text``, ``call``, ``result`` and, once per run, ``end``."""

    def __init__(self, ask, execute, tell):
        """``ask(history)`` yields the model's items, ``execute(call, arguments)`` returns a tool's output."""
        self.ask, self.execute, self.tell = ask, execute, tell
        self.history = []
        self.busy = False

    async def run(self, text):
        """Answer a message of the user. There is one run at a time."""
        self.busy = True
        self.open = []  # calls without a result
        self.history.append({"role": "user", "text": text})
        try:
            while await self.respond():
                while self.open:
                    await self.attempt(self.open[0])
            reason = "completed"
        except asyncio.CancelledError:
            reason = "interrupted"
        except ModelError:
            reason = "error"
        while self.open:  # a call without a result would spoil every later request
            self.answer(self.open[0], f"not executed: the run was {reason}", "skipped")
        self.busy = False
        self.tell("end", reason=reason)

    async def respond(self):
        """Send one request to the model; return whether it called a tool."""
        async for item in self.ask(self.history):
            self.history.append({"role": "assistant"} | item)
            if "tool" in item:
                self.open.append(item)
                self.tell("call", **item)
            else:
                self.tell("text", **item)
        return bool(self.open)

    async def attempt(self, call):
        try:
            output, status = await self.execute(call, json.loads(call["arguments"])), "ok"
        except (ValueError, ToolError) as error:
            output, status = str(error), "failed"
        self.answer(call, output, status)

    def answer(self, call, output, status):
        self.open.remove(call)
        self.history.append({"role": "tool", "id": call["id"], "text": output, "failed": status != "ok"})
        self.tell("result", id=call["id"], output=output, status=status)
