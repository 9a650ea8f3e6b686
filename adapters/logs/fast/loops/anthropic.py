"""The fast loop of Anthropic, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...formats.anthropic import WIRES, AnthropicMapper
from ...formats.fields import MisfitError
from ...formats.wires import deltas
from ..fast_loop import FastLoop
from ..runs import pattern
from ..structures import decoder, structures

STRUCTURES = structures(WIRES)
ContentBlockDelta = STRUCTURES["content_block_delta"]
ContentBlockDeltaCitationsDelta = STRUCTURES["content_block_delta.citations_delta"]
ContentBlockDeltaInputJsonDelta = STRUCTURES["content_block_delta.input_json_delta"]
ContentBlockDeltaSignatureDelta = STRUCTURES["content_block_delta.signature_delta"]
ContentBlockDeltaTextDelta = STRUCTURES["content_block_delta.text_delta"]
ContentBlockDeltaThinkingDelta = STRUCTURES["content_block_delta.thinking_delta"]
ContentBlockStart = STRUCTURES["content_block_start"]
ContentBlockStartText = STRUCTURES["content_block_start.text"]
ContentBlockStartThinking = STRUCTURES["content_block_start.thinking"]
ContentBlockStartToolUse = STRUCTURES["content_block_start.tool_use"]
ContentBlockStop = STRUCTURES["content_block_stop"]
Error = STRUCTURES["error"]
MessageDelta = STRUCTURES["message_delta"]
MessageStart = STRUCTURES["message_start"]
MessageStop = STRUCTURES["message_stop"]
Ping = STRUCTURES["ping"]


def feed(mapper: AnthropicMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    piece = mapper.piece
    begin_text = mapper.begin_text
    begin_named_call = mapper.begin_named_call
    end_block = mapper.end_block
    begin_message = mapper.begin_message
    note_reason = mapper.note_reason
    end_message = mapper.end_message
    fail = mapper.fail
    good = -1  # the number behind a delta of which repetitions change nothing
    kind: Any = None  # its structure
    name: Any = None  # its item
    for event in events:
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        behind = at + 1
        try:
            if struct is int:
                behind = at + event
                if good == at:
                    at = good = behind
                    continue
            elif struct is ContentBlockDelta:
                if mapper.running:
                    inner = event.delta
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is ContentBlockDeltaTextDelta:
                        if good != at or name != event.index or kind is not part:
                            piece(at, event.index, inner.text)
                            if not inner.text:
                                at += 1
                                continue
                            kind, name = part, event.index  # pyright: ignore[reportUnknownVariableType]
                        at += 1
                        good = at
                        continue
                    if part is ContentBlockDeltaInputJsonDelta:
                        if good != at or name != event.index or kind is not part:
                            piece(at, event.index, inner.partial_json)
                            if not inner.partial_json:
                                at += 1
                                continue
                            kind, name = part, event.index  # pyright: ignore[reportUnknownVariableType]
                        at += 1
                        good = at
                        continue
                    if part is ContentBlockDeltaThinkingDelta:
                        if good != at or name != event.index or kind is not part:
                            piece(at, event.index, inner.thinking)
                            if not inner.thinking:
                                at += 1
                                continue
                            kind, name = part, event.index  # pyright: ignore[reportUnknownVariableType]
                        at += 1
                        good = at
                        continue
                    if part is ContentBlockDeltaSignatureDelta or part is ContentBlockDeltaCitationsDelta:
                        piece(at, event.index, "")
                        at += 1
                        continue
            elif struct is ContentBlockStart:
                if mapper.running:
                    inner = event.content_block
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is ContentBlockStartText:
                        begin_text(at, event.index, "assistant", inner.text)
                        at += 1
                        continue
                    if part is ContentBlockStartThinking:
                        begin_text(at, event.index, "reasoning", inner.thinking)
                        at += 1
                        continue
                    if part is ContentBlockStartToolUse:
                        begin_named_call(at, event.index, inner.id, inner.name)
                        at += 1
                        continue
            elif struct is ContentBlockStop:
                if mapper.running:
                    end_block(at, event.index)
                    at += 1
                    continue
            elif struct is MessageStart:
                begin_message(at, event.message.id)
                at += 1
                continue
            elif struct is MessageDelta:
                if mapper.running:
                    note_reason(at, event.delta.stop_reason)
                    at += 1
                    continue
            elif struct is MessageStop:
                if mapper.running:
                    end_message(at)
                    at += 1
                    continue
            elif struct is Ping:
                if mapper.running:
                    at += 1
                    continue
            elif struct is Error:
                if mapper.running:
                    fail(at, event.error.message)
                    at += 1
                    continue
        except MisfitError:
            pass
        while at < behind:
            fine = hand(at)
            at += 1
            if fine and mapper.running:
                good = at
            kind = None
    return at


LOOP = FastLoop(decoder(WIRES).decode, partial(pattern, deltas(WIRES)), feed)
