"""Record the spans of pydantic-ai with a scripted model, by its own instrumentation or by OpenInference's:

python pydantic_ai_spans.py genai|openinference OUT
"""

import asyncio
import itertools
import sys
import uuid
from pathlib import Path

# Ids are counted. Before the import of pydantic_ai, which takes the function by name.
_ids = itertools.count(1)
uuid.uuid4 = lambda: uuid.UUID(int=next(_ids))

import pydantic_ai._agent_graph  # noqa: E402
import pydantic_ai._enqueue  # noqa: E402
from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor  # noqa: E402
from pydantic_ai import Agent, CancellationToken, DeferredToolRequests, ModelRetry, RunContext, UsageLimits  # noqa: E402
from pydantic_ai.capabilities import Instrumentation  # noqa: E402
from pydantic_ai.direct import model_request  # noqa: E402
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ThinkingPart, ToolCallPart  # noqa: E402
from pydantic_ai.models.function import DeltaToolCall, FunctionModel  # noqa: E402
from pydantic_ai.models.instrumented import InstrumentationSettings  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from spans import tidied, traced  # noqa: E402

pydantic_ai._agent_graph.uuid7 = pydantic_ai._enqueue.uuid7 = uuid.uuid4
FAIL, CANCEL, KILL = object(), object(), object()  # the model fails; the run is cancelled; the task is


def say(text):
    return TextPart(text)


def call(call_id, tool, **arguments):
    return ToolCallPart(tool, arguments, call_id)


READ, GREP = call("call-1", "read", path="a.txt"), call("call-2", "grep", pattern="alpha")
SUB = [[call("call-9", "read", path="b.txt")], [say("It says alpha.")]]
# name -> responses: lists of parts; one with a marker is streamed.
SCENARIOS = {
    "text": [[say("Hello there.")]],
    "reasoning": [[ThinkingPart("Greet back."), say("Hello there.")]],
    "tools": [[say("I look at it."), READ], [say("It says alpha.")]],
    "two-tools": [[READ, GREP], [say("It is line 1.")]],
    "tool-failure": [[call("call-1", "deploy", target="prod")]],
    "model-failure-before-text": [[FAIL]],
    "model-failure-amid-text": [[say("Hello there."), FAIL]],
    "abort-amid-text": [[say("Hello there."), CANCEL]],
    "abort-amid-tool": [[call("call-1", "bash", command="hang")]],
    "steer": [[call("call-1", "bash", command="steer")], [say("Going left.")]],
    "follow-up": [[call("call-1", "bash", command="follow-up")], [say("I waited.")], [say("Bye then.")]],
    "round-limit": [[READ]],
    # More than was asked for.
    "tool-retry": [[call("call-1", "write", path="a.txt")], [call("call-2", "write", path="b.txt")], [say("Written.")]],
    "unknown-tool": [[call("call-1", "cat", path="a.txt")], [say("No such tool.")]],
    "abort-two-tools": [[call("call-1", "bash", command="hang"), call("call-2", "read", path="a.txt")]],
    "abort-amid-call": [[READ, CANCEL]],
    "task-killed": [[call("call-1", "bash", command="kill")]],
    "client-tool": [[call("call-1", "approved")]],
    "sub-agent": [[call("call-1", "delegate", task="read")], *SUB, [say("Done.")]],
    "structured": [[call("call-1", "final_result", city="Rome")]],
    "two-prompts": [[say("Hello there.")], [READ], [say("It says alpha.")]],
    "no-content": [[say("I look at it."), READ], [say("It says alpha.")]],
    "one-batch": [[say("I look at it."), READ], [say("It says alpha.")]],
    "in-a-request": [[READ], [say("It says alpha.")]],
    "model-alone": [[READ]],
}
OPENINFERENCE = ("text", "reasoning", "tools", "tool-failure", "abort-amid-tool", "client-tool", "sub-agent")
"""Scenarios of the other dialect: the program is the same, and the attributes are its own, with those of OpenInference."""
NOT_CONTENT, WHOLE = {"no-content"}, {"one-batch"}


class City(BaseModel):
    city: str


def make_agent(name, token, settings):
    responses = iter(SCENARIOS[name])

    def respond(_messages, _info):
        given = next(responses)
        if FAIL in given:
            raise RuntimeError("no credit")
        return ModelResponse(given)

    async def stream(_messages, _info):
        for index, part in enumerate(next(responses)):
            await asyncio.sleep(0)
            if part is FAIL:
                raise RuntimeError("no credit")
            if part is CANCEL:
                token.cancel()
                await asyncio.sleep(60)
            elif isinstance(part, TextPart):
                yield part.content
            else:
                yield {index: DeltaToolCall(name=part.tool_name, json_args='{"path": ', tool_call_id=part.tool_call_id)}

    streamed = any(part in (FAIL, CANCEL) for part in SCENARIOS[name][0]) and len(SCENARIOS[name][0]) > 1
    model = FunctionModel(stream_function=stream) if streamed else FunctionModel(respond)
    agent = Agent(model, name="agent", output_type=[str, DeferredToolRequests], capabilities=[Instrumentation(settings)])
    if name == "structured":
        agent = Agent(model, name="agent", output_type=City, capabilities=[Instrumentation(settings)])

    asked = {part.tool_name for response in SCENARIOS[name] for part in response if isinstance(part, ToolCallPart)}

    def tool(function):
        """Give the agent a tool that the scenario asks for: each request's span lists all that there are."""
        return agent.tool(function) if function.__name__ in asked else function

    def tool_plain(function):
        return agent.tool_plain(function) if function.__name__ in asked else function

    @tool_plain
    async def read(path: str) -> str:
        return "alpha"

    @tool_plain
    async def grep(pattern: str) -> list[str]:
        return ["a.txt:1: alpha"]

    @tool_plain
    async def deploy(target: str) -> str:
        raise RuntimeError("no access to prod")

    @tool_plain
    async def write(path: str) -> str:
        if path == "a.txt":
            raise ModelRetry("read-only")
        return "written"

    @tool
    async def bash(ctx: RunContext, command: str) -> str:
        await asyncio.sleep(0)
        if command == "hang":
            asyncio.get_running_loop().call_later(0.05, token.cancel)
            await asyncio.sleep(60)
        elif command == "kill":
            asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
            await asyncio.sleep(60)
        elif command == "steer":
            ctx.enqueue("Go left", priority="asap")
        elif command == "follow-up":
            ctx.enqueue("Say bye", priority="when_idle")
        return "done"

    async def approved() -> str:
        return "approved"

    if "approved" in asked:
        agent.tool_plain(requires_approval=True)(approved)

    @tool_plain
    async def delegate(task: str) -> str:
        helper = Agent(model, name="helper", capabilities=[Instrumentation(settings)])
        helper.tool_plain(read)
        return (await helper.run(task)).output

    return agent, streamed


async def prompted(name, provider, settings):
    token = CancellationToken()
    agent, streamed = make_agent(name, token, settings)
    limits = UsageLimits(request_limit=1 if name == "round-limit" else 10)

    async def ask(said, history=None):
        async def read_all(_ctx, events):
            async for _ in events:
                pass

        return await agent.run(
            said,
            message_history=history,
            cancellation_token=token,
            usage_limits=limits,
            event_stream_handler=read_all if streamed else None,
        )

    if name == "in-a-request":
        with provider.get_tracer("app").start_as_current_span("POST /chat"):
            await ask("Hi")
    elif name == "two-prompts":
        first = await ask("Hi")
        token = None
        await ask("Look", first.all_messages())
    elif name == "model-alone":
        await model_request(agent.model, [ModelRequest.user_text_prompt("Hi")], instrument=settings)
    else:
        await ask("Hi")


def record(kind, name):
    global _ids
    _ids = itertools.count(1)
    processors = [OpenInferenceSpanProcessor()] if kind == "openinference" else []
    provider, written = traced(whole=name in WHOLE, processors=processors)
    settings = InstrumentationSettings(
        tracer_provider=provider, include_content=name not in NOT_CONTENT, include_model_request_parameters=False
    )
    try:
        asyncio.run(prompted(name, provider, settings))
    except (Exception, asyncio.CancelledError) as error:
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    provider.force_flush()
    return tidied(written.getvalue())


def main(kind, out):
    out.mkdir(parents=True, exist_ok=True)
    for name in SCENARIOS if kind == "genai" else OPENINFERENCE:
        (out / f"{name}.jsonl").write_text(record(kind, name))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
