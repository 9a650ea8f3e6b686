"""Runs of one session side by side (the policy ``busy: concurrent``), by the ``runId`` of their events."""

from collections.abc import Mapping
from typing import Any, Final

from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Approve,
    Awaited,
    ClientResult,
    ClientToolAwaited,
    Deny,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ToolAwaited,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.machines.interaction import CONCURRENT

from ..runtime_trace import ObservedStep, RuntimeTrace, flat

_UNNAMED: Final = ("native", "fault")
"""Types whose events need not name their run."""
_OF_A_CALL: Final = (ToolReturn, ToolFail, Approve, Deny, ClientResult)


def overlaps(trace: RuntimeTrace) -> bool:
    """Return whether a message was accepted that begins a run beside another one, as ``busy: concurrent`` says."""
    if trace.policies.get("busy") != CONCURRENT:
        return False
    for step in trace.steps:
        begins = [one for one in flat(step.stimulus) if isinstance(one, User) and one.delivery is None]
        if step.took_place and begins and (step.was_active or len(begins) > 1):
            return True
    return False


def run_of(event: Mapping[str, Any]) -> str | None:
    """Return the run that an event of the log names; an end that was told again names the run of that end."""
    end = event.get("end")
    named = event.get("runId", end.get("runId") if isinstance(end, Mapping) else None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return named if isinstance(named, str) else None


def names_a_run(event: Mapping[str, Any]) -> bool:
    """Return whether an event has to name its run where several are open."""
    return event.get("type") not in _UNNAMED


class Owners:
    """The run of each request, call and stimulus of a word, by the events that name their run."""

    def __init__(self, trace: RuntimeTrace) -> None:
        self._trace = trace

    def of_request(self, name: str, before: int) -> str | None:
        """Return the run of the latest request called *name* before a position."""
        return self._latest("model-request", "requestId", name, before)

    def of_call(self, name: str, before: int) -> str | None:
        """Return the run of the latest call *name* before a position."""
        return self._latest("agent-output", "callId", name, before)

    def of_awaited(self, awaited: Awaited, before: int) -> str | None:
        """Return the run that waits for an answer, None for a timer."""
        match awaited:
            case ModelAwaited(request_id=name):
                return self.of_request(name, before)
            case ToolAwaited(call_id=name) | ApprovalAwaited(call_id=name) | ClientToolAwaited(call_id=name):
                return self.of_call(name, before)
            case _:
                return None

    def of_stimulus(self, step: ObservedStep, stimulus: Any) -> str | None:
        """Return the run that a stimulus of *step* belongs to, None where it is not one run's."""
        if isinstance(stimulus, User):
            events = (self._trace.log[at] for at in range(step.first, step.end))
            mine = (one for one in events if one.get("type") == "user-message" and one.get("id") == stimulus.id)
            return next(map(run_of, mine), None)
        if isinstance(stimulus, ModelOutput | ModelStop | ModelFail):
            name = stimulus.request_id or (step.model_before and step.model_before.request_id)
            return self.of_request(name, step.first) if name else None
        return self.of_call(stimulus.call_id, step.end) if isinstance(stimulus, _OF_A_CALL) else None

    def _latest(self, kind: str, field: str, name: str, before: int) -> str | None:
        for event in reversed(self._trace.log[:before]):
            if event.get("type") == kind and event.get(field) == name:
                return run_of(event)
        return None
