# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""The scripted part of LangGraph's adapter: the model, the tools, a listener, and the store that may fail."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import InjectedToolCallId, StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import ConfigDict, create_model
from turncheck_kit import Environment, raw_arguments

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class ScriptedModel(BaseChatModel):
    """The environment's model. The index of a content block tells texts apart.

    A message's id is ``REQUEST.STORED``: it names its request, and differs from those of an earlier process, which had
    *stored* so many checkpoints. Messages of one id would be one message. A sub-agent's has its name, its call.
    """

    env: Any
    session: str | None
    stored: int
    agent: str | None = None
    parent: str | None = None

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """The script needs no tools."""
        return self

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError  # only streamed runs are driven

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        index = 0
        whose = {"session": self.session, "agent": self.agent, "parent": self.parent}
        async with self.env.model(list(context(messages)), **whose) as request:
            key = f"{request.id}.{self.stored}"
            async for item in request:
                yield ChatGenerationChunk(message=chunk(key, index, item))
                index += 1
        last = AIMessageChunk(id=key, content=[], response_metadata={"finish_reason": request.reason})
        yield ChatGenerationChunk(message=last)


def chunk(key: str, index: int, item: dict[str, Any]) -> AIMessageChunk:
    """Convert an item of the protocol to a chunk of a message."""
    if item["kind"] == "tool-call":
        call = tool_call_chunk(name=item["tool"], args=raw_arguments(item), id=item["callId"], index=index)
        return AIMessageChunk(id=key, content=[], tool_call_chunks=[call])
    kind = "text" if item["kind"] == "assistant" else "reasoning"
    return AIMessageChunk(id=key, content=[{"type": kind, kind: item["text"], "index": index}])


def context(messages: list[BaseMessage]) -> Iterator[dict[str, Any]]:
    """Convert the model's input to the protocol's form."""
    for message in messages:
        if isinstance(message, AIMessage):
            for kind, text in texts(message):
                if kind == "assistant":
                    yield {"role": "assistant", "text": text}
            for call in [*message.tool_calls, *message.invalid_tool_calls]:
                yield {"role": "assistant", "callId": call["id"], "tool": call["name"], "arguments": call["args"]}
        elif isinstance(message, ToolMessage):
            failed = {"isError": True} if message.status == "error" else {}
            yield {"role": "tool", "callId": message.tool_call_id, "text": message.text} | failed
        else:
            yield {"role": "user" if isinstance(message, HumanMessage) else message.type, "text": message.text}


def texts(message: AIMessage) -> Iterator[tuple[str, str]]:
    """The texts of a message or chunk, as (``assistant`` or ``reasoning``, text)."""
    for block in message.content if isinstance(message.content, list) else []:
        if isinstance(block, dict) and block["type"] in ("text", "reasoning"):
            yield "assistant" if block["type"] == "text" else "reasoning", block[block["type"]]


def scripted_tool(
    env: Environment, session: str | None, declared: dict[str, Any], agent: str | None = None
) -> StructuredTool:
    """A tool of an agent, whose parameters are the schema's, so that the runtime validates the arguments itself."""

    async def execute(turncheck_call: str, **arguments: Any) -> Any:
        shown = {name: value for name, value in arguments.items() if value is not None}  # None is a default
        return await env.tool(turncheck_call, declared["name"], shown, session=session, agent=agent)

    schema = declared.get("schema") or {}
    fields: dict[str, Any] = {"turncheck_call": Annotated[str, InjectedToolCallId]}
    for name, value in schema.get("properties", {}).items():
        hint = TYPES.get(value.get("type"), Any)
        fields[name] = hint if name in schema.get("required", []) else (hint, None)
    rest = ConfigDict(extra="forbid" if schema.get("additionalProperties") is False else "allow")
    arguments = create_model("Arguments", __config__=rest, **fields)
    return StructuredTool.from_function(
        coroutine=execute, name=declared["name"], description="scripted", args_schema=arguments
    )


class Observer(AsyncCallbackHandler):
    """A listener to every callback of a run."""

    def __init__(self, env: Environment) -> None:
        self.env = env

    async def on_chain_start(self, *_: Any, **__: Any) -> None:
        """Throw or be slow, by the option ``observer``."""
        await self.env.observe()

    on_chain_end = on_chain_error = on_chat_model_start = on_llm_new_token = on_llm_end = on_llm_error = on_chain_start
    on_tool_start = on_tool_end = on_tool_error = on_chain_start


class Store(SqliteSaver):
    """The file of a thread's checkpoints, whose next ``failing`` writes fail as on a full disk."""

    failing = 0

    async def aget_tuple(self, *given: Any) -> Any:
        """``get_tuple``."""
        return self.get_tuple(*given)

    async def aput(self, *given: Any) -> Any:
        """``put``."""
        self._fail()
        return self.put(*given)

    async def aput_writes(self, *given: Any) -> None:
        """``put_writes``."""
        self._fail()
        self.put_writes(*given)

    def count(self) -> int:
        """Return how many checkpoints there are."""
        with self.cursor() as cursor:
            return int(cursor.execute("select count(*) from checkpoints").fetchone()[0])

    def threads(self) -> list[str]:
        """The names of the threads."""
        with self.cursor(transaction=False) as cursor:
            return [name for (name,) in cursor.execute("select distinct thread_id from checkpoints order by 1")]

    def _fail(self) -> None:
        if self.failing:
            self.failing -= 1
            raise sqlite3.OperationalError("database or disk is full")


def store_in(folder: str) -> Store:
    """The checkpoints in a folder."""
    return Store(sqlite3.connect(f"{folder}/checkpoints.db", check_same_thread=False))
