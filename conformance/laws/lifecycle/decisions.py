"""Laws on calls that a person has to approve, and on those that the client executes."""

from collections.abc import Iterator
from typing import Final

from turncheck.model.core.events import ToolResult
from turncheck.model.core.stimuli import (
    Abort,
    ApprovalAwaited,
    Approve,
    ClientResult,
    ClientToolAwaited,
    Decider,
    Deny,
    ModelOutput,
    ToolAwaited,
    ToolCall,
    User,
)

from ...observe.runtime_trace import ObservedStep, RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement
from ..runtime.calls import holds
from ..runtime.responses import malformed
from ..runtime.subject import run_law

_KINDS: Final = {ApprovalAwaited: "approval", ClientToolAwaited: "client"}
_ANSWERED_BY: Final = {Approve: "approval", Deny: "approval", ClientResult: "client"}
_Decision = Approve | Deny | ClientResult


@run_law("L-A1", evidence="a call that needs approval, and was asked about", needs=("approval",), since="0.2")
def approved_before_executed(trace: RuntimeTrace) -> Judgement:
    """A call that needs approval is never executed before it is approved."""
    gated, approved = _gated(trace, "approval"), set[str]()
    for step in trace.steps:
        approved |= {one.call_id for one in _answers(step, trace) if isinstance(one, Approve)}
        for name in _asked(step):
            if gated.get(name) is not None:
                yield WITNESS
        for run in (one for one in step.answer.awaiting if isinstance(one, ToolAwaited)):
            if run.call_id in gated and run.call_id not in approved:
                yield Finding(_last(step), f"{run.call_id} is executed, and nobody approved it", "a question", run.tool)


@run_law("L-A2", evidence="a call that was asked about", needs=("approval",), since="0.2")
def asked_about_once(trace: RuntimeTrace) -> Judgement:
    """Each call that needs approval is asked about once, by its id."""
    asked, done = set[str](), set[str]()
    gated = _gated(trace, "approval")
    for step in trace.steps:
        now = _pending(step)
        names = [name for name, kind in now if kind == "approval"]
        for name in names:
            if name in gated and names.count(name) > 1 and names.index(name) == 0:
                yield Finding(_last(step), f"{name} is asked about twice at once", 1, names)
        done |= {one.call_id for one in _answers(step, trace)}
        for name in _asked(step):
            yield WITNESS
            if name in asked and name in gated:
                yield Finding(_last(step), f"{name} is asked about again", "once", names)
        asked |= {*names}
        for name in sorted(done & {*names} & gated.keys()):
            yield Finding(_last(step), f"{name} was decided, and is asked about still", "once", names)
    for index, cycle in enumerate(trace.cycles):
        if cycle.reason != "completed":
            continue
        for name in (one for one in gated if one not in asked and not malformed(gated[one].arguments)):
            results = [at for at in _results(trace, name) if trace.cycle_at(at) == index]
            if results and not trace.log[results[0]].get("synthetic"):
                yield Finding(results[0], f"{name} has a result, and nobody was asked", "a question", None)


@run_law("L-A3", evidence="a decision", needs=("approval",), since="0.2")
def decisions_honoured(trace: RuntimeTrace) -> Judgement:
    """What is approved is executed exactly once; what is denied never, and its one result is shown to the model."""
    gated = _gated(trace, "approval")
    for place, step in enumerate(trace.steps):
        for answer in _answers(step, trace):
            name = answer.call_id
            if name not in gated or isinstance(answer, ClientResult):
                continue
            yield WITNESS
            runs = {
                one.execution
                for later in trace.steps
                for one in later.answer.awaiting
                if isinstance(one, ToolAwaited) and one.call_id == name
            }
            results = _results(trace, name)
            whole = _undisturbed(trace, place)
            if isinstance(answer, Deny) and runs:
                yield Finding(_last(step), f"{name} was denied, and is executed", 0, len(runs))
            elif isinstance(answer, Approve) and len(runs) > 1:
                yield Finding(_last(step), f"{name} was approved once, and is executed more often", 1, len(runs))
            elif whole and isinstance(answer, Approve) and not runs and not malformed(gated[name].arguments):
                yield Finding(_last(step), f"{name} was approved, and is never executed", 1, 0)
            elif whole and len(results) != 1:
                yield Finding(_last(step), f"{name} was decided, and has not one result", 1, len(results))
            elif isinstance(answer, Deny) and results:
                yield from _shown(trace, name, results[0])


@run_law("L-A4", evidence="a decision beside another call that waits for one", needs=("approval",), since="0.2")
def decision_is_its_calls_alone(trace: RuntimeTrace) -> Judgement:
    """A decision concerns its call alone: the others are neither executed nor answered, and wait on."""
    for step in trace.steps:
        answers = _answers(step, trace)
        if len(flat(step.stimulus)) > 1 or not answers:
            continue
        before = {one.call_id for one in step.before if isinstance(one, ApprovalAwaited | ClientToolAwaited)}
        after = {name for name, _ in _pending(step)}
        running = {one.call_id for one in step.answer.awaiting if isinstance(one, ToolAwaited)}
        for name in sorted(before - {answers[0].call_id}):
            yield WITNESS
            if name in running:
                yield Finding(_last(step), f"{name} is executed by the decision about another call", "it waits", None)
            elif any(step.first <= at < step.end for at in _results(trace, name)):
                yield Finding(_last(step), f"{name} is answered by the decision about another call", "it waits", None)
            elif name not in after:
                yield Finding(_last(step), f"{name} waits no more after the decision about another call", name, None)


@run_law("L-A5", evidence="a call that waited when the user went on", needs=("approval",), since="0.2")
def undecided_calls_settled(trace: RuntimeTrace) -> Judgement:
    """What waits for a decision when the user stops the run, or goes on, has one result before the next request."""
    given_up = set[str]()
    gated = _gated(trace, "approval") | _gated(trace, "client")
    for step in trace.steps:
        before = {one.call_id for one in step.before if isinstance(one, ApprovalAwaited | ClientToolAwaited)}
        if any(isinstance(one, Abort | User) for one in flat(step.stimulus)) and step.took_place:
            given_up |= (before - {name for name, _ in _pending(step)}) & gated.keys()
        for request in (one for one in trace.requests if step.first <= one.at < step.end):
            for name in sorted(given_up):
                yield WITNESS
                count = sum(at < request.at for at in _results(trace, name))
                if count != 1:
                    yield Finding(request.at, f"the user went on, and {name} has not one result", 1, count)
            given_up = set[str]()
            for name in sorted({name for name, _ in _pending(step)} & before & gated.keys()):
                yield Finding(request.at, f"the model is asked while {name} waits for a decision", "a result", None)


@run_law("L-A6", evidence="an answer that nobody waits for", needs=("approval",), since="0.2")
def late_decision_changes_nothing(trace: RuntimeTrace) -> Judgement:
    """A second, late or unknown decision changes nothing."""
    for step in trace.steps:
        stimulus = step.stimulus
        if not isinstance(stimulus, _Decision) or _awaits(step, stimulus):
            continue
        yield WITNESS
        if step.end > step.first or step.answer.awaiting != step.before:
            what = f"nobody waits for a decision about {stimulus.call_id}, and it changes something"
            yield Finding(_last(step) if step.end > step.first else None, what, step.before, step.answer.awaiting)


@run_law("L-A8", evidence="a result of the client", needs=("client-tools",), since="0.2")
def client_result_once(trace: RuntimeTrace) -> Judgement:
    """A call that the client executes is answered by the client's result, once, and the run goes on."""
    gated = _gated(trace, "client")
    for step in trace.steps:
        for run in (one for one in step.answer.awaiting if isinstance(one, ToolAwaited)):
            if run.call_id in gated:
                yield Finding(
                    _last(step), f"{run.call_id} is the client's, and the runtime executes it", None, run.tool
                )
    for step in trace.steps:
        for answer in _answers(step, trace):
            name = answer.call_id
            if name not in gated or not isinstance(answer, ClientResult):
                continue
            yield WITNESS
            results = _results(trace, name)
            cycle = trace.cycle_before(step)
            over = cycle >= 0 and trace.cycles[cycle].stop is not None
            if len(results) > 1:
                yield Finding(results[1], f"{name} has more than the client's result", 1, len(results))
            elif over and not any(holds(trace.log[at], answer.output) for at in results):
                yield Finding(_last(step), f"the client's result of {name} is lost", answer.output, None)
            elif step.active and not step.answer.awaiting:
                yield Finding(_last(step), f"the client has answered {name}, and the run does not go on")


def _gated(trace: RuntimeTrace, kind: Decider) -> dict[str, ToolCall]:
    """Map the id of each call about which a *kind* decides to the call; ids that recur are left out."""
    items = [
        one.item
        for step in trace.steps
        for one in flat(step.stimulus)
        if isinstance(one, ModelOutput) and isinstance(one.item, ToolCall)
    ]
    names = [item.call_id for item in items]
    return {
        item.call_id: item
        for item in items
        if trace.options.decider(item.tool) == kind and names.count(item.call_id) == 1
    }


def _pending(step: ObservedStep) -> list[tuple[str, str]]:
    """The calls that wait for a decision after a step, each with who decides."""
    return [
        (one.call_id, _KINDS[type(one)])
        for one in step.answer.awaiting
        if isinstance(one, ApprovalAwaited | ClientToolAwaited)
    ]


def _asked(step: ObservedStep) -> list[str]:
    """The calls about which a step begins to ask a person."""
    before = {one.call_id for one in step.before if isinstance(one, ApprovalAwaited)}
    return [name for name, kind in _pending(step) if kind == "approval" and name not in before]


def _answers(step: ObservedStep, trace: RuntimeTrace) -> list[_Decision]:
    """The decisions of a step that took place, about calls that waited for them; of ids that recur, none."""
    several = flat(step.stimulus) if step.took_place else ()
    found = [one for one in several if isinstance(one, _Decision) and _awaits(step, one)]
    if not found:
        return []
    known = _gated(trace, "approval").keys() | _gated(trace, "client").keys()
    return [one for one in found if one.call_id in known]


def _awaits(step: ObservedStep, answer: _Decision) -> bool:
    """Return whether a call waited for that decision before the step."""
    waiting: Iterator[tuple[str, str]] = (
        (one.call_id, _KINDS[type(one)]) for one in step.before if isinstance(one, ApprovalAwaited | ClientToolAwaited)
    )
    return (answer.call_id, _ANSWERED_BY[type(answer)]) in waiting


def _results(trace: RuntimeTrace, name: str) -> list[int]:
    """The positions of a call's results."""
    return [at for at, event in enumerate(trace.events) if isinstance(event, ToolResult) and event.call_id == name]


def _undisturbed(trace: RuntimeTrace, place: int) -> bool:
    """Return whether the run of a step completed, and nothing but answers came to it from there on."""
    step = trace.steps[place]
    cycle = trace.cycle_before(step)
    if cycle < 0 or trace.cycles[cycle].reason != "completed":
        return False
    later = [one for one in trace.steps[place:] if trace.cycle_before(one) == cycle]
    return not any(isinstance(one, Abort | User) for each in later for one in flat(each.stimulus))


def _shown(trace: RuntimeTrace, name: str, result: int) -> Judgement:
    """A denial's result is in the next request of its run."""
    request = next((one for one in trace.requests if one.at > result), None)
    if request is None or request.input is None or request.cycle != trace.cycle_at(result):
        return
    if not any(entry.get("role") == "tool" and entry.get("callId") == name for entry in request.input):
        yield Finding(request.at, f"{name} was denied, and the model is not shown it", "a result", None)


def _last(step: ObservedStep) -> int:
    return max(step.end - 1, 0)
