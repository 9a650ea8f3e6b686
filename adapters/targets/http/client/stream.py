"""The client's side of one AG-UI run: the POST, and the values of the event stream in their order."""

from collections.abc import AsyncGenerator, Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import httpx
from httpx_sse import EventSource, SSEError

from turncheck.model.core.decode import parse

from ....protocol.errors import excerpt
from .body import Body, BrokenStreamError

_SENT: Final = "http11.send_request_body.complete"
_OK: Final = 200
_BODY: Final = 4096  # bytes read of an error's body, whose beginning is shown


class RefusedError(Exception):
    """The endpoint answered with another status than 200: ``status``, and the beginning of the body as text."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body}" if body else f"HTTP {status}, without a body")
        self.status = status


class UnreachableError(Exception):
    """Nobody listens at the endpoint's address."""


def new_client() -> httpx.AsyncClient:
    """Open a client without timeouts, proxies, cookies or kept connections.

    A run is a connection, and a disconnect ends it; the cookies of a thread are not sent with the next one.
    """
    return httpx.AsyncClient(
        timeout=None,  # noqa: S113 - the driver's patience is the timeout
        trust_env=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        limits=httpx.Limits(max_keepalive_connections=0),
        headers={"accept": "text/event-stream", "accept-encoding": "identity"},
    )


async def run_events(
    client: httpx.AsyncClient,
    url: str,
    hidden: Callable[[bytes], bytes],
    run_input: Mapping[str, Any],
    sent: Callable[[], None],
) -> AsyncGenerator[Any, None]:
    """POST *run_input*, then call *sent*; yield each event's JSON value, None for an unreadable one.

    *hidden* returns text of the endpoint in a form that may be shown. Redirects are refusals, and not followed.

    Raises UnreachableError, RefusedError, and BrokenStreamError for an answer that is no event stream, breaks, or ends
    amid an event. Closing the iterator disconnects.
    """

    async def trace(name: str, _: Mapping[str, Any]) -> None:
        if name == _SENT:
            sent()

    try:
        async with client.stream("POST", url, json=run_input, extensions={"trace": trace}) as response:
            response.stream = body = Body(response, hidden)
            response.encoding = "utf-8-sig"  # whatever the header says: an event stream has no other charset
            if response.status_code != _OK:
                raise RefusedError(response.status_code, await _beginning(response, hidden))
            async for event in EventSource(response).aiter_sse():
                if event.data:
                    yield _value(hidden(event.data.encode("utf-8", "surrogatepass")))
            body.check()
    except SSEError as error:
        raise BrokenStreamError(f"the answer is no event stream: {_told(error, hidden)}") from error
    except httpx.ConnectError as error:
        raise UnreachableError(f"nobody listens at {url}: {error}") from error
    except httpx.HTTPError as error:
        raise BrokenStreamError(f"the connection broke: {_told(error, hidden)}") from error


def _told(error: Exception, hidden: Callable[[bytes], bytes]) -> str:
    """Return the text of *error*, which may contain all that the endpoint sent."""
    return excerpt(hidden(str(error).encode())) or type(error).__name__


def _value(data: bytes) -> Any:
    try:
        return parse(data)
    except (ValueError, RecursionError):
        return None


async def _beginning(response: httpx.Response, hidden: Callable[[bytes], bytes]) -> str:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) >= _BODY:
            break
    return excerpt(hidden(body))
