"""A word with sub-agents, taken apart: each agent's own part is a word of its own.

The declared machines know one agent. Taken apart, the laws that come from them judge each agent alone: to the agent
that calls it, be it a sub-agent itself, a sub-agent is a tool that runs; to the sub-agent, what it is asked to do is a
message of a user.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from turncheck.adapters.protocol.messages import CHILDREN_POLICY, SYSTEM_POLICY
from turncheck.model.core.stimuli import Abort, Awaited, ToolAwaited, ToolFail, ToolReturn, User

from ..runtime_trace import ObservedStep, RuntimeTrace, flat
from .agents import Agents, Child, agent_of, callers, children, end_of_caller, of_type, told_to_children
from .run_parts import Part, PartMade


def agent_parts(trace: RuntimeTrace) -> list[Part]:
    """Return the part of each agent of a word, the session's own first.

    Nothing is there where stimuli came together, or a sub-agent does not begin with its task. The parts of agents that
    call others are left out where a call does not await its sub-agent: nothing that the environment did ends that call.
    So is that of a sub-agent which took a further message: what becomes of it is the runtime's choice.
    """
    agents, known = Agents(trace), children(trace)
    own = _alone(trace)
    made: dict[str | None, PartMade] = {None: PartMade("")}
    for step in trace.steps:
        if not step.took_place:
            continue
        if len(flat(step.stimulus)) > 1:
            return []
        told: dict[str | None, list[int]] = {}
        for at in range(step.first, step.end):
            told.setdefault(agent_of(trace.log[at]), []).append(at)
        for child in known:
            if step.first <= child.begin < step.end and trace.log[child.begin].get("type") == "user-message":
                made[child.name] = PartMade(child.name)
        if not made.keys() >= told.keys():
            return []
        for name, part in made.items():
            if stimuli := [*_stimuli(name, step, trace, agents, known)]:
                part.begin(stimuli, closing=step.closing)
            elif not part.begun:
                return []
            part.goes_on(told.get(name, []), (*_awaited(name, step, trace, known),))
    left_out: set[str | None] = {one.agent_id for step, one in told_to_children(trace) if step.took_place}
    if trace.policies.get(CHILDREN_POLICY) == "detached":
        left_out |= {None, *(child.parent for child in known)}
    return [part.part(own) for name, part in made.items() if name not in left_out]


def _alone(trace: RuntimeTrace) -> RuntimeTrace:
    """The trace with events of no agent; what a request shows of the runtime's own words may differ by agent."""
    names = {"agentId", "parentCallId"}
    log = tuple({name: value for name, value in event.items() if name not in names} for event in trace.log)
    policies = {name: value for name, value in trace.policies.items() if name != SYSTEM_POLICY}
    return replace(trace, log=log, policies=policies)


def _stimuli(
    name: str | None, step: ObservedStep, trace: RuntimeTrace, agents: Agents, known: Sequence[Child]
) -> Iterator[Any]:
    """Yield what a step brings an agent: the environment's stimulus, its task, an abort from above, a child's end."""
    stimulus = step.stimulus
    owner = agents.of_stimulus(step, stimulus)
    child = next((one for one in known if one.name == name), None)
    if child is not None and step.first <= child.begin < step.end:
        task = trace.log[child.begin]
        yield User(id=str(task.get("id")), text=str(task.get("text")))
    elif owner == name:
        yield structs.replace(stimulus, agent_id=None)
    elif child is not None and _cut_from_above(trace, child, step, owner, known):
        ended = child.end is not None and child.end < step.end
        if ended or trace.policies.get(CHILDREN_POLICY) != "detached":  # one that is detached may end or go on
            yield Abort()
    else:
        calls = {one.call for one in known if one.begin < step.first and one.parent == name}
        for at in range(step.first, step.end):
            event = trace.log[at]
            call = event.get("callId")
            if event.get("type") != "tool-result" or agent_of(event) != name or call not in calls:
                continue
            if event.get("isError"):
                yield ToolFail(call_id=str(call), message=str(event.get("output")))
            else:
                yield ToolReturn(call_id=str(call), output=event.get("output"))


def _cut_from_above(
    trace: RuntimeTrace, child: Child, step: ObservedStep, owner: str | None, known: Sequence[Child]
) -> bool:
    """Return whether a step aborts an agent above a sub-agent that is open, or ends it with the run that called it."""
    if not child.open_at(step.first):
        return False
    if isinstance(step.stimulus, Abort) and owner in callers(child, known):
        return True
    end = end_of_caller(trace, child, known)
    return child.reason == "interrupted" and all(
        at is not None and step.first <= at < step.end for at in (end, child.end)
    )


def _awaited(name: str | None, step: ObservedStep, trace: RuntimeTrace, known: Sequence[Child]) -> Iterator[Awaited]:
    """Yield what an agent waits for after a step; a sub-agent counts as a run of a tool to the one that called it."""
    for one in step.answer.awaiting:
        if one.agent_id == name:
            yield structs.replace(one, agent_id=None)
    answered = {event.get("callId") for event in trace.log[: step.end] if event.get("type") == "tool-result"}
    for child in known:
        runs = child.begin < step.end and (child.end is None or child.end >= step.end)
        if child.parent == name and child.call is not None and runs and child.call not in answered:
            call = next(one for one in of_type(trace, "agent-output") if one.get("callId") == child.call)
            tool, arguments = str(call.get("tool")), call.get("arguments")
            yield ToolAwaited(call_id=child.call, execution=f"agent {child.name}", tool=tool, arguments=arguments)
