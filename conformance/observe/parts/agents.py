"""The sub-agents of a word, by the ``agentId`` of their events; the call that started one says whose child it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from turncheck.model.core.stimuli import ModelFail, ModelOutput, ModelStop, ToolFail, ToolReturn, User

from ..runtime_trace import ObservedStep, RuntimeTrace, flat


@dataclass(frozen=True)
class Child:
    """A sub-agent: the call that started it, and the positions of its first event and of its end.

    Its end is that of its last run, or where its call has a result, of its last run before that: a message may begin
    another run. ``parent`` is the sub-agent that made the call, None for the session's own agent.
    """

    name: str
    call: str | None
    begin: int
    end: int | None
    reason: str | None
    parent: str | None = None

    def open_at(self, at: int) -> bool:
        """Return whether its run is open before a position."""
        return self.begin < at and (self.end is None or at <= self.end)


def agent_of(event: Mapping[str, Any]) -> str | None:
    """Return the sub-agent that an event of the log names, None for the session's own agent."""
    return event.get("agentId")


def children(trace: RuntimeTrace) -> list[Child]:
    """Return the sub-agents of a word, in the order of their first events."""
    found: dict[str, Child] = {}
    made: dict[str, str | None] = {}  # call → the agent that made it
    results: dict[str, int] = {}  # call → the position of its first result
    for at, event in enumerate(trace.log):
        name, call = agent_of(event), str(event.get("callId"))
        if event.get("type") == "agent-output":
            made[call] = name
        elif event.get("type") == "tool-result":
            results.setdefault(call, at)
        if name is None or event.get("type") in _SILENT:
            continue
        started_by = event.get("parentCallId")
        child = found.setdefault(name, Child(name, started_by, at, None, None, made.get(str(started_by))))
        answered = str(child.call) in results and child.end is not None
        if event.get("type") == "run-stop" and not answered:
            found[name] = replace(child, end=at, reason=str(event.get("reason")))
        elif child.end is not None and not answered:
            found[name] = replace(child, end=None, reason=None)
    return [*found.values()]


def callers(child: Child, known: Sequence[Child]) -> list[str | None]:
    """Return the agents above a sub-agent, the one that called it first; the last is None, the session's own.

    >>> one = Child("a", "c1", 3, None, None)
    >>> callers(Child("b", "c2", 5, None, None, "a"), [one]), callers(one, [one])
    (['a', None], [None])
    """
    by_name = {one.name: one for one in known}
    found: list[str | None] = []
    name = child.parent
    while name in by_name and name not in found:
        found.append(name)
        name = by_name[name].parent
    return [*found, None]


def end_of_caller(trace: RuntimeTrace, child: Child, known: Sequence[Child]) -> int | None:
    """Return the position at which the run ends that called a sub-agent, None while it is open."""
    if child.parent is None:
        cycle = trace.cycle_at(child.begin)
        return trace.cycles[cycle].stop if cycle >= 0 else None
    return next((one.end for one in known if one.name == child.parent), None)


_SILENT: Final = ("native", "fault")
"""Types whose events begin no sub-agent."""


def has_children(trace: RuntimeTrace) -> bool:
    """Return whether a sub-agent was started, or a stimulus names one."""
    return "sub-agents" in trace.capabilities and (
        any(agent_of(event) is not None for event in trace.log)
        or any(one.agent_id is not None for step in trace.steps for one in flat(step.stimulus))
    )


class Agents:
    """The agent of each request, call and stimulus of a word, by the events that name their agent."""

    def __init__(self, trace: RuntimeTrace) -> None:
        self.of_request = {str(one.get("requestId")): agent_of(one) for one in of_type(trace, "model-request")}
        self.of_call = {str(one.get("callId")): agent_of(one) for one in of_type(trace, "agent-output")}

    def of_stimulus(self, step: ObservedStep, stimulus: Any) -> str | None:
        """Return the sub-agent that a stimulus of *step* belongs to, None for the session's own agent."""
        if isinstance(stimulus, ModelOutput | ModelStop | ModelFail):
            name = stimulus.request_id or (step.model_before and step.model_before.request_id)
            return self.of_request.get(str(name))
        if isinstance(stimulus, ToolReturn | ToolFail):
            return self.of_call.get(stimulus.call_id)
        return stimulus.agent_id  # type: ignore[no-any-return]


def told_to_children(trace: RuntimeTrace) -> Iterator[tuple[ObservedStep, User]]:
    """Return the messages that were sent to a sub-agent, each with its step."""
    for step in trace.steps:
        if isinstance(step.stimulus, User) and step.stimulus.agent_id is not None:
            yield step, step.stimulus


def of_type(trace: RuntimeTrace, kind: str) -> Iterator[Mapping[str, Any]]:
    """Return the events of a type."""
    return (event for event in trace.log if event.get("type") == kind)
