"""From the steps of one run to events: its root, what happened in the order of time, and its end."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from turncheck.model.core.events import Event, RunStop

from .run import Run
from .steps import Step

_OUTPUTS: Final = 0
_TOOL_STARTS: Final = 1
_TOOL_ENDS: Final = 2
_ASKS: Final = 3
"""The order at one time: a model's outputs, a tool's start, its end, the next question to the model."""
_Moment: TypeAlias = tuple[int, int, int, Step]
"""A time, what happens then, the number of the model or the tool, and its step: no two have the first three alike."""
_start: Final = attrgetter("start")
_end_start: Final = attrgetter("end", "start")


def tell_agent(told: list[Event], session: str, agent: Step | None, body: Sequence[Step]) -> None:
    """Add the events of an agent's run to what is *told*, and no end where its span is not there.

    A span that ends behind its agent's belongs to the run still: its end is the latest of all.
    """
    models: list[Step] = []
    tools: list[Step] = []
    for step in body:
        (models if step.kind == "model" else tools).append(step)
    tools.sort(key=_start)
    said = min(models, key=_start).said if models else None
    run = Run(told, session, tools)
    run.begin(agent.said if said is None and agent is not None else said)
    response: str | None = None
    for _, rank, _, step in sorted(_moments(models, tools)):
        if rank == _OUTPUTS:
            response = step.response
            run.respond(step)
        elif rank == _ASKS:
            if run.open:
                run.answer(step.answers)
        elif rank == _TOOL_STARTS:
            run.start(step, response)
        else:
            run.finish(step)
    if agent is not None:
        stop = _stop(agent, max(body, key=_end_start, default=agent), session)
        if stop.reason == "completed":
            run.leave()
        told.append(stop)


def _moments(models: Sequence[Step], tools: Sequence[Step]) -> list[_Moment]:
    moments: list[_Moment] = []
    starts: dict[str, int] = {}
    for number, step in enumerate(tools):
        start, end = step.start, step.end
        if step.call_id:
            starts.setdefault(step.call_id, start)
        moments.append((start, _TOOL_STARTS, number, step))
        moments.append((max(end, start), _TOOL_ENDS, number, step))
    for number, step in enumerate(models):
        start, made = step.start, step.end
        for part in step.outputs or ():
            if part.call_id in starts and part.kind == "call":
                run = starts[part.call_id]
                if start <= run < made:  # a tool may run while the model goes on
                    made = run
        moments.append((start, _ASKS, number, step))
        moments.append((made, _OUTPUTS, number, step))
    return moments


def _stop(agent: Step, last: Step, session: str) -> RunStop:
    if agent.failed:
        return RunStop("interrupted" if agent.cancelled else "error", agent.why, session_id=session)
    if last.cancelled:
        return RunStop("interrupted", last.why, session_id=session, source="adapter")
    finish = last.finish if last.kind == "model" else None
    return RunStop("completed", finish, session_id=session, source=None if agent.stated else "adapter")


def tell_models(told: list[Event], session: str, models: Sequence[Step], tools: Sequence[Step]) -> None:
    """Add the events of requests to a model that no agent's span holds together, one behind the other.

    A request that brings results of open calls goes on with the run, and so does one that comes behind the tools of
    open calls; any other begins a run. Where such a run ends is inferred.
    """
    models = sorted(models, key=_start)
    starts = [step.start for step in models]
    behind: dict[int, list[Step]] = {}  # number of a request → the tools that start behind it, and before the next one
    for tool in sorted(tools, key=_start):
        behind.setdefault(bisect_right(starts, tool.start) - 1, []).append(tool)
    run: Run | None = None
    finish: str | None = None
    for number, step in enumerate(models):
        if run is not None and run.goes_on(step):
            run.finish_all()
            run.answer(step.answers)
        else:
            if run is not None:
                _end_inferred(told, session, run, finish)
            run = Run(told, session)
            run.begin(step.said)
        run.bring(behind.get(number, ()))
        run.respond(step)
        finish = step.finish
        if step.failed:
            run = None
            told.append(RunStop("interrupted" if step.cancelled else "error", step.why, session_id=session))
    if run is not None:
        _end_inferred(told, session, run, finish)


def _end_inferred(told: list[Event], session: str, run: Run, finish: str | None) -> None:
    run.finish_all()
    run.leave()
    told.append(RunStop("completed", finish, session_id=session, source="adapter"))
