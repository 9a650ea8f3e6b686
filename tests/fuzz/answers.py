"""Answers of adapters and servers: of projectors and runtimes over the protocol, and a run's event stream."""

from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any, Final, TypeVar

import httpx
import msgspec

from fuzz.logs import PIECE
from turncheck.adapters.protocol import connection
from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import DiedError, ImplementationError, TargetError, UnsupportedError
from turncheck.adapters.protocol.messages import encode, read_message
from turncheck.adapters.targets.http.client.body import BrokenStreamError
from turncheck.adapters.targets.http.client.run_reader import RunReader
from turncheck.adapters.targets.http.client.stream import run_events
from turncheck.adapters.targets.http.client.transcript import Transcript
from turncheck.adapters.targets.remote_projector import RemoteProjector
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.observe.driver import perform
from turncheck.conformance.verify.outcome.results import Input
from turncheck.conformance.verify.subjects.projector import traced
from turncheck.conformance.verify.subjects.runtime import RuntimeSubject
from turncheck.conformance.verify.subjects.subject import Observation, judged, missing
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import Abort, ModelOutput, ModelStop, ResetOptions, ToolCall, ToolReturn, User

_T = TypeVar("_T")

WORD: Final = (
    User(id="u1", text="red"),
    ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={})),
    ModelStop(reason="tool-use"),
    ToolReturn(call_id="c1", output="blue"),
    Abort(),
)
OPTIONS: Final = ResetOptions(tools=({"name": "read"},))
LOG: Final[tuple[dict[str, Any], ...]] = (
    {"type": "user-message", "text": "red"},
    {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "read"},
    {"type": "tool-result", "callId": "c1"},
    {"type": "user-message", "text": "blue", "delivery": "followUp"},
    {"type": "run-stop", "reason": "completed"},
    {"type": "run-stop", "reason": "error"},
)
DUE: Final = b'"seq":0'
"""Stands in an answer for the number that is due: otherwise one line more or less would make all others wrong."""


class _Script:
    """Replaces processes: the first line answers each hello, each further line one more message."""

    def __init__(self, data: bytes) -> None:
        self._hello, *self._lines = data.split(b"\n")
        self._next: Iterator[bytes] = iter(self._lines)

    def __call__(self, *_: object) -> "_Process":
        return _Process(self)

    def answer(self, message: bytes) -> bytes:
        sent = read_message(message)
        seq = getattr(sent, "seq", None)
        if seq is None:
            return self._hello
        line = next(self._next, None)
        if line is None:
            raise DiedError("the process ended with exit code 0 where an answer was due", came="nothing")
        return line.replace(DUE, b'"seq":%d' % seq)


class _Process:
    """A ``Child`` that reads its answers from a script."""

    pid = 0

    def __init__(self, script: _Script) -> None:
        self._script = script
        self.alive = True
        self.stderr: tuple[str, ...] = ()

    def ask(self, line: bytes, _seconds: float) -> bytes:
        return self._script.answer(line)

    def kill(self, *, at_once: bool = False) -> None:
        self.alive = False

    def close(self, _farewell: bytes = b"", _seconds: float = 0) -> bool:
        self.alive = False
        return True


@contextmanager
def _answered(data: bytes) -> Iterator[None]:
    """Let a script of *data* replace processes, whose environment is empty: ours takes 100 µs to copy at each start."""
    names = vars(connection)
    own = {"Child": names["Child"], "os": names["os"]}
    names.update({"Child": _Script(data), "os": _NO_ENVIRONMENT})
    try:
        yield
    finally:
        names.update(own)


_NO_ENVIRONMENT: Final = SimpleNamespace(environ={})


def _shown(error: Exception) -> None:
    assert str(error)


def projector(data: bytes, *, whole: bool) -> None:
    """A call gives a projection that can be judged and sent on, or a documented error, whatever a projector answers.

    The *whole*: so do the calls after an answer that ended the process.
    """
    with _answered(data):
        try:
            target = RemoteProjector(Connection("cmd:a", command=("a",), timeout=1.0))
        except TargetError as error:
            _shown(error)
            return
        judged_before: Projection | None = None
        for call in (
            lambda: target.project(LOG),
            lambda: target.project(LOG, Policies(queue_after_error="hold")),
            target.reset,
            lambda: target.feed(LOG[:3]),
            target.fed,
            lambda: target.feed(LOG[3:]),
            lambda: target.project(()),
            target.fed,
        ):
            try:
                found = call()
            except (TargetError, ImplementationError, UnsupportedError) as error:
                _shown(error)
                if whole or not isinstance(error, TargetError):
                    continue
                return
            if found is not None and found != judged_before:
                judged_before = found
                assert msgspec.json.decode(encode(found), type=Projection) == found
                trace = traced(Input(list(LOG), DEFAULT), target.profile, found)
                for law in LOG_LAWS:
                    list(judged(law, Observation(None, trace)))


LOG_LAWS: Final = [law for law in selected(["projector"]) if law.kind == "log"]
RUN_LAWS: Final = [law for law in selected(["runtime"]) if law.kind == "run"]


def runtime(data: bytes, *, whole: bool) -> None:
    """The answers of a runtime to a word are observed, or the word ends in a documented error.

    The *whole*: every law can judge them, and a counterexample be made of them.
    """
    with _answered(data):
        try:
            target = RemoteRuntime(Connection("cmd:a", command=("a",), timeout=1.0))
            driver = perform(target, WORD, OPTIONS)
        except (TargetError, ImplementationError) as error:
            _shown(error)
            return
        if whole and driver.steps:
            subject = RuntimeSubject(target, target)
            observation = subject.observation(driver.trace())
            encode(subject.counterexample(observation, **_COMMON, profile=target.profile))
            for law in RUN_LAWS:
                if not missing(law, target.profile):
                    list(judged(law, observation))


_COMMON: Final[dict[str, Any]] = {
    "schema": 1,
    "target": "cmd:a",
    "seed": 0,
    "law": next(iter(LAWS)),
    "clauses": (),
    "message": "",
}


# ---- the event stream of a run ----


class _Body(httpx.AsyncByteStream):
    def __init__(self, body: bytes, size: int) -> None:
        self._body, self._size = body, size

    async def __aiter__(self) -> Any:
        for at in range(0, len(self._body), self._size):
            yield self._body[at : at + self._size]


_REQUEST: Final = httpx.Request("POST", "http://127.0.0.1/")


class _Client:
    """The part of an httpx client that ``run_events`` needs: making a request itself takes longer than the rest."""

    def __init__(self, body: _Body) -> None:
        self._body = body

    @asynccontextmanager
    async def stream(self, *_: Any, **__: Any) -> AsyncIterator[httpx.Response]:
        yield httpx.Response(200, headers=_STREAM, stream=self._body, request=_REQUEST)


_STREAM: Final = {"content-type": "text/event-stream"}


async def _values(body: bytes, size: int) -> tuple[list[Any], str | None]:
    """Return the values of a stream that comes in pieces of *size* bytes, and the reason if it broke."""
    client: Any = _Client(_Body(body, size))
    found: list[Any] = []
    try:
        async for value in run_events(client, "http://127.0.0.1/", bytes, {}, lambda: None):
            found.append(value)  # noqa: PERF401 - values before a break are kept
    except BrokenStreamError as error:
        return found, str(error)
    return found, None


def _run(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what *work* returns, which waits for nothing but its next turn: an event loop's turns cost more."""
    while True:
        try:
            work.send(None)
        except StopIteration as done:
            found: _T = done.value
            return found


def run_stream(data: bytes, *, whole: bool) -> None:
    """Each event of a stream can be judged, logged and sent back. The *whole*: cut into pieces, it is the same."""
    found, why = _run(_values(data, len(data) + 1))
    if whole:
        cut = _run(_values(data, PIECE))
        assert (found, why) == cut, "cut into pieces, it is another stream"
    transcript = Transcript()
    transcript.user("u1", "red")
    reader = RunReader(("read", "bash"), transcript)
    logged: list[dict[str, Any]] = []
    for number, value in enumerate(found):
        logged += reader.take(value, f"r{number % 3}" if number % 2 else None)
    logged += [*reader.settle(), *reader.end()]
    transcript.end()
    encode(transcript.messages)
    encode(transcript.state)
    encode(reader.pending)
    log = msgspec.json.decode(encode(logged))
    project(tuple(map(judge, log)))
