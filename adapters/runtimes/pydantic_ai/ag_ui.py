# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""pydantic-ai under test over AG-UI: ``AGUIAdapter.run_stream``, as a server calls it for each run of a client.

The adapter plays the client: it builds the thread's messages from AG-UI's events, and sends them all with the next run.
A client has one run at a time in a thread, and the protocol has neither steering nor a queue, so that a busy thread
refuses messages. Abort is the server's ``CancellationToken``. The terminals are the runtime's own.
"""

import itertools
import json
import sys
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any, ClassVar

sys.path.append(sys.path.pop(0))  # this file is named like a package that is needed: look here last

from ag_ui.core import EventType, RunAgentInput
from pydantic_ai import CancellationToken
from pydantic_ai.capabilities import ProcessEventStream
from pydantic_ai.ui.ag_ui import AGUIAdapter
from scripted import HISTORY_POLICIES, REQUEST_LIMIT, agent_of, arguments_of, limits_of
from turncheck_kit import Adapter, Environment, serve

REASONS = {"success": "completed", "cancelled": "interrupted"}  # of RUN_FINISHED's outcome


class PydanticAIOverAGUI(Adapter):
    """The adapter: sessions are threads."""

    implementation: ClassVar = {
        "name": "pydantic-ai-ag-ui",
        "version": version("pydantic-ai-slim"),
        "language": "python",
        "homepage": "https://ai.pydantic.dev/ui/ag-ui/",
    }
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": [
            *("abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments"),
            *("call-ids", "sessions", "together", "limits", "observer", "deaf", "clock"),
            "terminal-events",
        ],
        "policies": {
            "busy": "reject",
            "tools": "parallel",
            "abortEnds": "when-released",
            "retries": 0,
            "maxRounds": REQUEST_LIMIT,
            **HISTORY_POLICIES,
            "adjacent": "merged",  # ui/ag_ui/_event_stream.py: a text that follows a text is of its message
        },
    }

    def reset(self, env: Environment) -> None:
        """Forget all threads."""
        self.env, self.threads = env, {}
        env.at_quiet(lambda: [thread.settle() for thread in self.threads.values()])

    async def user(self, stimulus: dict[str, Any]) -> None:
        """Take a message of the client: start a run of the agent."""
        await self._thread(stimulus).run(stimulus)

    def abort(self, stimulus: dict[str, Any]) -> None:
        """Cancel the run, for the server."""
        self._thread(stimulus).abort()

    def _thread(self, stimulus: dict[str, Any]) -> "Thread":
        name = stimulus.get("sessionId")
        if name not in self.threads:
            self.threads[name] = Thread(self.env, name)
        return self.threads[name]


class Thread:
    """One conversation from its client's side: the messages so far, and the run under way."""

    def __init__(self, env: Environment, name: str | None) -> None:
        self.env, self.name = env, name
        self.ids = {}  # text of a user message -> its id
        self.messages = {}  # id -> message, in order
        self.calls = {}  # call id -> the call in its message
        self.request = None  # the id of the request that the model answers
        self.token = None
        self.unlogged = None  # a call before its arguments
        self.result = None  # a result that a later event may turn into an error
        self.runs = itertools.count(1)
        observers = [ProcessEventStream(self._observe)] if env.options.get("observer") else []
        self.agent = agent_of(env, self, capabilities=observers)

    async def run(self, message: dict[str, Any]) -> None:
        """Send *message* with all that came before, and follow the events of the run."""
        if self.token is not None:
            why = "unsupported" if message.get("delivery") else "rejected"
            self.env.refuse(why, "a run is active in this thread; AG-UI has neither steering nor a queue")
            return
        self.token = CancellationToken()
        self.ids[message["text"]] = message["id"]
        sent = {key: message[key] for key in ("id", "text", "delivery") if message.get(key)}
        self.log({"type": "user-message", **sent})
        self._say("user", message["id"], content=message["text"])
        async for event in self._events():
            self._event(event)
        self.settle()
        if self.token is not None:
            self.stop("error", "the stream ended without RUN_FINISHED or RUN_ERROR", via="close")

    async def _events(self) -> AsyncIterator[Any]:
        """Yield the events of a run; an exception ends it, as it breaks a server's answer."""
        try:
            adapter = AGUIAdapter(agent=self.agent, run_input=self._input())
            async for event in adapter.run_stream(cancellation_token=self.token, usage_limits=limits_of(self.env)):
                yield event
        except Exception as error:
            if self.token is None:  # it has ended before
                raise
            self.settle()
            self.stop("error", f"{type(error).__name__}: {error}", via="exception")

    def abort(self) -> None:
        """Cancel the run, if there is one."""
        if self.token is not None:
            self.token.cancel()

    def stop(self, reason: str, detail: str | None = None, via: str | None = None) -> None:
        """End the run: by its event, or where the stream closed without one (*via*)."""
        self.token = None
        self.log({"type": "run-stop", "reason": reason, "detail": detail, "via": via}, via and "adapter")

    def settle(self) -> None:
        """Log the last result: an event that changes it would have come right after it."""
        if self.result is not None:
            self.log(self.result)
            self.result = None

    def _input(self) -> RunAgentInput:
        return RunAgentInput.model_validate(
            {
                "threadId": self.name or "thread",
                "runId": f"run-{next(self.runs)}",
                "messages": list(self.messages.values()),
                "protocolVersion": "1.0",
                "tools": [],
                "context": [],
                "state": None,
                "forwardedProps": None,
            }
        )

    def _event(self, event: Any) -> None:
        if event.type != EventType.REASONING_ENCRYPTED_VALUE:
            self.settle()
        match event.type:
            case EventType.TEXT_MESSAGE_START:
                self._say("assistant", event.message_id)
            case EventType.TEXT_MESSAGE_CONTENT:
                self._output({"kind": "assistant", "text": event.delta})  # the scripted model says it in one piece
                self._say("assistant", event.message_id)
                self._add(self.messages[event.message_id], "content", event.delta)
            case EventType.REASONING_MESSAGE_CONTENT:
                self._output({"kind": "reasoning", "text": event.delta})
            case EventType.TOOL_CALL_START:
                self._called(event)
            case EventType.TOOL_CALL_ARGS:
                if event.tool_call_id in self.calls:
                    self._add(self.calls[event.tool_call_id]["function"], "arguments", event.delta)
                self._log_call()
            case EventType.TOOL_CALL_END:
                self._log_call()
            case EventType.TOOL_CALL_RESULT:
                self._say("tool", event.message_id, toolCallId=event.tool_call_id, content=event.content)
                self.result = {"type": "tool-result", "callId": event.tool_call_id, "output": event.content}
            case EventType.REASONING_ENCRYPTED_VALUE:
                self._outcome(event)
            case EventType.RUN_FINISHED:
                self.stop(REASONS.get(event.outcome.type, "completed") if event.outcome else "completed")
            case EventType.RUN_ERROR:
                self.stop("error", event.message)

    def _say(self, role: str, name: str, **fields: Any) -> None:
        self.messages.setdefault(name, {"id": name, "role": role}).update(fields)

    @staticmethod
    def _add(message: dict[str, Any], field: str, delta: str) -> None:
        message[field] = message.get(field, "") + delta

    def _called(self, event: Any) -> None:
        call = {"id": event.tool_call_id, "type": "function"}
        call["function"] = {"name": event.tool_call_name, "arguments": ""}
        parent = event.parent_message_id or event.tool_call_id
        self._say("assistant", parent)
        self.messages[parent].setdefault("toolCalls", []).append(call)
        self.calls[event.tool_call_id] = self.unlogged = call

    def _log_call(self) -> None:
        call, self.unlogged = self.unlogged, None
        if call is not None:
            function = call["function"]
            arguments = arguments_of(function["arguments"])
            self._output({"kind": "tool-call", "callId": call["id"], "tool": function["name"], "arguments": arguments})

    def _outcome(self, event: Any) -> None:
        """Take the runtime's hidden note to itself: here, that a result is not the tool's own."""
        message = self.messages.get(event.entity_id)
        if message is not None:
            message["encryptedValue"] = event.encrypted_value
        if self.result is not None:
            outcome = json.loads(event.encrypted_value).get("pydantic_ai", {}).get("outcome")
            self.result |= {"isError": True} if outcome not in (None, "success") else {}
            self.result |= {"synthetic": True} if outcome == "interrupted" else {}
            self.settle()

    def _output(self, item: dict[str, Any]) -> None:
        self.log({"type": "agent-output", "responseId": self.request, **item})

    async def _observe(self, _: Any, events: Any) -> None:
        async for _event in events:
            await self.env.observe()

    def log(self, event: dict[str, Any], source: str | None = None) -> None:
        """Log *event* of this thread."""
        self.env.log({**event, "sessionId": self.name}, source=source)


if __name__ == "__main__":
    serve(PydanticAIOverAGUI())
