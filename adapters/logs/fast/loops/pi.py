"""The fast loop of pi, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from typing import Any

from ...formats.fields import MisfitError
from ...formats.pi import WIRES, PiMapper
from ..structures import structures

STRUCTURES = structures(WIRES)
AgentStart = STRUCTURES["agent_start"]
MessageEnd = STRUCTURES["message_end"]
MessageEndSystem = STRUCTURES["message_end.system"]
MessageEndToolresult = STRUCTURES["message_end.toolResult"]
MessageEndUser = STRUCTURES["message_end.user"]
MessageStart = STRUCTURES["message_start"]
MessageStartAssistant = STRUCTURES["message_start.assistant"]
MessageStartToolresult = STRUCTURES["message_start.toolResult"]
MessageUpdate = STRUCTURES["message_update"]
MessageUpdateTextDelta = STRUCTURES["message_update.text_delta"]
MessageUpdateTextEnd = STRUCTURES["message_update.text_end"]
MessageUpdateTextStart = STRUCTURES["message_update.text_start"]
MessageUpdateThinkingDelta = STRUCTURES["message_update.thinking_delta"]
MessageUpdateThinkingEnd = STRUCTURES["message_update.thinking_end"]
MessageUpdateThinkingStart = STRUCTURES["message_update.thinking_start"]
MessageUpdateToolcallDelta = STRUCTURES["message_update.toolcall_delta"]
MessageUpdateToolcallStart = STRUCTURES["message_update.toolcall_start"]
ToolExecutionEnd = STRUCTURES["tool_execution_end"]
ToolExecutionStart = STRUCTURES["tool_execution_start"]
ToolExecutionUpdate = STRUCTURES["tool_execution_update"]
TurnEnd = STRUCTURES["turn_end"]
TurnStart = STRUCTURES["turn_start"]


def feed(mapper: PiMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``registry.FastLoop``)."""
    piece = mapper.piece
    begin_answer = mapper.begin_answer
    result = mapper.result
    end_turn = mapper.end_turn
    begin_run = mapper.begin_run
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
                if mapper.calm:
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
            elif struct is MessageStart:
                if mapper.calm:
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
            elif struct is MessageEnd:
                if mapper.calm:
                    inner = event.message
                    part = type(inner)  # pyright: ignore[reportUnknownVariableType]
                    if part is MessageEndUser or part is MessageEndToolresult or part is MessageEndSystem:
                        at += 1
                        continue
            elif struct is TurnEnd:
                if mapper.calm:
                    end_turn(at, event.toolResults)
                    at += 1
                    continue
            elif struct is AgentStart:
                if mapper.calm:
                    begin_run(at)
                    at += 1
                    continue
            elif struct is TurnStart:
                if mapper.calm:
                    at += 1
                    continue
            elif struct is ToolExecutionStart:
                if mapper.calm:
                    at += 1
                    continue
            elif struct is ToolExecutionUpdate:
                if mapper.calm:
                    at += 1
                    continue
            elif struct is ToolExecutionEnd:
                if mapper.calm:
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
