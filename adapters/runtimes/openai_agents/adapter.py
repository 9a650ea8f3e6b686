# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""OpenAI Agents under test, driven as its documentation drives it (protocol: docs/protocol.md#runtimes).

``@function_tool``, ``Runner.run_streamed`` with a ``SQLiteSession``, and ``stream_events()`` read to its end. The
runtime's defaults stand: ten turns, no retries, parallel tools, and a failed tool is an output for the model.

- *Items.* A text or reasoning is logged as it streams: raw events are how a chat shows it. A call is logged from its
  run item, which comes when the whole response was accepted; later items of that response wait with it.
- *Results* come as run items once the whole batch has ended; they don't say whether the tool failed.
- *Terminals.* The stream has none: a raised exception is an error; a plain end is completed where there is a final
  output, and interrupted where there is none.
- *Abort* is ``result.cancel()``, mode ``immediate``. The mode ``after_turn`` would let the model and its tools finish.
- *Busy.* The runtime doesn't guard a session: two runs of one interleave in its history, without notice. It has neither
  steering nor a queue, so that the caller must hold back a second message: this adapter rejects it.
- ``length`` is ``response.incomplete``, as in the Responses API.
- *Approvals* are ``needs_approval``: the stream ends with ``interruptions``, and the run goes on from ``to_state()``,
  in which each of them is approved or rejected. Who stops the run meanwhile drops its state.
- *Observer*: all run hooks; a slow one slows the reader of the stream too.
- *Persistence* is the file of the SQLiteSession. It holds items, not runs: a restart reports nothing. A write fails
  where SQLite would: within the session's transaction, as on a full disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import sqlite3
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"  # before the import: traces are sent over the network

from agents import Agent, FunctionTool, Model, RunHooks, Runner, RunResultStreaming, SQLiteSession, function_tool
from agents.tool_context import ToolContext
from openai.types import responses
from openai.types.responses.response_reasoning_item import Summary
from turncheck_kit import Adapter, Environment, raw_arguments, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agents import RunState, StreamEvent

TURNS = 10  # the runtime's own default (agents/run_config.py, DEFAULT_MAX_TURNS)
ENVELOPE: dict[str, Any] = {
    "created_at": 0,
    "model": "scripted",
    "object": "response",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class ScriptedModel(Model):
    """The environment's model, in Responses events.

    Item ids are ``REQUEST-NUMBER-STORED``: they name their request, and differ from those of an earlier process, which
    had *stored* so many items.
    """

    def __init__(self, env: Environment, session: str | None, stored: int) -> None:
        self.env, self.session, self.stored = env, session, stored

    async def get_response(self, *_: Any, **__: Any) -> Any:
        """Raise NotImplementedError: only streamed runs are driven."""
        raise NotImplementedError

    async def stream_response(
        self, system: str | None, items: str | list[Any], *_: Any, **__: Any
    ) -> AsyncIterator[Any]:
        """Stream the items of the scripted model."""
        output: list[Any] = []
        async with self.env.model(context(system, items), session=self.session) as request:
            async for item in request:
                place = len(output)
                output.append(response_item(f"{request.id}-{place}-{self.stored}", item))
                yield responses.ResponseOutputItemDoneEvent(
                    type="response.output_item.done", item=output[-1], output_index=place, sequence_number=place
                )
        response = responses.Response(id=request.id, output=output, **ENVELOPE)
        if request.reason == "length":
            yield responses.ResponseIncompleteEvent(
                type="response.incomplete", response=response, sequence_number=len(output)
            )
        else:
            yield responses.ResponseCompletedEvent(
                type="response.completed", response=response, sequence_number=len(output)
            )


def response_item(key: str, item: dict[str, Any]) -> Any:
    """Convert an item of the protocol to one of a response."""
    if item["kind"] == "tool-call":
        call = {"call_id": item["callId"], "name": item["tool"], "arguments": raw_arguments(item)}
        return responses.ResponseFunctionToolCall(id=key, type="function_call", status="completed", **call)
    if item["kind"] == "reasoning":
        summary = [Summary(type="summary_text", text=item["text"])]
        return responses.ResponseReasoningItem(id=key, type="reasoning", summary=summary, status="completed")
    text = responses.ResponseOutputText(type="output_text", text=item["text"], annotations=[])
    return responses.ResponseOutputMessage(id=key, type="message", role="assistant", content=[text], status="completed")


def logged_item(item: Any) -> dict[str, Any]:
    """Convert an item of a response to the fields of the log's ``agent-output``."""
    event = {"type": "agent-output", "responseId": response_of(item.id)}
    if item.type == "function_call":
        call = {"callId": item.call_id, "tool": item.name, "arguments": parsed(item.arguments)}
        return event | {"kind": "tool-call", **call}
    if item.type == "reasoning":
        return event | {"kind": "reasoning", "text": text_of([part.model_dump() for part in item.summary])}
    return event | {"kind": "assistant", "text": text_of([part.model_dump() for part in item.content])}


def response_of(key: str) -> str:
    """The request that an item answers."""
    return key.partition("-")[0]


def parsed(arguments: str) -> Any:
    """Return arguments as JSON, the text itself if it is none."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def context(system: str | None, items: str | list[Any]) -> list[dict[str, Any]]:
    """Convert the model's input to the protocol's form."""
    entries = [] if system is None else [{"role": "system", "text": system}]
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        match item.get("type"):
            case "function_call":
                call = {"callId": item["call_id"], "tool": item["name"], "arguments": parsed(item["arguments"])}
                entries.append({"role": "assistant", **call})
            case "function_call_output":
                entries.append({"role": "tool", "callId": item["call_id"], "text": text_of(item["output"])})
            case "reasoning":
                pass
            case _:
                entries.append({"role": item["role"], "text": text_of(item["content"])})
    return entries


def text_of(content: Any) -> str:
    """A text, or the texts of parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def scripted_tool(env: Environment, session: str | None, declared: dict[str, Any]) -> FunctionTool:
    """A function tool whose parameters are the schema's, so that the runtime validates the arguments itself."""

    async def execute(turncheck_call: ToolContext[Any], /, **arguments: Any) -> Any:
        shown = {name: value for name, value in arguments.items() if value is not None}  # None is a default
        shown = shown if properties else json.loads(turncheck_call.tool_arguments)
        return await env.tool(turncheck_call.tool_call_id, turncheck_call.tool_name, shown, session=session)

    schema = declared.get("schema") or {}
    properties, required = schema.get("properties", {}), schema.get("required", [])
    parameters = [inspect.Parameter("turncheck_call", inspect.Parameter.POSITIONAL_ONLY, annotation=ToolContext)]
    for name, value in properties.items():
        default = inspect.Parameter.empty if name in required else None
        hint = TYPES.get(value.get("type"), Any)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default))
    execute.__name__ = declared["name"]
    execute.__signature__ = inspect.Signature(parameters)
    execute.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function_tool(execute, strict_mode=False, needs_approval=declared.get("needs") == "approval")


class Observer(RunHooks[Any]):
    """A listener to every hook of a run."""

    def __init__(self, env: Environment) -> None:
        self.env = env

    async def on_agent_start(self, *_: Any) -> None:
        """Throw or be slow, by the option ``observer``."""
        await self.env.observe()

    on_agent_end = on_llm_start = on_llm_end = on_tool_start = on_tool_end = on_agent_start


class Store(SQLiteSession):
    """The session's file, whose next ``failing`` writes fail."""

    failing = 0

    def _insert_items(self, *given: Any) -> None:
        if self.failing:
            self.failing -= 1
            raise sqlite3.OperationalError("database or disk is full")
        super()._insert_items(*given)

    def count(self) -> int:
        """How many items there are."""
        with self._locked_connection() as connection:
            return int(connection.execute(f"select count(*) from {self.messages_table}").fetchone()[0])  # noqa: S608


class Chat:
    """One session: its history, and the run under way."""

    def __init__(self, env: Environment, session: str | None) -> None:
        self.env, self.session = env, session
        state = env.options.get("stateDir")
        self.history = Store(session or "default", f"{state}/sessions.db" if state else ":memory:")
        tools = [scripted_tool(env, session, declared) for declared in env.options.get("tools") or []]
        self.agent = Agent(name="agent", model=ScriptedModel(env, session, self.history.count()), tools=tools)
        self.result: RunResultStreaming | None = None
        self.paused: asyncio.Task[Any] | None = None
        self.held: dict[str, Any] = {}

    async def run(self, text: str) -> None:
        """Run the agent to the end of its stream, again after each pause, and log how it ended."""
        self.held = {}
        given: str | RunState[Any] | None = text
        stop: dict[str, Any] = {"reason": "interrupted"}
        try:
            while given is not None:
                result = await self._stream(given)
                given = result.to_state() if result.interruptions else None
                if given is None:
                    stop = {"reason": "interrupted" if result.final_output is None else "completed"}
                elif not await self._decided(given, result.interruptions):
                    break
        except Exception as error:  # noqa: BLE001 - any error of the stream is the run's terminal
            stop = {"reason": "error", "detail": f"{type(error).__name__}: {error}"}
        self.result = None
        for item in self.held.values():
            if item.type != "function_call":
                self.log(logged_item(item))
        self.log({"type": "run-stop", **stop}, source="adapter")

    async def _stream(self, given: str | RunState[Any]) -> RunResultStreaming:
        """Run from a message, or from a state, to the end of the stream."""
        limit = (self.env.options.get("limits") or {}).get("maxRounds", TURNS)
        result = self.result = Runner.run_streamed(
            self.agent, given, session=self.history, max_turns=limit, hooks=Observer(self.env)
        )
        async for event in result.stream_events():
            self.show(event)
            if self.env.options.get("observer") == "slow":
                await self.env.observe()
        return result

    async def _decided(self, state: RunState[Any], asked: list[Any]) -> bool:
        """Ask about each interruption, and put the decisions into *state*; return False where the run was stopped."""
        self.log({"type": "run-pause", "calls": [item.call_id for item in asked]}, source="adapter")
        self.paused = asyncio.ensure_future(self._decide_all(state, asked))
        await asyncio.wait([self.paused])
        stopped, self.paused = self.paused.cancelled(), None
        if not stopped:
            self.log({"type": "run-resume"}, source="adapter")
        return not stopped

    async def _decide_all(self, state: RunState[Any], asked: list[Any]) -> None:
        await asyncio.gather(*(self._decide(state, item) for item in asked))

    async def _decide(self, state: RunState[Any], item: Any) -> None:
        with contextlib.closing(self.env.decision(item.call_id, session=self.session)) as decision:
            stimulus = await decision
        if stimulus["kind"] == "approve":
            state.approve(item)
        else:
            state.reject(item, rejection_message=stimulus.get("message"))

    def stop(self) -> None:
        """Cancel the run, or give it up while it is paused."""
        if self.paused is not None:
            self.paused.cancel()
        elif self.result is not None:
            self.result.cancel()

    def show(self, event: StreamEvent) -> None:
        """Log the news of an event."""
        if event.type == "raw_response_event" and event.data.type == "response.output_item.done":
            item = event.data.item
            if item.type == "function_call" or response_of(item.id) in map(response_of, self.held):
                self.held[item.id] = item
            else:
                self.log(logged_item(item))
        elif event.type == "run_item_stream_event":
            if event.item.type == "tool_call_output_item":
                call_id = event.item.raw_item["call_id"]
                self.log({"type": "tool-result", "callId": call_id, "output": event.item.output})
            elif item := self.held.pop(event.item.raw_item.id, None):
                self.log(logged_item(item))

    def log(self, event: dict[str, Any], *, source: str | None = None) -> None:
        """Log an event of this session."""
        self.env.log(event | {"sessionId": self.session}, source=source)


class OpenAIAgents(Adapter):
    """The runtime: an agent and a history for each session."""

    implementation: ClassVar[dict[str, Any]] = {
        "name": "openai-agents",
        "version": version("openai-agents"),
        "language": "python",
        "homepage": "https://openai.github.io/openai-agents-python/",
    }
    profile: ClassVar[dict[str, Any]] = {
        "roles": ["runtime"],
        "capabilities": [
            *("abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments"),
            *("call-ids", "sessions", "together", "limits", "observer", "deaf", "clock", "persistence"),
            *("store-faults", "approval"),
        ],
        "policies": {
            "busy": "reject",
            "tools": "parallel",
            "abortEnds": "at-once",
            "retries": 0,
            "maxRounds": TURNS,
            "openTurnAfterRestart": "untold",
            "storeFails": "error",
            "abortedResponse": "drop-with-calls",  # run_loop.py saves the items of whole turns
            "failedResponse": "drop",
            "itemOrder": "as-said",
            "resultOrder": "as-called",  # tool_execution.py builds the results by going through tool_runs
            "failures": "own-words",  # tool.py: default_tool_error_function returns a fixed text
            "adjacent": "apart",
            "maxResultCharacters": None,
        },
    }

    async def reset(self, env: Environment) -> None:
        """New sessions."""
        self.env = env
        self.chats: dict[str | None, Chat] = {}

    async def user(self, stimulus: dict[str, Any]) -> None:
        """Run the agent on a message; this task is the run."""
        chat = self._chat(stimulus)
        if chat.result is not None:
            why = "unsupported" if stimulus.get("delivery") else "rejected"
            self.env.refuse(why, "a run of this session is active; the runtime has no rule for a second one")
        else:
            chat.log({"type": "user-message", **{name: stimulus.get(name) for name in ("id", "text", "delivery")}})
            await chat.run(stimulus["text"])

    async def abort(self, stimulus: dict[str, Any]) -> None:
        """Cancel the run at once."""
        if chat := self.chats.get(stimulus.get("sessionId")):
            chat.stop()

    async def store_fail(self, stimulus: dict[str, Any]) -> None:
        """Let the session's next writes fail."""
        self._chat(stimulus).history.failing += stimulus["times"]

    def _chat(self, stimulus: dict[str, Any]) -> Chat:
        session = stimulus.get("sessionId")
        return self.chats.get(session) or self.chats.setdefault(session, Chat(self.env, session))


if __name__ == "__main__":
    serve(OpenAIAgents())
