"""From the steps of one run to events: its root, what happened in the order of time, and its end."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from turncheck.model.core.events import AgentOutput, Event, Fault, OutputKind, RunStop, ToolResult, UserMessage

from .messages import Part
from .steps import Step

_OUTPUTS: Final = 0
_TOOL_STARTS: Final = 1
_TOOL_ENDS: Final = 2
_ASKS: Final = 3
"""What comes first at one time: a model's outputs, a tool's start, its end, the next question to the model."""


_TEXTS: Final[Mapping[str, OutputKind]] = {"text": "assistant", "thought": "reasoning"}


class Calls:
    """The calls of one run: which were made, and which are open."""

    def __init__(self, tools: Sequence[Step] = ()) -> None:
        self._tools: dict[str, Step] = {}
        self._nameless: dict[str, deque[Step]] = {}  # tool → its spans that do not say which call they run
        self._runs: dict[str, str] = {}  # the span of such a tool → the call
        self._made: set[str] = set()
        self._early: set[str] = set()  # made up at the start of their tools, before a model's output has them
        self._latest: set[str] = set()  # of the latest response
        self.open: dict[str, None] = {}
        self.ran: dict[str, Step] = {}  # call → its tool
        self.bring(tools)

    def bring(self, tools: Sequence[Step]) -> None:
        """Add the spans of tools, in the order of their starts."""
        for tool in tools:
            if tool.call_id:
                self._tools.setdefault(tool.call_id, tool)
            else:
                self._nameless.setdefault(tool.tool, deque()).append(tool)

    def respond(self) -> None:
        """Begin a response."""
        self._latest.clear()

    def make(self, part: Part, response: str) -> list[Event]:
        """Take a call that a model made; nothing where its tool has shown it before."""
        if part.call_id in self._early:
            self._early.discard(part.call_id)
            return []
        self._made.add(part.call_id)
        self._latest.add(part.call_id)
        self.open[part.call_id] = None
        tool = self._tools.get(part.call_id) or self._by_name(part)
        if tool is not None:
            self.ran[part.call_id] = tool
        return [AgentOutput(kind="tool-call", call_id=part.call_id, tool=part.tool, response_id=response)]

    def start(self, tool: Step, response: str | None) -> list[Event]:
        """Take a tool's start: a call of its own where no model's output shows it."""
        own = self.of(tool)
        if own in self._made:
            return []
        if not tool.call_id:
            self._nameless[tool.tool].remove(tool)  # it answers no later call
        self._made.add(own)
        self._early.add(own)
        self.open[own] = None
        self.ran[own] = tool
        return [
            AgentOutput(kind="tool-call", call_id=own, tool=tool.tool, response_id=response, source="adapter"),
        ]

    def finish(self, tool: Step) -> list[Event]:
        """Take a tool's end: a result. Which call it answers is inferred where the span does not say."""
        own = self.of(tool)
        self.open.pop(own, None)
        return [ToolResult(call_id=own, is_error=tool.failed or None, source=None if tool.call_id else "adapter")]

    def answer(self, ids: tuple[str, ...] | None) -> list[Event]:
        """Take results that a request to the model brings, of open calls for which there is no tool's span.

        Where its content was not captured, *ids* is None: then it brings those of all.
        """
        if ids is None:
            return self._infer([*self.open])
        found = [own for own in dict.fromkeys(ids) if own in self.open and own not in self.ran]
        for own in found:
            del self.open[own]
        return [ToolResult(call_id=own) for own in found]

    def leave(self) -> list[Event]:
        """Leave the open calls of the last response to the client: the run is complete with them."""
        return self._infer([own for own in self.open if own in self._latest])

    def _infer(self, ids: list[str]) -> list[Event]:
        found = [own for own in ids if own not in self.ran]
        for own in found:
            del self.open[own]
        return [ToolResult(call_id=own, synthetic=True, source="adapter") for own in found]

    def of(self, tool: Step) -> str:
        """Return the id of the call that a tool's span runs: its own, one of the same name, or the span's."""
        return tool.call_id or self._runs.get(tool.span, tool.span)

    def _by_name(self, call: Part) -> Step | None:
        waiting = self._nameless.get(call.tool)
        if not waiting:
            return None
        tool = waiting.popleft()
        self._runs[tool.span] = call.call_id
        return tool


def agent_run(agent: Step | None, body: Sequence[Step]) -> Iterator[Event]:
    """Yield the events of an agent's run, and no end where its span is not there.

    A span that ends behind its agent's belongs to the run still: its end is the latest of all.
    """
    models = [step for step in body if step.kind == "model"]
    first = min(models, key=lambda step: step.start, default=None)
    said = [step.said for step in (first, agent) if step is not None and step.said is not None]
    yield _root(said[0] if said else None)
    tools = sorted((step for step in body if step.kind == "tool"), key=lambda step: step.start)
    calls = Calls(tools)
    response: str | None = None
    for _, rank, _, step in sorted(_moments(models, tools), key=lambda moment: moment[:3]):
        if rank == _OUTPUTS:
            response = step.response
            yield from _outputs(step, calls)
        elif rank == _ASKS:
            yield from calls.answer(step.answers)
        else:
            yield from calls.start(step, response) if rank == _TOOL_STARTS else calls.finish(step)
    if agent is not None:
        stop = _stop(agent, max(body, key=lambda step: (step.end, step.start), default=agent))
        yield from calls.leave() if stop.reason == "completed" else ()
        yield stop


def _moments(models: Sequence[Step], tools: Sequence[Step]) -> Iterator[tuple[int, int, int, Step]]:
    starts = {tool.call_id: tool.start for tool in reversed(tools) if tool.call_id}
    for number, step in enumerate(models):
        run = [starts[part.call_id] for part in step.outputs or () if part.kind == "call" and part.call_id in starts]
        # a tool may run while the model goes on
        made = min([step.end, *(start for start in run if start >= step.start)])
        yield step.start, _ASKS, number, step
        yield made, _OUTPUTS, number, step
    for number, step in enumerate(tools):
        yield step.start, _TOOL_STARTS, number, step
        yield max(step.end, step.start), _TOOL_ENDS, number, step


def _stop(agent: Step, last: Step) -> RunStop:
    if agent.failed:
        return RunStop(reason="interrupted" if agent.cancelled else "error", detail=agent.why)
    if last.cancelled:
        return RunStop(reason="interrupted", detail=last.why, source="adapter")
    finish = last.finish if last.kind == "model" else None
    return RunStop(reason="completed", detail=finish, source=None if agent.stated else "adapter")


def model_runs(models: Sequence[Step], tools: Sequence[Step], *, over: bool) -> Iterator[Event]:
    """Yield the events of requests to a model that no agent's span holds together, one behind the other.

    A request that brings results of open calls goes on with the run, and so does one that comes behind the tools of
    open calls; any other begins a run. Where such a run ends is inferred; the last one has no end unless it is *over*.
    """
    models = sorted(models, key=lambda step: step.start)
    starts = [step.start for step in models]
    behind: dict[int, list[Step]] = {}  # number of a request → the tools that start behind it, and before the next one
    for tool in sorted(tools, key=lambda step: step.start):
        behind.setdefault(bisect_right(starts, tool.start) - 1, []).append(tool)
    calls, running, last = Calls(), False, None
    for number, step in enumerate(models):
        ran = [calls.ran[own] for own in calls.open if own in calls.ran]
        if running and calls.open and (ran or not calls.open.keys().isdisjoint(step.answers or ())):
            for tool in sorted(ran, key=lambda tool: tool.end):
                yield from calls.finish(tool)
            yield from calls.answer(step.answers)
        else:
            if running:
                yield from _inferred_end(calls, last)
            calls, running = Calls(), True
            yield _root(step.said)
        calls.bring(behind.get(number, ()))
        yield from _outputs(step, calls)
        last = step
        if step.failed:
            running = False
            yield RunStop(reason="interrupted" if step.cancelled else "error", detail=step.why)
    if running and over:
        yield from _inferred_end(calls, last)


def _inferred_end(calls: Calls, last: Step | None) -> Iterator[Event]:
    ran = [tool for own, tool in calls.ran.items() if own in calls.open]
    for tool in sorted(ran, key=lambda tool: tool.end):
        yield from calls.finish(tool)
    yield from calls.leave()
    yield RunStop(reason="completed", detail=last.finish if last else None, source="adapter")


def _root(said: str | None) -> UserMessage:
    return UserMessage(text="", source="adapter") if said is None else UserMessage(text=said)


def _outputs(step: Step, calls: Calls) -> Iterator[Event]:
    """What a model made. A call in a response that failed was cut, and is none; an empty text is none either."""
    calls.respond()
    if step.failed:
        yield Fault()
    for part in step.outputs or ():
        if part.kind == "call":
            yield from [] if step.failed else calls.make(part, step.response)
        elif part.kind in _TEXTS and part.text != "":
            yield AgentOutput(kind=_TEXTS[part.kind], text=part.text or "", response_id=step.response)
