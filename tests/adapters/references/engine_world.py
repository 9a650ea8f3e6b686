"""A served engine whose model, tools and summariser do what they are told, and the events that its client sees."""

import asyncio
import contextlib
import json
import socket
import threading

import httpx
import uvicorn
from httpx_sse import connect_sse

from turncheck.adapters.references.engine.engine import Limits
from turncheck.adapters.references.engine.ports import Call, Delta, Done, Files
from turncheck.adapters.references.engine.server import Service

READ = Call("c1", "read", '{"path": "a"}')
SECONDS = 20.0  # never waited for


class Model:
    """Answers each request with the next of *responses*: chunks, and errors, which are raised at their place."""

    def __init__(self, *responses):
        self.responses, self.asked = list(responses), []

    async def stream(self, messages):
        self.asked.append(messages)
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return self.chunks(response)

    async def chunks(self, response):
        for chunk in response:
            if isinstance(chunk, Exception):
                raise chunk
            if isinstance(chunk, Gate):
                await chunk.wait()
            else:
                yield chunk


class Gate:
    """A stream that stays open until it is cancelled, and reports both."""

    def __init__(self):
        self.left = threading.Event()

    async def wait(self):
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()


class Tools:
    def __init__(self, *outputs):
        self.outputs, self.executed = list(outputs), []

    async def execute(self, tool, arguments, session):
        self.executed.append((tool, arguments))
        output = self.outputs.pop(0)
        if isinstance(output, Exception):
            raise output
        if isinstance(output, Gate):
            await output.wait()
        return output


class Summariser:
    def __init__(self, summary):
        self.summary, self.given = summary, []

    async def compact(self, messages):
        self.given.append(messages)
        if isinstance(self.summary, Exception):
            raise self.summary
        return self.summary


class World:
    """A served engine with its parts. ``logs`` are the core's logs of the finished runs."""

    def __init__(self, directory, model, tools, compactor, limits):
        self.model, self.tools, self.compactor, self.storage = model, tools, compactor, Files(directory)
        self.logs, self.over = [], threading.Event()
        self.service = Service(model, tools, self.storage, limits=limits, compactor=compactor, journal=self.keep)
        self.address = ""

    def keep(self, _, log):
        self.logs.append(list(log))
        self.over.set()

    def chat(self, message="one", session_id="s1"):
        """The events of one request, as (name, data)."""
        with self.open(message, session_id) as source:
            return [(event.event, event.data) for event in source.iter_sse()]

    @contextlib.contextmanager
    def open(self, message="one", session_id="s1"):
        body = {"message": message} | ({} if session_id is None else {"session_id": session_id})
        with (
            httpx.Client(trust_env=False, timeout=SECONDS) as client,
            connect_sse(client, "POST", f"{self.address}/chat", json=body) as source,
        ):
            yield source

    def post(self, **options):
        return httpx.post(f"{self.address}/chat", trust_env=False, timeout=SECONDS, **options)


@contextlib.contextmanager
def worlds(directory):
    """Yield what serves a World, as long as the context lasts: it is given the model's responses."""
    with contextlib.ExitStack() as stack:

        def start(*responses, tools=(), compactor=None, max_tool_rounds=8, max_history_messages=200):
            limits = Limits(max_tool_rounds, max_history_messages)
            world = World(directory, Model(*responses), Tools(*tools), compactor, limits)
            world.address = stack.enter_context(serving(world.service.application()))
            return world

        yield start


@contextlib.contextmanager
def serving(application):
    config = uvicorn.Config(application, lifespan="off", log_config=None, log_level="critical")
    config.timeout_graceful_shutdown = 0
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        thread.join(timeout=10)  # a connection that was left open can keep it; it is a daemon


def named(events, name):
    return [data if name == "text" else json.loads(data) for event, data in events if event == name]


def codes(events):
    return [error["code"] for error in named(events, "error")]


def called(*more):
    return (Delta("I look. ", begins=True), READ, *more, Done("stop"))


ANSWER = (Delta("all ", begins=True), Delta("well"), Done("stop"))
