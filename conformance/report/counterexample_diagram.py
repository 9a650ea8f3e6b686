"""An example as a sequence picture: who tells whom what, with the place marked where the law breaks.

Of a log the events are drawn as they are. Of a runtime, arrows into the agent are stimuli, arrows from it are its
requests, the tools that it starts, and (dashed, to the user) the events that it logs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Final

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Client,
    ModelFail,
    ModelOutput,
    ModelStop,
    Step,
    Stimulus,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.rendering.exchange import Exchange, Line, Message, Part
from turncheck.model.rendering.sequence import LIFELINES, as_object, said, shown

from ..check.judge import check
from ..observe.driver import PROBE
from ..verify.results import WordCounterexample
from .lessons import FlowExample, Lesson, LinesExample

_USER, _AGENT, _MODEL, _TOOLS = LIFELINES
_MARK: Final = "✗ "


def picture(law: str, lesson: Lesson) -> Exchange:
    """The smallest wrong example of *law*."""
    match lesson.wrong:
        case WordCounterexample() as found:
            return Exchange(law, LIFELINES, tuple(_word(found)))
        case FlowExample() as found:
            return Exchange(law, ("backend", "UI"), tuple(_flow(found)))
        case LinesExample(lines=lines):
            first, *_ = check(law, BytesIO("\n".join(lines).encode())).findings
            return Exchange(law, LIFELINES, tuple(_log([*map(json.loads, lines)], first.at)))
        case found:
            return Exchange(law, LIFELINES, tuple(_log(found.input.events, found.position)))


def _log(events: Sequence[Any], mark: int | None) -> Iterator[Line]:
    for at, value in enumerate(events):
        event = as_object(value)
        source, dest, caption, text = said(event, value)
        delivery = f"{event['delivery']} " if "delivery" in event else ""
        words = f"{_MARK if at == mark else ''}{at} {delivery}{shown(text) or caption}"
        yield Message(LIFELINES[source], LIFELINES[dest], words)


def _flow(found: FlowExample) -> Iterator[Line]:
    for at, frame in enumerate(found.frames):
        said_ = frame.get("content") or frame.get("name") or ""
        words = f"{frame['type']} {said_}" if isinstance(said_, str) else str(frame["type"])
        yield Message("backend", "UI", f"{_MARK if at == found.position else ''}{at} {words.strip()}")


def _word(found: WordCounterexample) -> Iterator[Line]:
    """Without the probe at the end, unless it is there that the law breaks."""
    at, known = 0, set[str]()
    for stimulus, step in zip(found.applied, found.steps, strict=True):
        if stimulus == PROBE and found.position is not None and found.position < at:
            return
        yield from _stimulus(stimulus)
        yield from _step(step, at, found.position, known)
        at += len(step.events)
        known = {one.execution for one in step.awaiting if isinstance(one, ToolAwaited)}


def _stimulus(stimulus: Stimulus) -> Iterator[Line]:
    match stimulus:
        case User(text=text, delivery=delivery):
            yield Message(_USER, _AGENT, f"{delivery or ''} {shown(text)}".strip())
        case Abort():
            yield Message(_USER, _AGENT, "abort")
        case ModelOutput(item=item):
            words = f"call {item.tool} {item.call_id}" if isinstance(item, ToolCall) else item.text
            yield Message(_MODEL, _AGENT, shown(words))
        case ModelStop(reason=reason):
            yield Message(_MODEL, _AGENT, reason)
        case ModelFail(failure=failure):
            yield Message(_MODEL, _AGENT, f"fails: {failure}")
        case ToolReturn(call_id=call):
            yield Message(_TOOLS, _AGENT, shown(f"returns {call}"))
        case ToolFail(call_id=call):
            yield Message(_TOOLS, _AGENT, shown(f"fails {call}"))
        case Advance(seconds=seconds):
            yield Part(f"{seconds:g} s later")
        case Client(action=action):
            yield Message(_USER, _AGENT, f"{action}s")
        case Together(stimuli=stimuli):
            yield Part("at once")
            for one in stimuli:
                yield from _stimulus(one)


def _step(step: Step, first: int, mark: int | None, known: set[str]) -> Iterator[Line]:
    if step.refused is not None:
        yield Message(_AGENT, _USER, f"refuses: {step.refused.why}", answer=True)
    for at, value in enumerate(step.events, first):
        event = as_object(value)
        marked = _MARK if at == mark else ""
        if event.get("type") == "model-request":
            yield Message(_AGENT, _MODEL, f"{marked}asks {event.get('requestId')}")
            continue
        yield Message(_AGENT, _USER, f"{marked}{_logged(event, value)}", answer=True)
    for one in step.awaiting:
        if isinstance(one, ToolAwaited) and one.execution not in known:
            yield Message(_AGENT, _TOOLS, shown(f"runs {one.tool} {one.call_id}"))


def _logged(event: Mapping[str, Any], value: Any) -> str:
    """What an agent's event is in short: who follows the picture has just seen its text come in."""
    *_, caption, text = said(event, value)
    match event.get("type"):
        case "run-stop":
            return f"ends {shown(text)}"
        case "tool-result":
            return f"{caption} {shown(str(event.get('callId')))}"
        case "user-message":
            return "accepted"
        case _:
            return caption
