# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""The scripted part of OpenAI Agents' adapter: the model, the tools, a listener, the store, and what a stream tells."""

from __future__ import annotations

import inspect
import json
import sqlite3
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from agents import FunctionTool, Model, RunHooks, SQLiteSession, function_tool
from agents.tool_context import ToolContext
from openai.types import responses
from openai.types.responses.response_reasoning_item import Summary
from turncheck_kit import Environment, raw_arguments

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agents import StreamEvent

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
        own = named(CALLED.get())
        async with self.env.model(context(system, items), session=self.session, **own) as request:
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
        agent = named(CALLED.get()).get("agent")
        return await env.tool(
            turncheck_call.tool_call_id, turncheck_call.tool_name, shown, session=session, agent=agent
        )

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


class Voice:
    """The log of what one agent's stream tells. A sub-agent has a name, and the call that started it."""

    def __init__(self, env: Environment, session: str | None, name: str | None = None, call: str | None = None) -> None:
        self.env, self.session, self.name, self.call = env, session, name, call
        self.held: dict[str, Any] = {}
        self.failure: str | None = None
        self.number = 0

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

    def stop(self, **stop: Any) -> None:
        """Log what is held back but for calls, which were not accepted, and how the run ended."""
        for item in self.held.values():
            if item.type != "function_call":
                self.log(logged_item(item))
        self.held = {}
        self.log({"type": "run-stop", **stop}, source="adapter")

    def log(self, event: dict[str, Any], *, source: str | None = None) -> None:
        """Log an event of this agent."""
        self.env.log(
            event | {"sessionId": self.session, "agentId": self.name, "parentCallId": self.call}, source=source
        )


CALLED: ContextVar[Voice | None] = ContextVar("CALLED", default=None)
"""The sub-agent whose run this is, None in the session's own: each call of a tool is a task, with its own context."""


def named(voice: Voice | None) -> dict[str, Any]:
    """The arguments by which a request of a sub-agent names it."""
    return {} if voice is None else {"agent": voice.name, "parent": voice.call}


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
        """Return how many items there are."""
        with self._locked_connection() as connection:
            return int(connection.execute(f"select count(*) from {self.messages_table}").fetchone()[0])  # noqa: S608
