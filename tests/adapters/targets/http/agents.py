"""AG-UI endpoints: one that is right, and many that are not. Each has its path; the model's port is in the query."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import openai
from serving import SECRET
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

Object: TypeAlias = dict[str, Any]
Behaviour: TypeAlias = Callable[[Object, openai.AsyncOpenAI], AsyncIterator[Object | bytes]]

STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
BEHAVIOURS: dict[str, Behaviour] = {}


def behaviour(function: Behaviour) -> Behaviour:
    BEHAVIOURS[function.__name__.replace("_", "-")] = function
    return function


def text(said: str, name: str = "m") -> list[Object]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": said},
        {"type": "TEXT_MESSAGE_END", "messageId": name},
    ]


def for_model(message: Object) -> Object:
    """Convert a message of AG-UI to OpenAI's form."""
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["toolCallId"], "content": message["content"]}
    calls = {"tool_calls": message["toolCalls"]} if message.get("toolCalls") else {}
    return {"role": message["role"], "content": message.get("content"), **calls}


async def ask(run: Object, model: Any, *, stream: bool = True) -> Any:
    tools = [{"type": "function", "function": {"name": one["name"], "parameters": {}}} for one in run["tools"]]
    return await model.chat.completions.create(
        model="m", messages=[for_model(one) for one in run["messages"]], stream=stream, tools=tools or openai.omit
    )


@behaviour
async def right(run: Object, model: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    """Streams one response of the model; its calls are all the client's."""
    yield STARTED
    name = f"m{len(run['messages'])}"
    calls: dict[int, str] = {}
    begun = False
    try:
        async for chunk in await ask(run, model):
            delta = chunk.choices[0].delta
            if delta.content:
                if not begun:
                    yield {"type": "TEXT_MESSAGE_START", "messageId": name}
                begun = True
                yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": delta.content}
            for call in delta.tool_calls or []:
                if call.id:
                    calls[call.index] = call.id
                    yield {
                        "type": "TOOL_CALL_START",
                        "toolCallId": call.id,
                        "toolCallName": call.function.name,
                        "parentMessageId": name,
                    }
                yield {
                    "type": "TOOL_CALL_ARGS",
                    "toolCallId": calls[call.index],
                    "delta": call.function.arguments or "",
                }
    except (openai.APIError, openai.APIConnectionError) as error:
        yield {"type": "RUN_ERROR", "message": str(error)}
        return
    if begun:
        yield {"type": "TEXT_MESSAGE_END", "messageId": name}
    for call_id in calls.values():
        yield {"type": "TOOL_CALL_END", "toolCallId": call_id}
    yield FINISHED


@behaviour
async def not_streaming(run: Object, model: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    answer = await ask(run, model, stream=False)
    for event in text(answer.choices[0].message.content or ""):
        yield event
    yield FINISHED


@behaviour
async def silent(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    await asyncio.Event().wait()


@behaviour
async def endless(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    while True:
        yield {"type": "CUSTOM", "name": "tick", "value": None}
        await asyncio.sleep(0.001)


@behaviour
async def two_terminals(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (STARTED, *text("hi"), FINISHED, FINISHED):
        yield event


@behaviour
async def late(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (STARTED, FINISHED, *text("too late")):
        yield event


@behaviour
async def no_start(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (*text("hi"), FINISHED):
        yield event


@behaviour
async def no_terminal(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (STARTED, *text("hi")):
        yield event


@behaviour
async def torn(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object | bytes]:
    yield STARTED
    yield b'data: {"type": "RUN_FIN'


@behaviour
async def broken(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    raise RuntimeError("the connection is closed without an end")


@behaviour
async def rubbish(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object | bytes]:
    yield STARTED
    yield b"data: {no json\n\n"
    yield FINISHED


@behaviour
async def never_asks(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (STARTED, *text("I know it all"), FINISHED):
        yield event


@behaviour
async def asks_twice(run: Object, model: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    answers = await asyncio.gather(ask(run, model, stream=False), ask(run, model, stream=False))
    for number, answer in enumerate(answers):
        for event in text(answer.choices[0].message.content, f"m{number}"):
            yield event
    yield FINISHED


@behaviour
async def asks_elsewhere(run: Object, model: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    try:
        await model.responses.create(model="m", input="hi")
    except openai.NotFoundError as error:
        yield {"type": "RUN_ERROR", "message": error.message}


@behaviour
async def huge(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (STARTED, *text("x" * (4 << 20)), FINISHED):
        yield event


@behaviour
async def too_huge(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    for event in (STARTED, *text("x" * (9 << 20)), FINISHED):
        yield event


@behaviour
async def in_chunks(run: Object, _: openai.AsyncOpenAI) -> AsyncIterator[Object]:
    yield STARTED
    yield {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "one"}
    yield {"type": "TEXT_MESSAGE_CHUNK", "delta": " text"}
    yield {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "read", "delta": '{"path": '}
    yield {"type": "TOOL_CALL_CHUNK", "delta": '"a"}'}
    yield {"type": "TOOL_CALL_RESULT", "messageId": "m2", "toolCallId": "c", "content": "alpha"}
    yield FINISHED


run_is_over = threading.Event()
"""Set by the test of ``asks-later`` when the driver has seen the end of its run: a request before that is the run's."""
refused = threading.Event()
"""Set when the request that ``asks-later`` makes after its run was refused."""
_background: set[asyncio.Task[Any]] = set()


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    run = await request.json()
    port = request.query_params["model"]
    model = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/{SECRET}/v1", api_key="none", max_retries=0)
    if name.isdigit():
        return PlainTextResponse("come back later", int(name))
    if name == "page":
        return Response("<h1>hello</h1>", media_type="text/html")
    if name == "deaf":
        return StreamingResponse(_deaf(run, model), media_type="text/event-stream")
    if name == "asks-later":
        said = _encoded(BEHAVIOURS["never-asks"](run, model), openai.AsyncOpenAI(api_key="none"))
        return StreamingResponse(said, media_type="text/event-stream", background=BackgroundTask(_later, run, model))
    events = BEHAVIOURS[name](run, model)
    return StreamingResponse(_encoded(events, model), media_type="text/event-stream")


async def _encoded(events: AsyncIterator[Object | bytes], model: openai.AsyncOpenAI) -> AsyncIterator[bytes]:
    async with model:
        async for event in events:
            yield event if isinstance(event, bytes) else b"data: " + json.dumps(event).encode() + b"\n\n"


async def _deaf(run: Object, model: openai.AsyncOpenAI) -> AsyncIterator[bytes]:
    """The run goes on when its reader has left."""
    events: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def work() -> None:
        async for event in _encoded(BEHAVIOURS["right"](run, model), model):
            events.put_nowait(event)
        events.put_nowait(None)

    task = asyncio.ensure_future(work())
    _background.add(task)
    while (event := await events.get()) is not None:
        yield event


async def _later(run: Object, model: openai.AsyncOpenAI) -> None:
    await asyncio.to_thread(run_is_over.wait, 10)
    async with model:
        try:
            await ask(run, model, stream=False)
        except openai.BadRequestError:
            refused.set()


application = Starlette(routes=[Route("/{name}", _serve, methods=["POST"])])
