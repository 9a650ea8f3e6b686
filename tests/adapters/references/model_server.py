"""A model on loopback, scripted: turncheck's own endpoint, which notes what it saw of each request."""

import asyncio
import contextlib
import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

from serving import SECRET, serve
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from turncheck.adapters.references.conversation import ConversationTarget, Limits
from turncheck.adapters.references.provider.client import HttpModel
from turncheck.adapters.references.provider.images import DEFAULT
from turncheck.adapters.targets.http.model_endpoint.endpoint import Command, ModelCall, model_endpoint
from turncheck.adapters.targets.http.model_endpoint.secret import Secret
from turncheck.model.core.stimuli import ModelFail, ModelOutput, ModelStop, User

GO = User(id="u1", text="go")
SECONDS = 20.0  # never waited for


class Seen(NamedTuple):
    """A request: when it came on the conversation's clock, its headers, and the bytes of its body."""

    at: float
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ModelServer:
    """Answers each request with the next of ``answers``: items, and perhaps an end, or a whole ``Response``.

    An answer without an end stays open until it is told more (``tell``), and so does a request without an answer.
    ``calls`` gets the requests of the endpoint, and ``left`` the numbers of those that were left before their end.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.answers: list[Any] = []
        self.seen: list[Seen] = []
        self.calls: queue.SimpleQueue[ModelCall] = queue.SimpleQueue()
        self.came: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.left: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._now, self._ends = now, dict[str, bool]()
        self._endpoint = model_endpoint(self, Secret(SECRET), _nothing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Speak ASGI."""
        request = Request(scope, receive)
        self.seen.append(Seen(self._now(), dict(request.headers), await request.body()))
        self.came.put(len(self.seen))
        if self.answers and isinstance(self.answers[0], Response):
            await self.answers.pop(0)(scope, receive, send)
        else:
            await self._endpoint(scope, _again(self.seen[-1].body, receive), send)

    def asked(self, request: Any) -> ModelCall:
        call = ModelCall(str(len(self.seen)), None, 1, request)
        self._loop, self._ends[call.request_id] = asyncio.get_running_loop(), False
        for one in self.answers.pop(0) if self.answers else ():
            self._put(call, one if isinstance(one, ModelStop | ModelFail) else ModelOutput(item=one))
        self.calls.put(call)
        return call

    def tell(self, call: ModelCall, command: Command) -> None:
        """Answer a request further, from any thread."""
        self._loop.call_soon_threadsafe(self._put, call, command)

    def _put(self, call: ModelCall, command: Command) -> None:
        self._ends[call.request_id] |= isinstance(command, ModelStop | ModelFail)
        call.commands.put_nowait(command)

    def gone(self, call: ModelCall) -> None:
        if not self._ends[call.request_id]:
            self.left.put(int(call.request_id))

    def fault(self, message: str) -> None:
        raise AssertionError(message)


async def _nothing() -> None:
    pass


def _again(body: bytes, receive: Receive) -> Receive:
    """Give the body once more, and then what comes."""
    told = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return told.pop() if told else await receive()

    return receive_again


class Served(ConversationTarget):
    """A conversation with the model of ``server``, at ``address``."""

    address: str

    def __init__(self, server: ModelServer, **options: Any) -> None:
        self.server, self._options = server, options
        super().__init__(**options)

    def again(self, hash_seed: int) -> Self:
        return type(self)(self.server, **self._options)


@contextlib.contextmanager
def asked_over_http(now: Callable[[], float], **settings: Any) -> Iterator[tuple[ModelServer, HttpModel]]:
    """A server, and the model that it is."""
    server = ModelServer(now)
    with serve(server) as address, HttpModel(f"{address}/{SECRET}/v1", "scripted", key="sesame", **settings) as model:
        yield server, model


@contextlib.contextmanager
def served(directory: Path, limits: Limits = DEFAULT, kind: type[Served] = Served) -> Iterator[Served]:
    """A conversation in *directory*, and the server of its model."""
    with (
        asked_over_http(lambda: target.shell.clock.now, limits=limits) as (server, model),
        kind(server, directory=str(directory), model=model) as target,
    ):
        target.address = model.url.removesuffix("/chat/completions")
        yield target


def talk(runtime: Served, *answers: Any, message: User = GO) -> list[dict[str, Any]]:
    """Send a message, and wait for each of the answers; return all events."""
    runtime.server.answers += answers
    steps = [runtime.apply(message), *(runtime.wait(SECONDS) for _ in answers)]
    return [event for step in steps for event in step.events]
