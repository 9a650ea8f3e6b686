"""Collations with one fault each, named by it. The first two are the ones that the source tells of."""

from breaking import breaks
from msgspec.structs import replace

from turncheck.model.machines.blocks import Block, Collator


@breaks("blocks-same-again", "X-2")
class AddsUpTheSession(Collator):
    """A block shows the usage of all flows that came before, too: the sum outlives its flow."""

    spent = 0

    @property
    def blocks(self):
        total = {"total": AddsUpTheSession.spent}
        return tuple(block if block.usage is None else replace(block, usage=total) for block in super().blocks)

    def feed(self, frame):
        super().feed(frame)
        if frame["type"] == "llm_response":
            AddsUpTheSession.spent += frame["response"]["usage"]["total"]


@breaks("blocks-hash-seed", "X-2")
class HashOrder(Collator):
    """Tool uses are listed in the order of a set of their ids, which PYTHONHASHSEED decides."""

    @property
    def blocks(self):
        order = list({use.call_id for block in super().blocks for use in block.calls})
        by_id = {name: at for at, name in enumerate(order)}
        return tuple(
            replace(block, calls=tuple(sorted(block.calls, key=lambda use: by_id[use.call_id])))
            for block in super().blocks
        )


@breaks("blocks-described", "EF-6")
@breaks("never-poorer", "EF-10")
@breaks("dialects-agree", "EF-10")
class LosesProviderFromTheSecondIteration(Collator):
    """``message_complete`` overwrites the block's record, and provider and model are read at its top alone."""

    def feed(self, frame):
        super().feed(frame)
        records = frame.get("llmApiCalls") or []
        if frame["type"] == "message_complete" and len(records) > 1:
            index, record = len(records) - 1, records[-1]
            overwritten = {name: record.get(name) for name in ("provider", "model")}
            self._blocks[index] = replace(self._blocks[index], **overwritten)


@breaks("one-block-per-call", "EF-5", "EF-8")
@breaks("no-empty-twin", "EF-9")
class DuplicatesBlocks(Collator):
    """Where tools have run, the first delta makes a block, and ``message_complete`` makes another."""

    def __init__(self):
        super().__init__()
        self._tools, self._grey = False, []

    @property
    def blocks(self):
        return tuple(sorted([*super().blocks, *self._grey], key=lambda block: block.iteration))

    def feed(self, frame):
        super().feed(frame)
        if frame["type"].startswith("tool_call"):
            self._tools = True
        elif frame["type"] == "message_complete" and self._tools:
            self._grey.append(Block(len(frame["llmApiCalls"])))


@breaks("any-order-same-blocks", "EF-8")
class LateDeltasAppend(Collator):
    """A delta that comes after its response is appended to it."""

    def feed(self, frame):
        settled = self._stepper.state == "settled"
        super().feed(frame)
        if settled and frame["type"] == "delta":
            index = self._stepper.context.registers["newest"]
            block = self._blocks[index]
            self._blocks[index] = replace(block, text=block.text + frame["content"])


@breaks("own-record", "EF-12")
class TakesTheFirstRecord(Collator):
    """Of the records that accumulate, the first is taken."""

    def feed(self, frame):
        super().feed(frame)
        records = frame.get("llmApiCalls") or []
        if frame["type"] == "message_complete" and records:
            index = len(records) - 1
            usage = records[0]["response"]["usage"]
            self._blocks[index] = replace(self._blocks[index], usage=usage)


@breaks("tools-on-their-response", "EF-7")
class HangsToolsOnTheFirstBlock(Collator):
    """A tool use hangs on the first block, whoever made it."""

    def _owner(self, call_id, otherwise):
        return min(0, otherwise)

    @property
    def blocks(self):
        uses = {use.call_id: use for block in super().blocks for use in block.calls}
        return tuple(
            replace(block, calls=tuple(uses.values()) if block.iteration == 1 else ()) for block in super().blocks
        )


@breaks("text-is-the-responses", "EF-D2")
class EqualDeltasAreOne(Collator):
    """A delta that says what the one before said is taken for a repetition of it."""

    def feed(self, frame):
        if frame["type"] != "delta" or frame["content"] != getattr(self, "_last", None):
            super().feed(frame)
        self._last = frame.get("content")


@breaks("repeats-change-nothing", "EF-D2")
class RepeatedDeltasAppend(Collator):
    """A delta that comes again with its number is text again."""

    def feed(self, frame):
        super().feed({name: value for name, value in frame.items() if name != "seq"})


@breaks("late-joiner-same-blocks", "EF-10")
class NeedsTheRequest(Collator):
    """Provider and model are those of ``llm_request``: who missed it does not see them."""

    def feed(self, frame):
        super().feed(frame)
        if frame["type"] == "llm_request":
            self._told = {name: frame[name] for name in ("provider", "model")}

    @property
    def blocks(self):
        told = getattr(self, "_told", {"provider": None, "model": None})
        return tuple(replace(block, **told) for block in super().blocks)


@breaks("dialects-agree", "EF-D1", "EF-10")
class ReadsTheTopAlone(Collator):
    """``llm_response`` is passed over, and of records the top is read alone."""

    def feed(self, frame):
        super().feed(frame)
        records = frame.get("llmApiCalls") or []
        if frame["type"] == "message_complete" and records:
            index, top = len(records) - 1, records[-1]
            named = {name: top.get(name) for name in ("provider", "model")}
            self._blocks[index] = replace(self._blocks[index], **named)


@breaks("any-order-same-blocks", "EF-8")
class ResponseAndCompleteAreTwo(Collator):
    """Where ``message_complete`` comes before ``llm_response``, both make a block."""

    def feed(self, frame):
        first = frame["type"] == "message_complete" and self._stepper.state != "settled"
        super().feed(frame)
        if first:
            self._twin = Block(len(frame["llmApiCalls"]), text=frame["content"])

    @property
    def blocks(self):
        twin = [self._twin] if hasattr(self, "_twin") else []
        return (*super().blocks, *twin)


@breaks("no-empty-twin", "EF-9")
class EmptiesWhatCompletes(Collator):
    """``message_complete`` leaves nothing in its block but the record: the text is shown in no block."""

    def feed(self, frame):
        super().feed(frame)
        if frame["type"] == "message_complete":
            index = len(frame["llmApiCalls"]) - 1
            self._blocks[index] = replace(self._blocks[index], text="", calls=())


@breaks("own-record", "EF-12")
class ShowsAllRecords(Collator):
    """Each record of ``message_complete`` is shown in its block as the newest one's."""

    def feed(self, frame):
        super().feed(frame)
        for index, _ in enumerate(frame.get("llmApiCalls") or []):
            newest = frame["llmApiCalls"][-1]["response"]
            described = {"usage": newest["usage"], "finish_reason": newest["finish_reason"]}
            self._blocks[index] = replace(self._blocks[index], **described)


class _Telling(Collator):
    """It declares that it tells states."""

    profile = {"capabilities": ["streaming", "tool-status"]}  # noqa: RUF012 - read once


@breaks("streams-until-its-response", "EF-D5")
class StreamsForEver(_Telling):
    """A block that has streamed once goes on: its cursor blinks beside the whole response."""

    @property
    def blocks(self):
        return tuple(
            replace(block, streaming=block.streaming or bool(self._stepper.context.registers["deltas"]))
            for block in super().blocks
        )


@breaks("streams-until-its-response", "EF-D5")
class StreamsFromTheRequestOnAlone(_Telling):
    """Only the request says that a block streams, and it comes in the first iteration alone."""

    @property
    def blocks(self):
        return tuple(replace(block, streaming=block.streaming and block.iteration == 1) for block in super().blocks)


@breaks("tool-status-told", "EF-D5")
class ToolsRunForEver(_Telling):
    """A tool's use runs from its start on; its result is shown, and the wheel goes on turning."""

    @property
    def blocks(self):
        return tuple(
            replace(block, calls=tuple(replace(use, status="running") if use.answered else use for use in block.calls))
            for block in super().blocks
        )


@breaks("tool-status-told", "EF-D5")
class FailuresAreDone(_Telling):
    """A tool that failed is shown as done."""

    @property
    def blocks(self):
        return tuple(
            replace(block, calls=tuple(replace(use, status="done") if use.is_error else use for use in block.calls))
            for block in super().blocks
        )


@breaks("tool-status-told", "EF-D5")
class RunsWhatIsAsked(_Telling):
    """A tool's use is shown as running as soon as the model asks for it, though others come first."""

    @property
    def blocks(self):
        return tuple(
            replace(
                block,
                calls=tuple(replace(use, status="running") if use.status == "waiting" else use for use in block.calls),
            )
            for block in super().blocks
        )
