"""Record the AG-UI streams of pydantic-ai with a scripted model: python record.py OUT"""

import asyncio
import itertools
import sys
import uuid
from pathlib import Path

# Ids are counted. Before the import of pydantic_ai, which takes the function by name.
_ids = itertools.count(1)
uuid.uuid4 = lambda: uuid.UUID(int=next(_ids))

import pydantic_ai._enqueue  # noqa: E402
from ag_ui.core import RunAgentInput  # noqa: E402
from pydantic_ai import Agent, CancellationToken, DeferredToolRequests, ModelRetry, RunContext, UsageLimits  # noqa: E402
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel  # noqa: E402
from pydantic_ai.ui.ag_ui import AGUIAdapter  # noqa: E402
from pydantic_ai.ui.ag_ui._event_stream import AGUIEventStream  # noqa: E402

AGUIEventStream._get_timestamp = staticmethod(lambda: 1767225600000)  # the clock stands still
pydantic_ai._enqueue.uuid7 = uuid.uuid4
ALSO_JSONL = {"tools", "tool-failure", "abort-amid-text"}


def call(index, call_id, tool, arguments):
    """A tool call in two deltas, as models stream them."""
    half = len(arguments) // 2
    yield {index: DeltaToolCall(name=tool, json_args=arguments[:half], tool_call_id=call_id)}
    yield {index: DeltaToolCall(json_args=arguments[half:])}


def say(text):
    yield text[:7]
    yield text[7:]


def think(index, text):
    yield {index: DeltaThinkingPart(content=text[:7])}
    yield {index: DeltaThinkingPart(content=text[7:])}


FAIL, CANCEL = object(), object()
READ = ("call-1", "read", '{"path": "a.txt"}')
BASH = ("call-1", "bash", '{"command": "hang"}')
# name -> responses; a response is a list of deltas, or FAIL, or CANCEL.
SCENARIOS = {
    "text": [[*say("Hello there.")]],
    "reasoning": [[*think(0, "Greet back."), *say("Hello there.")]],
    "tools": [[*say("I look at it."), *call(1, *READ)], [*say("It says alpha.")]],
    "two-tools": [[*call(0, *READ), *call(1, "call-2", "grep", '{"pattern": "alpha"}')], [*say("It is line 1.")]],
    "tool-failure": [[*call(0, "call-1", "deploy", '{"target": "prod"}')]],
    "model-failure-before-text": [[FAIL]],
    "model-failure-amid-text": [[*say("Hello there."), FAIL]],
    "abort-amid-text": [[*say("Hello there."), CANCEL]],
    "abort-amid-tool": [[*call(0, *BASH)]],
    "steer": [[*call(0, "call-1", "bash", '{"command": "steer"}')], [*say("Going left.")]],
    "follow-up": [[*call(0, "call-1", "bash", '{"command": "follow-up"}')], [*say("I waited.")], [*say("Bye then.")]],
    "round-limit": [[*call(0, *READ)]],
    # More than was asked for.
    "tool-retry": [[*call(0, "call-1", "write", '{"path": "a.txt"}')], [*call(0, "call-2", "write", '{"path": "b.txt"}')], [*say("It is written.")]],
    "unknown-tool": [[*call(0, "call-1", "cat", '{"path": "a.txt"}')], [*say("No such tool.")]],
    "abort-two-tools": [[*call(0, *BASH), *call(1, "call-2", "read", '{"path": "a.txt"}')]],
    "abort-amid-call": [[*list(call(0, *BASH))[:1], CANCEL]],
    "abort-old-client": [[*say("Hello there."), CANCEL]],
    "walk-away": [[*say("Hello there."), *say("And more of it.")]],
    "client-tool": [[*call(0, "call-1", "ask", '{"question": "Which?"}')]],
    "client-tool-answered": [[*say("The left one.")]],
    "tool-approval": [[*call(0, "call-1", "approved", "{}")]],
    "tool-approval-granted": [[*say("It is done.")]],
    "tool-approval-denied": [[*say("Then not.")]],
    "tool-approval-session": [[*call(0, "call-1", "approved", "{}")], [*say("It is done.")]],
}
ASK = {"name": "ask", "description": "Ask the user.", "parameters": {"type": "object", "properties": {"question": {"type": "string"}}}}
ANSWERED = [
    {"id": "m2", "role": "assistant", "toolCalls": [{"id": "call-1", "type": "function", "function": {"name": "ask", "arguments": '{"question": "Which?"}'}}]},
    {"id": "m3", "role": "tool", "toolCallId": "call-1", "content": "left"},
]
# The history of a run that waits for an approval, and the user's answers.
ASKED = [
    {"id": "m2", "role": "assistant", "toolCalls": [{"id": "call-1", "type": "function", "function": {"name": "approved", "arguments": "{}"}}]},
]
RESUME = {
    name: [{"interruptId": "int-call-1", "status": "resolved", "payload": {"approved": name != "tool-approval-denied"}}]
    for name in ("tool-approval-granted", "tool-approval-denied", "tool-approval-session")
}


def make_agent(name, token):
    responses = iter(SCENARIOS[name])

    async def stream(_messages, _info):
        for delta in next(responses):
            await asyncio.sleep(0)
            if delta is FAIL:
                raise RuntimeError("no credit")
            if delta is CANCEL:
                token.cancel()
                await asyncio.sleep(60)
            yield delta

    agent = Agent(FunctionModel(stream_function=stream), output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    async def read(path: str) -> str:
        return "alpha"

    @agent.tool_plain
    async def grep(pattern: str) -> list[str]:
        return ["a.txt:1: alpha"]

    @agent.tool_plain
    async def deploy(target: str) -> str:
        raise RuntimeError("no access to prod")

    @agent.tool_plain
    async def write(path: str) -> str:
        if path == "a.txt":
            raise ModelRetry("read-only")
        return "written"

    @agent.tool
    async def bash(ctx: RunContext, command: str) -> str:
        await asyncio.sleep(0)
        if command == "hang":
            asyncio.get_running_loop().call_later(0.05, token.cancel)
            await asyncio.sleep(60)
        elif command == "steer":
            ctx.enqueue("Go left", priority="asap")
        elif command == "follow-up":
            ctx.enqueue("Say bye", priority="when_idle")
        return "done"

    @agent.tool_plain(requires_approval=True)
    async def approved() -> str:
        return "approved"

    return agent


async def run(name, encode):
    global _ids
    _ids = itertools.count(1)
    if name != "tool-approval-session":
        return await stream(name, encode, make_agent, resumed=name in RESUME)
    agent = make_agent(name, CancellationToken())  # both of its runs, one after the other, as a proxy would log them
    return "".join([await stream(name, encode, lambda *_: agent, resumed=resumed) for resumed in (False, True)])


async def stream(name, encode, agent_of, *, resumed):
    token = CancellationToken()
    run_input = RunAgentInput.model_validate({
        "threadId": "thread-1", "runId": "run-1", "state": None, "context": [], "forwardedProps": None,
        "messages": [{"id": "m1", "role": "user", "content": "Hi"}, *(ANSWERED if name == "client-tool-answered" else ASKED if resumed else [])],
        **({"resume": RESUME[name]} if resumed else {}),
        "tools": [ASK] if name.startswith("client-tool") else [],
        # A client that declares no version is one from before 1.0.
        **({} if name == "abort-old-client" else {"protocolVersion": "1.0"}),
    })
    adapter = AGUIAdapter(agent=agent_of(name, token), run_input=run_input)
    limits = UsageLimits(request_limit=1 if name == "round-limit" else 10)
    events = adapter.run_stream(cancellation_token=token, usage_limits=limits)
    parts = []
    async for part in adapter.encode_stream(events) if encode else events:
        parts.append(part if encode else part.model_dump_json(by_alias=True) + "\n")
        if name == "walk-away" and len(parts) == 3:
            break  # the reader goes; nobody cancels anything
    await events.aclose()
    return "".join(parts)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    asyncio.run(run("text", encode=True))  # the first run takes ids of its own
    for name in SCENARIOS:
        (out / f"{name}.sse").write_text(asyncio.run(run(name, encode=True)))
        if name in ALSO_JSONL:
            (out / f"{name}.jsonl").write_text(asyncio.run(run(name, encode=False)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
