# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""The common part of pydantic-ai's adapters: the scripted model and tools, and the context in the log's form."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_ai import Agent, ToolFailed, UsageLimits
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.messages import (
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, StreamedResponse
from pydantic_ai.tools import DeferredToolRequests, Tool, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset
from turncheck_kit import Environment, ModelFailure, ModelRequest, ToolFailure, raw_arguments

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

REQUEST_LIMIT = UsageLimits().request_limit  # the runtime's own bound where the options name none
HISTORY_POLICIES = {
    "abortedResponse": "keep",  # _agent_graph.py: an interrupted response is committed
    "failedResponse": "keep",
    "itemOrder": "as-said",
    "resultOrder": "as-called",  # _tool_execution.py: parts are sorted by the index of their call
    "failures": "marked",
    "maxResultCharacters": None,
}
FINISH_REASONS = {"end-turn": "stop", "tool-use": "tool_call", "length": "length"}
STATUS = {"retryable": 503, "fatal": 401}  # what a provider answers instead of a stream


class Conversation(Protocol):
    """The part of a conversation that the scripted model and tools use."""

    name: str | None
    ids: dict[str, str]
    """Text of a user message → its id."""
    request: str | None
    """The id of the request that the model answers."""

    def settle(self) -> None:
        """Log the events held back, before a model request."""


def agent_of(env: Environment, session: Conversation, **more: Any) -> Agent:
    """Return an agent of the scripted model, with the tools of the options.

    Where calls need a person or the client, its runs may end with ``DeferredToolRequests``.
    """
    declared = env.options.get("tools") or []
    tools = [_executed(env, session, tool) for tool in declared if tool.get("needs") != "client"]
    clients = [
        ToolDefinition(name=tool["name"], parameters_json_schema=_schema(tool))
        for tool in declared
        if tool.get("needs") == "client"
    ]
    more |= {"toolsets": [ExternalToolset(clients)]} if clients else {}
    more |= {"output_type": [str, DeferredToolRequests]} if any(tool.get("needs") for tool in declared) else {}
    return Agent(ScriptedModel(env, session), tools=tools, **more)


def limits_of(env: Environment) -> UsageLimits:
    """The bound on the model requests of one agent run."""
    return UsageLimits(request_limit=(env.options.get("limits") or {}).get("maxRounds", REQUEST_LIMIT))


def _schema(tool: dict[str, Any]) -> dict[str, Any]:
    return tool.get("schema") or {"type": "object", "properties": {}}


def _executed(env: Environment, session: Conversation, tool: dict[str, Any]) -> Tool:
    """A tool that the runtime executes, if need be once a person approved."""
    made = Tool.from_schema(_tool(env, session, tool["name"]), tool["name"], None, _schema(tool), takes_ctx=True)
    made.requires_approval = tool.get("needs") == "approval"
    return made


def _tool(env: Environment, session: Conversation, name: str) -> Any:
    async def call(ctx: Any, **arguments: Any) -> Any:
        try:
            return await env.tool(ctx.tool_call_id, name, arguments, session=session.name)
        except ToolFailure as failure:  # the documented way for a tool to tell the model that it failed
            raise ToolFailed(str(failure)) from None

    return call


class ScriptedModel(Model):
    """A provider's model class for pydantic-ai; its FunctionModel can yield neither an empty response nor two texts."""

    def __init__(self, env: Environment, session: Conversation) -> None:
        super().__init__()
        self._env, self._session = env, session

    @property
    def model_name(self) -> str:
        """The model's name."""
        return "scripted"

    @property
    def system(self) -> str:
        """The provider's name."""
        return "turncheck"

    async def request(self, *_: Any) -> Any:
        """Raise NotImplementedError: only streamed responses are used."""
        raise NotImplementedError("the scripted model streams")

    @asynccontextmanager
    async def request_stream(
        self, messages: list[Any], _settings: Any, parameters: Any, _context: Any = None
    ) -> AsyncIterator[ScriptedStream]:
        """Send the request to the environment's model."""
        self._session.settle()
        async with self._env.model(context_of(messages, self._session.ids), session=self._session.name) as request:
            self._session.request = request.id
            yield await _opened(request, parameters)


async def _opened(request: ModelRequest, parameters: Any) -> ScriptedStream:
    """Return the stream once the provider answered: a failure before its first item is an error of the request."""
    try:
        first = await anext(request, None)
    except ModelFailure as failure:
        if failure.kind in STATUS:
            raise ModelHTTPError(STATUS[failure.kind], "scripted", body=str(failure)) from None
        return ScriptedStream(parameters, request, None, failure)
    return ScriptedStream(parameters, request, first, None)


class ScriptedStream(StreamedResponse):
    """A response whose items are parts of their own, each in one piece."""

    def __init__(
        self, parameters: Any, request: ModelRequest, first: dict[str, Any] | None, failure: ModelFailure | None
    ) -> None:
        super().__init__(model_request_parameters=parameters)
        self._request, self._first, self._failure = request, first, failure

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        number, item = 0, self._first
        try:
            if self._failure is not None:
                raise self._failure
            while item is not None:
                for event in self._part(number, item):
                    yield event
                number, item = number + 1, await anext(self._request, None)
        except ModelFailure as failure:
            raise ModelConnectionError("scripted", str(failure), phase="read") from None
        self.finish_reason = FINISH_REASONS[self._request.reason]

    def _part(self, number: int, item: dict[str, Any]) -> Iterator[Any]:
        if item["kind"] == "assistant":
            return self._parts_manager.handle_text_delta(vendor_part_id=number, content=item["text"])
        if item["kind"] == "reasoning":
            return self._parts_manager.handle_thinking_delta(vendor_part_id=number, content=item["text"])
        return self._parts_manager.handle_tool_call_delta_events(
            vendor_part_id=number,
            tool_name=item["tool"],
            args=raw_arguments(item),
            tool_call_id=item["callId"],
        )

    @property
    def model_name(self) -> str:
        """The model's name."""
        return "scripted"

    @property
    def provider_name(self) -> None:
        """None: there is no provider."""
        return None

    @property
    def provider_url(self) -> None:
        """None, as above."""
        return None

    @property
    def timestamp(self) -> datetime:
        """Always the same."""
        return datetime(2026, 1, 1, tzinfo=UTC)


def arguments_of(text: Any) -> Any:
    """Return the arguments as JSON, or the model's text if it is no JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def context_of(messages: list[Any], ids: dict[str, str]) -> list[dict[str, Any]]:
    """Return the model's context, for ``input``; *ids* maps the text of a user message to its id."""
    return [entry for message in messages for part in message.parts for entry in _entries(message, part, ids)]


def _entries(message: Any, part: Any, ids: dict[str, str]) -> Iterator[dict[str, Any]]:
    match part:
        case TextPart(content=text):
            yield {"role": "assistant", "text": text}
        case ToolCallPart(tool_name=tool, tool_call_id=call, args=args):
            yield {"role": "assistant", "callId": call, "tool": tool, "arguments": arguments_of(args)}
        case ToolReturnPart(tool_call_id=call):
            yield {
                "role": "tool",
                "callId": call,
                "text": part.model_response_str(),
                **_flag(part.outcome != "success"),
            }
        case RetryPromptPart(tool_name=None):
            yield {"role": "user", "text": part.model_response()}
        case RetryPromptPart(tool_call_id=call):
            yield {"role": "tool", "callId": call, "text": part.model_response(), "isError": True}
        case SystemPromptPart(content=text):
            yield {"role": "system", "text": text}
        case UserPromptPart(content=content):
            for text in [content] if isinstance(content, str) else content:
                shown = text if isinstance(text, str) else repr(text)
                # the runtime's own voice where a provider takes no system message there; a user cannot forge the tag
                role = "system" if shown.startswith("<system>") else "user"
                yield {"role": role, "text": shown, **({"ids": [ids[shown]]} if shown in ids else {})}
        case _ if isinstance(message, ModelResponse):
            pass  # reasoning is left out
        case _:
            yield {"role": "system", "text": repr(part)}


def _flag(error: bool) -> dict[str, bool]:  # noqa: FBT001
    return {"isError": True} if error else {}
