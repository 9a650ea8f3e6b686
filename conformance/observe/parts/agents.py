"""The sub-agents of a word, by the ``agentId`` of their events."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from turncheck.model.core.stimuli import ModelFail, ModelOutput, ModelStop, ToolFail, ToolReturn

from ..runtime_trace import ObservedStep, RuntimeTrace


@dataclass(frozen=True)
class Child:
    """A sub-agent: the call that started it, and the positions of its first event and of its end."""

    name: str
    call: str | None
    begin: int
    end: int | None
    reason: str | None

    def open_at(self, at: int) -> bool:
        """Return whether its run is open before a position."""
        return self.begin < at and (self.end is None or at <= self.end)


def agent_of(event: Mapping[str, Any]) -> str | None:
    """Return the sub-agent that an event of the log names, None for the session's own agent."""
    return event.get("agentId")


def children(trace: RuntimeTrace) -> list[Child]:
    """Return the sub-agents of a word, in the order of their first events."""
    found: dict[str, Child] = {}
    for at, event in enumerate(trace.log):
        name = agent_of(event)
        if name is None or event.get("type") in _SILENT:
            continue
        child = found.setdefault(name, Child(name, event.get("parentCallId"), at, None, None))
        if event.get("type") == "run-stop" and child.end is None:
            found[name] = replace(child, end=at, reason=str(event.get("reason")))
    return [*found.values()]


_SILENT: Final = ("native", "fault")
"""Types whose events begin no sub-agent."""


def has_children(trace: RuntimeTrace) -> bool:
    """Return whether a sub-agent was started."""
    return "sub-agents" in trace.capabilities and any(agent_of(event) is not None for event in trace.log)


class Agents:
    """Whose the requests, calls and stimuli of a word are, by the events that name their agent."""

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


def of_type(trace: RuntimeTrace, kind: str) -> Iterator[Mapping[str, Any]]:
    """Return the events of a type."""
    return (event for event in trace.log if event.get("type") == kind)
