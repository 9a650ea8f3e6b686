"""One run of a trace: the events that it tells, and its calls, from what its steps say in the order of time."""

from collections import deque
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from turncheck.model.core.events import AgentOutput, Event, Fault, OutputKind, Source, ToolResult, UserMessage

from .messages import Part
from .steps import Step

_TEXTS: Final[Mapping[str, OutputKind]] = {"text": "assistant", "thought": "reasoning"}
_end: Final = attrgetter("end")


class Run:
    """The events that one run tells, and its calls: which were made, and which are open."""

    def __init__(self, told: list[Event], session: str, tools: Sequence[Step] = ()) -> None:
        self._told, self._session = told, session
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

    def begin(self, said: str | None) -> None:
        """Tell the run's root."""
        source: Source | None = "adapter" if said is None else None
        self._told.append(UserMessage(said or "", session_id=self._session, source=source))

    def respond(self, step: Step) -> None:
        """Tell what a model made. A call in a response that failed was cut, and is none; nor is an empty text one."""
        told, session, response, failed = self._told, self._session, step.response, step.failed
        self._latest.clear()
        if failed:
            told.append(Fault(session_id=session))
        for part in step.outputs or ():
            kind = part.kind
            if kind == "call":
                if not failed and self._makes(part):
                    told.append(AgentOutput("tool-call", None, part.call_id, part.tool, response, session_id=session))
            elif kind in _TEXTS and part.text != "":
                told.append(AgentOutput(_TEXTS[kind], part.text or "", None, None, response, session_id=session))

    def _makes(self, part: Part) -> bool:
        """Take a call that a model made; return whether no tool has shown it before."""
        own = part.call_id
        if own in self._early:
            self._early.discard(own)
            return False
        self._made.add(own)
        self._latest.add(own)
        self.open[own] = None
        tool = self._tools.get(own) or self._by_name(part)
        if tool is not None:
            self.ran[own] = tool
        return True

    def start(self, tool: Step, response: str | None) -> None:
        """Take a tool's start: a call of its own where no model's output shows it."""
        own = self._of(tool)
        if own in self._made:
            return
        if not tool.call_id:
            self._nameless[tool.tool].remove(tool)  # it answers no later call
        self._made.add(own)
        self._early.add(own)
        self.open[own] = None
        self.ran[own] = tool
        self._told.append(
            AgentOutput("tool-call", None, own, tool.tool, response, session_id=self._session, source="adapter")
        )

    def finish(self, tool: Step) -> None:
        """Take a tool's end: a result. Which call it answers is inferred where the span does not say."""
        own = self._of(tool)
        self.open.pop(own, None)
        source: Source | None = None if tool.call_id else "adapter"
        self._told.append(ToolResult(own, tool.failed or None, session_id=self._session, source=source))

    def finish_all(self) -> None:
        """Take the ends of the tools of open calls."""
        for tool in sorted([self.ran[own] for own in self.open if own in self.ran], key=_end):
            self.finish(tool)

    def answer(self, ids: tuple[str, ...] | None) -> None:
        """Take results that a request to the model brings, of open calls for which there is no tool's span.

        Where its content was not captured, *ids* is None: then it brings those of all.
        """
        if ids is None:
            self._infer([*self.open])
        else:
            for own in ids:
                if own in self.open and own not in self.ran:
                    del self.open[own]
                    self._told.append(ToolResult(own, session_id=self._session))

    def leave(self) -> None:
        """Leave the open calls of the last response to the client: the run is complete with them."""
        self._infer([own for own in self.open if own in self._latest])

    def goes_on(self, step: Step) -> bool:
        """Return whether a request goes on with the run."""
        return any(own in self.ran for own in self.open) or any(own in self.open for own in step.answers or ())

    def _infer(self, ids: list[str]) -> None:
        for own in ids:
            if own not in self.ran:
                del self.open[own]
                self._told.append(ToolResult(own, synthetic=True, session_id=self._session, source="adapter"))

    def _of(self, tool: Step) -> str:
        """Return the id of the call that a tool's span runs: its own, one of the same name, or the span's."""
        return tool.call_id or self._runs.get(tool.span, tool.span)

    def _by_name(self, call: Part) -> Step | None:
        waiting = self._nameless.get(call.tool)
        if not waiting:
            return None
        tool = waiting.popleft()
        self._runs[tool.span] = call.call_id
        return tool
