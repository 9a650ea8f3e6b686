"""The fast loop of the AI SDK, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...formats.ai_sdk import WIRES, AiSdkMapper
from ...formats.fields import MisfitError
from ...formats.wires import deltas
from ..fast_loop import FastLoop
from ..runs import pattern
from ..structures import decoder, structures

STRUCTURES = structures(WIRES)
Abort = STRUCTURES["abort"]
Error = STRUCTURES["error"]
Finish = STRUCTURES["finish"]
FinishStep = STRUCTURES["finish-step"]
ReasoningDelta = STRUCTURES["reasoning-delta"]
ReasoningEnd = STRUCTURES["reasoning-end"]
ReasoningStart = STRUCTURES["reasoning-start"]
Start = STRUCTURES["start"]
StartStep = STRUCTURES["start-step"]
TextDelta = STRUCTURES["text-delta"]
TextEnd = STRUCTURES["text-end"]
TextStart = STRUCTURES["text-start"]
ToolApprovalRequest = STRUCTURES["tool-approval-request"]
ToolInputAvailable = STRUCTURES["tool-input-available"]
ToolInputDelta = STRUCTURES["tool-input-delta"]
ToolInputError = STRUCTURES["tool-input-error"]
ToolInputStart = STRUCTURES["tool-input-start"]
ToolOutputAvailable = STRUCTURES["tool-output-available"]
ToolOutputDenied = STRUCTURES["tool-output-denied"]
ToolOutputError = STRUCTURES["tool-output-error"]


def feed(mapper: AiSdkMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    piece = mapper.piece
    begin_text = mapper.begin_text
    end_text = mapper.end_text
    begin_call = mapper.begin_call
    end_call = mapper.end_call
    output = mapper.output
    start_step = mapper.start_step
    output_failed = mapper.output_failed
    fail = mapper.fail
    abort = mapper.abort
    end_run = mapper.end_run
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
            elif struct is TextDelta:
                if mapper.running:
                    if good != at or name != event.id or kind is not struct:
                        piece(at, "text", event.id, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.id  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is TextStart:
                if mapper.running:
                    begin_text(at, "text", "assistant", event.id)
                    at += 1
                    continue
            elif struct is TextEnd:
                if mapper.running:
                    end_text(at, "text", event.id)
                    at += 1
                    continue
            elif struct is ReasoningDelta:
                if mapper.running:
                    if good != at or name != event.id or kind is not struct:
                        piece(at, "reasoning", event.id, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.id  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ReasoningStart:
                if mapper.running:
                    begin_text(at, "reasoning", "reasoning", event.id)
                    at += 1
                    continue
            elif struct is ReasoningEnd:
                if mapper.running:
                    end_text(at, "reasoning", event.id)
                    at += 1
                    continue
            elif struct is ToolInputDelta:
                if mapper.running:
                    if good != at or name != event.toolCallId or kind is not struct:
                        piece(at, "call", event.toolCallId, event.inputTextDelta)
                        if not event.inputTextDelta:
                            at += 1
                            continue
                        kind, name = struct, event.toolCallId  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ToolInputStart:
                if mapper.running:
                    begin_call(at, event.toolCallId)
                    at += 1
                    continue
            elif struct is ToolInputAvailable:
                if mapper.running:
                    end_call(at, event.toolCallId, event.toolName)
                    at += 1
                    continue
            elif struct is ToolOutputAvailable:
                if mapper.running:
                    output(at, event.preliminary, event.toolCallId)
                    at += 1
                    continue
            elif struct is StartStep:
                if mapper.running:
                    start_step(at)
                    at += 1
                    continue
            elif struct is FinishStep:
                if mapper.running:
                    at += 1
                    continue
            elif struct is ToolInputError:
                if mapper.running:
                    end_call(at, event.toolCallId, event.toolName)
                    at += 1
                    continue
            elif struct is ToolOutputError:
                if mapper.running:
                    output_failed(at, event.toolCallId)
                    at += 1
                    continue
            elif struct is ToolOutputDenied:
                if mapper.running:
                    output_failed(at, event.toolCallId)
                    at += 1
                    continue
            elif struct is ToolApprovalRequest:
                if mapper.running:
                    at += 1
                    continue
            elif struct is Start:
                if mapper.running:
                    at += 1
                    continue
            elif struct is Error:
                if mapper.running:
                    fail(at, event.errorText)
                    at += 1
                    continue
            elif struct is Abort:
                if mapper.running:
                    abort(at, event.reason)
                    at += 1
                    continue
            elif struct is Finish:
                if mapper.running:
                    end_run(at, event.finishReason)
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
