"""What both adapters of pydantic-ai share: the scripted model and tools, and the context as the log shows it."""

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime

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
from pydantic_ai.tools import Tool
from turncheck_kit import ModelFailure, ToolFailure, raw_arguments

REQUEST_LIMIT = UsageLimits().request_limit  # the runtime's own bound where the options name none
FINISH_REASONS = {"end-turn": "stop", "tool-use": "tool_call", "length": "length"}
STATUS = {"retryable": 503, "fatal": 401}  # what a provider answers instead of a stream


def agent_of(env, session, **more):
    """An agent of the scripted model, with the tools of the options."""
    tools = [
        Tool.from_schema(_tool(env, session, tool["name"]), tool["name"], None, _schema(tool), takes_ctx=True)
        for tool in env.options.get("tools") or []
    ]
    return Agent(ScriptedModel(env, session), tools=tools, **more)


def limits_of(env):
    """The bound on the model requests of one agent run."""
    return UsageLimits(request_limit=(env.options.get("limits") or {}).get("maxRounds", REQUEST_LIMIT))


def _schema(tool):
    return tool.get("schema") or {"type": "object", "properties": {}}


def _tool(env, session, name):
    async def call(ctx, **arguments):
        try:
            return await env.tool(ctx.tool_call_id, name, arguments, session=session.name)
        except ToolFailure as failure:  # the documented way for a tool to tell the model that it failed
            raise ToolFailed(str(failure)) from None

    return call


class ScriptedModel(Model):
    """A provider's model class, as pydantic-ai asks for one: FunctionModel cannot say nothing, nor two texts."""

    def __init__(self, env, session):
        super().__init__()
        self._env, self._session = env, session

    @property
    def model_name(self):
        return "scripted"

    @property
    def system(self):
        return "turncheck"

    async def request(self, messages, model_settings, model_request_parameters):
        raise NotImplementedError("the scripted model streams")

    @asynccontextmanager
    async def request_stream(self, messages, model_settings, model_request_parameters, run_context=None):
        self._session.settle()
        async with self._env.model(context_of(messages, self._session.ids), session=self._session.name) as request:
            self._session.request = request.id
            yield await _opened(request, model_request_parameters)


async def _opened(request, parameters):
    """The stream, once the provider answered: a failure before its first item is an error of the request."""
    try:
        first = await anext(request, None)
    except ModelFailure as failure:
        if failure.kind in STATUS:
            raise ModelHTTPError(STATUS[failure.kind], "scripted", body=str(failure)) from None
        return ScriptedStream(parameters, request, None, failure)
    return ScriptedStream(parameters, request, first, None)


class ScriptedStream(StreamedResponse):
    """A response whose items are parts of their own, each in one piece."""

    def __init__(self, parameters, request, first, failure):
        super().__init__(model_request_parameters=parameters)
        self._request, self._first, self._failure = request, first, failure

    async def _get_event_iterator(self):
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

    def _part(self, number, item):
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
    def model_name(self):
        return "scripted"

    @property
    def provider_name(self):
        return None

    @property
    def provider_url(self):
        return None

    @property
    def timestamp(self):
        return datetime(2026, 1, 1, tzinfo=UTC)


def arguments_of(text):
    """The arguments as JSON where they are, else the text that the model sent."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def context_of(messages, ids):
    """What the model is shown, for ``input``; *ids* maps the text of a user message to its id."""
    return [entry for message in messages for part in message.parts for entry in _entries(message, part, ids)]


def _entries(message, part, ids):
    match part:
        case TextPart(content=text):
            yield {"role": "assistant", "text": text}
        case ToolCallPart(tool_name=tool, tool_call_id=call):
            yield {"role": "assistant", "callId": call, "tool": tool}
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


def _flag(error):
    return {"isError": True} if error else {}
