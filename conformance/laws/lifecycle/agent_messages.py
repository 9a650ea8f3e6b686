"""Laws on messages to sub-agents: each reaches the agent that it names, or is refused (L-S4)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...observe.fields import input_entries
from ...observe.parts.agents import agent_of, children, told_to_children
from ...observe.runtime_trace import RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from .agents import NEEDS, agent_law

_POLICY: Final = "subAgentMessages"


@agent_law("L-S4", evidence="a message to a sub-agent", needs=NEEDS)
def child_messages_taken_or_refused(trace: RuntimeTrace) -> Judgement:
    """A message to a sub-agent is logged as its own, or refused: always where that is declared, or none is there."""
    known = {child.name for child in children(trace)}
    for step, message in told_to_children(trace):
        yield WITNESS
        logged = [at for at, event in _messages(trace) if event.get("id") == message.id]
        name = message.agent_id
        if not step.took_place:
            if logged:
                yield Finding(logged[0], "a message that was refused is logged", None, trace.log[logged[0]])
        elif trace.policies.get(_POLICY) == "refused":
            yield Finding(step.first, "a message to a sub-agent is accepted", "refused", None)
        elif name not in known:
            yield Finding(step.first, f"a message to {name}, which never was, is accepted", "refused", None)
        elif [at for at in logged if step.first <= at < step.end] != logged or len(logged) != 1:
            said = "a message to a sub-agent is neither refused nor logged once"
            yield Finding(step.first, said, 1, len(logged))
        elif agent_of(trace.log[logged[0]]) != name:
            said = "a message to a sub-agent is logged as that of another agent"
            yield Finding(logged[0], said, name, agent_of(trace.log[logged[0]]))


@agent_law(
    "L-S4",
    evidence="a message that a sub-agent took, and was shown",
    needs=(*NEEDS, "model-input", f"policy {_POLICY}=taken"),
)
def child_messages_reach(trace: RuntimeTrace) -> Judgement:
    """A message that a sub-agent took is shown to its model, once in a request, and to no other; else to none."""
    for step, message in told_to_children(trace):
        requests = [
            (at, agent_of(event), _count(event, message.text))
            for at, event in enumerate(trace.log)
            if event.get("type") == "model-request"
        ]
        took = message.agent_id if step.took_place else None
        for at, name, count in requests:
            if count and (at < step.first or name != message.agent_id or not step.took_place):
                said = "a message to a sub-agent is shown to whom it does not belong"
                yield Finding(at, said, took, name or "the session's agent")
            elif count > 1:
                yield Finding(at, "a request shows a message to a sub-agent twice", 1, count)
        if any(name == took and count for _, name, count in requests):
            yield WITNESS
        elif took is not None and _completed(trace, took, step.first):
            said = f"{took} took a message, and its run is over without a request that shows it"
            yield Finding(step.first, said, "a request", None)


def _completed(trace: RuntimeTrace, name: str, since: int) -> bool:
    """Return whether a sub-agent has no open run any more, and none was cut since a position."""
    own = [at for at, event in enumerate(trace.log) if agent_of(event) == name]
    reasons = {trace.log[at].get("reason") for at in own if at >= since and trace.log[at].get("type") == "run-stop"}
    asks = any(one.agent_id == name and not getattr(one, "cancelled", False) for one in trace.steps[-1].answer.awaiting)
    return not asks and reasons <= {"completed"}


def _count(request: Mapping[str, Any], text: str) -> int:
    """The number of the user's entries of a request in which a text stands."""
    entries = input_entries(request.get("input")) or []
    return sum(entry.get("role") == "user" and text in str(entry.get("text")) for entry in entries)


def _messages(trace: RuntimeTrace) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return ((at, event) for at, event in enumerate(trace.log) if event.get("type") == "user-message")
