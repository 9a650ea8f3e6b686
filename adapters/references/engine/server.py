"""The engine as a server: ``POST /chat`` answers with a stream of server-sent events (RS-1 to RS-8).

The machine decides; this module only performs its outputs: load, compact, send a request to the model, execute, save.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias
from uuid import uuid4

import anyio
import msgspec
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from turncheck.model.core.stimuli import ToolCall
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.chat_log import Heard

from ..usable import usable
from .engine import Engine, Limits
from .ports import Call, Chunk, Compactor, Delta, Done, Flow, Provider, Storage
from .session import Session, cut
from .wire import server_event

Journal: TypeAlias = Callable[[str, Sequence[dict[str, Any]]], None]
"""Called at each run's end, with the session's id and the core's log of the run."""

_Next: TypeAlias = tuple[str, Heard]
_ORDERS: Final = frozenset(("load", "compact", "request", "execute"))
_logger: Final = logging.getLogger(__name__)


class Chat(msgspec.Struct):
    """The body of a request. Without ``session_id`` a session is created."""

    message: str
    session_id: str | None = None


class Service:
    """Everything that requests share: the consumer's parts, the limits, and the runs under way by session."""

    def __init__(
        self,
        provider: Provider,
        flow: Flow,
        storage: Storage,
        *,
        limits: Limits | None = None,
        compactor: Compactor | None = None,
        journal: Journal = lambda _, __: None,
    ) -> None:
        self.provider, self.flow, self.storage, self.compactor = provider, flow, storage, compactor
        self.limits: Final = limits or Limits()
        self.journal: Final = journal
        self.running: Final[dict[str, Engine]] = {}

    def application(self) -> Starlette:
        """The web application."""
        return Starlette(routes=[Route("/chat", self.chat, methods=["POST"])])

    async def chat(self, request: Request) -> Response:
        """Answer one request: 400 if it is malformed, 409 if its session has a run, else the stream."""
        try:
            chat = msgspec.json.decode(await request.body(), type=Chat)
        except msgspec.MsgspecError as error:
            return JSONResponse({"error": f"expected {{message, session_id?}}: {error}"}, 400)
        session_id = chat.session_id or str(uuid4())
        engine = self.running.get(session_id) or Engine(
            Session(session_id), self.limits, compactor=self.compactor is not None
        )
        outputs = engine.hear("message", Heard(text=chat.message))
        if any(output.name == "refuse" for output in outputs):
            return JSONResponse({"error": "a request of this session runs: wait for its end"}, 409)
        self.running[session_id] = engine
        run = Run(self, engine, outputs)
        try:
            await run.step()
        except BaseException:  # the session cannot be loaded, and there is no stream yet to report it
            await run.close()
            raise
        return _Stream(run)


class Run:
    """One run, from its message to ``done``."""

    def __init__(self, service: Service, engine: Engine, outputs: Sequence[Output]) -> None:
        """*outputs* are the engine's outputs for the message."""
        self._service, self._engine, self._outputs = service, engine, outputs
        self._stream: AsyncIterator[Chunk] | None = None
        self._closed = False

    async def step(self) -> None:
        """Perform the last outputs, and pass the outcome to the engine."""
        self._hear(*await self._next())

    async def events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield the client's events to the end; then save the session and admit its next request."""
        for event in self._told():
            yield event
        while self._engine.state != "idle":
            await self.step()
            for event in self._told():
                yield event
        await self.close()

    async def close(self) -> None:
        """End the run if it has not ended: the client is gone. Then save the session and close the model's stream."""
        if self._closed:
            return
        self._closed = True
        if self._engine.state != "idle":
            self._hear("client-gone", Heard())
        session = self._engine.session
        try:
            if any(output.name == "save" for output in self._outputs):
                self._service.storage.save(session)
        except OSError:
            _logger.exception("the session %s is not saved", session.session_id)
        del self._service.running[session.session_id]
        self._service.journal(session.session_id, self._engine.log)
        await self._leave()

    def _hear(self, event: str, heard: Heard) -> None:
        self._outputs = self._engine.hear(event, heard)
        for output in self._outputs:
            if output.name == "warn":
                _logger.warning("the history is cut, and not summarised: %s", *output.arguments)

    def _told(self) -> Iterator[ServerSentEvent]:
        for output in self._outputs:
            event = server_event(output, self._engine.session.session_id)
            if event is not None:
                yield ServerSentEvent(event.data, event=event.event)

    async def _next(self) -> _Next:
        """Perform the last outputs and return the outcome; without one to perform, read the next chunk."""
        order = next((output for output in self._outputs if output.name in _ORDERS), None)
        match order:
            case None:
                return await self._chunk()
            case Output("load"):
                session = self._engine.session
                self._engine.session = self._service.storage.load(session.session_id) or session
                return "session-loaded", Heard(messages=len(self._engine.session.messages))
            case Output("compact"):
                return await self._compact()
            case Output("request"):
                return await self._ask()
            case Output(arguments=(call, tool, arguments)):
                return await self._execute(call, tool, arguments)
            case _:
                raise AssertionError(order)

    async def _compact(self) -> _Next:
        messages = self._engine.session.messages
        prefix = messages[: cut(messages, self._service.limits.max_history_messages)]
        try:
            assert self._service.compactor is not None
            return "compacted", Heard(text=await self._service.compactor.compact(prefix))
        except Exception as error:  # noqa: BLE001 - after any error the history is cut (RS-3.2)
            return "compaction-failed", Heard(message=_said(error))

    async def _ask(self) -> _Next:
        await self._leave()
        try:
            self._stream = await self._service.provider.stream(tuple(self._engine.session.messages))
        except Exception as error:  # noqa: BLE001 - any error (RS-5.1)
            return "provider-error", Heard(message=_said(error))
        return await self._chunk()

    async def _chunk(self) -> _Next:
        assert self._stream is not None
        try:
            chunk = await anext(self._stream)
        except StopAsyncIteration:
            return "stream-error", Heard(message="the stream ended before the response did")
        except Exception as error:  # noqa: BLE001 - any error (RS-5.2)
            return "stream-error", Heard(message=_said(error))
        match chunk:
            case Delta(text, begins):
                return "text", Heard(text=text, begins=int(begins))
            case Call(call_id, tool, text):
                arguments, why = usable(ToolCall(call_id=call_id, tool=tool, arguments=text))
                heard = Heard(call_id=call_id, tool=tool, arguments=arguments, message=why)
                return "tool-call" if why is None else "broken-call", heard
            case Done(finish_reason, usage):
                return "stream-end", Heard(finish_reason=finish_reason, usage=usage)

    async def _execute(self, call: str, tool: str, arguments: dict[str, Any]) -> _Next:
        try:
            output = await self._service.flow.execute(tool, arguments, self._engine.session)
        except Exception as error:  # noqa: BLE001 - any error goes to the model (RS-5.3)
            return "tool-error", Heard(call_id=call, message=_said(error))
        return "tool-output", Heard(call_id=call, output=output.content, data=output.data, metadata=output.metadata)

    async def _leave(self) -> None:
        """Close the model's stream."""
        stream, self._stream = self._stream, None
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


class _Stream(EventSourceResponse):
    """The answer to a request. Its run ends with it, also if the answer fails or never begins."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.events())  # pyright: ignore[reportUnknownMemberType] - its content may be a bare dict
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._run.close()


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
