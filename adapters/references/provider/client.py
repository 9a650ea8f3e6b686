"""A model behind an OpenAI-compatible endpoint: requests over HTTP, each a task that an abort ends.

Nothing is retried here: the rows of a machine decide, and wait on a virtual clock (BED-D1), so that ``Retry-After`` is
not read.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, aclosing
from typing import Any, Final, Self

import httpx
import msgspec
from anyio import to_thread
from anyio.from_thread import start_blocking_portal
from httpx_sse import EventSource, SSEError

from ...protocol.errors import excerpt
from .images import DEFAULT, Limits
from .port import Answer, Answered, Failed, Http, Question, Settings
from .request_body import body
from .response import DONE, ProviderError, Reader

TIMEOUT: Final = httpx.Timeout(600.0, connect=5.0)
"""Real seconds without a byte, and for a connection: ``DEFAULT_TIMEOUT`` of OpenAI's own client, openai 3.54.0."""
CLOSING: Final = 1.0
"""Real seconds for which an abort waits at most until the connection is closed; on loopback it takes some ms."""
_OK: Final = 200
_TOO_MANY: Final = 429
_BODY: Final = 4096  # bytes read of an error's body, whose beginning is shown
_ADVICE: Final[Mapping[int, str]] = {
    401: "the provider refuses the key; check it",
    403: "the key may not use this model; check both",
    404: "the provider has no such model or address; check both",
    413: "the request is too long for the provider; begin a new conversation",
    429: "the provider limits the rate of requests; wait, then send a message",
}
"""Status → what it means for the user, and what to do."""


class HttpModel:
    """The model *model* at *base_url*, which ends with ``/v1`` at most providers; a context manager.

    *key* is the bearer's; *limits* are the provider's for images. Raises ValueError where *base_url* is no address of
    HTTP, or *key* cannot be in a header.

    >>> with HttpModel("http://127.0.0.1:1/v1", "gpt", key="none") as model:
    ...     model.url
    'http://127.0.0.1:1/v1/chat/completions'
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        limits: Limits = DEFAULT,
        timeout: httpx.Timeout = TIMEOUT,
    ) -> None:
        self.url: Final = f"{_checked(base_url).rstrip('/')}/chat/completions"
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ValueError("the key has characters that no header takes")
        self.settings: Final = Settings(model, temperature, max_tokens)
        self._limits = limits
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, trust_env=False)
        self._open: set[_Call] = set()
        self._held = ExitStack()
        self._portal = self._held.enter_context(start_blocking_portal())

    def ask(self, question: Question, answered: Answered) -> "_Call":
        """Send a request; *answered* is called in a thread of this model."""
        call = _Call(self._open.discard)
        self._open.add(call)
        call.future = self._portal.start_task_soon(self._ask, question, answered, call)
        return call

    def close(self) -> None:
        """Abort what is in flight, and release all connections."""
        for call in [*self._open]:
            call.abort()
        self._portal.call(self._client.aclose)
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _ask(self, question: Question, answered: Answered, call: "_Call") -> None:
        try:
            answered(await self._answer(question))
        finally:
            call.over()

    async def _answer(self, question: Question) -> Answer:
        """Return the answer. Whatever goes wrong is an answer too: no request waits for ever."""
        try:
            # In a thread, since images are read and resized: an abort does not wait for them.
            made = await to_thread.run_sync(self._body, question, abandon_on_cancel=True)
            return await self._send(made)
        except ProviderError as error:
            return _failed(error.failed)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
            return _failed(Failed(retryable=False, message=f"the request cannot be sent: {error}"))
        except httpx.HTTPError as error:
            said = excerpt(str(error)) or type(error).__name__
            return _failed(Failed(retryable=True, message=f"the provider cannot be reached: {said}"))
        except Exception as error:  # noqa: BLE001 - a missing extra, for example
            return _failed(Failed(retryable=False, message=f"the request cannot be made: {excerpt(str(error))}"))

    def _body(self, question: Question) -> bytes:
        return msgspec.json.encode(body(question, self.settings, self._limits))

    async def _send(self, made: bytes) -> Answer:
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        async with self._client.stream("POST", self.url, content=made, headers=headers) as response:
            if response.status_code != _OK:
                raise ProviderError(refused(response.status_code, await _beginning(response)))
            response.encoding = "utf-8-sig"  # whatever the header says: an event stream has no other charset
            reader = Reader()
            try:
                async with aclosing(EventSource(response).aiter_sse()) as events:
                    async for event in events:
                        if event.data == DONE:
                            break
                        if event.data:
                            reader.take(event.data)
            except SSEError as error:
                why = f"the answer is no event stream: {excerpt(str(error))}; check the address"
                raise ProviderError(Failed(retryable=False, message=why)) from error
            return reader.answer()._replace(http=_head(response))


class _Call:
    """A request in flight: *ended* is called when it is over."""

    def __init__(self, ended: Callable[["_Call"], None]) -> None:
        self._ended = ended
        self._over = threading.Event()
        self.future: Future[None] | None = None

    def abort(self) -> None:
        """Close the connection now, and wait until it is closed."""
        if self.future is not None:
            self.future.cancel()
        self._over.wait(CLOSING)

    def over(self) -> None:
        """Note the end."""
        self._ended(self)
        self._over.set()


def refused(status: int, said: str) -> Failed:
    """Return the failure that a status other than 200 means: 429 and 5xx may be sent again, others may not (BED-D11).

    >>> refused(503, "").retryable, refused(429, "").retryable, refused(401, "no such key").retryable
    (True, True, False)
    >>> refused(401, "no such key").message
    'the provider refuses the key; check it (HTTP 401: no such key)'
    """
    retryable = status == _TOO_MANY or status >= 500
    advice = _ADVICE.get(status, "the provider has a fault" if retryable else "the provider refuses the request")
    return Failed(retryable, f"{advice} (HTTP {status}{f': {said}' if said else ''})")


def _head(response: httpx.Response) -> Http:
    return Http(response.status_code, {name: value for name, value in response.headers.items() if name != "set-cookie"})


def _failed(failed: Failed) -> Answer:
    return Answer((), failed)


def _checked(base_url: str) -> str:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ValueError(f"no address of a model: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError(f"no address of a model: {excerpt(base_url)}; expected http(s)://host/v1")
    return base_url


async def _beginning(response: httpx.Response) -> str:
    """Return the message of an error's body, else the body's beginning."""
    got = b""
    async for piece in response.aiter_bytes():
        got += piece
        if len(got) >= _BODY:
            break
    with contextlib.suppress(msgspec.MsgspecError, ValueError, RecursionError):
        match msgspec.json.decode(got, type=Any):
            case {"error": {"message": str(message)}} | {"error": str(message)} | {"message": str(message)}:
                return excerpt(message)
            case _:
                pass
    return excerpt(got.decode(errors="replace"))
