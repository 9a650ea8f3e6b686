"""The common part of model APIs' streams: one response is one run, and the client answers its calls later."""

from turncheck.model.core.events import AgentOutput, Malformed, OutputKind, RunStop, StopReason, UserMessage

from .dispatch import Dispatcher
from .fields import MisfitError
from .items import nothing, said


class ResponseMapper(Dispatcher):
    """The items of a response, open from their start to their end; a call counts once it is whole."""

    def __init__(self) -> None:
        super().__init__()
        self._open: set[int] = set()
        self._calls: set[int] = set()  # the items that are calls, of those that are open
        self._response: str | None = None

    def begin_response(self, at: int, name: str | None) -> None:
        """Begin a response: its start is the root of its run. Raises MisfitError while one is open."""
        if self.running:
            raise MisfitError("the response before has no end")
        self._root(at)
        self._response = name

    def begin_text(self, at: int, index: int, kind: OutputKind, text: str | None = None) -> None:
        """Open a text. Raises MisfitError where an item of this index is open."""
        self._free(index)
        self.items.begin(index, said(kind, self._response))
        if text:
            self.items.append(index, at, text)

    def begin_call(self, at: int, index: int) -> None:
        """Open a call, which has its place here. Raises MisfitError where an item of this index is open."""
        self._free(index)
        self.items.begin(index, nothing, at)
        self._calls.add(index)

    def begin_other(self, _at: int, index: int) -> None:
        """Open an item that means nothing to the core. Raises MisfitError where an item of this index is open."""
        self._free(index)
        self.items.begin(index, nothing)

    def piece(self, at: int, index: int, text: str) -> None:
        """Add a piece to an item. Raises MisfitError where it is not open."""
        self.items.append(index, at, text)

    def end_item(self, _at: int, index: int) -> None:
        """End a text. Raises MisfitError where it is not open."""
        if index not in self.items.open:
            raise MisfitError(f"item {index} is not open")
        self.items.finish(index)

    def end_call(self, _at: int, index: int, call_id: str, tool: str) -> None:
        """End a call, which is whole now. Raises MisfitError where it is not open."""
        if index not in self._calls:
            raise MisfitError(f"item {index} is not open")
        self._calls.discard(index)
        self.items.finish(index, AgentOutput(kind="tool-call", call_id=call_id, tool=tool, response_id=self._response))

    def end_response(self, at: int, reason: StopReason, detail: str | None) -> None:
        """End a response; items that are still open were cut."""
        if not self.running and not self.over:  # it failed before it could begin
            self._root(at)
        still = self.items.open
        cut = sorted(index for index in self._open if index in still) if still else []
        self._drop_calls()
        if cut and reason == "completed" and self.running:
            self.items.put(at, Malformed(f"item {cut[0]} has no end, and the response is over"))
        self._open.clear()
        self.stop(at, RunStop(reason=reason, detail=detail))

    def finish(self) -> None:
        """Settle the log's end: a call that was cut is none."""
        self._drop_calls()

    def _root(self, at: int) -> None:
        self.items.put(at, UserMessage(text="", source="adapter"))
        self.running, self.over = True, False
        self._calls.clear()
        self._open.clear()

    def _free(self, index: int) -> None:
        if index in self.items.open:
            raise MisfitError(f"item {index} is open already")
        self._open.add(index)

    def _drop_calls(self) -> None:
        for index in self._calls:
            self.items.finish(index)
        self._calls.clear()


def between(mapper: ResponseMapper) -> ResponseMapper:
    """Return a fresh *mapper* as one is between two responses."""
    mapper.over = True
    return mapper
