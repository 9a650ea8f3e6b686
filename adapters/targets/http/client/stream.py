"""The client's side of one AG-UI run: the POST, and the values of the event stream in their order."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any, Final

import httpx
from httpx_sse import EventSource, SSEError

from turncheck.model.core.decode import parse

from ....logs.reading import MAX_LINE
from ....protocol.errors import excerpt

_SENT: Final = "http11.send_request_body.complete"
_BLANK: Final = re.compile(rb"\n\n|\n\r\n|\r\r")
_OK: Final = 200
_BODY: Final = 4096  # bytes read of an error's body: its beginning is shown


class RefusedError(Exception):
    """The endpoint answered with another status than 200: ``status``, and the beginning of the body as text."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body}" if body else f"HTTP {status}, without a body")
        self.status = status


class BrokenStreamError(Exception):
    """The answer is no whole event stream; the text says why."""


class UnreachableError(Exception):
    """Nobody listens at the endpoint's address."""


def new_client() -> httpx.AsyncClient:
    """Open a client without timeouts, proxies or kept connections: a run is a connection, and a disconnect ends it."""
    return httpx.AsyncClient(
        timeout=None,  # noqa: S113 - the driver's patience is the timeout
        trust_env=False,
        limits=httpx.Limits(max_keepalive_connections=0),
        headers={"accept": "text/event-stream", "accept-encoding": "identity"},
    )


async def run_events(
    client: httpx.AsyncClient, url: str, run_input: Mapping[str, Any], sent: Callable[[], None]
) -> AsyncGenerator[Any, None]:
    """POST *run_input* and yield each event's JSON value, None for an unreadable one; *sent* is called when it's sent.

    Raises UnreachableError, RefusedError, and BrokenStreamError for an answer that is no event stream, breaks, or ends
    amid an event. Closing the iterator disconnects.
    """

    async def trace(name: str, _: Mapping[str, Any]) -> None:
        if name == _SENT:
            sent()

    try:
        async with client.stream("POST", url, json=run_input, extensions={"trace": trace}) as response:
            if response.status_code != _OK:
                raise RefusedError(response.status_code, await _beginning(response))
            tail = _Tail(response.stream)
            response.stream = tail
            async for event in EventSource(response).aiter_sse():
                if event.data:
                    yield _value(event.data)
            tail.check()
    except SSEError as error:
        raise BrokenStreamError(f"the answer is no event stream: {error}") from error
    except httpx.ConnectError as error:
        raise UnreachableError(f"nobody listens at {url}: {error}") from error
    except httpx.HTTPError as error:
        raise BrokenStreamError(f"the connection broke: {error or type(error).__name__}") from error


def _value(data: str) -> Any:
    try:
        return parse(data.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None


async def _beginning(response: httpx.Response) -> str:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) >= _BODY:
            break
    return excerpt(body)


class _Tail(httpx.AsyncByteStream):
    """A stream that remembers the bytes since the last blank line: the parser drops an event without one at its end."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._rest = bytearray()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            seen = max(0, len(self._rest) - 2)  # a blank line may be cut in two
            self._rest += piece
            del self._rest[: max((found.end() for found in _BLANK.finditer(self._rest, seen)), default=0)]
            if len(self._rest) > MAX_LINE:
                raise BrokenStreamError(f"an event is longer than {MAX_LINE:,} bytes")
            yield piece

    def check(self) -> None:
        """Raise BrokenStreamError where the stream ended amid an event."""
        if any(line.startswith(b"data") for line in self._rest.splitlines()):
            raise BrokenStreamError(f"the stream ended amid an event: {excerpt(bytes(self._rest))}")

    async def aclose(self) -> None:
        await self._stream.aclose()
