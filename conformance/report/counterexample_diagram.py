"""An example as a sequence diagram, with the place marked where the law breaks.

The events of a log are drawn unchanged. For a runtime, arrows into the agent are stimuli; arrows from it are its
requests, the tools that it starts, and (dashed, to the user) the events that it logs.
"""

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from turncheck.model.core.stimuli import Step, Stimulus, Together, ToolAwaited
from turncheck.model.rendering.log_scene import LIFELINES
from turncheck.model.rendering.printable import shown
from turncheck.model.rendering.scene import Arrow, Band, Row, Scene
from turncheck.model.rendering.words import AGENT, MODEL, TOOLS, USER, as_object, of_event, of_stimulus

from ..check.judge import check
from ..observe.driver import PROBE
from ..observe.runtime_trace import Applied
from ..verify.outcome.results import FlowCounterexample, WordCounterexample
from .lessons import Lesson, LinesExample


def picture(law: str, lesson: Lesson) -> Scene:
    """Lay out the smallest wrong example of *law*."""
    match lesson.wrong:
        case WordCounterexample() as found:
            return word_picture(found)
        case FlowCounterexample() as found:
            return flow_picture(found)
        case LinesExample(lines=lines):
            first, *_ = check(law, BytesIO("\n".join(lines).encode())).findings
            return Scene(law, LIFELINES, tuple(_log([*map(json.loads, lines)], first.at)))
        case found:
            return Scene(law, LIFELINES, tuple(_log(found.input.events, found.position)))


def word_picture(found: WordCounterexample) -> Scene:
    """Lay out the word of a counterexample, and below it what a relation law applied then."""
    second = [Band("what the law applied then"), *_again(found.again)] if found.again else []
    return Scene(found.law, LIFELINES, (*_word(found), *second))


def flow_picture(found: FlowCounterexample) -> Scene:
    """Lay out the frames of a counterexample."""
    return Scene(found.law, ("backend", "UI"), tuple(_flow(found)))


def _log(events: Sequence[Any], mark: int | None) -> Iterator[Row]:
    for at, value in enumerate(events):
        told = of_event(value)
        yield Arrow(told.source, told.dest, told.brief, at=at, marked=at == mark)


def _flow(found: FlowCounterexample) -> Iterator[Row]:
    for at, frame in enumerate(found.frames):
        what = frame.get("content") or frame.get("name") or ""
        words = f"{frame['type']} {what}" if isinstance(what, str) else str(frame["type"])
        yield Arrow("backend", "UI", words.strip(), at=at, marked=at == found.position)


def _word(found: WordCounterexample) -> Iterator[Row]:
    """Lay out the word without the probe at its end, unless the law breaks there."""
    at, known = 0, set[str]()
    for stimulus, step in zip(found.applied, found.steps, strict=True):
        if stimulus == PROBE and found.position is not None and found.position < at:
            return
        yield from _stimulus(stimulus)
        yield from _step(step, at, found.position, known)
        at += len(step.events)
        known = {one.execution for one in step.awaiting if isinstance(one, ToolAwaited)}


def _again(applied: Sequence[Applied]) -> Iterator[Row]:
    """Lay out what a relation law applied: it broke at the last event."""
    at, known = 0, set[str]()
    last = sum(len(one.step.events) for one in applied) - 1
    for one in applied:
        if one.restarted:
            yield Band("the process is killed, and started again", stroke="other")
        yield from _stimulus(one.stimulus)
        yield from _step(one.step, at, last, known)
        at += len(one.step.events)
        known = {each.execution for each in one.step.awaiting if isinstance(each, ToolAwaited)}


def _stimulus(stimulus: Stimulus) -> Iterator[Row]:
    told = of_stimulus(stimulus)
    words = _named(stimulus.session_id, stimulus.agent_id, told.brief)
    yield Band(words) if told.source == told.dest else Arrow(told.source, told.dest, words)
    if isinstance(stimulus, Together):
        for one in stimulus.stimuli:
            yield from _stimulus(one)


def _step(step: Step, first: int, mark: int | None, known: set[str]) -> Iterator[Row]:
    if step.refused is not None:
        yield Arrow(AGENT, USER, f"refuses: {step.refused.why}", stroke="answer")
    for at, value in enumerate(step.events, first):
        event = as_object(value)
        if event.get("type") == "model-request":
            asks = _named(event.get("sessionId"), event.get("agentId"), shown(f"asks {event.get('requestId')}"))
            yield Arrow(AGENT, MODEL, asks, marked=at == mark)
        else:
            logged = _named(event.get("sessionId"), event.get("agentId"), _logged(value))
            yield Arrow(AGENT, USER, logged, stroke="answer", marked=at == mark)
    for one in step.awaiting:
        if isinstance(one, ToolAwaited) and one.execution not in known:
            yield Arrow(AGENT, TOOLS, shown(f"runs {one.tool} {one.call_id}"))


def _named(session: object, agent: object, words: str) -> str:
    """Put the session and the sub-agent, where there are such, in front of the words."""
    names = (shown(str(name)) for name in (session, agent) if name is not None)
    return ": ".join([*names, words])


def _logged(value: object) -> str:
    """Describe an agent's event in short: the diagram has just shown its text as a stimulus."""
    told, event = of_event(value), as_object(value)
    match event.get("type"):
        case "run-stop":
            return f"ends {shown(told.text)}"
        case "tool-result":
            return f"{told.what} {shown(str(event.get('callId')))}"
        case "user-message":
            return "accepted"
        case _:
            return told.what
