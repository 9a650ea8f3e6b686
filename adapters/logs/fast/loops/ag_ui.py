"""The fast loop of AG-UI, generated from its parts: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET

from turncheck.model.core.events import AgentOutput

from ...formats.ag_ui import AgUiMapper, Result
from ...formats.ag_ui_items import SAID
from ...formats.items import Item, Whole
from ..ag_ui.shapes import DECODER, STRUCTURES, SUCCESS, item_pattern
from ..fast_loop import FastLoop

ReasoningEnd = STRUCTURES["REASONING_END"]
ReasoningMessageContent = STRUCTURES["REASONING_MESSAGE_CONTENT"]
ReasoningMessageEnd = STRUCTURES["REASONING_MESSAGE_END"]
ReasoningMessageStart = STRUCTURES["REASONING_MESSAGE_START"]
ReasoningStart = STRUCTURES["REASONING_START"]
RunFinished = STRUCTURES["RUN_FINISHED"]
RunStarted = STRUCTURES["RUN_STARTED"]
StepFinished = STRUCTURES["STEP_FINISHED"]
StepStarted = STRUCTURES["STEP_STARTED"]
TextMessageContent = STRUCTURES["TEXT_MESSAGE_CONTENT"]
TextMessageEnd = STRUCTURES["TEXT_MESSAGE_END"]
TextMessageStart = STRUCTURES["TEXT_MESSAGE_START"]
ToolCallArgs = STRUCTURES["TOOL_CALL_ARGS"]
ToolCallEnd = STRUCTURES["TOOL_CALL_END"]
ToolCallResult = STRUCTURES["TOOL_CALL_RESULT"]
ToolCallStart = STRUCTURES["TOOL_CALL_START"]

_SOME: Final = {kind: AgentOutput(kind=kind, text="…") for kind in SAID}
"""Kind → an output of which nothing is known but that it has a text."""


def feed(mapper: AgUiMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    items, outputs, results = mapper.items, mapper.outputs, mapper.results
    opened, others = items.open, outputs.others
    begun, used, owners = mapper.rules.open, mapper.rules.used, mapper.rules.owners.of
    messages, calls, reasonings = owners["message"], owners["call"], owners["reasoning"]
    calm = mapper.running and outputs.chunk is None  # a run is open, and no item that came in chunks
    text = tool = reasoning = None
    for event in events:
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        behind = at + 1
        if struct is tuple:
            found, behind = event
            kind, behind = found.lastgroup, at + behind
            if kind == "TEXT_MESSAGE":
                name = found["TEXT_MESSAGE_id"].decode()
                key, rule = (kind, name), ("TEXT_MESSAGE_START", name)
                if calm and rule not in used and (not opened or key not in opened):
                    if results:
                        mapper.settle_results(last=False)
                    used.add(rule)
                    messages.setdefault(name, None)
                    if others:
                        others.discard(key)
                    outputs.said, outputs.silent = True, False
                    items.put(at + 1, _SOME["assistant"])
                    at = behind
                    continue
            elif kind == "TOOL_CALL":
                name = found["TOOL_CALL_id"].decode()
                key, rule = (kind, name), ("TOOL_CALL_START", name)
                parent = None if found["parent"] is None else found["parent"].decode()
                free = calls.get(name) is None and messages.get(parent) is None  # of no sub-agent
                if calm and rule not in begun and (not opened or key not in opened) and free:
                    if results:
                        mapper.settle_results(last=False)
                    used.add(rule)
                    calls[name] = None
                    outputs.calls.add(name)
                    outputs.unanswered.add(name)
                    outputs.said = outputs.called = True
                    outputs.silent = False
                    items.put(at, AgentOutput(kind="tool-call", call_id=name, tool=found["tool"].decode()))
                    at = behind
                    continue
            elif kind == "REASONING_MESSAGE":
                name = found["REASONING_MESSAGE_id"].decode()
                key, rule = (kind, name), ("REASONING_MESSAGE_START", name)
                if calm and rule not in begun and (not opened or key not in opened):
                    if results:
                        mapper.settle_results(last=False)
                    used.add(rule)
                    reasonings.setdefault(name, None)
                    if others:
                        others.discard(key)
                    outputs.said, outputs.silent = True, False
                    items.put(at + 1, _SOME["reasoning"])
                    at = behind
                    continue
        elif struct is TextMessageContent:
            name = event.messageId
            if name == text:
                at += 1
                continue
            item = opened.get(("TEXT_MESSAGE", name)) if calm else None
            if item is not None:
                if results:
                    mapper.settle_results(last=False)
                if event.delta:
                    if item.slot is None:
                        item.slot = items.hold(at)
                    item.pieces.append(event.delta)
                    if ("TEXT_MESSAGE", name) not in others:  # what the user says is kept
                        outputs.said, outputs.silent = True, False
                        text = name
                at += 1
                continue
        elif struct is TextMessageStart:
            name = event.messageId
            key, rule = ("TEXT_MESSAGE", name), ("TEXT_MESSAGE_START", name)
            if calm and rule not in used and (not opened or key not in opened):
                if results:
                    mapper.settle_results(last=False)
                used.add(rule)
                messages.setdefault(name, None)
                if others:
                    others.discard(key)
                begun[rule] = None
                opened[key] = Item(SAID["assistant"], None)
                at += 1
                continue
        elif struct is TextMessageEnd:
            name = event.messageId
            key, rule = ("TEXT_MESSAGE", name), ("TEXT_MESSAGE_START", name)
            if calm and rule in begun and key in opened:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                items.finish(key)
                if name == text:
                    text = None
                at += 1
                continue
        elif struct is ToolCallArgs:
            name = event.toolCallId
            if name == tool:
                at += 1
                continue
            item = opened.get(("TOOL_CALL", name)) if calm else None
            if item is not None:
                if results:
                    mapper.settle_results(last=False)
                if event.delta:
                    if item.slot is None:
                        item.slot = items.hold(at)
                    item.pieces.append(event.delta)
                    if ("TOOL_CALL", name) not in others:  # what the user says is kept
                        outputs.said, outputs.silent = True, False
                        tool = name
                at += 1
                continue
        elif struct is ToolCallStart:
            name = event.toolCallId
            key, rule = ("TOOL_CALL", name), ("TOOL_CALL_START", name)
            free = calls.get(name) is None and messages.get(event.parentMessageId) is None  # of no sub-agent
            if calm and rule not in begun and (not opened or key not in opened) and free:
                if results:
                    mapper.settle_results(last=False)
                used.add(rule)
                calls[name] = None
                outputs.calls.add(name)
                outputs.unanswered.add(name)
                outputs.said = outputs.called = True
                outputs.silent = False
                begun[rule] = None
                call = AgentOutput(kind="tool-call", call_id=name, tool=event.toolCallName)
                opened[key] = Item(Whole(call), items.hold(at))
                tool = name
                at += 1
                continue
        elif struct is ToolCallEnd:
            name = event.toolCallId
            key, rule = ("TOOL_CALL", name), ("TOOL_CALL_START", name)
            if calm and rule in begun and key in opened:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                items.finish(key)
                if name == tool:
                    tool = None
                at += 1
                continue
        elif struct is ReasoningMessageContent:
            name = event.messageId
            if name == reasoning:
                at += 1
                continue
            item = opened.get(("REASONING_MESSAGE", name)) if calm else None
            if item is not None:
                if results:
                    mapper.settle_results(last=False)
                if event.delta:
                    if item.slot is None:
                        item.slot = items.hold(at)
                    item.pieces.append(event.delta)
                    if ("REASONING_MESSAGE", name) not in others:  # what the user says is kept
                        outputs.said, outputs.silent = True, False
                        reasoning = name
                at += 1
                continue
        elif struct is ReasoningMessageStart:
            name = event.messageId
            key, rule = ("REASONING_MESSAGE", name), ("REASONING_MESSAGE_START", name)
            if calm and rule not in begun and (not opened or key not in opened):
                if results:
                    mapper.settle_results(last=False)
                used.add(rule)
                reasonings.setdefault(name, None)
                if others:
                    others.discard(key)
                begun[rule] = None
                opened[key] = Item(SAID["reasoning"], None)
                at += 1
                continue
        elif struct is ReasoningMessageEnd:
            name = event.messageId
            key, rule = ("REASONING_MESSAGE", name), ("REASONING_MESSAGE_START", name)
            if calm and rule in begun and key in opened:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                items.finish(key)
                if name == reasoning:
                    reasoning = None
                at += 1
                continue
        elif struct is ReasoningStart:
            name = event.messageId
            rule = ("REASONING_START", name)
            if calm and rule not in begun:
                if results:
                    mapper.settle_results(last=False)
                begun[rule] = None
                used.add(rule)
                reasonings.setdefault(name, None)
                at += 1
                continue
        elif struct is ReasoningEnd:
            name = event.messageId
            rule = ("REASONING_START", name)
            if calm and rule in begun:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                at += 1
                continue
        elif struct is StepStarted:
            name = event.stepName
            rule = ("STEP_STARTED", (None, name))
            if calm and rule not in begun:
                if results:
                    mapper.settle_results(last=False)
                begun[rule] = None
                used.add(rule)
                at += 1
                continue
        elif struct is StepFinished:
            name = event.stepName
            rule = ("STEP_STARTED", (None, name))
            if calm and rule in begun:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                at += 1
                continue
        elif struct is ToolCallResult:
            name = event.toolCallId
            if calm and name in outputs.calls:
                messages[event.messageId] = None
                results.append(Result(items.hold(at), name, event.messageId))
                outputs.unanswered.discard(name)
                outputs.given()
                text = tool = reasoning = None
                at += 1
                continue
        elif struct is RunStarted:
            if not (mapper.running or mapper.paused or outputs.chunk):
                if results:
                    mapper.settle_results(last=False)
                mapper.run_started(at, {})
                calm = True
                at += 1
                continue
        elif struct is RunFinished:
            if calm and not begun:
                mapper.settle_results(last=True)
                mapper.run_finished(at, {} if event.outcome is UNSET else SUCCESS)
                calm = False
                text = tool = reasoning = None
                at += 1
                continue
        while at < behind:
            hand(at)
            at += 1
        calm = mapper.running and outputs.chunk is None
        text = tool = reasoning = None
    return at


LOOP = FastLoop(DECODER.decode, item_pattern, feed)
