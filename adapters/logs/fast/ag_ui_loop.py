"""The fast loop of AG-UI, generated from its parts: run `make generate`, do not edit."""

from collections.abc import Callable, Sequence
from typing import Any

from turncheck.model.core.events import AgentOutput

from ..formats.ag_ui import AgUiMapper, Result
from ..formats.ag_ui_items import SAID
from ..formats.items import Item, Whole
from .ag_ui_wires import STRUCTURES

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


def feed(mapper: "AgUiMapper", events: Sequence[Any], first: int, hand: Callable[[int], None]) -> None:
    """Take events at consecutive positions from *first* on, None for one that was not decoded.

    *hand* lets *mapper* read the line of a position: of what is not decoded, and wherever no branch is sure.
    """
    items, outputs, results = mapper.items, mapper.outputs, mapper.results
    opened, others = items.open, outputs.others
    begun, used, owners = mapper.rules.open, mapper.rules.used, mapper.rules.owners.of
    messages_owned, calls_owned, reasonings_owned = owners["message"], owners["call"], owners["reasoning"]
    calm = mapper.running and outputs.chunk is None  # a run is open, and no item that came in chunks
    text = tool = reasoning = None
    add_text: Callable[[str], None] = _none
    add_reasoning: Callable[[str], None] = _none
    quiet = first  # from here on, no line has taken a place
    for at, event in enumerate(events, first):
        struct = type(event)
        if struct is TextMessageContent:
            name = event.messageId
            if name == text:
                add_text(event.delta)
                continue
            item = opened.get(("TEXT_MESSAGE", name)) if calm else None
            if item is not None:
                if results:
                    mapper.settle_results(last=False)
                if event.delta:
                    if item.slot is None:
                        items.pass_by(quiet, at)
                        quiet = at + 1
                        item.slot = items.hold(at)
                    item.pieces.append(event.delta)
                    if ("TEXT_MESSAGE", name) not in others:
                        outputs.said, outputs.silent = True, False
                    text, add_text = name, item.pieces.append
                continue
        elif struct is TextMessageStart:
            name = event.messageId
            key, rule = ("TEXT_MESSAGE", name), ("TEXT_MESSAGE_START", name)
            if calm and rule not in begun and rule not in used and key not in opened:
                if results:
                    mapper.settle_results(last=False)
                begun[rule] = None
                used.add(rule)
                messages_owned.setdefault(name, None)
                opened[key] = Item(SAID["assistant"], None)
                others.discard(key)
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
                continue
        elif struct is ToolCallArgs:
            name = event.toolCallId
            if name == tool:
                continue
            item = opened.get(("TOOL_CALL", name)) if calm else None
            if item is not None:
                if results:
                    mapper.settle_results(last=False)
                if event.delta:
                    if item.slot is None:
                        items.pass_by(quiet, at)
                        quiet = at + 1
                        item.slot = items.hold(at)
                    if ("TOOL_CALL", name) not in others:
                        outputs.said, outputs.silent = True, False
                    tool = name
                continue
        elif struct is ToolCallStart:
            name = event.toolCallId
            key, rule = ("TOOL_CALL", name), ("TOOL_CALL_START", name)
            free = calls_owned.get(name) is None and messages_owned.get(event.parentMessageId) is None
            if calm and free and rule not in begun and key not in opened:
                if results:
                    mapper.settle_results(last=False)
                items.pass_by(quiet, at)
                quiet = at + 1
                begun[rule] = None
                used.add(rule)
                calls_owned[name] = None
                call = AgentOutput(kind="tool-call", call_id=name, tool=event.toolCallName)
                opened[key] = Item(Whole(call), items.hold(at))
                outputs.calls.add(name)
                outputs.unanswered.add(name)
                outputs.said = outputs.called = True
                outputs.silent = False
                tool = name
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
                continue
        elif struct is ReasoningMessageContent:
            name = event.messageId
            if name == reasoning:
                add_reasoning(event.delta)
                continue
            item = opened.get(("REASONING_MESSAGE", name)) if calm else None
            if item is not None:
                if results:
                    mapper.settle_results(last=False)
                if event.delta:
                    if item.slot is None:
                        items.pass_by(quiet, at)
                        quiet = at + 1
                        item.slot = items.hold(at)
                    item.pieces.append(event.delta)
                    if ("REASONING_MESSAGE", name) not in others:
                        outputs.said, outputs.silent = True, False
                    reasoning, add_reasoning = name, item.pieces.append
                continue
        elif struct is ReasoningMessageStart:
            name = event.messageId
            key, rule = ("REASONING_MESSAGE", name), ("REASONING_MESSAGE_START", name)
            if calm and rule not in begun and key not in opened:
                if results:
                    mapper.settle_results(last=False)
                begun[rule] = None
                used.add(rule)
                reasonings_owned.setdefault(name, None)
                opened[key] = Item(SAID["reasoning"], None)
                others.discard(key)
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
                continue
        elif struct is ReasoningStart:
            name = event.messageId
            rule = ("REASONING_START", name)
            if calm and rule not in begun:
                if results:
                    mapper.settle_results(last=False)
                begun[rule] = None
                used.add(rule)
                reasonings_owned.setdefault(name, None)
                continue
        elif struct is ReasoningEnd:
            name = event.messageId
            rule = ("REASONING_START", name)
            if calm and rule in begun:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                continue
        elif struct is StepStarted:
            name = event.stepName
            rule = ("STEP_STARTED", (None, name))
            if calm and rule not in begun:
                if results:
                    mapper.settle_results(last=False)
                begun[rule] = None
                used.add(rule)
                continue
        elif struct is StepFinished:
            name = event.stepName
            rule = ("STEP_STARTED", (None, name))
            if calm and rule in begun:
                if results:
                    mapper.settle_results(last=False)
                del begun[rule]
                continue
        elif struct is ToolCallResult:
            name = event.toolCallId
            if calm and name in outputs.calls:
                items.pass_by(quiet, at)
                quiet = at + 1
                messages_owned[event.messageId] = None
                results.append(Result(items.hold(at), name, event.messageId))
                outputs.unanswered.discard(name)
                outputs.given()
                text = tool = reasoning = None
                continue
        elif struct is RunStarted:
            if not (mapper.running or mapper.paused or outputs.chunk):
                if results:
                    mapper.settle_results(last=False)
                items.pass_by(quiet, at)
                quiet = at + 1
                mapper.run_started(at, {})
                calm = True
                continue
        elif struct is RunFinished:
            if calm and not begun:
                items.pass_by(quiet, at)
                quiet = at + 1
                mapper.settle_results(last=True)
                mapper.run_finished(at, {})
                calm = False
                text = tool = reasoning = None
                continue
        items.pass_by(quiet, at)
        quiet = at + 1
        hand(at)
        calm = mapper.running and outputs.chunk is None
        text = tool = reasoning = None
    items.pass_by(quiet, first + len(events))


def _none(_: str) -> None:
    """Stand for the text of no item."""
