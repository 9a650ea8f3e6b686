"""Laws on tool calls and their results."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from turncheck.model.core.events import Event, ToolResult
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    ClientResult,
    ClientToolAwaited,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
)

from ...observe.projector_trace import calls_of
from ...observe.runtime_trace import ObservedStep, Response, RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement
from .ends import aborted
from .responses import malformed, same_arguments
from .subject import run_law


@run_law("X-6", evidence="a run with a call that ended", needs=("tools",))
def calls_answered(trace: RuntimeTrace) -> Judgement:
    """Every tool call has exactly one result before its run ends."""
    if _repeated(trace):
        return  # two calls of one id cannot be told apart: ids_never_mixed judges those words
    whole = {call.call_id for call in _calls(*trace.whole_responses())}
    for cycle in trace.cycles:
        if cycle.stop is not None and calls_of(cycle):
            yield WITNESS
    for anomaly in trace.projection.anomalies:
        if anomaly.kind == "unanswered-call" and trace.log[anomaly.at].get("callId") in whole:
            yield Finding(anomaly.at, "the run ended with this call unanswered", "a result", None)
        elif anomaly.kind in {"duplicate-result", "unknown-call"}:
            yield Finding(anomaly.at, f"a result too many: {anomaly.kind}", "one result a call", trace.log[anomaly.at])


@run_law("X-6", evidence="a call of a response that was cut", needs=("tools",))
def cut_calls_answered(trace: RuntimeTrace) -> Judgement:
    """A call of a response that was cut has its one result too, or it was never shown."""
    if _repeated(trace):
        return
    cut = {call.call_id for call in _calls(*trace.responses)} - {
        call.call_id for call in _calls(*trace.whole_responses())
    }
    shown = {event.get("callId") for event in trace.log if event.get("kind") == "tool-call"}
    for _ in cut - shown:
        yield WITNESS
    unanswered = {one.at for one in trace.projection.anomalies if one.kind == "unanswered-call"}
    for call in (call for cycle in trace.cycles if cycle.stop is not None for call in calls_of(cycle)):
        if trace.log[call.at].get("callId") in cut:
            yield WITNESS
            if call.at in unanswered:
                yield Finding(call.at, "the run ended with this call, of a response that was cut, unanswered")


@run_law("X-7", "BED-005k", evidence="a result before an abort or a failure", needs=("tools",))
def results_survive(trace: RuntimeTrace) -> Judgement:
    """A result that a tool returned is logged, and survives an abort and a failure."""
    if _repeated(trace):
        return
    for name, ends in trace.returned.items():
        logged = [trace.log[at] for at, event in enumerate(trace.events) if _result_of(event, name)]
        for step, stimulus in ends:
            if not isinstance(stimulus, ToolReturn) or aborted(trace, step) or _cancelled(step, stimulus):
                continue
            cycle = trace.cycle_before(step)
            stop = trace.stop_of(cycle) if cycle >= 0 else None
            if stop is None:
                continue
            if stop.reason != "completed":
                yield WITNESS
            if not any(holds(event, stimulus.output) for event in logged):
                yield Finding(step.first, f"the result of {name} is lost", stimulus.output, logged)


@run_law("BED-005f", "BED-005g", evidence="a result", needs=("tools",))
def results_not_invented(trace: RuntimeTrace) -> Judgement:
    """A result that no tool returned says so: it is an error, or synthetic."""
    ended: Counter[str] = Counter()
    for step in trace.steps:
        for stimulus in flat(step.stimulus):  # of several at once, the refused one is not known
            if isinstance(stimulus, ToolReturn | ToolFail | ClientResult) and (
                step.took_place or stimulus is not step.stimulus
            ):
                ended[stimulus.call_id] += 1
        for at in range(step.first, step.end):
            event = trace.events[at]
            if not isinstance(event, ToolResult):
                continue
            if ended[event.call_id]:
                ended[event.call_id] -= 1
                yield WITNESS
            elif event.is_error or event.synthetic:
                yield WITNESS
            else:
                yield Finding(at, "a result that no tool returned is passed off as one", "isError", trace.log[at])


@run_law("BED-004e", "BED-004f", "RS-5.3", evidence="a tool's failure", needs=("tool-failure",))
def tool_failure_survived(trace: RuntimeTrace) -> Judgement:
    """A tool's failure is a result like others, and the model deals with it."""
    for step in trace.of(ToolFail):
        stimulus, cycle = step.stimulus, trace.cycle_before(step)
        if not isinstance(stimulus, ToolFail) or cycle < 0 or aborted(trace, step):
            continue
        stop = trace.stop_of(cycle)
        if stop is None or trace.used_up(cycle, step.first):
            continue
        yield WITNESS
        places = range(step.first, (trace.cycles[cycle].stop or 0) + 1)
        results = [at for at in places if _result_of(trace.events[at], stimulus.call_id)]
        if cycle in trace.stops_within(step) and stop.reason != "completed":
            yield Finding(trace.cycles[cycle].stop, "a tool's failure ends the run", "the model is asked", stop.reason)
        elif not results:
            yield Finding(step.first, "a tool's failure has no result", "an error result", None)
        elif not any(_tells(trace, at, stimulus.message) for at in results):
            yield Finding(results[0], "a tool's failure is told as a success", "isError", trace.log[results[0]])


@run_law("TM-4.1", evidence="a call with malformed arguments", needs=("raw-arguments",))
def malformed_never_executes(trace: RuntimeTrace) -> Judgement:
    """A call whose arguments are no JSON is never executed.

    An id can recur: there are then at most as many executions under it as calls whose arguments are JSON.
    """
    calls = _calls(*trace.whole_responses())
    for name in dict.fromkeys(call.call_id for call in calls if malformed(call.arguments)):
        yield WITNESS
        right = sum(call.call_id == name and not malformed(call.arguments) for call in _calls(*trace.responses))
        executed: dict[str, int] = {}  # → where its first step ends
        for end, run in [(step.end, one) for step in trace.steps for one in step.tools()]:
            if run.call_id == name:
                executed.setdefault(run.execution, end)
        if len(executed) > right:
            at = max([*executed.values()][right] - 1, 0)
            yield Finding(at, f"{name} is executed, and its arguments are no JSON")


@run_law("X-7", "X-8", "BED-003c", evidence="a run of a tool", needs=("tools",), since="0.2")
def executed_as_called(trace: RuntimeTrace) -> Judgement:
    """What is executed is what the model called: that tool, with those arguments, once."""
    if _repeated(trace):
        return  # ids_never_mixed judges those words
    calls = {call.call_id: call for call in _calls(*trace.responses)}
    seen: dict[str, str] = {}  # execution → its call
    for step in trace.steps:
        for run in (one for one in step.answer.awaiting if isinstance(one, ToolAwaited)):
            if run.execution in seen:
                continue
            again = run.call_id in seen.values()
            seen[run.execution] = run.call_id
            call, at = calls.get(run.call_id), max(step.end - 1, 0)
            yield WITNESS
            if call is None:
                yield Finding(at, f"a tool runs for {run.call_id}, which the model never called", None, run.tool)
            elif again:
                yield Finding(at, f"{run.call_id} is executed a second time", 1, 2)
            elif run.tool is not None and run.tool != call.tool:
                yield Finding(at, f"{run.call_id} executes another tool than the model called", call.tool, run.tool)
            elif not same_arguments(call.arguments, run.arguments):
                how = "without the arguments" if run.arguments is None else "with other arguments than"
                why = f"{run.call_id} is executed {how} the model wrote"
                yield Finding(at, why, call.arguments, run.arguments)


@run_law("X-6", evidence="a call id twice in a response", needs=("tools", "call-ids"))
def ids_never_mixed(trace: RuntimeTrace) -> Judgement:
    """A repeated call id never gives two results under one call."""
    twice: set[str] = set()  # within a response: in a later one, the call before has its result already
    for response in trace.responses:
        counted = Counter(call.call_id for call in _calls(response))
        again = {name for name, count in counted.items() if count > 1}
        twice |= again
        if again and response.end is not None:
            yield WITNESS
    for anomaly in trace.projection.anomalies:
        event = trace.log[anomaly.at]
        if anomaly.kind == "duplicate-result" and event.get("callId") in twice:
            yield Finding(anomaly.at, "two results under one call id in one run", 1, event)


@run_law(
    "BED-003d",
    "BED-004a",
    "BED-004b",
    evidence="two calls in one response",
    needs=("tools", "policy tools"),
)
def tools_as_declared(trace: RuntimeTrace) -> Judgement:
    """Tools run one after the other, in the order of their calls, or side by side, as declared."""
    serial = trace.policies.get("tools") == "serial"
    for response in trace.whole_responses():
        calls = [call for call in _calls(response) if trace.options.decider(call.tool) is None]
        names = [call.call_id for call in calls]
        if len(names) < 2 or len(set(names)) < len(names) or any(malformed(call.arguments) for call in calls):
            continue
        assert response.end is not None
        running = response.end.tools()
        yield WITNESS
        agents_alone = all(trace.options.spawns(str(one.tool)) for one in running)  # they may work beside each other
        if serial and len(running) > 1 and not agents_alone:
            yield Finding(response.end.end - 1, "tools run side by side", "serial", [one.call_id for one in running])
        started = {} if _repeated(trace) else _started(trace, names)
        if serial and [*started] != sorted(started, key=names.index):
            yield Finding(max(started.values()), "tools run in another order than they were called", names, [*started])
        asks = any(isinstance(one, ApprovalAwaited | ClientToolAwaited) for one in response.end.answer.awaiting)
        waits = any(trace.options.spawns(call.tool) for call in calls)  # one that has ended, for its batch
        if not serial and len(running) < len(names) and response.end.active and not asks and not waits:  # behind it
            yield Finding(response.end.end - 1, "not all tools run", names, [one.call_id for one in running])


def _started(trace: RuntimeTrace, names: Sequence[str]) -> dict[str, int]:
    """Map those of the calls *names* that were executed, in the order of their starts, to where that shows."""
    found: dict[str, int] = {}
    for step in trace.steps:
        for run in (one for one in step.answer.awaiting if isinstance(one, ToolAwaited) and one.call_id in names):
            found.setdefault(run.call_id, max(step.end - 1, 0))
    return found


def _calls(*responses: Response) -> list[ToolCall]:
    items = [stimulus.item for response in responses for _, stimulus in response.items]
    return [item for item in items if isinstance(item, ToolCall)]


def _result_of(event: Event, call: str) -> bool:
    return isinstance(event, ToolResult) and event.call_id == call


def _tells(trace: RuntimeTrace, at: int, message: str) -> bool:
    """True for a result that says that the tool failed: by its flag, or, where a runtime has none, in its text."""
    return bool(getattr(trace.events[at], "is_error", False)) or holds(trace.log[at], message)


def _cancelled(step: ObservedStep, stimulus: ToolReturn) -> bool:
    """True if the tool's run was cancelled before it ended: nobody waits for its result any more."""
    runs = [one for one in step.before if isinstance(one, ToolAwaited) and one.call_id == stimulus.call_id]
    run = next((one for one in runs if stimulus.execution in {None, one.execution}), None)
    return run is not None and run.cancelled


def _repeated(trace: RuntimeTrace) -> bool:
    names = [call.call_id for call in _calls(*trace.responses)]
    return len(names) != len(set(names))


def holds(event: Any, output: Any) -> bool:
    """True for a logged result that holds the tool's output, in whatever wrapping."""
    logged = event.get("output")
    return logged == output or (isinstance(output, str) and output in json.dumps(logged, ensure_ascii=False))
