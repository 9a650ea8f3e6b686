"""The fast loop of OpenAI's Responses, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...formats.fields import MisfitError
from ...formats.openai_responses import WIRES, ResponsesMapper
from ...formats.wires import deltas
from ..fast_loop import FastLoop
from ..runs import pattern
from ..structures import decoder, structures

STRUCTURES = structures(WIRES)
Error = STRUCTURES["error"]
ResponseCancelled = STRUCTURES["response.cancelled"]
ResponseCompleted = STRUCTURES["response.completed"]
ResponseCreated = STRUCTURES["response.created"]
ResponseCustomToolCallInputDelta = STRUCTURES["response.custom_tool_call_input.delta"]
ResponseFailed = STRUCTURES["response.failed"]
ResponseFunctionCallArgumentsDelta = STRUCTURES["response.function_call_arguments.delta"]
ResponseIncomplete = STRUCTURES["response.incomplete"]
ResponseOutputItemAdded = STRUCTURES["response.output_item.added"]
ResponseOutputItemAddedCustomToolCall = STRUCTURES["response.output_item.added.custom_tool_call"]
ResponseOutputItemAddedFunctionCall = STRUCTURES["response.output_item.added.function_call"]
ResponseOutputItemAddedMessage = STRUCTURES["response.output_item.added.message"]
ResponseOutputItemAddedReasoning = STRUCTURES["response.output_item.added.reasoning"]
ResponseOutputItemDone = STRUCTURES["response.output_item.done"]
ResponseOutputItemDoneCustomToolCall = STRUCTURES["response.output_item.done.custom_tool_call"]
ResponseOutputItemDoneFunctionCall = STRUCTURES["response.output_item.done.function_call"]
ResponseOutputItemDoneMessage = STRUCTURES["response.output_item.done.message"]
ResponseOutputItemDoneReasoning = STRUCTURES["response.output_item.done.reasoning"]
ResponseOutputTextDelta = STRUCTURES["response.output_text.delta"]
ResponseReasoningSummaryTextDelta = STRUCTURES["response.reasoning_summary_text.delta"]
ResponseReasoningTextDelta = STRUCTURES["response.reasoning_text.delta"]
ResponseRefusalDelta = STRUCTURES["response.refusal.delta"]


def feed(mapper: ResponsesMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    piece = mapper.piece
    begin_call = mapper.begin_call
    begin_text = mapper.begin_text
    end_call = mapper.end_call
    end_item = mapper.end_item
    begin_response = mapper.begin_response
    end_for = mapper.end_for
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
            elif struct is ResponseOutputTextDelta:
                if mapper.running:
                    if good != at or name != event.output_index or kind is not struct:
                        piece(at, event.output_index, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.output_index  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ResponseFunctionCallArgumentsDelta:
                if mapper.running:
                    if good != at or name != event.output_index or kind is not struct:
                        piece(at, event.output_index, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.output_index  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ResponseReasoningSummaryTextDelta:
                if mapper.running:
                    if good != at or name != event.output_index or kind is not struct:
                        piece(at, event.output_index, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.output_index  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ResponseReasoningTextDelta:
                if mapper.running:
                    if good != at or name != event.output_index or kind is not struct:
                        piece(at, event.output_index, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.output_index  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ResponseRefusalDelta:
                if mapper.running:
                    if good != at or name != event.output_index or kind is not struct:
                        piece(at, event.output_index, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.output_index  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ResponseCustomToolCallInputDelta:
                if mapper.running:
                    if good != at or name != event.output_index or kind is not struct:
                        piece(at, event.output_index, event.delta)
                        if not event.delta:
                            at += 1
                            continue
                        kind, name = struct, event.output_index  # pyright: ignore[reportUnknownVariableType]
                    at += 1
                    good = at
                    continue
            elif struct is ResponseOutputItemAdded:
                if mapper.running:
                    inner = event.item
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is ResponseOutputItemAddedFunctionCall or part is ResponseOutputItemAddedCustomToolCall:
                        begin_call(at, event.output_index)
                        at += 1
                        continue
                    if part is ResponseOutputItemAddedMessage:
                        begin_text(at, event.output_index, "assistant")
                        at += 1
                        continue
                    if part is ResponseOutputItemAddedReasoning:
                        begin_text(at, event.output_index, "reasoning")
                        at += 1
                        continue
            elif struct is ResponseOutputItemDone:
                if mapper.running:
                    inner = event.item
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is ResponseOutputItemDoneFunctionCall or part is ResponseOutputItemDoneCustomToolCall:
                        end_call(at, event.output_index, inner.call_id, inner.name)
                        at += 1
                        continue
                    if part is ResponseOutputItemDoneMessage or part is ResponseOutputItemDoneReasoning:
                        end_item(at, event.output_index)
                        at += 1
                        continue
            elif struct is ResponseCreated:
                begin_response(at, event.response.id)
                at += 1
                continue
            elif struct is ResponseCompleted:
                if mapper.running:
                    end_for(at, "completed", event.response.error, event.response.incomplete_details)
                    at += 1
                    continue
            elif struct is ResponseIncomplete:
                if mapper.running:
                    end_for(at, "completed", event.response.error, event.response.incomplete_details)
                    at += 1
                    continue
            elif struct is ResponseCancelled:
                if mapper.running:
                    end_for(at, "interrupted", event.response.error, event.response.incomplete_details)
                    at += 1
                    continue
            elif struct is ResponseFailed:
                if mapper.running:
                    end_for(at, "error", event.response.error, event.response.incomplete_details)
                    at += 1
                    continue
            elif struct is Error:
                if mapper.running:
                    fail(at, event.message, event.error)
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
