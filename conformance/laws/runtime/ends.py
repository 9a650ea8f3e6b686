"""Laws on how runs begin and end."""

from collections.abc import Sequence
from itertools import takewhile

from turncheck.model.core.events import ToolResult
from turncheck.model.core.stimuli import ModelAwaited, ModelFail, TimerAwaited, ToolAwaited, User

from ...observe.compactions import summarises
from ...observe.runtime_trace import ObservedStep, RuntimeTrace
from ..law import WITNESS, Finding, Judgement, Witness
from .subject import run_law


@run_law("X-5", "BED-003a", "BED-004c", evidence="quiet in an open run")
def run_never_stuck(trace: RuntimeTrace) -> Judgement:
    """In an open run that is quiet something is awaited, and every run that is answered ends."""
    for step in trace.steps:
        if not step.active:
            continue
        if step.answer.awaiting:
            yield WITNESS
        else:
            why = f"stuck: quiet in an open run, and nothing is awaited{_unserved(trace, step)}"
            yield Finding(max(step.end - 1, 0), why, "a model or a tool", [])
            return
    if trace.steps and trace.steps[-1].closing and trace.steps[-1].active:
        answers = sum(step.closing for step in trace.steps)
        yield Finding(max(len(trace.log) - 1, 0), f"the run does not end: the environment answered {answers} times")


@run_law("RC-5.3", "X-3", "TM-3.1", "RS-6", evidence="a run that ended")
def run_ends_once(trace: RuntimeTrace) -> Judgement:
    """A run ends exactly once, and nothing of it comes after its end."""
    for cycle in trace.cycles:
        if cycle.stop is not None:
            yield Witness(inferred=trace.inferred_after(cycle.stop))
    for anomaly in trace.projection.anomalies:
        if anomaly.kind == "outside-run":
            what = trace.log[anomaly.at].get("type", "an event") if isinstance(trace.log[anomaly.at], dict) else "?"
            yield Finding(anomaly.at, f"a {what} while no run is open: the run has ended already", "nothing", what)
    for step in trace.steps:
        if step.active or trace.options.deaf_model or trace.options.deaf_tools:
            continue
        left = [one for one in step.answer.awaiting if not isinstance(one, TimerAwaited) and not summarises(one)]
        if left and step.end:
            yield Finding(step.end - 1, "the run has ended, and something of it is still awaited", [], _names(left))


@run_law("BED-002a", "BED-006h", "BED-006i", "X-5", evidence="a message after a run's end")
def next_message_served(trace: RuntimeTrace) -> Judgement:
    """After any end, the next message is served."""
    ended = False
    for step in trace.steps:
        if isinstance(step.stimulus, User) and not step.was_active and not step.before:
            if step.rejected or (not step.took_place and _plain(trace, step.stimulus)):
                yield Finding(step.first, "a message is refused while no run is open", "served", step.answer.refused)
            elif step.took_place and not any(at >= step.first for at in trace.messages.values() if at < step.end):
                yield Finding(step.first, "a message while no run is open is not accepted", "user-message", "nothing")
            elif step.took_place and not any(step.first <= one.at < step.end for one in trace.requests):
                waits = any(isinstance(one, TimerAwaited) or summarises(one) for one in step.answer.awaiting)
                if not waits and not trace.stops_within(step):
                    yield Finding(step.first, "a message is accepted, and the model is never asked")
            elif ended:
                yield WITNESS
        ended = ended or bool(trace.stops_within(step))


@run_law(
    "BED-005a", "BED-005b", "BED-005d", "BED-005h", "BED-005j", evidence="an abort of an open run", needs=("abort",)
)
def abort_interrupts(trace: RuntimeTrace) -> Judgement:
    """An aborted run ends, as interrupted; as error where the model failed before the abort was seen."""
    for step, cycle in trace.aborts():
        if step.closing:
            continue
        at, stop = trace.cycles[cycle].stop, trace.stop_of(cycle)
        if stop is None:
            yield Finding(step.first, "an aborted run never ends", "run-stop", None)
        elif stop.reason != "interrupted" and not (stop.reason == "error" and _failed_after(trace, step, at)):
            yield Finding(at, "an aborted run ends otherwise", "interrupted", stop.reason)
        yield Witness(inferred=trace.inferred_after(at))


@run_law("BED-005d", "BED-005h", "BED-005i", evidence="an abort of an open run", needs=("abort", "policy abortEnds"))
def abort_ends_as_declared(trace: RuntimeTrace) -> Judgement:
    """An abort ends the run at once, or when what runs is released, as declared."""
    for step, cycle in trace.aborts():
        stop = trace.cycles[cycle].stop
        if trace.policies.get("abortEnds") == "at-once":
            yield WITNESS
            if stop is None or stop >= step.end:
                yield Finding(step.first, "the abort does not end the run at once, as declared", "run-stop", stop)
        elif (released := _released(trace, step)) is not None:
            yield WITNESS
            if stop is None or stop >= released.end:
                at = max(released.end - 1, 0)
                yield Finding(at, "nothing is left to be released, and the run is open", "run-stop", stop)


@run_law("BED-005g", "BED-005h", evidence="an abort of an open run", needs=("abort",))
def nothing_starts_after_abort(trace: RuntimeTrace) -> Judgement:
    """After an abort no tool starts and no model is asked in that run."""
    for step, cycle in trace.aborts():
        yield WITNESS
        stop = trace.cycles[cycle].stop
        end = len(trace.log) if stop is None else stop
        for request in trace.requests:
            if step.first <= request.at < end:
                yield Finding(request.at, "the model is asked after the abort", "nothing", "model-request")
        known = {one.execution for one in step.before if isinstance(one, ToolAwaited)}
        for later in trace.steps[trace.steps.index(step) :]:
            if later.first > end:
                break
            runs = [one for one in later.answer.awaiting if isinstance(one, ToolAwaited)]
            started = [one for one in runs if one.execution not in known]
            if started and later.end <= end + 1:
                yield Finding(max(later.end - 1, 0), "a tool starts after the abort", "nothing", _names(started))


@run_law("BED-005c", "BED-D4", evidence="an abort amid a response", needs=("abort", "machine conversation"))
def aborted_text_dropped(trace: RuntimeTrace) -> Judgement:
    """Nothing of an aborted response is kept."""
    for step, cycle in trace.aborts():
        request = step.model_before
        if request is None:
            continue
        key = request.request_id, trace.asked(request.request_id, step)
        if not any(one.items for one in trace.responses if one[:2] == key):
            continue
        yield WITNESS
        for at, event in enumerate(trace.log):
            own = event.get("type") == "agent-output" and event.get("responseId") == request.request_id
            if own and trace.cycle_at(at) == cycle:
                yield Finding(at, "an item of an aborted response is kept", "nothing", event)


@run_law("BED-006a", "BED-006d", "BED-006f", "RS-5.1", evidence="a model's failure", needs=("model-failure",))
def model_failure_survived(trace: RuntimeTrace) -> Judgement:
    """When the model fails, the run retries as often as declared, and then ends as error."""
    retried = 0
    for step in trace.steps:
        if not isinstance(step.stimulus, ModelFail):
            retried = 0 if step.took_place and step.model_before else retried
            continue
        cycle = trace.cycle_before(step)
        if not step.took_place or cycle < 0:
            continue
        stop = trace.cycles[cycle].stop
        ended = stop is not None and stop < step.end
        asked = [one for one in trace.requests if step.first <= one.at < step.end and one.cycle == cycle]
        waits = any(isinstance(one, TimerAwaited) for one in step.answer.awaiting)
        yield Witness(inferred=trace.inferred_after(stop) if ended else "")
        if ended:
            found = trace.stop_of(cycle)
            right = ("error", "interrupted") if aborted(trace, step) else ("error",)
            if found is not None and found.reason not in right:
                yield Finding(stop, "the model failed, and the run ends otherwise", "error", found.reason)
            elif _gives_up(trace, step):
                bound = trace.policies["retries"]
                yield Finding(stop, "a failed request is retried less often than declared", bound, retried)
        elif not asked and not waits:
            yield Finding(max(step.end - 1, 0), "the model failed: the run neither ends nor asks again")
        elif step.stimulus.failure == "fatal":
            yield Finding(max(step.end - 1, 0), "a failure that no retry can mend is retried", "error", "a retry")
        retried = 0 if ended or handled(trace, step) else retried + 1
        bound = trace.policies.get("retries", 0)
        if retried > bound and (asked or waits):
            yield Finding(max(step.end - 1, 0), "a failed request is retried more often than declared", bound, retried)


def _gives_up(trace: RuntimeTrace, step: ObservedStep) -> bool:
    """True if a retryable failure ended a run that has had fewer retries in all than one request is declared to have.

    A response that had begun need not be asked for again, and a bound on rounds ends a run before its retries do.
    """
    cycle, waiting = trace.cycle_before(step), step.model_before
    failed = isinstance(step.stimulus, ModelFail) and step.stimulus.failure == "retryable"
    if not failed or waiting is None or aborted(trace, step) or trace.used_up(cycle, step.first):
        return False
    asked = trace.asked(waiting.request_id, step)
    begun = any(one.asked == asked and one.items for one in trace.responses)
    failures = sum(trace.cycle_before(one) == cycle and one.end <= step.first for one in trace.of(ModelFail))
    return not begun and failures < trace.policies.get("retries", 0)


def aborted(trace: RuntimeTrace, step: ObservedStep) -> bool:
    """True if the run of *step* was aborted before it."""
    cycle = trace.cycle_before(step)
    hits = [abort for abort, hit in trace.aborts() if hit == cycle]
    return any(one is abort for abort in hits for one in takewhile(lambda earlier: earlier is not step, trace.steps))


def _plain(trace: RuntimeTrace, message: User) -> bool:
    """True for a message that every runtime takes: a text without a delivery, in a session that it can have."""
    other = message.session_id is not None and "sessions" not in trace.capabilities
    return message.delivery is None and message.content is None and not other


def _unserved(trace: RuntimeTrace, step: ObservedStep) -> str:
    """Name the message of the open run if it waited and was never served, since nothing in the log shows it."""
    index = trace.cycle_after(step)
    if index < 0 or trace.cycles[index].kind != "followUp":
        return ""
    if any(one.cycle == index and one.at < step.end for one in trace.requests):
        return ""
    name = next((name for name, at in trace.messages.items() if at == trace.cycles[index].root), "a message")
    return f": the run is that of {name}, which waited and is not served"


def handled(trace: RuntimeTrace, step: ObservedStep) -> bool:
    """Return whether a call of the response that breaks has its result: the next request is no retry then (RS-5.2)."""
    waiting = step.model_before
    asked = -1 if waiting is None else trace.asked(waiting.request_id, step)
    return asked >= 0 and any(isinstance(event, ToolResult) for event in trace.events[asked : step.first])


def _names(awaited: Sequence[object]) -> list[str]:
    return [str(getattr(one, "request_id", None) or getattr(one, "call_id", None)) for one in awaited]


def _failed_after(trace: RuntimeTrace, abort: ObservedStep, stop: int | None) -> bool:
    """True if the model failed between the *abort* and the event at *stop*.

    Cooperative cancellation looks at a flag between steps, and may see the failure first.
    """
    return any(abort.end <= step.first and step.first <= (stop or 0) < step.end for step in trace.of(ModelFail))


def _released(trace: RuntimeTrace, abort: ObservedStep) -> ObservedStep | None:
    """The first step after which nothing is awaited any more that ran at the *abort*, cancelled or not."""
    asked = {one.request_id for one in abort.before if isinstance(one, ModelAwaited)}
    started = {one.execution for one in abort.before if isinstance(one, ToolAwaited)}

    def runs(one: object) -> bool:
        if isinstance(one, ToolAwaited):
            return one.cancelled or one.execution in started
        return getattr(one, "request_id", None) in asked

    steps = trace.steps[trace.steps.index(abort) :]
    return next((step for step in steps if not any(map(runs, step.answer.awaiting))), None)
