"""Laws on sub-agents: they judge a word whole, and tell its agents apart by ``agentId``."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from turncheck.model.core.events import AgentOutput, ModelRequest, ToolResult, UserMessage
from turncheck.model.core.stimuli import Abort, ModelOutput, Text, ToolCall

from ...observe.parts.agents import (
    Agents,
    Child,
    agent_of,
    callers,
    children,
    end_of_caller,
    has_children,
    told_to_children,
)
from ...observe.runtime_trace import ObservedStep, RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from ..runtime.subject import run_law

NEEDS: Final = ("sub-agents", "tools")
_AWAITED: Final = (*NEEDS, "policy subAgents=awaited")
agent_law: Final = partial(run_law, overlapping="whole", since="0.2")


@agent_law("L-S1", evidence="an event, or something awaited, while a sub-agent's run is open", needs=NEEDS)
def events_name_their_agent(trace: RuntimeTrace) -> Judgement:
    """An item names the agent whose request it answers, a result that of its call, and so does what is awaited."""
    if not has_children(trace):
        return
    agents, known = Agents(trace), children(trace)
    for child in known:
        if not isinstance(trace.events[child.begin], UserMessage):
            begun = trace.log[child.begin].get("type")
            yield Finding(child.begin, "a sub-agent does not begin with its task", "user-message", begun)
    said = {text: agents.of_request.get(request) for text, request in _said(trace)}
    for at, (line, event) in enumerate(zip(trace.log, trace.events, strict=True)):
        if not any(child.open_at(at) for child in known):
            continue
        asked: str | None
        if isinstance(event, AgentOutput) and (name := str(line.get("callId") or line.get("text"))) in said:
            asked = said[name]
        elif isinstance(event, ToolResult) and event.call_id in agents.of_call:
            asked = agents.of_call[event.call_id]
        else:
            continue
        yield WITNESS
        if agent_of(line) != asked:
            what = "a result" if isinstance(event, ToolResult) else "an item of the model"
            yield Finding(at, f"{what} names another agent than the one that asked for it", asked, agent_of(line))
    yield from _misnamed(trace, agents)


@agent_law("L-S2", evidence="a sub-agent of a run that ended", needs=_AWAITED)
def children_end_first(trace: RuntimeTrace) -> Judgement:
    """A sub-agent's run ends before the run that called it ends."""
    known = children(trace)
    for child in known:
        stop = end_of_caller(trace, child, known)
        if stop is None:
            continue
        yield WITNESS
        if child.end is None or _comes_before(trace, stop, child.end):
            yield Finding(stop, f"the run ends before its sub-agent {child.name} does", "the sub-agent's end", None)


@agent_law("L-S2", evidence="a call that started a sub-agent, in a run that ended", needs=NEEDS)
def children_answered_once(trace: RuntimeTrace) -> Judgement:
    """The call that starts a sub-agent has exactly one result; where it awaits the sub-agent, none before its end."""
    awaited = trace.policies.get("subAgents") == "awaited"
    known = children(trace)
    for child in known:
        results = _results(trace, child)
        if child.call is None:
            yield Finding(
                child.begin, f"the sub-agent {child.name} does not name the call that started it", "parentCallId"
            )
        elif end_of_caller(trace, child, known) is not None:
            yield WITNESS
            if len(results) != 1:
                yield Finding(child.begin, "the call of a sub-agent has not one result", 1, len(results))
            elif awaited and _comes_before(trace, results[0], child.end):
                yield Finding(
                    results[0], "the call of a sub-agent has its result before that ends", child.end, results[0]
                )


@agent_law("L-S3", evidence="an abort while a sub-agent's run is open", needs=(*_AWAITED, "abort"))
def stop_reaches_children(trace: RuntimeTrace) -> Judgement:
    """Stopping an agent stops those that it called, and theirs: each is interrupted and awaits nothing; none begins."""
    for step, child in _stopped(trace, alone=False):
        yield WITNESS
        if child.reason != "interrupted":
            why = f"the run is stopped, and its sub-agent {child.name} goes on"
            yield Finding(child.end or step.first, why, "interrupted", child.reason)
        asks = (at for at in range(step.first, len(trace.log)) if isinstance(trace.events[at], ModelRequest))
        for at in asks:
            if agent_of(trace.log[at]) == child.name:
                yield Finding(at, "a sub-agent of a run that was stopped asks the model", None, child.name)
        if any(one.agent_id == child.name and not getattr(one, "cancelled", False) for one in step.answer.awaiting):
            yield Finding(step.first, "a sub-agent of a run that was stopped still waits", None, child.name)
    known = children(trace)
    for step, cycle in trace.aborts():
        for child in known if getattr(step.stimulus, "agent_id", None) is None else ():
            if child.begin >= step.first and trace.cycle_at(child.begin) == cycle:
                yield Finding(child.begin, "a sub-agent begins after its run was stopped", None, child.name)


@agent_law("L-S3", evidence="a sub-agent that failed, or was stopped alone", needs=_AWAITED)
def failed_child_is_a_result(trace: RuntimeTrace) -> Judgement:
    """A sub-agent that fails or is stopped is an error as the result of its call, and never ends the run by itself."""
    told = {message.agent_id for step, message in told_to_children(trace) if step.took_place}
    # what takes a message may go on with that when it is stopped alone, as a session does with what waits
    stopped_alone = [(step, child) for step, child in _stopped(trace, alone=True) if child.name not in told]
    halted = {child.name for _, child in stopped_alone}
    stopped = {child.name for _, child in _stopped(trace, alone=False)}
    known = children(trace)
    for child in known:
        if child.end is None or child.name in stopped or not (child.reason == "error" or child.name in halted):
            continue
        step = next(one for one in trace.steps if one.first <= child.end < one.end)
        due = _batch_over(trace, step, child, known)
        if due is None:
            continue
        yield WITNESS
        results = [at for at in _results(trace, child) if step.first <= at < due]
        if not results:
            yield Finding(child.end, "a sub-agent that ended is no result of its call", child.call, None)
        elif not trace.log[results[0]].get("isError") and trace.policies.get("failures", "marked") == "marked":
            yield Finding(
                results[0], "a sub-agent that failed is no error as a result", "isError", trace.log[results[0]]
            )
        if _ends_within(step, child.parent, trace):
            yield Finding(child.end, "a sub-agent that failed ends the run that called it", "an open run", "its end")
    for step, child in stopped_alone:
        if child.reason != "interrupted":
            yield Finding(step.first, "a sub-agent that is stopped goes on", "interrupted", child.reason)


@agent_law("BED-009b", evidence="a call for a sub-agent, at the declared depth", needs=(*NEEDS, "policy subAgentDepth"))
def agents_no_deeper(trace: RuntimeTrace) -> Judgement:
    """At the declared depth no agent starts a sub-agent."""
    known, agents, most = children(trace), Agents(trace), trace.policies.get("subAgentDepth", 1)
    depths: dict[str | None, int] = {None: 0, **{child.name: len(callers(child, known)) for child in known}}
    for step in trace.of(ModelOutput):
        item = getattr(step.stimulus, "item", None)
        spawns = isinstance(item, ToolCall) and trace.options.spawns(item.tool)
        if spawns and depths.get(agents.of_stimulus(step, step.stimulus), 0) >= most:
            yield WITNESS
    for child in known:
        if depths[child.name] > most:
            said = f"the sub-agent {child.name} begins deeper than declared"
            yield Finding(child.begin, said, most, depths[child.name])


def _comes_before(trace: RuntimeTrace, one: int, end: int | None) -> bool:
    """Return whether an event comes before a sub-agent's end; where the adapter inferred that, in an earlier step."""
    if end is None or one > end:
        return False
    return not (trace.inferred(end) and any(step.first <= one <= end < step.end for step in trace.steps))


def _batch_over(trace: RuntimeTrace, step: ObservedStep, child: Child, known: Sequence[Child]) -> int | None:
    """Return where the step ends, at the earliest *step*, after which no call of a sub-agent's caller runs any more.

    None where some run to the end, or are stopped from above: their results may come together.
    """
    above = callers(child, known)
    for one in trace.steps[trace.steps.index(step) :]:
        if isinstance(one.stimulus, Abort) and one.took_place and one.stimulus.agent_id in above:
            return None
        tools = any(getattr(tool, "agent_id", None) == child.parent for tool in one.tools())
        others = (other for other in known if other.parent == child.parent and other.begin < one.end)
        if not tools and not any(other.end is None or other.end >= one.end for other in others):
            return one.end
    return None


def _ends_within(step: ObservedStep, name: str | None, trace: RuntimeTrace) -> bool:
    """Return whether the run of an agent, which was open, ends in a step."""
    if name is None:
        return step.was_active and not step.active
    return any(one.name == name and step.first <= (one.end or -1) < step.end for one in children(trace))


def _misnamed(trace: RuntimeTrace, agents: Agents) -> Iterator[Finding]:
    """Find what is awaited in another name than that of its event."""
    for step in trace.steps:
        for one in step.answer.awaiting:
            request, call = getattr(one, "request_id", None), getattr(one, "call_id", None)
            if request in agents.of_request or call in agents.of_call:
                owner = agents.of_request.get(str(request)) if request else agents.of_call.get(str(call))
                if one.agent_id != owner:
                    yield Finding(step.first, "what is awaited names another agent than its event", owner, one.agent_id)


def _stopped(trace: RuntimeTrace, *, alone: bool) -> Iterator[tuple[ObservedStep, Child]]:
    """Yield each abort with each sub-agent that it hits while open: *alone*, or with an agent above it."""
    known = children(trace)
    for step in trace.of(Abort):
        assert isinstance(step.stimulus, Abort)
        named = step.stimulus.agent_id
        for child in known:
            above = named in callers(child, known) and (step.was_active or named is not None)
            if child.open_at(step.first) and (child.name == named if alone else above):
                yield step, child


def _results(trace: RuntimeTrace, child: Child) -> list[int]:
    """The positions of the results of the call that started a sub-agent."""
    events = enumerate(trace.events)
    return [at for at, one in events if at > child.begin and isinstance(one, ToolResult) and one.call_id == child.call]


def _said(trace: RuntimeTrace) -> Iterator[tuple[str, str]]:
    """Yield each text and call that the model was told to say, with the request that it answers."""
    for step in trace.of(ModelOutput):
        assert isinstance(step.stimulus, ModelOutput)
        item, request = step.stimulus.item, step.stimulus.request_id
        if request is not None and isinstance(item, Text | ToolCall):
            yield (item.call_id if isinstance(item, ToolCall) else item.text), request
