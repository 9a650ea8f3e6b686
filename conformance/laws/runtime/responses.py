"""Laws on the model's responses: their items are kept, and their number is bounded."""

import contextlib
import json
from collections import Counter
from typing import Any

from turncheck.model.core.events import AgentOutput
from turncheck.model.core.stimuli import ModelFail, ModelOutput, Reasoning, Text, ToolCall

from ...observe.runtime_trace import Response, RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from .subject import run_law


@run_law("X-7", "BED-003b", evidence="an item of a whole response")
def items_conserved(trace: RuntimeTrace) -> Judgement:
    """Every item of a whole response is logged once, complete and in order."""
    for response in trace.whole_responses():
        assert response.end is not None
        places: list[int] = []
        for step, stimulus in response.items:
            if not _shown(trace, stimulus):
                continue
            found = [
                at
                for at in range(step.first, len(trace.log))
                if isinstance(event := trace.events[at], AgentOutput) and _same(trace.log[at], event, stimulus)
            ]
            yield WITNESS
            if len(found) != 1:
                what = "lost" if not found else f"logged {len(found)} times"
                yield Finding(found[1] if found else step.first, f"an item of the model is {what}", 1, _item(stimulus))
            places += found[:1]
        if places != sorted(places):
            yield Finding(places[0], "the items of a response are logged out of order", sorted(places), places)


@run_law("RC-D3", "EF-5", evidence="a response with two items")
def response_is_one_round(trace: RuntimeTrace) -> Judgement:
    """The items of one response are one round, and those of two responses are two."""
    rounds = {
        at: (index, number)
        for index, cycle in enumerate(trace.cycles)
        for number, one in enumerate(cycle.rounds)
        for at in one.outputs
    }
    said = Counter(_item(stimulus) for response in trace.responses for _, stimulus in response.items)
    owners: dict[tuple[int, int], tuple[str, int]] = {}
    for response in trace.whole_responses():
        texts = {item for _, stimulus in response.items if said[item := _item(stimulus)] == 1}  # an id may recur
        found = [at for at in rounds if _logged(trace.log[at]) in texts]
        places = {rounds[at] for at in found}
        if len(found) > 1:
            yield WITNESS
        for at in found:
            if _another(trace, response, at):
                why = "an item is told as part of the response to another request"
                yield Finding(at, why, response.request, trace.log[at].get("responseId"))
        if len(places) > 1:
            yield Finding(found[0], "one response is shown as several rounds", 1, len(places))
        for place in places:
            if owners.setdefault(place, response[:2]) != response[:2]:
                yield Finding(found[0], "two responses are shown as one round", 2, 1)


@run_law("EF-1", "RS-4.1", "RS-D0", evidence="a run that reaches its limit", needs=("limits",))
def rounds_bounded(trace: RuntimeTrace) -> Judgement:
    """A run asks the model at most as often as its limit says."""
    bound = trace.bound
    if bound is None:
        return
    failed = {  # a request that repeats one that failed is no round of its own
        one.asked for one in trace.responses if one.end is not None and isinstance(one.end.stimulus, ModelFail)
    }
    for index in range(len(trace.cycles)):
        asked = [one.at for one in trace.requests if one.cycle == index and one.at not in failed]
        if len(asked) >= bound:
            yield WITNESS
        if len(asked) > bound:
            yield Finding(asked[bound], "a run asks the model more often than its limit", bound, len(asked))


def _another(trace: RuntimeTrace, response: Response, at: int) -> bool:
    """True for an item under the name of another request than its own; a name that no request has says nothing."""
    name = getattr(trace.events[at], "response_id", None)
    asked = [one.id for one in trace.requests if one.at < at]
    return name != response.request and name in asked and response.request in asked


def _shown(trace: RuntimeTrace, stimulus: ModelOutput) -> bool:
    """True for an item that the runtime has to log; it may report malformed calls otherwise."""
    match stimulus.item:
        case Reasoning():
            return "reasoning" in trace.capabilities
        case ToolCall(arguments=str()):
            return False
        case ToolCall(call_id=name):
            items = (getattr(step.stimulus, "item", None) for step in trace.of(ModelOutput))
            return sum(isinstance(item, ToolCall) and item.call_id == name for item in items) < 2
        case Text():
            return True


def _same(raw: Any, event: AgentOutput, stimulus: ModelOutput) -> bool:
    item = stimulus.item
    if isinstance(item, ToolCall):
        known = event.kind == "tool-call" and event.call_id == item.call_id
        return known and event.tool == item.tool and same_arguments(item.arguments, raw.get("arguments"))
    return event.kind == ("assistant" if isinstance(item, Text) else "reasoning") and raw.get("text") == item.text


def same_arguments(said: Any, told: Any) -> bool:
    """Return whether a call's arguments are those that the model wrote: a value, or the text of one; {} may be None.

    Arguments that are no JSON are told in a runtime's own way.

    >>> same_arguments({"path": "x"}, '{"path":"x"}')
    True
    """
    return malformed(said) or _value(said) == _value(told)


def _value(arguments: Any) -> Any:
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments)
    return {} if arguments is None else arguments


def malformed(arguments: Any) -> bool:
    """Return whether a call's arguments are a text that is no JSON object.

    >>> malformed("[]"), malformed("{}"), malformed("null")
    (True, False, False)
    """
    return isinstance(arguments, str) and not isinstance(_value(arguments), dict)


def _item(stimulus: ModelOutput) -> str:
    item = stimulus.item
    return item.call_id if isinstance(item, ToolCall) else item.text


def _logged(raw: Any) -> str:
    return str(raw.get("callId") or raw.get("text"))
