"""Read one run's event stream: AG-UI values in; events of the log out, and the calls that the client answers."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from turncheck.model.core.events import AgentOutput, Malformed, Native, RunPause, RunStop, ToolResult, UserMessage

from ....logs.formats.ag_ui import AgUiMapper
from ....logs.formats.mapping import Mapped
from ....protocol.errors import excerpt
from ..jsons import as_list, as_object, as_text
from .chunks import Chunks
from .transcript import Transcript

LogEvent: TypeAlias = dict[str, Any]

_NOTHING: Final = {"type": "CUSTOM"}  # an event without meaning, which ends the wait for the next one


class Call(NamedTuple):
    """A call in the run's stream; ``arguments`` as JSON, or as text if they are not JSON."""

    call_id: str
    tool: str
    arguments: Any


class RunReader:
    """Read one run, and keep *transcript* in step. *client_tools* are the names of the client's tools.

    ``stopped``: the run has said how it ended; ``unanswered``: calls without a result. A run that completes with calls
    for the client has not ended the user's turn: its stop is logged as native, and it ``continues`` in the next run.
    """

    def __init__(self, client_tools: Collection[str], transcript: Transcript) -> None:
        self.unanswered: list[Call] = []
        self.stopped = self.continues = False
        self._begun = False
        self._tools = client_tools
        self._transcript = transcript
        self._chunks = Chunks()
        self._mapper = AgUiMapper(may_be_resumed=False, rules=False)
        self._at = -1
        self._pieces: dict[str, list[str]] = {}  # call id → the arguments of its latest call
        self._arguments: dict[int, list[str]] = {}  # position of a call → its arguments
        self._outputs: dict[tuple[int, str], Any] = {}  # position and call id of a result → its content
        self._answering: dict[int, str] = {}  # position → the request whose answer it belongs to

    @property
    def pending(self) -> list[Call]:
        """The calls that the client must answer; to a client, a call id that comes twice in one run is one call."""
        mine = {call.call_id: call for call in reversed(self.unanswered) if call.tool in self._tools}
        return list(reversed(mine.values()))

    def take(self, value: Any, answering: str | None) -> Iterator[LogEvent]:
        """Yield the events that *value* (None: unreadable) completes; *answering* is the model request behind it."""
        if not self._begun and _kind(value) not in ("RUN_STARTED", "RUN_ERROR"):
            yield malformed(f"the first event is {excerpt(str(_kind(value)))}, not RUN_STARTED")
        self._begun = True
        for event in self._chunks.expand(value):
            self._at += 1
            self._transcript.take(event)
            self._remember(event)
            if answering is not None:
                self._answering[self._at] = answering
            yield from self._logged(self._mapper.value(self._at, event))

    def settle(self) -> Iterator[LogEvent]:
        """Yield results that waited for the next event: no more comes for now."""
        if not self.stopped:
            self._at += 1
            yield from self._logged(self._mapper.value(self._at, _NOTHING))

    def end(self) -> Iterator[LogEvent]:
        """Yield the events that were held back: the stream is over."""
        yield from self._logged(self._mapper.end())

    def _remember(self, event: Any) -> None:
        match event:
            case {"type": "TOOL_CALL_START", "toolCallId": str(call_id)}:
                self._pieces[call_id] = self._arguments[self._at] = []
            case {"type": "TOOL_CALL_ARGS", "toolCallId": str(call_id), "delta": str(delta)}:
                self._pieces.get(call_id, []).append(delta)
            case {"type": "TOOL_CALL_RESULT", "toolCallId": str(call_id)}:
                self._outputs[self._at, call_id] = event.get("content")
            case {"type": "MESSAGES_SNAPSHOT"}:
                for message in map(as_object, as_list(event.get("messages"))):
                    self._outputs[self._at, str(message.get("toolCallId"))] = message.get("content")
            case _:
                pass

    def _logged(self, mapped: Iterable[Mapped]) -> Iterator[LogEvent]:
        for at, event in mapped:
            match event:
                case Native() | UserMessage(source="adapter"):  # the run's start stands for a message that is logged
                    continue
                case Malformed(why=why):
                    yield malformed(why)
                    continue
                case RunStop(reason="completed", detail=None | "success", source=None) if (
                    self.pending and not self.stopped
                ):
                    self.stopped = self.continues = True
                    yield {"type": "native", "event": "RUN_FINISHED", "calls": [call.call_id for call in self.pending]}
                    continue
                case RunStop(source=None):
                    self.stopped = True
                case RunPause():  # the driver approves nothing: to it, the run is over
                    self.stopped = True
                    yield self._complete(at, RunStop(reason="completed", detail="interrupt"))
                    continue
                case _:
                    pass
            yield self._complete(at, event)

    def _complete(self, at: int, event: Any) -> LogEvent:
        """Return the event for the log: with the payloads that the core leaves out."""
        logged: LogEvent = msgspec.json.decode(msgspec.json.encode(event))
        match event:
            case AgentOutput(kind="tool-call", call_id=str(call_id), tool=str(tool)):
                logged["arguments"] = _json("".join(self._arguments.pop(at, [])))
                self.unanswered.append(Call(call_id, tool, logged["arguments"]))
            case ToolResult(call_id=call_id):
                logged["output"] = self._outputs.pop((at, call_id), None)
                self.unanswered = [call for call in self.unanswered if call.call_id != call_id]
            case _:
                pass
        if isinstance(event, AgentOutput) and at in self._answering:
            logged["responseId"] = self._answering[at]
        return logged


def malformed(why: str) -> LogEvent:
    """Return the log's event for a value that is no AG-UI: without a ``type``, it is ``malformed`` to the core.

    The value itself is left out: its ids and times differ in each run, and two logs of one word must be equal.
    """
    return {"malformed": why}


def _kind(value: Any) -> str:
    return as_text(as_object(value).get("type", "no event"))


def _json(text: str) -> Any:
    """Return arguments as JSON, or as text if they are not JSON; an empty text means no arguments."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
