"""Laws on how runs begin and end."""

from collections.abc import Sequence
from itertools import takewhile

from turncheck.model.core.events import ToolResult
from turncheck.model.core.stimuli import ModelAwaited, ModelFail, TimerAwaited, ToolAwaited, User

from ...observe.runtime_trace import ObservedStep, RuntimeTrace
from ..law import WITNESS, Finding, Judgement, Witness
from .subject import run_law


@run_law("X-5", "BED-003a", "BED-004c", evidence="quiet in an open run")
def run_never_stuck(play: RuntimeTrace) -> Judgement:
    """In an open run that is quiet something is awaited, and every run that is answered ends."""
    for move in play.moves:
        if not move.active:
            continue
        if move.step.awaiting:
            yield WITNESS
        else:
            why = f"stuck: quiet in an open run, and nothing is awaited{_unserved(play, move)}"
            yield Finding(max(move.end - 1, 0), why, "a model or a tool", [])
            return
    if play.moves and play.moves[-1].closing and play.moves[-1].active:
        answers = sum(move.closing for move in play.moves)
        yield Finding(max(len(play.log) - 1, 0), f"the run does not end: the environment answered {answers} times")


@run_law("X-3", "RC-5.3", "TM-3.1", "RS-6", "BED-D3", evidence="a run that ended")
def run_ends_once(play: RuntimeTrace) -> Judgement:
    """A run ends exactly once, and nothing of it comes after its end."""
    for cycle in play.cycles:
        if cycle.stop is not None:
            yield Witness(inferred=play.inferred(cycle.stop))
    for anomaly in play.projection.anomalies:
        if anomaly.kind == "outside-run":
            what = play.log[anomaly.at].get("type", "an event") if isinstance(play.log[anomaly.at], dict) else "?"
            yield Finding(anomaly.at, f"a {what} while no run is open: the run has ended already", "nothing", what)
    for move in play.moves:
        if move.active or play.options.deaf_model or play.options.deaf_tools:
            continue
        left = [one for one in move.step.awaiting if not isinstance(one, TimerAwaited)]
        if left and move.end:
            yield Finding(move.end - 1, "the run has ended, and something of it is still awaited", [], _names(left))


@run_law("BED-002a", "BED-006h", "BED-006i", "X-5", evidence="a message after a run's end")
def next_message_served(play: RuntimeTrace) -> Judgement:
    """After any end, the next message is served."""
    ended = False
    for move in play.moves:
        if isinstance(move.stimulus, User) and not move.was_active and not move.before:
            if move.rejected:
                yield Finding(move.first, "a message is refused while no run is open", "served", move.step.refused)
            elif move.took_place and not any(at >= move.first for at in play.messages.values() if at < move.end):
                yield Finding(move.first, "a message while no run is open is not accepted", "user-message", "nothing")
            elif move.took_place and not any(move.first <= one.at < move.end for one in play.requests):
                if not play.stops_within(move):
                    yield Finding(move.first, "a message is accepted, and the model is never asked")
            elif ended:
                yield WITNESS
        ended = ended or bool(play.stops_within(move))


@run_law("BED-005a", "BED-005b", "BED-005h", "RC-2", evidence="an abort of an open run", needs=("abort",))
def abort_interrupts(play: RuntimeTrace) -> Judgement:
    """An aborted run ends, as interrupted."""
    for move, cycle in play.aborts():
        if move.closing:
            continue
        at, stop = play.cycles[cycle].stop, play.stop_of(cycle)
        if stop is None:
            yield Finding(move.first, "an aborted run never ends", "run-stop", None)
        elif stop.reason != "interrupted":
            yield Finding(at, "an aborted run ends otherwise", "interrupted", stop.reason)
        yield Witness(inferred=play.inferred(at))


@run_law("BED-005d", "BED-005i", "BED-005j", evidence="an abort of an open run", needs=("abort", "policy abortEnds"))
def abort_ends_as_declared(play: RuntimeTrace) -> Judgement:
    """An abort ends the run at once, or when what runs is released, as declared."""
    for move, cycle in play.aborts():
        stop = play.cycles[cycle].stop
        if play.policies.get("abortEnds") == "at-once":
            yield WITNESS
            if stop is None or stop >= move.end:
                yield Finding(move.first, "the abort does not end the run at once, as declared", "run-stop", stop)
        elif (released := _released(play, move)) is not None:
            yield WITNESS
            if stop is None or stop >= released.end:
                at = max(released.end - 1, 0)
                yield Finding(at, "nothing is left to be released, and the run is open", "run-stop", stop)


@run_law("BED-005a", "BED-005g", "X-3", evidence="an abort of an open run", needs=("abort",))
def nothing_starts_after_abort(play: RuntimeTrace) -> Judgement:
    """After an abort no tool starts and no model is asked in that run."""
    for move, cycle in play.aborts():
        yield WITNESS
        stop = play.cycles[cycle].stop
        end = len(play.log) if stop is None else stop
        for request in play.requests:
            if move.first <= request.at < end:
                yield Finding(request.at, "the model is asked after the abort", "nothing", "model-request")
        known = {one.execution for one in move.before if isinstance(one, ToolAwaited)}
        for later in play.moves[play.moves.index(move) :]:
            if later.first > end:
                break
            runs = [one for one in later.step.awaiting if isinstance(one, ToolAwaited)]
            started = [one for one in runs if one.execution not in known]
            if started and later.end <= end + 1:
                yield Finding(max(later.end - 1, 0), "a tool starts after the abort", "nothing", _names(started))


@run_law("BED-005c", "BED-D4", evidence="an abort amid a response", needs=("abort", "machine conversation"))
def aborted_text_dropped(play: RuntimeTrace) -> Judgement:
    """Nothing of an aborted response is kept."""
    for move, cycle in play.aborts():
        request = move.model_before
        if request is None:
            continue
        key = request.request_id, play.asked(request.request_id, move)
        if not any(one.items for one in play.responses if one[:2] == key):
            continue
        yield WITNESS
        for at, event in enumerate(play.log):
            own = event.get("type") == "agent-output" and event.get("responseId") == request.request_id
            if own and play.cycle_at(at) == cycle:
                yield Finding(at, "an item of an aborted response is kept", "nothing", event)


@run_law("BED-006a", "BED-006d", "BED-006f", "RS-5.1", evidence="a model's failure", needs=("model-failure",))
def model_failure_survived(play: RuntimeTrace) -> Judgement:
    """When the model fails, the run retries as declared, or ends as error."""
    retried = 0
    for move in play.moves:
        if not isinstance(move.stimulus, ModelFail):
            retried = 0 if move.took_place and move.model_before else retried
            continue
        cycle = play.cycle_before(move)
        if not move.took_place or cycle < 0:
            continue
        stop = play.cycles[cycle].stop
        ended = stop is not None and stop < move.end
        asked = [one for one in play.requests if move.first <= one.at < move.end and one.cycle == cycle]
        waits = any(isinstance(one, TimerAwaited) for one in move.step.awaiting)
        yield Witness(inferred=ended and play.inferred(stop))
        if ended:
            found = play.stop_of(cycle)
            if found is not None and found.reason != "error":
                yield Finding(stop, "the model failed, and the run ends otherwise", "error", found.reason)
        elif not asked and not waits:
            yield Finding(max(move.end - 1, 0), "the model failed: the run neither ends nor asks again")
        elif move.stimulus.failure == "fatal":
            yield Finding(max(move.end - 1, 0), "a failure that no retry can mend is retried", "error", "a retry")
        retried = 0 if ended or _handled(play, move) else retried + 1
        bound = play.policies.get("retries", 0)
        if retried > bound and (asked or waits):
            yield Finding(max(move.end - 1, 0), "a failed request is retried more often than declared", bound, retried)


def aborted(play: RuntimeTrace, move: ObservedStep) -> bool:
    """True if the run of *move* was aborted before it."""
    cycle = play.cycle_before(move)
    hits = [abort for abort, hit in play.aborts() if hit == cycle]
    return any(one is abort for abort in hits for one in takewhile(lambda earlier: earlier is not move, play.moves))


def _unserved(play: RuntimeTrace, move: ObservedStep) -> str:
    """Name the message of the open run if it waited and was never served, since nothing in the log shows it."""
    index = play.cycle_after(move)
    if index < 0 or play.cycles[index].kind != "followUp":
        return ""
    if any(one.cycle == index and one.at < move.end for one in play.requests):
        return ""
    name = next((name for name, at in play.messages.items() if at == play.cycles[index].root), "a message")
    return f": the run is that of {name}, which waited and is not served"


def _handled(play: RuntimeTrace, move: ObservedStep) -> bool:
    """True if a call of the response that breaks has its result: the next request is no retry then (RS-5.2)."""
    waiting = move.model_before
    asked = -1 if waiting is None else play.asked(waiting.request_id, move)
    return asked >= 0 and any(isinstance(event, ToolResult) for event in play.events[asked : move.first])


def _names(awaited: Sequence[object]) -> list[str]:
    return [str(getattr(one, "request_id", None) or getattr(one, "call_id", None)) for one in awaited]


def _released(play: RuntimeTrace, abort: ObservedStep) -> ObservedStep | None:
    """The first step after which nothing is awaited any more that ran at the *abort*."""
    asked = {one.request_id for one in abort.before if isinstance(one, ModelAwaited)}

    def runs(one: object) -> bool:
        return one.cancelled if isinstance(one, ToolAwaited) else getattr(one, "request_id", None) in asked

    moves = play.moves[play.moves.index(abort) :]
    return next((move for move in moves if not any(map(runs, move.step.awaiting))), None)
