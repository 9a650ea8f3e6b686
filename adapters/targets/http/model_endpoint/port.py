"""The model endpoint's port: the server under test knows it, and one worker holds it at a time.

A harness keeps a second process of the same target, and drives one of the two. A worker that is started or reset asks
the holder for the port, and gets it.
"""

import asyncio
import socket
from typing import Final, cast

import httpx
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from .guard import RELEASE
from .secret import Secret

_SECONDS: Final = 10.0  # for the holder's answer: leaving its runs may take its whole patience


_HEAD_SECONDS: Final = 5.0  # from a connection to the end of its request's headers


class StartError(Exception):
    """The worker can't start; the text says why, and how to mend it."""


class ModelPort:
    """A server of *application* on *port* of this machine, as long as it holds the port."""

    def __init__(self, application: ASGIApp, port: int, secret: Secret) -> None:
        self._application, self._port, self._secret = application, port, secret
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def held(self) -> bool:
        """True while this worker holds the port."""
        return self._server is not None

    async def take(self) -> None:
        """Take the port, if need be from another worker. Raises StartError if another program has it."""
        if self.held:
            return
        try:
            listener = _listen(self._port)
        except OSError as error:
            await self._ask_for_it(error)
            try:
                listener = _listen(self._port)
            except OSError:
                raise self._taken(error) from error
        config = uvicorn.Config(
            self._application, http=_Impatient, ws="none", lifespan="off", log_config=None, log_level="critical"
        )
        self._server = uvicorn.Server(config)
        self._task = asyncio.create_task(self._server.serve([listener]))

    async def release(self) -> None:
        """Release the port to another worker; open requests stay open."""
        server, task = self._server, self._task
        self._server = self._task = None
        if server is not None and task is not None:
            while not server.started and not task.done():
                await asyncio.sleep(0)
            for listening in server.servers:
                listening.close()
            task.cancel()
            await asyncio.wait({task})

    async def _ask_for_it(self, error: OSError) -> None:
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=_SECONDS) as client:
                answer = await client.post(f"http://127.0.0.1:{self._port}{RELEASE}", headers=self._secret.header)
        except httpx.HTTPError:
            raise self._taken(error) from error
        if answer.status_code != httpx.codes.NO_CONTENT.value:
            raise self._taken(error) from error

    def _taken(self, error: OSError) -> StartError:
        return StartError(
            f"cannot serve the model on port {self._port} ({error.strerror}). Choose another: #model-port=N in the"
            " target, and in the server's model base URL (docs/http.md)"
        )


class _Impatient(H11Protocol):
    """Close a connection whose request does not come: it would hold a descriptor for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(_HEAD_SECONDS, self._look)

    def _look(self) -> None:
        if cast("object", self.cycle) is None:  # before the first request, whatever its declared type says
            self.transport.close()


def _listen(port: int) -> socket.socket:
    # asyncio sets TCP_NODELAY only if the protocol is named; without TCP_NODELAY the second piece of an answer is held
    # back for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener
