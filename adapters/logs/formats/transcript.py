"""A conversation as a list of messages: saved lists and session files share it.

A list has no terminals. A run ends, by inference, where the next message of the user follows an answer without calls,
or calls that are still open: then the run was interrupted, and providers refuse a request with such a history.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, cast

from msgspec import structs

from turncheck.model.core.events import AgentOutput, Event, RunStop, StopReason, ToolResult, UserMessage

from .fields import MisfitError, Object, maybe_flag, maybe_text, record, records, text, user_message

Output: TypeAlias = AgentOutput | ToolResult
_NO_RESULT: Final = {"input-streaming", "input-available", "approval-requested", "approval-responded"}
"""States of an AI SDK tool part that has no result yet; in the first the call itself is not whole."""
_TEXTS: Final = {"text": "text", "output_text": "text", "refusal": "refusal"}
_THOUGHTS: Final = {"thinking": "thinking", "reasoning": "text"}


ROOT: Final = UserMessage(text="", source="adapter")
"""The root of a run that none has."""
COMPLETED: Final = RunStop(reason="completed", source="adapter")
"""The end of a run, inferred where the next message follows an answer."""
RESPONSES: Final = ("_responses", "response_id", "given")
"""Attributes of a ``Conversation`` that number its responses, which a verdict does not depend on."""


class Conversation:
    """The events of one conversation's messages, one message after the other.

    Where the log says how runs begin and end, it is *bounded*: no end is inferred, and a message amid a run is a steer.
    Outputs without a root get one, but not behind the end of a run in a bounded log.
    """

    def __init__(self) -> None:
        self.bounded = self.running = self._over = False
        self.calls: Final[dict[str, None]] = {}
        """The calls that are open."""
        self.answered = False
        """True while the latest response has no calls that are open."""
        self._responses = 0
        self.response_id = ""
        self.given = True
        """True while the model has an input that it did not answer: its next output begins a response."""

    def take(self, message: Object) -> Sequence[Event]:
        """Return the events of a message: none, one or several. Raises MisfitError."""
        match message.get("type"):
            case "function_call":
                return self.output([_call(message, "call_id", "name", self.response())])
            case "function_call_output":
                return self.results([ToolResult(call_id=text(message, "call_id"))])
            case "reasoning" if "role" not in message:
                return self.output(list(_thought(message, self.response())))
            case _:
                pass
        match message.get("role"):
            case "user":
                return self._user(message)
            case "assistant":
                made = list(_assistant(message, self.response()))
                return self.output(made if self.running or self._over else _begun(made))
            case "tool":
                return self.results(_answers(message))
            case "system" | "developer" | "function":
                return []
            case role:
                raise MisfitError(f"no role that is known: {role!r:.40}")

    def output(self, made: Sequence[Output]) -> Sequence[Event]:
        """Take what a response made, in order: its texts and calls, and results of tools that the provider ran."""
        calls = self.calls
        for event in made:
            call = event.call_id
            if call is not None:  # it is no text
                if type(event) is ToolResult:
                    calls.pop(call, None)
                else:
                    calls[call] = None
        self.answered = not calls
        return made if self.running else [*self.root(), *made]

    def item(self, made: AgentOutput) -> Sequence[Event]:
        """Take one text, thought or call of a response, which has its id (``response``)."""
        calls = self.calls
        if made.call_id is not None:
            calls[made.call_id] = None
        self.answered = not calls
        return (made,) if self.running else [*self.root(), made]

    def result(self, found: ToolResult) -> Sequence[Event]:
        """Take the result of a call."""
        self.calls.pop(found.call_id, None)
        self.answered, self.given = False, True
        return (found,)

    def results(self, found: Sequence[ToolResult]) -> Sequence[Event]:
        """Take the results of calls."""
        for result in found:
            self.calls.pop(result.call_id, None)
        if found:
            self.answered, self.given = False, True
        return found

    def said(self, message: UserMessage) -> list[Event]:
        """Take a message of the user; amid a run it is a steer, and shows where that is over."""
        over = not self.bounded and (self.answered or bool(self.calls))
        stop = self.stop("completed" if self.answered else "interrupted") if over else []
        delivered = structs.replace(message, delivery="steer") if self.running else message
        self.running, self.answered, self.given = True, False, True
        return [*stop, delivered]

    def stop(self, reason: StopReason, detail: str | None = None, *, inferred: bool = True) -> list[Event]:
        """End the run, if one is open."""
        if not self.running:
            return []
        self.close()
        return [RunStop(reason=reason, detail=detail, source="adapter" if inferred else None)]

    def close(self) -> None:
        """Take the run that is open for over."""
        self.running = self.answered = False
        self._over = True
        self.calls.clear()

    def end(self) -> list[Event]:
        """End the conversation: its last run is over where its last response is an answer."""
        return self.stop("completed") if self.answered and not self.bounded else []

    def begin(self) -> None:
        """Note that a run begins, says the log; its root comes, or is made up by its first output."""
        self.bounded, self._over = True, False

    def root(self) -> list[Event]:
        """The root of a run that none has, made up; nothing where a run is open, or over."""
        if self.running or (self.bounded and self._over):
            return []
        self.running = True
        return [ROOT]

    def response(self) -> str:
        """Return the id of the response that the next output belongs to."""
        if self.given:
            self._responses += 1
            self.given = False
            self.response_id = f"response-{self._responses}"
        return self.response_id

    def _user(self, message: Object) -> Sequence[Event]:
        content = message.get("content", message.get("parts"))
        if not isinstance(content, list):
            return self.said(user_message(message, "content"))
        parts = records({"content": cast("list[object]", content)}, "content")
        rest = [part for part in parts if not _result(part)]
        found = [result for part in parts for result in _result(part)]
        if found and not rest:
            return self.results(found)
        said = user_message({**message, "content": rest}, "content")
        return [*self.results(found), *self.said(said)]


def _assistant(message: Object, response: str) -> Iterator[Output]:
    """The outputs of a response, and the results of tools that the provider ran within it."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in records({"content": content}, "content") if content is not None else ():
        yield from _part(part, response)
    for call in records(message, "tool_calls") if message.get("tool_calls") else ():
        inner = next((field for field in ("function", "custom") if field in call), "function")
        tool = text(record(call, inner), "name")
        yield AgentOutput(kind="tool-call", call_id=text(call, "id"), tool=tool, response_id=response)


def _begun(made: Sequence[Output]) -> list[Output]:
    """Leave out results with which a list begins: a provider may answer its own tools in a later response."""
    calls = {event.call_id for event in made if isinstance(event, AgentOutput)}
    return [event for event in made if isinstance(event, AgentOutput) or event.call_id in calls]


def _thought(item: Object, response: str) -> Iterator[Output]:
    """The reasoning of a Responses item: its summary."""
    summary = records(item, "summary") if isinstance(item.get("summary"), list) else []
    thought = "\n".join(said for part in summary if (said := maybe_text(part, "text")))
    if thought:
        yield AgentOutput(kind="reasoning", text=thought, response_id=response)


def _part(part: Object, response: str) -> Iterator[Output]:
    kind = text(part, "type")
    if kind in _TEXTS:
        if said := maybe_text(part, _TEXTS[kind]):
            yield AgentOutput(kind="assistant", text=said, response_id=response)
    elif kind in _THOUGHTS:
        if thought := maybe_text(part, _THOUGHTS[kind]):
            yield AgentOutput(kind="reasoning", text=thought, response_id=response)
    elif kind.endswith("tool_use"):
        yield _call(part, "id", "name", response)
    elif kind == "tool-call":
        yield _call(part, "toolCallId", "toolName", response)
    elif "state" in part and "toolCallId" in part:
        yield from _ui_tool(part, kind, response)
    else:
        yield from _result(part)


def _ui_tool(part: Object, kind: str, response: str) -> Iterator[Output]:
    state, call_id = text(part, "state"), text(part, "toolCallId")
    if state == "input-streaming":
        return
    tool = maybe_text(part, "toolName") or kind.removeprefix("tool-")
    yield AgentOutput(kind="tool-call", call_id=call_id, tool=tool, response_id=response)
    if state not in _NO_RESULT:
        yield ToolResult(call_id=call_id, is_error=(state != "output-available") or None)


def _call(part: Object, name: str, tool: str, response: str) -> AgentOutput:
    return AgentOutput(kind="tool-call", call_id=text(part, name), tool=text(part, tool), response_id=response)


def _result(part: Object) -> list[ToolResult]:
    """The result that a part is: Anthropic's ``tool_result`` and the like, or the AI SDK's ``tool-result``."""
    kind = part.get("type")
    if isinstance(kind, str) and kind.endswith("tool_result"):
        return [ToolResult(call_id=text(part, "tool_use_id"), is_error=maybe_flag(part, "is_error") or None)]
    return [ToolResult(call_id=text(part, "toolCallId"))] if kind == "tool-result" else []


def _answers(message: Object) -> list[ToolResult]:
    if "tool_call_id" in message:
        return [ToolResult(call_id=text(message, "tool_call_id"))]
    return [result for part in records(message, "content") for result in _result(part)]
