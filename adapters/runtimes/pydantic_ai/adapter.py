# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""pydantic-ai under test, driven as its documentation drives it: ``agent.iter``, each node streamed.

Steering is ``run.enqueue(priority="asap")``, a follow-up ``priority="when_idle"``, abort a ``CancellationToken``
(``run.cancel()``, which works before the run exists). The history of the next run is ``all_messages()`` of this one.
The runtime answers follow-ups inside the same agent run: the boundary is inferred where they leave the queue. It has no
terminal event: an error of ``iter``, or its plain end, is the terminal. A run that ends in error or is aborted loses
its queue.
"""

import asyncio
from importlib.metadata import version
from typing import Any, ClassVar

from pydantic_ai import Agent, CancellationToken, RunCancelled
from pydantic_ai.capabilities import ProcessEventStream
from pydantic_ai.messages import (
    EnqueuedMessagesEvent,
    FunctionToolResultEvent,
    PartStartEvent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from scripted import HISTORY_POLICIES, REQUEST_LIMIT, agent_of, arguments_of, limits_of
from turncheck_kit import Adapter, Environment, serve


class PydanticAI(Adapter):
    """The adapter: sessions are conversations, each with an agent of its own."""

    implementation: ClassVar = {
        "name": "pydantic-ai",
        "version": version("pydantic-ai-slim"),
        "language": "python",
        "homepage": "https://ai.pydantic.dev",
    }
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": [
            *("steer", "follow-up", "abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input"),
            *("raw-arguments", "call-ids", "sessions", "together", "limits", "observer", "deaf", "clock"),
        ],
        "policies": {
            "busy": "steer",  # the default of enqueue
            "tools": "parallel",
            "steerLands": "after-batch",
            "abortEnds": "when-released",
            "retries": 0,
            "maxRounds": REQUEST_LIMIT,
            "whileActive": "steer",
            "queueAfterInterrupted": "drop",
            "queueAfterError": "drop",
            **HISTORY_POLICIES,
            "unread": "drop",  # the queue is its run's
            "adjacent": "apart",
            "steerHandover": "all",  # capabilities/_pending_messages.py: what waits is drained
            "followUpHandover": "all",
        },
    }

    def reset(self, env: Environment) -> None:
        """Forget all conversations."""
        self.env, self.sessions = env, {}

    async def user(self, stimulus: dict[str, Any]) -> None:
        """Take a message of the user."""
        await self._session(stimulus).accept(stimulus)

    def abort(self, stimulus: dict[str, Any]) -> None:
        """Abort the run, for the user."""
        self._session(stimulus).abort()

    def _session(self, stimulus: dict[str, Any]) -> "Session":
        name = stimulus.get("sessionId")
        if name not in self.sessions:
            self.sessions[name] = Session(self.env, name)
        return self.sessions[name]


class Session:
    """One conversation: its history, and the agent run under way (a future until the runtime has opened it)."""

    def __init__(self, env: Environment, name: str | None) -> None:
        self.env, self.name = env, name
        self.ids = {}  # text of a user message -> its id
        self.history = []
        self.request = None  # the id of the request that the model answers
        self.opened = None
        self.followups = []  # enqueue ids, while they wait
        observers = [ProcessEventStream(self._observe)] if env.options.get("observer") else []
        self.agent = agent_of(env, self, capabilities=observers)

    async def accept(self, message: dict[str, Any]) -> None:
        """Start a run with *message*, or hand it to the run under way."""
        self.ids[message["text"]] = message["id"]
        sent = {key: message[key] for key in ("id", "text", "delivery") if message.get(key)}
        self.log({"type": "user-message", **sent})
        while self.opened is not None:
            run = await self.opened
            if run is not None:
                followup = message.get("delivery") == "followUp"
                enqueued = run.enqueue(message["text"], priority="when_idle" if followup else "asap")
                self.followups += [enqueued] if followup else []
                return
        self.opened, self.token = self.env.loop.create_future(), CancellationToken()
        self.env.start(self._run(message["text"]))

    def abort(self) -> None:
        """Cancel the run, if there is one."""
        if self.opened is not None:
            self.token.cancel()

    async def _run(self, prompt: str) -> None:
        reason, detail = "completed", None
        answered = len(self.history)
        self.called, self.followups = set(), []
        limits = limits_of(self.env)
        try:
            async with self.agent.iter(
                prompt, message_history=self.history, usage_limits=limits, cancellation_token=self.token
            ) as run:
                self.opened.set_result(run)
                async for node in run:
                    self._boundary(run)
                    if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                        async with node.stream(run.ctx) as events:
                            async for event in events:
                                self._event(event)
        except RunCancelled:
            reason = "interrupted"
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of the run is its terminal
            reason, detail = "error", f"{type(error).__name__}: {error}"
        opened, self.opened = self.opened, None
        if opened.done():
            self.history = opened.result().all_messages()
            self._left(self.history[answered:])
        else:  # aborted before it began
            opened.set_result(None)
        self.log({"type": "run-stop", "reason": reason, "detail": detail}, source="adapter")

    def settle(self) -> None:
        """Do nothing before a model request: nothing is held back here."""

    def _boundary(self, run: Any) -> None:
        """Log a stop for each follow-up that left the queue: the message before it is answered."""
        waiting = {pending.enqueue_id for pending in run.pending_messages}
        for _ in [taken for taken in self.followups if taken not in waiting]:
            self.log({"type": "run-stop", "reason": "completed"}, source="adapter")
        self.followups = [enqueued for enqueued in self.followups if enqueued in waiting]

    def _event(self, event: Any) -> None:
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                self._output({"kind": "assistant", "text": text})
            case PartStartEvent(part=ThinkingPart(content=text)):
                self._output({"kind": "reasoning", "text": text})
            case PartStartEvent(part=ToolCallPart(tool_name=tool, args=args, tool_call_id=call)):
                self.called.add(call)
                self._output({"kind": "tool-call", "callId": call, "tool": tool, "arguments": arguments_of(args)})
            case FunctionToolResultEvent(part=ToolReturnPart() as part):
                self._result(part)
            case EnqueuedMessagesEvent(messages=messages):
                texts = [part.content for message in messages for part in message.parts]
                self.log({"type": "native", "event": event.event_kind, "texts": texts})

    def _output(self, item: dict[str, Any]) -> None:
        self.log({"type": "agent-output", "responseId": self.request, **item})

    def _result(self, part: ToolReturnPart, source: str | None = None) -> None:
        self.called.discard(part.tool_call_id)
        result = {"type": "tool-result", "callId": part.tool_call_id, "output": part.content}
        error = {} if part.outcome == "success" else {"isError": True}
        synthetic = {"synthetic": True} if part.outcome == "interrupted" else {}
        self.log(result | error | synthetic, source)

    def _left(self, messages: list[Any]) -> None:
        """Log results that the runtime wrote into the history without an event."""
        for part in [part for message in messages for part in message.parts]:
            if isinstance(part, ToolReturnPart) and part.tool_call_id in self.called:
                self._result(part, source="adapter")

    async def _observe(self, _: Any, events: Any) -> None:
        async for _event in events:
            await self.env.observe()

    def log(self, event: dict[str, Any], source: str | None = None) -> None:
        """Log *event* of this conversation."""
        self.env.log({**event, "sessionId": self.name}, source=source)


if __name__ == "__main__":
    serve(PydanticAI())
