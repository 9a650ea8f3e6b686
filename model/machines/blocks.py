"""Collate an event flow's frames to blocks: fold the outputs of ``collation``; read both dialects of call records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from ..declaration.machine import Row
from ..declaration.stepping import Stepper
from ..declaration.vocabulary import Output
from .collation import EVENTS, SPEC

Status: TypeAlias = Literal["waiting", "running", "done", "failed"]
"""A tool's use is asked for, and waits; then it runs; then it has a result, or an error (EF-D5)."""


class ToolUse(msgspec.Struct, frozen=True, rename="camel"):
    """A tool use: what was called, and the result where there is one."""

    call_id: str
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    answered: bool = False
    is_error: bool = False
    status: Status = "waiting"


class Block(msgspec.Struct, frozen=True, rename="camel"):
    """One model call as the UI shows it. ``request`` is what was sent to the model, as far as frames say it.

    It is ``streaming`` from its first delta until its response is there (EF-D5).
    """

    iteration: int
    provider: str | None = None
    model: str | None = None
    usage: Any = None
    finish_reason: str | None = None
    request: Any = None
    text: str = ""
    calls: tuple[ToolUse, ...] = ()
    streaming: bool = False


class Seen(msgspec.Struct, frozen=True):
    """A frame as the machine's input; ``index`` is its block's iteration, counted from 0."""

    index: int = -1
    seq: Any = None
    call_id: str | None = None
    text: str = ""
    use: ToolUse | None = None
    facts: Mapping[str, Any] = {}


class Collator:
    """Collates one request's frames as they come.

    A frame is a JSON object with ``type`` and the fields of EF-2 to EF-4; any other value is passed over.
    """

    def __init__(self) -> None:
        self._stepper = Stepper(SPEC, {})
        self._blocks: dict[int, Block] = {}
        self._at = 0
        self.taken: Final[set[Row]] = set()
        """The rows that the machine took."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks, one per model call, in order (EF-5)."""
        return tuple(self._blocks[index] for index in sorted(self._blocks))

    def feed(self, frame: Mapping[str, Any]) -> Sequence[Output]:
        """Take the next frame; return the machine's outputs for it."""
        symbol = str(frame.get("type")).replace("_", "-")
        if symbol not in EVENTS:
            return ()
        self.taken.add(self._stepper.take(symbol, self._seen(symbol, frame), self._at))
        self._at += 1
        for output in self._stepper.outputs:
            self._fold(output.name, output.arguments)
        return self._stepper.outputs

    def _fold(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "claim", (before, index):
                self._blocks[index] = msgspec.structs.replace(self._blocks.pop(before), iteration=index + 1)
            case "describe", (index, facts):
                self._blocks[index] = described(self._block(index), facts)
            case "append", (index, text):
                block = self._block(index)
                self._blocks[index] = msgspec.structs.replace(block, text=block.text + text, streaming=True)
            case "replace", (index, text):
                block = self._block(index)
                self._blocks[index] = msgspec.structs.replace(block, text=text or block.text, streaming=False)
            case "hang", (newest, use):
                index = self._owner(use.call_id, newest)
                if index >= 0:
                    self._blocks[index] = described(self._block(index), {"calls": (use,)})
            case _:
                return

    def _block(self, index: int) -> Block:
        return self._blocks.get(index) or Block(index + 1)

    def _owner(self, call_id: str, otherwise: int) -> int:
        """The block of a call (EF-7)."""
        owners = (at for at, block in self._blocks.items() if any(use.call_id == call_id for use in block.calls))
        return next(owners, otherwise)

    def _seen(self, symbol: str, frame: Mapping[str, Any]) -> Seen:
        match symbol:
            case "delta":  # a delta without a number counts as new, even with the text of an earlier one (EF-D2)
                seq = frame.get("seq")
                return Seen(seq=("unnumbered", self._at) if seq is None else seq, text=str(frame.get("content") or ""))
            case "tool-call-start" | "tool-call-result":
                use = _use(frame)
                return Seen(call_id=use.call_id, use=use)
            case "message-complete":
                records = _objects(frame.get("llmApiCalls"))
                message = {"response": {name: frame.get(name) for name in ("content", "tool_calls")}}
                facts = _facts(*records[-1:], message)
                return Seen(index=self._place(len(records), facts), text=facts["text"], facts=facts)
            case _:
                facts = _facts(*_objects([frame.get("llmApiCall")]), frame)
                return Seen(index=int(frame.get("iteration") or 1) - 1, text=facts["text"], facts=facts)

    def _place(self, records: int, facts: Mapping[str, Any]) -> int:
        """The index of a ``message_complete``: its records accumulate, one per iteration (EF-12)."""
        newest: int = self._stepper.context.registers["newest"]
        if records:
            return records - 1
        if facts["calls"]:
            return self._owner(facts["calls"][0].call_id, max(newest, 0))
        return max(newest, 0)


def collate(frames: Iterable[Mapping[str, Any]]) -> tuple[Block, ...]:
    """The blocks of one request's frames."""
    collator = Collator()
    for frame in frames:
        collator.feed(frame)
    return collator.blocks


def described(block: Block, facts: Mapping[str, Any]) -> Block:
    """Return the block with *facts* merged into it; absent facts change nothing, so that nothing is lost (EF-10)."""
    told = {name: value for name, value in facts.items() if name not in {"text", "calls"} and value is not None}
    uses = {use.call_id: use for use in block.calls}
    for use in facts.get("calls", ()):
        uses[use.call_id] = _merged(uses.get(use.call_id), use)
    return msgspec.structs.replace(block, **told, calls=tuple(uses.values()))


def _merged(known: ToolUse | None, told: ToolUse) -> ToolUse:
    if known is None:
        return told
    answer = told if told.answered else known
    return ToolUse(
        call_id=known.call_id,
        tool=known.tool if told.tool is None else told.tool,
        arguments=known.arguments if told.arguments is None else told.arguments,
        result=answer.result,
        answered=answer.answered,
        is_error=answer.is_error,
        status=known.status if told.status == "waiting" else told.status,
    )


def _facts(*records: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts in call records, at the top or under ``request``: of each, the last one given (EF-10)."""
    facts: dict[str, Any] = {"text": "", "calls": ()}
    for record in records:
        request, response = _object(record.get("request")), _object(record.get("response"))
        found = {
            "provider": record.get("provider") or request.get("provider"),
            "model": record.get("model") or request.get("model"),
            "usage": response.get("usage"),
            "finish_reason": response.get("finish_reason"),
            "request": record.get("request"),
            "text": response.get("content"),
            "calls": tuple(map(_call, _objects(response.get("tool_calls")))),
        }
        facts |= {name: value for name, value in found.items() if value is not None and value != ()}
    return facts


def _call(call: Mapping[str, Any]) -> ToolUse:
    """A call as the response names it: ``{id, function: {name, arguments}}``."""
    function = _object(call.get("function"))
    return ToolUse(str(call.get("id")), function.get("name"), function.get("arguments"))


def _use(frame: Mapping[str, Any]) -> ToolUse:
    """A call as ``tool_call_start`` and ``tool_call_result`` show it: ``{id, name, content?, is_error?}``."""
    answered, failed = frame.get("type") == "tool_call_result", bool(frame.get("is_error"))
    return ToolUse(
        str(frame.get("id")),
        frame.get("name"),
        result=frame.get("content"),
        answered=answered,
        is_error=failed,
        status=("failed" if failed else "done") if answered else "running",
    )


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]
