"""The life of a projector: its projection of one small log must be the model's."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from msgspec import to_builtins

from turncheck.adapters.protocol.messages import encode
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project

from ..verify.subjects.projector import without
from .stage import Misbehaving, Stage

LOG: Final[tuple[Any, ...]] = (
    {"type": "user-message", "text": "one"},
    {"type": "agent-output", "kind": "assistant", "text": "hello"},
    {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "read"},
    {"type": "user-message", "text": "two", "delivery": "steer"},
    {"type": "tool-result", "callId": "c1", "output": "contents"},
    {"type": "user-message", "text": "three", "delivery": "followUp"},
    {"type": "run-stop", "reason": "interrupted"},
)
"""A run with a call and a steer, and a follow-up that waits when the run is aborted."""

SEE: Final = "docs/protocol.md#project"


def _projects(target: ProjectorTarget) -> None:
    _hold(target, LOG, target.project(LOG))


def _nothing(target: ProjectorTarget) -> None:
    if target.profile.can("feed"):
        target.reset()
    _hold(target, (), target.project(()))


def _unreadable(target: ProjectorTarget) -> None:
    log = (*LOG, None, {"type": "no-such-type"}, {"type": "tool-result", "callId": "c9"})
    _hold(target, log, target.project(log))


def _twice(target: ProjectorTarget) -> None:
    first, second = target.project(LOG), target.project(LOG)
    if first != second:
        raise _misbehaving(
            "projects the same log in another way the second time", LOG, _shown(target, first), _shown(target, second)
        )


def _policies(target: ProjectorTarget) -> None:
    policies = Policies(queue_after_interrupted="hold")
    _hold(target, LOG, target.project(LOG, policies), policies)


def _feeds(target: ProjectorTarget) -> None:
    target.reset()
    for events in (LOG[:3], LOG[3:]):
        target.feed(events)
    _hold(target, LOG, target.fed(), see="docs/protocol.md#feed")


def _repeats(target: ProjectorTarget) -> None:
    target.reset()
    for start, events in ((0, LOG[:5]), (2, LOG[2:])):
        target.feed(events, start)
    _hold(target, LOG, target.fed(), see="docs/protocol.md#feed")


def _agents(target: ProjectorTarget) -> None:
    child = [{**event, "agentId": "a1", "parentCallId": "c1"} for event in LOG]
    log = tuple(event for pair in zip(LOG, child, strict=True) for event in pair)
    _hold(target, log, target.project(log), see="docs/log-format.md#sub-agents")


def _forgets(target: ProjectorTarget) -> None:
    target.feed(LOG)
    target.reset()
    _hold(target, (), target.fed(), see="docs/protocol.md#reset")


def _hold(
    target: ProjectorTarget, log: Sequence[Any], came: Projection, policies: Policies | None = None, see: str = SEE
) -> None:
    """Raise Misbehaving unless *came* is the model's projection of *log*."""
    policies = policies or target.profile.projection_policies()
    views = frozenset(view for view in ("steps", "rounds") if target.profile.can(view))
    right = without(project(tuple(map(judge, log)), policies), views)
    if came != right:
        problem = "the projection is not the model's"
        raise _misbehaving(problem, log, _shown(target, right), _shown(target, came), see)


def _shown(target: ProjectorTarget, projection: Projection) -> bytes:
    """Write *projection* as *target* does: an undeclared view has no key, unless it holds something."""
    value = to_builtins(projection)
    for cycle in chain.from_iterable(one["cycles"] for one in (value, *value.get("agents", {}).values())):
        for view in ("steps", "rounds"):
            if not (cycle[view] or target.profile.can(view)):
                del cycle[view]
    return encode(value)


def _misbehaving(problem: str, log: Sequence[Any], expected: bytes, came: bytes, see: str = SEE) -> Misbehaving:
    return Misbehaving(problem, sent=encode(log), expected=expected.decode(), came=came, see=see)


PROJECTOR: Final = (
    Stage("projects a log", _projects, vital=True),
    Stage("projects an empty log", _nothing),
    Stage("projects a log with lines that are no events", _unreadable),
    Stage("projects the same log in the same way", _twice),
    Stage("honours policies", _policies, needs=("policies",)),
    Stage("takes a log piece by piece", _feeds, needs=("feed",)),
    Stage("takes events again that it has seen", _repeats, needs=("repeats",)),
    Stage("keeps sub-agents apart", _agents, needs=("sub-agents",)),
    Stage("forgets what was fed at a reset", _forgets, needs=("feed",)),
)
"""The life of a projector, in order."""
