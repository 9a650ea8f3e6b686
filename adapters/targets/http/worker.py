"""The worker: the adapter protocol on stdin and stdout, the model endpoint on its port, the client of the endpoint."""

import asyncio
import traceback
from functools import partial
from typing import BinaryIO, Final

import httpx
import msgspec

from turncheck.model.core.stimuli import Step

from ...protocol.messages import (
    DISCONNECT_POLICY,
    Answer,
    Apply,
    Hello,
    HelloAnswer,
    Implementation,
    Message,
    Profile,
    Reset,
    Run,
    Stop,
    encode,
)
from ...protocol.protocol_server import failed, greeting, read, stepped, unsupported
from .client.stream import UnreachableError, new_client, run_events
from .computing import Server
from .driver import Driver
from .model_endpoint.endpoint import model_endpoint
from .model_endpoint.port import ModelPort, StartError
from .model_endpoint.secret import Secret, base_url
from .options import Options
from .quiet import Quiet

_PROFILE: Final = Profile(
    roles=("runtime",),
    capabilities=(
        "abort",
        "call-ids",
        "model-failure",
        "model-input",
        "raw-arguments",
        "sessions",
        "tool-failure",
        "tools",
    ),
    policies={"tools": "parallel", "abortEnds": "at-once", DISCONNECT_POLICY: "abort"},
)
"""The capabilities of an AG-UI endpoint; an endpoint without some of them gets its own profile (docs/http.md)."""


class _Worker:
    """One endpoint, driven by messages."""

    def __init__(self, options: Options, secret: Secret, client: httpx.AsyncClient) -> None:
        self._options = options
        server = Server(options.address[1])
        quiet = Quiet(patience=options.patience, lull=options.lull, computing=server.computing)
        self._driver = Driver(partial(run_events, client, options.url, secret.hidden), quiet)
        self.port = ModelPort(model_endpoint(self._driver, secret, self._release), options.model_port, secret)

    async def answer(self, message: Message) -> Answer | HelloAnswer:
        """Carry out *message*."""
        match message:
            case Hello():
                profile = msgspec.structs.replace(
                    _PROFILE, policies={**_PROFILE.policies, "retries": self._options.retries}
                )
                return greeting(Implementation(f"AG-UI endpoint {self._options.url}", "unknown", "unknown"), profile)
            case Reset(seq=seq) | Apply(seq=seq) | Run(seq=seq):
                try:
                    return await self._done(message)
                except (StartError, UnreachableError) as error:
                    return failed(seq, str(error))
                except Exception as error:  # noqa: BLE001 - a defect of ours, which the harness reports
                    return failed(seq, repr(error), traceback.format_exc())
            case _:
                return unsupported(-1 if isinstance(message, Stop) else message.seq, "an endpoint does not project")

    async def _done(self, message: Reset | Apply | Run) -> Answer:
        match message:
            case Reset(seq=seq, options=options):
                await self.port.take()
                return stepped(seq, await self._driver.reset(options))
            case _ if not self.port.held:
                raise StartError(f"another turncheck took port {self._options.model_port} amid a word")
            case Apply(seq=seq, stimulus=stimulus):
                return stepped(seq, await self._driver.apply(stimulus))
            case Run(seq=seq, word=word):
                steps: list[Step] = []
                for stimulus in word:
                    steps.append(await self._driver.apply(stimulus))
                    if steps[-1].unsettled:
                        break
                return Answer(seq, ok=True, steps=tuple(steps))

    async def _release(self) -> None:
        """Leave the runs and the port: the harness now drives another worker."""
        await self._driver.leave()
        await self.port.release()


async def work(options: Options, secret: Secret, requests: BinaryIO, answers: BinaryIO) -> None:
    """Serve until ``stop`` or the end of *requests*. Raises StartError."""
    await _check(options)
    async with new_client() as client:
        worker = _Worker(options, secret, client)
        await worker.port.take()
        try:
            await _serve(worker, secret, requests, answers)
        finally:
            await worker.port.release()


async def _serve(worker: _Worker, secret: Secret, requests: BinaryIO, answers: BinaryIO) -> None:
    while line := await asyncio.to_thread(requests.readline):
        message = read(line)
        if isinstance(message, Stop):
            return
        answer = message if isinstance(message, Answer) else await worker.answer(message)
        answers.write(secret.hidden(encode(answer)) + b"\n")  # servers tell in errors which URL they asked
        answers.flush()


async def _check(options: Options) -> None:
    """Raise StartError if nobody listens at the endpoint's address."""
    host, port = options.address
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        raise StartError(
            f"nobody listens at {options.url} ({error}). Start the server first, its model's base URL"
            f" {base_url(options.model_port)} (docs/http.md)"
        ) from error
    writer.close()
