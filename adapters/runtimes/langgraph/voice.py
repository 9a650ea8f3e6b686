# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""The log of what an agent's events tell: of the session's own agent, and of each that is called in a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from scripted import texts

if TYPE_CHECKING:
    from turncheck_kit import Environment


class Voice:
    """One agent of a session. A sub-agent has a name, the call that started it, and a depth.

    Its stream has the events of agents that it calls too: they are told by their own.
    """

    def __init__(
        self, env: Environment, session: str | None, name: str | None = None, call: str | None = None, depth: int = 0
    ) -> None:
        self.env, self.session, self.name, self.call, self.depth = env, session, name, call, depth
        self.level = 0 if name is None else 1  # a stream's own graph is called by a tool, or by nobody
        self.spawning = {tool["name"] for tool in env.options.get("tools") or [] if tool.get("needs") == "agent"}
        self.begin()

    def begin(self) -> None:
        """Begin a run."""
        self.held: list[dict[str, Any]] = []
        self.elsewhere: set[str | None] = set()
        """Calls whose results don't come from the tools' node: invalid and rejected ones."""
        self.failed: list[dict[str, Any]] = []
        self.delegates: set[str] = set()
        """Runs of tools that call an agent."""

    def show(self, event: Any) -> None:
        """Log the news of an event."""
        if self.delegates.intersection(event["parent_ids"]):
            return
        data = event["data"]
        match event["event"]:
            case "on_tool_start" if event["name"] in self.spawning:
                self.delegates.add(event["run_id"])
            case "on_chat_model_stream":
                self.stream(data["chunk"])
            case "on_chat_model_end":
                self.whole(data["output"])
            case "on_tool_error":
                failure = {"callId": data["tool_call_id"], "output": str(data["error"]), "isError": True}
                self.failed.append({"type": "tool-result", **failure})
            case "on_chain_stream" if len(event["parent_ids"]) == self.level:
                for node, update in data["chunk"].items():
                    if isinstance(update, dict):  # an interrupt is a tuple, and a node may write nothing
                        self.results(node, update.get("messages") or [])

    def stream(self, chunk: AIMessageChunk) -> None:
        """Log a chunk's texts up to the first call, and hold back the rest."""
        items = [{"kind": "tool-call", "callId": call["id"]} for call in chunk.tool_call_chunks]
        items += [{"kind": kind, "text": text} for kind, text in texts(chunk)]
        for item in items:
            event = {"type": "agent-output", "responseId": (chunk.id or "").partition(".")[0], **item}
            if self.held or item["kind"] == "tool-call":
                self.held.append(event)
            else:
                self.log(event)

    def whole(self, message: AIMessage) -> None:
        """Log the items held back: the message is whole, and its calls are known."""
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        for event in self.held:
            if event["kind"] == "tool-call":
                call = next(call for call in calls if call["id"] == event["callId"])
                calls.remove(call)
                event.update(tool=call["name"], arguments=call["args"])
            self.log(event)
        self.held = []
        self.elsewhere.update(call["id"] for call in message.invalid_tool_calls)

    def results(self, node: str, messages: list[BaseMessage]) -> None:
        """Log a node's new tool messages. The model's node may send all messages: those to ``elsewhere`` are new."""
        for message in messages:
            if isinstance(message, ToolMessage) and (node == "tools" or message.tool_call_id in self.elsewhere):
                call_id = message.tool_call_id
                self.elsewhere.discard(call_id)
                self.failed = [failure for failure in self.failed if failure["callId"] != call_id]
                failed = True if message.status == "error" else None
                self.log({"type": "tool-result", "callId": call_id, "output": message.content, "isError": failed})

    def stop(self, **stop: Any) -> None:
        """Log what is held back but for calls, the failures without a result, and how the run ended."""
        for event in [*(event for event in self.held if event["kind"] != "tool-call"), *self.failed]:
            self.log(event)
        self.log({"type": "run-stop", **stop}, source="adapter")

    def log(self, event: dict[str, Any], *, source: str | None = None) -> None:
        """Log an event of this agent."""
        whose = {"sessionId": self.session, "agentId": self.name, "parentCallId": self.call}
        self.env.log(event | whose, source=source)
