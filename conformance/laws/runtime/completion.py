"""Laws on the purpose of a run: it asks its model, and completes if nothing went wrong."""

import json
from collections import Counter
from collections.abc import Container
from contextlib import suppress

from turncheck.model.core.stimuli import Abort, Item, ModelFail, ModelStop, Text, ToolCall, ToolFail

from ...observe.runtime_trace import Response, RuntimeTrace, flat
from ..law import Finding, Judgement, Witness
from .subject import run_law


@run_law("X-5", "BED-002a", evidence="a run that ended without an abort", since="0.2")
def runs_ask_the_model(trace: RuntimeTrace) -> Judgement:
    """A run that nobody aborts asks its model before it ends."""
    asked = {request.cycle for request in trace.requests}
    disturbed = _disturbed(trace, (Abort,))
    for index, cycle in enumerate(trace.cycles):
        if cycle.stop is None or index in disturbed or _taken_with_the_next(trace, index):
            continue
        yield Witness(inferred=trace.inferred(cycle.stop))
        if index not in asked:
            yield Finding(cycle.stop, "a run ends, and its model was never asked", "a request", trace.log[cycle.stop])


@run_law("X-5", "RC-2", "BED-003a", evidence="a run whose last response was a text", since="0.2")
def answered_runs_complete(trace: RuntimeTrace) -> Judgement:
    """A run in which nothing went wrong completes: it has no other end, and no limit before the declared one."""
    disturbed = _disturbed(trace, (Abort, ModelFail, ToolFail))
    responses: dict[int, list[Response]] = {}
    named = Counter(item.call_id for one in trace.responses for item in _items(one) if isinstance(item, ToolCall))
    for response in trace.responses:
        responses.setdefault(trace.cycle_at(response.asked), []).append(response)
    for index, cycle in enumerate(trace.cycles):
        stop, own = trace.stop_of(cycle=index), responses.get(index, [])
        if stop is None or cycle.stop is None or index in disturbed or not own:
            continue
        if any(not _in_order(one, named) for one in own):
            continue
        if stop.reason == "completed":
            yield Witness(inferred=trace.inferred(cycle.stop))
        elif not trace.used_up(index, cycle.stop):
            why = f"a run ends as {stop.reason}, though every answer was in order, and no declared bound is reached"
            yield Finding(cycle.stop, why, "completed", trace.log[cycle.stop])


def _taken_with_the_next(trace: RuntimeTrace, index: int) -> bool:
    """Return True if the adapter put this run's end between messages that the runtime takes as one input (RC-D7)."""
    return (
        trace.inferred(trace.cycles[index].stop)
        and index + 1 < len(trace.cycles)
        and trace.cycles[index + 1].kind == "followUp"
    )


def _disturbed(trace: RuntimeTrace, kinds: tuple[type, ...]) -> Container[int]:
    """Return the cycles open before, during or after a step with a stimulus of one of *kinds*."""
    found: set[int] = set()
    for step in trace.steps:
        if any(isinstance(one, kinds) for one in flat(step.stimulus)):
            found |= {trace.cycle_at(at) for at in range(step.first, step.end)}
            found |= {trace.cycle_before(step), trace.cycle_after(step)}
    return found


def _in_order(response: Response, named: Counter[str]) -> bool:
    """Return True if any runtime can go on from the response: it is whole, not empty, and its calls can be executed.

    An empty response may be an error (TM-D3), and so may one that its length limit cut, or a call id that recurs.
    *named* counts the ids of all calls.
    """
    stop = None if response.end is None else response.end.stimulus
    if not isinstance(stop, ModelStop) or stop.reason == "length":
        return False
    items = _items(response)
    calls = [item for item in items if isinstance(item, ToolCall)]
    texts = any(isinstance(item, Text) and item.text.strip() for item in items)
    return all(named[call.call_id] == 1 and _usable(call) for call in calls) and bool(calls or texts)


def _items(response: Response) -> list[Item]:
    return [output.item for _, output in response.items]


def _usable(call: ToolCall) -> bool:
    """Return True if the call's arguments are a JSON object, or absent."""
    arguments = call.arguments
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return arguments is None or isinstance(arguments, dict)
