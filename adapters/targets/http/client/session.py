"""One thread of an AG-UI endpoint, from the client's side: a user who sends and aborts, and the client's tools."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from turncheck.model.core.stimuli import ToolAwaited

from ..jsons import Object, as_text
from ..model_endpoint.endpoint import ModelCall
from .body import BrokenStreamError
from .run_reader import Call, LogEvent, RunReader, malformed
from .stream import RefusedError
from .transcript import Transcript

if TYPE_CHECKING:
    from ..driver import Driver

BUSY: Final = (409, 423, 429)
"""Statuses that refuse a message for now, before the run shows any event; any other status is a failed run."""
_NO_PARAMETERS: Final[Object] = {"type": "object", "properties": {}}
_NO_ARGUMENTS: Final = "the arguments are no JSON object"
_CANCELLED: Final = "cancelled by the user"
_SENDING: Final = 2.0  # seconds for a request: an endpoint that never reads it must not hold up the abort


Post: TypeAlias = Callable[[Object, Callable[[], None]], AsyncGenerator[Any, None]]
"""A function that posts a RunAgentInput to the endpoint, as ``run_events`` does."""


@dataclass
class Awaited:
    """A call that the client answers; ``answered`` is True afterwards."""

    execution: str
    call: Call
    answered: bool = False


class Session:
    """A thread, at first without a run.

    ``calls`` are its model requests that wait for answers, oldest first; ``tools`` the calls that the client must
    answer; ``text`` the user's last; ``answering`` the request whose answer the run shows; ``runs`` the number of runs.
    """

    def __init__(self, name: str | None, thread: str, tools: Sequence[Object], host: "Driver", post: Post) -> None:
        self.name: Final = name
        self.calls: list[ModelCall] = []
        self.tools: list[Awaited] = []
        self.text = ""
        self.answering: str | None = None
        self._thread = thread
        self._declared = [_declared(tool) for tool in tools]
        self._names = frozenset(str(tool["name"]) for tool in tools)
        self._host, self._post = host, post
        self._transcript = Transcript()
        self.runs = self._executions = 0
        self._reader: RunReader | None = None
        self._task: asyncio.Task[None] | None = None
        self._sent = asyncio.Event()
        self._message: LogEvent | None = None  # of the run under way, while nothing is known of it

    @property
    def streaming(self) -> bool:
        """True while a run's stream is open."""
        return self._reader is not None

    @property
    def waiting(self) -> bool:
        """True while the run under way waits for the model."""
        return any(call.run == self.runs for call in self.calls)

    @property
    def active(self) -> bool:
        """True while the user's turn is under way: a run, or calls that the client must answer."""
        return self.streaming or bool(self.tools)

    def user(self, message: LogEvent) -> None:
        """Send *message*, in the log's form, which starts a run."""
        self.text = message["text"]
        self._transcript.user(message["id"], message["text"])
        self._host.log(self.name, message)
        self._start(message)

    async def abort(self) -> None:
        """Close the stream, and answer its calls. The endpoint's reaction is not read."""
        if self._task is not None and self._reader is not None:
            task = self._task
            sent = asyncio.ensure_future(self._sent.wait())  # a run that was never sent can't be aborted
            await asyncio.wait({task, sent}, timeout=_SENDING, return_when=asyncio.FIRST_COMPLETED)
            sent.cancel()
            task.cancel()
            await asyncio.wait({task})
        if self._reader is None:  # the run is over, perhaps by itself since
            if not self.tools:
                return
            unanswered = [one.call for one in self.tools if not one.answered]
            self.tools.clear()
        else:
            reader, self._reader = self._reader, None
            self._say(reader.end())
            self._transcript.end()
            if reader.stopped and not reader.continues:  # nothing was left of it except an open stream
                return
            unanswered = reader.unanswered
        self._cancel(unanswered)

    def _cancel(self, unanswered: Sequence[Call]) -> None:
        """Answer the calls that the user left, and log the end of the turn."""
        for call_id in dict.fromkeys(call.call_id for call in unanswered):
            if self._transcript.knows(call_id):
                self._transcript.tool(call_id, _CANCELLED, error=_CANCELLED)
            result = {"type": "tool-result", "callId": call_id, "output": _CANCELLED, "isError": True}
            self._host.log(self.name, {**result, "synthetic": True, "source": "adapter"})
        stop = {"type": "run-stop", "reason": "interrupted", "detail": "the client disconnected", "source": "adapter"}
        self._host.log(self.name, stop)

    def asked(self, call: ModelCall) -> None:
        """Note that the run asks the model: its message was taken."""
        self.calls.append(call)
        self._message = None

    def waiting_tools(self) -> Iterator[ToolAwaited]:
        """Yield the calls that the client must answer."""
        for one in self.tools:
            if not one.answered:
                yield ToolAwaited(session_id=self.name, execution=one.execution, **one.call._asdict())

    def answer(self, call_id: str, execution: str | None, output: Any, error: str | None) -> bool:
        """Answer one call; the last answer starts the next run. Return False if the call is not awaited."""
        for one in self.tools:
            named = one.execution == execution if execution is not None else one.call.call_id == call_id
            if named and not one.answered:
                self._answer(one, output, error)
                self._go_on()
                return True
        return False

    def _answer(self, one: Awaited, output: Any, error: str | None) -> None:
        one.answered = True
        self._transcript.tool(one.call.call_id, as_text(output), error=error)
        failed = {} if error is None else {"isError": True}
        result = {"type": "tool-result", "callId": one.call.call_id, "output": output, **failed, "source": "adapter"}
        self._host.log(self.name, result)

    def _go_on(self) -> None:
        """Start the next run if the client has answered all calls of the last."""
        if all(one.answered for one in self.tools):
            self.tools.clear()
            self._start(None)

    def settle(self) -> None:
        """Log the events that waited for a successor."""
        if self._reader is not None:
            self._say(self._reader.settle())

    def _start(self, message: LogEvent | None) -> None:
        self.runs += 1
        self._message, self.answering = message, None
        self._reader = RunReader(self._names, self._transcript)
        self._sent.clear()
        self._task = asyncio.create_task(self._run(self._reader))

    async def _run(self, reader: RunReader) -> None:
        run_input: Object = {
            "threadId": self._thread,
            "runId": f"{self._thread}-run-{self.runs}",
            "protocolVersion": "1.0",
            "messages": self._transcript.messages,
            "tools": self._declared,
            "context": [],
            "state": self._transcript.state,
            "forwardedProps": {},
        }
        broke: Exception | None = None
        try:
            async with contextlib.aclosing(self._post(run_input, self._sent.set)) as values:
                async for value in values:
                    self._host.moved()
                    self._say(reader.take(value, self.answering))
        except (BrokenStreamError, RefusedError) as error:
            broke = error
        except Exception as error:  # noqa: BLE001 - unreachable, or a defect of ours: not to be lost with the task
            self._host.broke(error)
        self._ended(reader, broke)

    def _ended(self, reader: RunReader, broke: Exception | None) -> None:
        """Note the end of the stream."""
        self._reader = None
        self._host.moved()
        self._transcript.end()
        if isinstance(broke, RefusedError) and broke.status in BUSY and self._message is not None:
            self._transcript.messages.pop()
            self._host.rejected(self._message, str(broke))
            return
        self._say(reader.end())
        match broke:
            case None if reader.stopped:
                pass
            case RefusedError():
                self._host.log(self.name, {"type": "fault", "message": str(broke)})
            case _:
                why = str(broke) if broke else "the stream ended without RUN_FINISHED or RUN_ERROR"
                self._host.log(self.name, malformed(why))
        if not reader.stopped:
            detail = str(broke or "no terminal")
            self._host.log(self.name, {"type": "run-stop", "reason": "error", "detail": detail, "source": "adapter"})
        if reader.continues:
            for call in reader.pending:
                self._executions += 1
                self.tools.append(Awaited(f"{self.name or ''}e{self._executions}", call))
            for one in self.tools:
                if not isinstance(one.call.arguments, dict):  # no client runs a tool with these
                    self._answer(one, _NO_ARGUMENTS, _NO_ARGUMENTS)
            self._go_on()

    def _say(self, events: Iterable[LogEvent]) -> None:
        for event in events:
            self._message = None  # the run has shown something: it was not refused
            self._host.log(self.name, event)


def _declared(tool: Object) -> Object:
    """Return a tool of the reset's options in RunAgentInput's form."""
    parameters = tool.get("schema") or _NO_PARAMETERS
    return {"name": tool["name"], "description": tool.get("description", tool["name"]), "parameters": parameters}
