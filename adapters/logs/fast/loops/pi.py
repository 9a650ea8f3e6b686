"""The fast loop of pi, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...formats.fields import MisfitError
from ...formats.pi import WIRES, PiMapper
from ...formats.wires import deltas
from ..fast_loop import FastLoop
from ..runs import pattern
from ..structures import decoder, structures

STRUCTURES = structures(WIRES)
AgentEnd = STRUCTURES["agent_end"]
AgentSettled = STRUCTURES["agent_settled"]
AgentStart = STRUCTURES["agent_start"]
MessageEnd = STRUCTURES["message_end"]
MessageEndAssistant = STRUCTURES["message_end.assistant"]
MessageEndSystem = STRUCTURES["message_end.system"]
MessageEndToolresult = STRUCTURES["message_end.toolResult"]
MessageEndUser = STRUCTURES["message_end.user"]
MessageStart = STRUCTURES["message_start"]
MessageStartAssistant = STRUCTURES["message_start.assistant"]
MessageStartToolresult = STRUCTURES["message_start.toolResult"]
MessageStartUser = STRUCTURES["message_start.user"]
MessageUpdate = STRUCTURES["message_update"]
MessageUpdateTextDelta = STRUCTURES["message_update.text_delta"]
MessageUpdateTextEnd = STRUCTURES["message_update.text_end"]
MessageUpdateTextStart = STRUCTURES["message_update.text_start"]
MessageUpdateThinkingDelta = STRUCTURES["message_update.thinking_delta"]
MessageUpdateThinkingEnd = STRUCTURES["message_update.thinking_end"]
MessageUpdateThinkingStart = STRUCTURES["message_update.thinking_start"]
MessageUpdateToolcallDelta = STRUCTURES["message_update.toolcall_delta"]
MessageUpdateToolcallEnd = STRUCTURES["message_update.toolcall_end"]
MessageUpdateToolcallStart = STRUCTURES["message_update.toolcall_start"]
ToolExecutionEnd = STRUCTURES["tool_execution_end"]
ToolExecutionStart = STRUCTURES["tool_execution_start"]
ToolExecutionUpdate = STRUCTURES["tool_execution_update"]
TurnEnd = STRUCTURES["turn_end"]
TurnStart = STRUCTURES["turn_start"]


def feed(mapper: PiMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    piece = mapper.piece
    end_call = mapper.end_call
    begin_answer = mapper.begin_answer
    result = mapper.result
    ask = mapper.ask
    end_answer = mapper.end_answer
    end_turn = mapper.end_turn
    begin_run = mapper.begin_run
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
            elif struct is MessageUpdate:
                if mapper.ready():
                    inner = event.assistantMessageEvent
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is MessageUpdateTextDelta:
                        if good != at or name != inner.contentIndex or kind is not part:
                            piece(at, "text", inner.contentIndex, inner.delta)
                            if not inner.delta:
                                at += 1
                                continue
                            kind, name = part, inner.contentIndex  # pyright: ignore[reportUnknownVariableType]
                        at += 1
                        good = at
                        continue
                    if part is MessageUpdateToolcallDelta:
                        if good != at or name != inner.contentIndex or kind is not part:
                            piece(at, "toolcall", inner.contentIndex, inner.delta)
                            if not inner.delta:
                                at += 1
                                continue
                            kind, name = part, inner.contentIndex  # pyright: ignore[reportUnknownVariableType]
                        at += 1
                        good = at
                        continue
                    if part is MessageUpdateThinkingDelta:
                        if good != at or name != inner.contentIndex or kind is not part:
                            piece(at, "thinking", inner.contentIndex, inner.delta)
                            if not inner.delta:
                                at += 1
                                continue
                            kind, name = part, inner.contentIndex  # pyright: ignore[reportUnknownVariableType]
                        at += 1
                        good = at
                        continue
                    if part is MessageUpdateTextStart:
                        piece(at, "text", inner.contentIndex, "")
                        at += 1
                        continue
                    if part is MessageUpdateToolcallStart:
                        piece(at, "toolcall", inner.contentIndex, "")
                        at += 1
                        continue
                    if part is MessageUpdateThinkingStart:
                        piece(at, "thinking", inner.contentIndex, "")
                        at += 1
                        continue
                    if part is MessageUpdateTextEnd:
                        piece(at, "text", inner.contentIndex, "")
                        at += 1
                        continue
                    if part is MessageUpdateThinkingEnd:
                        piece(at, "thinking", inner.contentIndex, "")
                        at += 1
                        continue
                    if part is MessageUpdateToolcallEnd:
                        end_call(at, inner.contentIndex, inner.toolCall)
                        at += 1
                        continue
            elif struct is MessageStart:
                if mapper.ready():
                    inner = event.message
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is MessageStartAssistant:
                        begin_answer(at)
                        at += 1
                        continue
                    if part is MessageStartToolresult:
                        result(at, inner.toolCallId, inner.isError)
                        at += 1
                        continue
                    if part is MessageStartUser:
                        ask(at, inner.content, inner.id)
                        at += 1
                        continue
            elif struct is MessageEnd:
                if mapper.ready():
                    inner = event.message
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is MessageEndAssistant:
                        end_answer(at, inner.content, inner.stopReason, inner.errorMessage)
                        at += 1
                        continue
                    if part is MessageEndUser or part is MessageEndToolresult or part is MessageEndSystem:
                        at += 1
                        continue
            elif struct is TurnEnd:
                if mapper.ready():
                    end_turn(at, event.toolResults)
                    at += 1
                    continue
            elif struct is AgentStart:
                if mapper.ready():
                    begin_run(at)
                    at += 1
                    continue
            elif struct is AgentEnd:
                if mapper.ready():
                    end_run(at, event.messages, event.willRetry)
                    at += 1
                    continue
            elif struct is ToolExecutionStart:
                if mapper.ready():
                    at += 1
                    continue
            elif struct is ToolExecutionUpdate:
                if mapper.ready():
                    at += 1
                    continue
            elif struct is ToolExecutionEnd:
                if mapper.ready():
                    at += 1
                    continue
            elif struct is TurnStart:
                if mapper.ready():
                    at += 1
                    continue
            elif struct is AgentSettled:
                if mapper.ready():
                    at += 1
                    continue
        except MisfitError:
            pass
        while at < behind:
            fine = hand(at)
            at += 1
            if fine and mapper.calm:
                good = at
            kind = None
    return at


LOOP = FastLoop(decoder(WIRES).decode, partial(pattern, deltas(WIRES)), feed)
