"""Laws on the purpose of a run: it asks its model, for something new, and completes if nothing went wrong."""

import json
from collections import Counter
from collections.abc import Container, Mapping
from typing import Any

from turncheck.model.core.events import ToolResult
from turncheck.model.core.stimuli import Abort, Item, ModelFail, ModelStop, Text, ToolCall, ToolFail

from ...observe.runtime_trace import ObservedStep, Request, Response, RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement, Witness
from .responses import malformed
from .subject import run_law


@run_law("BED-002a", evidence="a run that ended without an abort", since="0.2")
def runs_ask_the_model(trace: RuntimeTrace) -> Judgement:
    """A run that nobody aborts asks its model before it ends."""
    asked = {request.cycle for request in trace.requests}
    disturbed = _disturbed(trace, (Abort,))
    for index, cycle in enumerate(trace.cycles):
        if cycle.stop is None or index in disturbed or taken_with_the_next(trace, index):
            continue
        yield Witness(inferred=trace.inferred_after(cycle.stop))
        if index not in asked:
            yield Finding(cycle.stop, "a run ends, and its model was never asked", "a request", trace.log[cycle.stop])


@run_law("RS-D0", "RS-D1", evidence="a run whose last response was a text", since="0.2")
def answered_runs_complete(trace: RuntimeTrace) -> Judgement:
    """A run in which nothing went wrong completes: it has no other end, and no limit before the declared one."""
    disturbed = _disturbed(trace, (Abort, ModelFail, ToolFail))
    responses: dict[int, list[Response]] = {}
    named = _named(trace)
    for response in trace.responses:
        responses.setdefault(trace.cycle_at(response.asked), []).append(response)
    for index, cycle in enumerate(trace.cycles):
        stop, own = trace.stop_of(cycle=index), responses.get(index, [])
        if stop is None or cycle.stop is None or index in disturbed or not own:
            continue
        cut = [one for one in own if _cut_by(cycle.stop, one, trace)]
        if any(one not in cut and not _in_order(one, named) for one in own):
            continue
        if stop.reason == "completed":
            if not cut:
                yield Witness(inferred=trace.inferred_after(cycle.stop))
        elif not trace.used_up(index, cycle.stop):
            why = f"a run ends as {stop.reason}, though every answer was in order, and no declared bound is reached"
            yield Finding(cycle.stop, why, "completed", trace.log[cycle.stop])


@run_law(
    "BED-003a",
    evidence="an answer that was in order",
    needs=("model-input",),
    since="0.2",
)
def requests_bring_news(trace: RuntimeTrace) -> Judgement:
    """After an answer that was in order, a run asks again only with something new: a result, or a message.

    What the model said itself is no news to it; a text of the runtime's own is. A result that is there and not shown is
    other laws' business. A response that some runtimes cannot go on from may be asked for again.
    """
    named = _named(trace)
    answered = {response.asked: response for response in trace.responses}
    for place, request in enumerate(trace.requests):
        response = answered.get(request.at)
        after = next((one for one in trace.requests[place + 1 :] if one.cycle == request.cycle >= 0), None)
        if request.input is None or response is None or not _in_order(response, named):
            continue
        yield WITNESS
        if after is None or after.input is None or _has_results(trace, request.at, after.at):
            continue
        if not _news(after) - _news(request):
            why = "the model is asked again, and shown nothing that it was not shown before"
            yield Finding(after.at, why, "a result, a message or a failure before it", _said(response))


@run_law("BED-D3", evidence="an end of a run after an abort while idle", needs=("abort",), since="0.2")
def idle_abort_ignored(trace: RuntimeTrace) -> Judgement:
    """An abort while no run is open changes nothing: the next run is not interrupted by it."""
    for place, step in enumerate(trace.steps):
        if not isinstance(step.stimulus, Abort) or step.was_active or step.before:
            continue
        if step.answer.awaiting:
            yield Finding(max(step.end - 1, 0), "an abort while no run is open leads to more work", [], _awaited(step))
        if (stop := _next_end(trace, place)) is None:
            continue
        yield Witness(inferred=trace.inferred_after(stop))
        if getattr(trace.events[stop], "reason", None) == "interrupted":
            why = "a run ends as interrupted, and the only abort came before it began"
            yield Finding(stop, why, "not interrupted", trace.log[stop])


def _next_end(trace: RuntimeTrace, place: int) -> int | None:
    """Return where the run ends that begins after the idle abort at *place*; None where it is aborted itself."""
    for step in trace.steps[place + 1 :]:
        if any(isinstance(one, Abort) for one in flat(step.stimulus)):
            return None
        if stops := trace.stops_within(step):
            return trace.cycles[stops[0]].stop
    return None


def _awaited(step: ObservedStep) -> list[str]:
    return [type(one).__name__ for one in step.answer.awaiting]


def _news(request: Request) -> Counter[str]:
    """Return what a request shows that is not the model's own, with how often."""
    return Counter(_key(entry) for entry in request.input or () if entry.get("role") != "assistant")


def _has_results(trace: RuntimeTrace, first: int, end: int) -> bool:
    return any(isinstance(event, ToolResult) for event in trace.events[first:end])


def _key(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, ensure_ascii=False, default=str)


def _said(response: Response) -> list[str]:
    return [item.call_id if isinstance(item, ToolCall) else item.text for item in _items(response)]


def _named(trace: RuntimeTrace) -> Counter[str]:
    """Count the ids of all calls."""
    return Counter(item.call_id for one in trace.responses for item in _items(one) if isinstance(item, ToolCall))


def taken_with_the_next(trace: RuntimeTrace, index: int) -> bool:
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
    return all(named[call.call_id] == 1 and not malformed(call.arguments) for call in calls) and bool(calls or texts)


def _cut_by(stop: int, response: Response, trace: RuntimeTrace) -> bool:
    """Return True if the run ends at *stop*, as its model says a text or reasoning and has not ended its response.

    One that ends at a call may not know the tool, or take a recurring id for an error. A listener that throws ends the
    runs of some: ``observer_isolated`` judges that.
    """
    if response.end is not None or not response.items or trace.options.observer is not None:
        return False
    step, _ = response.items[-1]
    return step.first <= stop < step.end and not any(isinstance(item, ToolCall) for item in _items(response))


def _items(response: Response) -> list[Item]:
    return [output.item for _, output in response.items]
