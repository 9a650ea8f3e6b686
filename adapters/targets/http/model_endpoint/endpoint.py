"""The model that the server under test asks: an OpenAI-compatible endpoint, whose answers the harness decides."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from turncheck.model.core.stimuli import Item, ModelFail, ModelOutput, ModelStop, Shown, ToolCall

from ....protocol.errors import excerpt
from .completions import FINISH, RETRY_HEADERS, STATUS, ChatRequest, Completion, failure, shown
from .guard import CLOSE, RELEASE, Guard, error
from .secret import Secret

Command: TypeAlias = ModelOutput | ModelStop | ModelFail

PATHS: Final = ("/v1/chat/completions", "/chat/completions")
_LIMIT: Final = 16 * 1024 * 1024  # bytes of a request: a context window of text takes a few
_SECONDS: Final = 10.0  # for a request's body, which a client can send at once
_CUT: Final = 1000  # bytes that a cut answer promises and never sends


class ModelCall:
    """A request to the model, with its run and session, its context, and the commands that answer it."""

    def __init__(self, request_id: str, session: str | None, run: int, request: ChatRequest) -> None:
        self.request_id: Final = request_id
        self.session: Final = session
        self.run: Final = run
        self.request: Final = request
        self.input: Final[tuple[Shown, ...]] = shown(request.messages)
        self.items: Final[list[Item]] = []
        self.commands: Final[asyncio.Queue[Command]] = asyncio.Queue()


class Asked(Protocol):
    """The receiver of the requests of the server under test."""

    def asked(self, request: ChatRequest) -> ModelCall | str:
        """Take a request to the model; return its call, or the reason for a refusal: no run could have sent it."""
        ...

    def gone(self, call: ModelCall) -> None:
        """Note that the server does not wait for the answer any more."""
        ...

    def fault(self, message: str) -> None:
        """Note a request of the server for something else."""
        ...


def model_endpoint(listener: Asked, secret: Secret, release: Callable[[], Awaitable[None]]) -> ASGIApp:
    """Return the application that serves ``PATHS`` below the secret; it calls *release* for a worker that asks."""

    def refused(status: int, problem: str) -> Response:
        listener.fault(problem)
        return error(status, problem)

    async def complete(request: Request) -> Response:
        asked = f"POST {request.url.path}"
        encoding = request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            return refused(415, f"{asked}: a body in Content-Encoding {excerpt(encoding)}; expected it as it is")
        try:
            body = msgspec.json.decode(secret.hidden(await _body(request)), type=ChatRequest)
            call = listener.asked(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            return refused(400, f"{asked}: {problem}; expected a chat completion's request, with messages")
        except TimeoutError:
            return refused(408, f"{asked}: the body was not whole after {_SECONDS:g} seconds")
        return error(400, call) if isinstance(call, str) else _Answer(call, listener)

    async def unknown(request: Request, _: Exception) -> Response:
        return refused(404, f"{request.method} {excerpt(request.url.path)}: turncheck serves POST {PATHS[0]} alone")

    async def leave(_: Request) -> Response:
        await release()
        return Response(status_code=204, headers=CLOSE)

    model = Starlette(
        routes=[Route(path, complete, methods=["POST"]) for path in PATHS],
        exception_handlers={404: unknown, 405: unknown},
    )
    return Guard(model, Starlette(routes=[Route(RELEASE, leave, methods=["POST"])]), secret)


async def _body(request: Request) -> bytes:
    """Read the request's body. Raises ValueError if it exceeds the limit, TimeoutError if it is too slow."""
    body = bytearray()
    async with asyncio.timeout(_SECONDS):
        async for piece in request.stream():
            body += piece
            if len(body) > _LIMIT:
                raise ValueError(f"the body is longer than {_LIMIT:,} bytes")
    return bytes(body)


class _Answer(Response):
    """Answer one call as its commands come, until they end it or the server leaves.

    If the application returns before the body's end, the connection is closed, which breaks the stream.
    """

    def __init__(self, call: ModelCall, listener: Asked) -> None:
        super().__init__()
        self._call, self._listener = call, listener
        self._completion = Completion(call.request, call.request_id)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Speak ASGI."""
        play = asyncio.ensure_future(self._stream(send) if self._call.request.stream else self._whole(send))
        left = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({play, left}, return_when=asyncio.FIRST_COMPLETED)
            if play.done():
                play.result()
        finally:
            play.cancel()
            left.cancel()
            self._listener.gone(self._call)

    async def _stream(self, send: Send) -> None:
        started, calls = False, 0
        async for command in self._commands():
            if isinstance(command, ModelFail) and not started and command.failure != "stream":
                await _send_failure(send, command.failure)
                return
            if not started:
                await _start(send, 200, {"content-type": "text/event-stream"})
                started = True
            match command:
                case ModelOutput(item=item):
                    for chunk in self._completion.chunks(item, calls):
                        await _send(send, _event(chunk))
                    calls += isinstance(item, ToolCall)
                case ModelStop(reason=reason, usage=usage):
                    for chunk in self._completion.last_chunks(FINISH[reason], usage):
                        await _send(send, _event(chunk))
                    await _send(send, b"data: [DONE]\n\n", more=False)
                case ModelFail(failure="stream"):
                    await _send(send, b'data: {"id": ')
                case ModelFail(failure=failed):  # too late for a status: providers send it as an event
                    await _send(send, _event(failure(failed)), more=False)

    async def _whole(self, send: Send) -> None:
        async for command in self._commands():
            match command:
                case ModelOutput():
                    pass
                case ModelStop(reason=reason, usage=usage):
                    answer = self._completion.whole(self._call.items, FINISH[reason], usage)
                    await _start(send, 200, {"content-type": "application/json"})
                    await _send(send, json.dumps(answer).encode(), more=False)
                case ModelFail(failure="stream"):
                    await _start(send, 200, {"content-type": "application/json", "content-length": str(_CUT)})
                    await _send(send, b'{"id": ')
                case ModelFail(failure=failed):
                    await _send_failure(send, failed)

    async def _commands(self) -> AsyncIterator[Command]:
        """Yield the commands up to the one that ends the answer."""
        command: Command | None = None
        while command is None or isinstance(command, ModelOutput):
            command = await self._call.commands.get()
            yield command


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_failure(send: Send, failed: str) -> None:
    retry = RETRY_HEADERS if failed == "retryable" else {}
    await _start(send, STATUS[failed], {"content-type": "application/json", **retry})
    await _send(send, json.dumps(failure(failed)).encode(), more=False)


async def _start(send: Send, status: int, headers: dict[str, str]) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in (headers | CLOSE).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
