# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""pydantic-ai under test, driven as its documentation drives it: ``agent.iter``, each node streamed.

Steering is ``run.enqueue(priority="asap")``, a follow-up ``priority="when_idle"``, abort a ``CancellationToken``
(``run.cancel()``, which works before the run exists). The history of the next run is ``all_messages()`` of this one.
The runtime answers follow-ups inside the same agent run: the boundary is inferred where they leave the queue. It has no
terminal event: an error of ``iter``, or its plain end, is the terminal. A run that ends in error or is aborted loses
its queue.

An agent run whose calls need a person or the client ends with ``DeferredToolRequests``; another one goes on from its
history, its usage and ``DeferredToolResults``. A message that comes between the two is enqueued in the second. Who
stops the turn there drops the requests, and closes their calls by ``repair_messages``, as the error of a new prompt
says.
"""

import asyncio
import contextlib
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
    repair_messages,
)
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
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
            *("approval", "client-tools"),
        ],
        "policies": {
            "busy": "steer",  # the default of enqueue
            "tools": "parallel",
            "steerLands": "after-batch",
            "steerWhilePaused": "waits",
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


class Stopped(Exception):  # noqa: N818 - no error
    """The user stopped the turn while calls waited for decisions."""


class Session:
    """One conversation: its history, and the agent run under way (a future until the runtime has opened it)."""

    def __init__(self, env: Environment, name: str | None) -> None:
        self.env, self.name = env, name
        self.ids = {}  # text of a user message -> its id
        self.history = []
        self.request = None  # the id of the request that the model answers
        self.opened = None
        self.asking = None  # about calls that wait for decisions
        self.waiting = []  # messages that came while it asks
        self.followups = []  # enqueue ids, while they wait
        observers = [ProcessEventStream(self._observe)] if env.options.get("observer") else []
        self.agent = agent_of(env, self, capabilities=observers)

    async def accept(self, message: dict[str, Any]) -> None:
        """Start a turn with *message*, or hand it to the turn under way."""
        self.ids[message["text"]] = message["id"]
        sent = {key: message[key] for key in ("id", "text", "delivery") if message.get(key)}
        self.log({"type": "user-message", **sent})
        while self.opened is not None:
            if self.asking is not None:
                self.waiting.append(message)
                return
            run = await self.opened
            if run is not None:
                self._enqueue(run, message)
                return
        self.opened, self.token = self.env.loop.create_future(), CancellationToken()
        self.env.start(self._run(message["text"]))

    def _enqueue(self, run: Any, message: dict[str, Any]) -> None:
        followup = message.get("delivery") == "followUp"
        enqueued = run.enqueue(message["text"], priority="when_idle" if followup else "asap")
        self.followups += [enqueued] if followup else []

    def abort(self) -> None:
        """Cancel the turn, if there is one."""
        if self.asking is not None:
            self.asking.cancel()
        elif self.opened is not None:
            self.token.cancel()

    async def _run(self, prompt: str) -> None:
        reason, detail = "completed", None
        answered = len(self.history)
        self.called, self.followups, self.waiting = set(), [], []
        given: dict[str, Any] | None = {"user_prompt": prompt}
        try:
            while given is not None:
                run = await self._agent_run(given)
                given = None
                if isinstance(run.result.output, DeferredToolRequests):
                    decided = await self._decided(run.result.output)
                    given = {"deferred_tool_results": decided, "usage": run.usage}
        except (RunCancelled, Stopped):
            reason = "interrupted"
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of the run is its terminal
            reason, detail = "error", f"{type(error).__name__}: {error}"
        opened, self.opened = self.opened, None
        if opened.done():
            self._left(self.history[answered:])
        else:  # aborted before it began
            opened.set_result(None)
        self.log({"type": "run-stop", "reason": reason, "detail": detail}, source="adapter")

    async def _agent_run(self, given: dict[str, Any]) -> Any:
        """Run the agent to its end, which may be requests for decisions; return the run."""
        limits = limits_of(self.env)
        async with self.agent.iter(
            message_history=self.history, usage_limits=limits, cancellation_token=self.token, **given
        ) as run:
            for message in self.waiting:
                self._enqueue(run, message)
            self.waiting = []
            self.opened.set_result(run)
            try:
                async for node in run:
                    self._boundary(run)
                    if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                        async with node.stream(run.ctx) as events:
                            async for event in events:
                                self._event(event)
            finally:
                self.history = run.all_messages()
        return run

    async def _decided(self, asked: DeferredToolRequests) -> DeferredToolResults:
        """Ask about each call, and return the decisions. Raises Stopped."""
        calls = [(call.tool_call_id, "approval") for call in asked.approvals]
        calls += [(call.tool_call_id, "client-tool") for call in asked.calls]
        self.log({"type": "run-pause", "calls": [call for call, _ in calls]}, source="adapter")
        results = DeferredToolResults()
        self.asking = asyncio.ensure_future(self._decide_all(results, calls))
        await asyncio.wait([self.asking])
        stopped, self.asking = self.asking.cancelled(), None
        if stopped:
            self.history = repair_messages(self.history)
            raise Stopped
        self.opened = self.env.loop.create_future()
        self.log({"type": "run-resume"}, source="adapter")
        return results

    async def _decide_all(self, results: DeferredToolResults, calls: list[tuple[str, str]]) -> None:
        await asyncio.gather(*(self._decide(results, *call) for call in calls))

    async def _decide(self, results: DeferredToolResults, call: str, kind: str) -> None:
        with contextlib.closing(self.env.decision(call, kind, session=self.name)) as decision:
            stimulus = await decision
        if stimulus["kind"] == "client-result":
            results.calls[call] = stimulus["output"]
        elif stimulus["kind"] == "approve":
            results.approvals[call] = ToolApproved()
        else:
            message = stimulus.get("message")
            results.approvals[call] = ToolDenied() if message is None else ToolDenied(message)

    def settle(self) -> None:
        """Do nothing before a model request: nothing is held back here."""

    def _boundary(self, run: Any) -> None:
        """Log a stop for each follow-up that left the queue: the message before it is answered.

        At a pause they leave it too, and the message before them is not answered yet.
        """
        waiting = {pending.enqueue_id for pending in run.pending_messages}
        paused = run.result is not None and isinstance(run.result.output, DeferredToolRequests)
        for _ in [taken for taken in self.followups if taken not in waiting and not paused]:
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
